package api

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

const short = `{"prompt":"?","terms":{"timeout":60000,"extension_duration":60000,"max_extensions":1,"warn_before":10000}}`

// R109, R112: a stream tells of everything that happens, when it does, and ends with
// the question.
func TestEvents(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		start := time.Now()
		q := d.do("ada", "POST", "/questions", short).question(201)
		stream := d.follow("ada", q.ID)
		if stream.header.Get("Cache-Control") != "no-store" || stream.header.Get("X-Accel-Buffering") != "no" {
			t.Errorf("the headers are %v", stream.header)
		}
		d.post("ada", q.ID, "answer", `{"responses":{}}`).problem(422, wire.ReasonValidation)
		if e := stream.want("1", "rejected"); e.RetryCount != 1 || len(e.Errors) != 1 || e.Status != input.Active || e.Response != nil {
			t.Errorf("got %+v", e)
		}
		if e := stream.want("2", "warning"); time.Since(start) != 50*time.Second || e.TimeoutAt != start.Add(time.Minute).UnixMilli() {
			t.Errorf("after %v got %+v", time.Since(start), e)
		}
		d.post("ada", q.ID, "extend", `{}`)
		if e := stream.want("3", "extended"); e.Status != input.Prolonged || e.TimeoutAt != start.Add(2*time.Minute).UnixMilli() || e.ExtensionsRemaining != 0 {
			t.Errorf("got %+v", e)
		}
		if stream.want("4", "warning"); time.Since(start) != 110*time.Second {
			t.Errorf("warned after %v", time.Since(start))
		}
		if e := stream.want("ended", "ended"); time.Since(start) != 2*time.Minute || e.Status != input.TimedOut || e.Reason != "timeout" {
			t.Errorf("after %v got %+v", time.Since(start), e)
		}
		stream.wantEnd()
	})
}

// The end brings the answers.
func TestEventsOfAnAnswer(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		first, second := d.follow("ada", q.ID), d.follow("ada", q.ID)
		d.post("ada", q.ID, "answer", `{"responses":{"version":"v7"}}`).question(200)
		for _, stream := range []*events{first, second} {
			if e := stream.want("ended", "ended"); e.Status != input.Completed || string(e.Response.Responses) != `{"version":"v7","region":"eu"}` {
				t.Errorf("got %+v", e)
			}
			stream.wantEnd()
		}
	})
}

// Whoever comes back misses nothing while the question is open, and hears how it
// ended afterwards.
func TestResume(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.do("ada", "POST", "/questions", short).question(201)
		stream := d.follow("ada", q.ID)
		d.post("ada", q.ID, "answer", `{"responses":{}}`)
		stream.want("1", "rejected")
		stream.body.Close()
		d.post("ada", q.ID, "extend", `{}`)
		d.post("ada", q.ID, "answer", `{"responses":{"answer":7.5,"x":1}}`)

		for last, first := range map[string]int{"1": 2, "2": 3, "": 1, "0": 1, "nonsense": 1, "4": 1, "99": 1, "-3": 1} {
			stream = d.follow("ada", q.ID, headerResume, last)
			for id, name := range []string{1: "rejected", 2: "extended", 3: "rejected"} {
				if id >= first {
					stream.want(fmt.Sprint(id), name)
				}
			}
			stream.body.Close()
		}
		stream = d.follow("ada", q.ID, headerResume, "3")
		d.post("ada", q.ID, "answer", `{"action":"decline"}`)
		stream.want("ended", "ended")
		stream.wantEnd()

		stream = d.follow("ada", q.ID, headerResume, "2")
		if e := stream.want("ended", "ended"); e.Status != input.Declined {
			t.Errorf("got %+v", e)
		}
		stream.wantEnd()
		if w := d.do("ada", "GET", "/questions/"+q.ID+"/events", "", headerResume, "ended"); w.status != http.StatusNoContent {
			t.Errorf("behind the end: got %d %s", w.status, w.body)
		}
	})
}

// A stream that is silent for long has comments in it.
func TestKeepAlive(t *testing.T) {
	atDesk(t, anyRate(), Options{KeepAlive: 10 * time.Second}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		start := time.Now()
		lines := bufio.NewReader(d.follow("ada", q.ID).body)
		for _, want := range []struct {
			line string
			at   time.Duration
		}{{": open\n", 0}, {"\n", 0}, {": keepalive\n", 10 * time.Second}, {"\n", 10 * time.Second}, {": keepalive\n", 20 * time.Second}} {
			if got, err := lines.ReadString('\n'); got != want.line || time.Since(start) != want.at {
				t.Errorf("after %v got %q, %v; want %q after %v", time.Since(start), got, err, want.line, want.at)
			}
		}
	})
}

// A caller that does not read is cut off, and holds up nobody.
func TestSlowReader(t *testing.T) {
	atDesk(t, anyRate(), Options{WriteTimeout: 20 * time.Second}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		conn, err := d.net.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, "GET "+Root+"/questions/"+q.ID+"/events HTTP/1.1\r\nHost: localhost\r\n"+headerPrincipal+": ada\r\n\r\n")
		synctest.Wait()
		start := time.Now()
		good := d.follow("ada", q.ID)
		for n := range 2 {
			d.post("ada", q.ID, "answer", `{"responses":{}}`).problem(422, wire.ReasonValidation)
			good.want(fmt.Sprint(n+1), "rejected")
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("the others were held up for %v", took)
		}
		time.Sleep(20*time.Second - time.Millisecond)
		synctest.Wait()
		if n := d.following(); n != 2 {
			t.Errorf("just before there are %d followers", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n := d.following(); n != 1 {
			t.Errorf("just after there are %d followers", n)
		}
		d.post("ada", q.ID, "answer", `{"responses":{"version":"v7"}}`).question(200)
		good.want("ended", "ended")
		good.wantEnd()
	})
}

func (d *desk) following() int {
	d.api.feeds.mu.Lock()
	defer d.api.feeds.mu.Unlock()
	return d.api.feeds.followers
}

// Streams are bounded, of one question and of all; those that end make room.
func TestStreamLimits(t *testing.T) {
	atDesk(t, anyRate(), Options{MaxStreams: 3, MaxStreamsOfOne: 2}, func(t *testing.T, d *desk) {
		one, two := d.ask("ada", deploy), d.ask("ada", deploy)
		stream := d.follow("ada", one.ID)
		d.follow("ada", one.ID)
		w := d.do("ada", "GET", "/questions/"+one.ID+"/events", "")
		if p := w.problem(http.StatusTooManyRequests, wire.ReasonLimit); w.header.Get("Retry-After") == "" || *p.Limit != 2 {
			t.Errorf("Retry-After %q, limit %d", w.header.Get("Retry-After"), *p.Limit)
		}
		d.follow("ada", two.ID)
		w = d.do("ada", "GET", "/questions/"+two.ID+"/events", "")
		if p := w.problem(http.StatusTooManyRequests, wire.ReasonLimit); *p.Limit != 3 {
			t.Errorf("limit %d", *p.Limit)
		}
		stream.body.Close()
		synctest.Wait()
		d.follow("ada", two.ID)
	})
}

// What is kept of a question is bounded, holds no answers, and is gone with its end.
func TestFeedsForget(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.do("ada", "POST", "/questions", `{"prompt":"?","terms":{"max_attempts":100}}`).question(201)
		for range maxKept + 3 {
			d.post("ada", q.ID, "answer", `{"responses":{"answer":"secret plan","x":1}}`).problem(422, wire.ReasonValidation)
		}
		d.api.feeds.mu.Lock()
		for r, one := range d.api.feeds.open {
			if len(one.events) != maxKept || one.first != 4 {
				t.Errorf("%s: %d events from %d on", r.ID, len(one.events), one.first)
			}
			if text := fmt.Sprintf("%+v", one.events); strings.Contains(text, "secret plan") {
				t.Errorf("an answer is kept: %.1000s", text)
			}
		}
		d.api.feeds.mu.Unlock()
		d.follow("ada", q.ID).want("4", "rejected")
		d.post("ada", q.ID, "answer", `{"action":"cancel"}`).question(200)
		if n := len(d.api.feeds.open); n != 0 {
			t.Errorf("%d feeds are open", n)
		}
	})
}
