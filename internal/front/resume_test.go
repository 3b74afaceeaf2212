package front

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

func TestHTTPResume(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20251125)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"progress"}`)
		post.want("a notification", `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		post.close()
		synctest.Wait()
		callOf(<-h.relay.opened).Notify(note("meanwhile"))
		h.relay.release <- struct{}{}
		synctest.Wait()

		get := p.open("GET", "", headerResume, post.lastID)
		get.want("what came meanwhile", `{"jsonrpc":"2.0","method":"notifications/meanwhile"}`)
		get.want("the response", `{"jsonrpc":"2.0","id":1,"result":"progressed"}`)
		get.wantEnd("the end")

		get = p.open("GET", "", headerResume, post.lastID)
		get.want("once more", `{"jsonrpc":"2.0","method":"notifications/meanwhile"}`)
		get.want("the response", `{"jsonrpc":"2.0","id":1,"result":"progressed"}`)
		get.wantEnd("the end")

		if got := p.send("GET", "", headerResume, get.lastID); got.status != http.StatusNoContent {
			t.Errorf("nothing is left: got %+v", got)
		}
	})
}

func TestHTTPResumeTakesOver(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20251125)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"progress"}`)
		post.want("a notification", `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		get := p.open("GET", "", headerResume, post.lastID)
		if ev, err := post.next(); err == nil {
			t.Errorf("the first connection does not end, but brings %q", ev.Data)
		}
		h.relay.release <- struct{}{}
		get.want("the response", `{"jsonrpc":"2.0","id":1,"result":"progressed"}`)
		get.wantEnd("the end")
	})
}

func TestHTTPResumeUnknownEvent(t *testing.T) {
	for _, id := range []string{"999-1", "x", "1-", "-", "18446744073709551615-1", "1-18446744073709551615"} {
		onWeb(t, Options{}, func(t *testing.T, h *web) {
			p := h.peer().shake(wire.R20251125)
			get := p.open("GET", "", headerResume, id)
			(<-h.relay.opened).Notify(note("alive"))
			get.want("a notification", `{"jsonrpc":"2.0","method":"notifications/alive"}`)
			get.close()
		})
	}
}

func TestHTTPResumeOfAnotherSession(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20251125)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"progress"}`)
		post.want("a notification", `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		<-h.relay.opened
		other := h.peer().shake(wire.R20251125)
		get := other.open("GET", "", headerResume, post.lastID)
		(<-h.relay.opened).Notify(note("mine"))
		get.want("only its own", `{"jsonrpc":"2.0","method":"notifications/mine"}`)
		get.close()
		h.relay.release <- struct{}{}
		post.want("the response", `{"jsonrpc":"2.0","id":1,"result":"progressed"}`)
		post.wantEnd("the end")
	})
}

func TestHTTPStreamsOfSession(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20251125)
		c := <-h.relay.opened
		c.Notify(note("before"))
		first := p.open("GET", "")
		first.want("what came before", `{"jsonrpc":"2.0","method":"notifications/before"}`)
		second := p.open("GET", "")
		c.Notify(note("a"))
		second.want("on the newest", `{"jsonrpc":"2.0","method":"notifications/a"}`)
		second.close()
		synctest.Wait()
		c.Notify(note("b"))
		first.want("on the one that is left", `{"jsonrpc":"2.0","method":"notifications/b"}`)
		first.close()
		synctest.Wait()
		c.Notify(note("c"))
		again := p.open("GET", "")
		again.want("nothing twice", `{"jsonrpc":"2.0","method":"notifications/c"}`)
		streams := []*events{again}
		for range maxStanding - 1 {
			streams = append(streams, p.open("GET", ""))
		}
		if got := p.send("GET", ""); got.status != http.StatusConflict || !strings.Contains(got.body, `"reason":"limit"`) {
			t.Errorf("too many streams: got %+v", got)
		}
		for _, s := range streams {
			s.close()
		}
	})
}

func TestHTTPSlowClient(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20251125)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"progress"}`)
		post.want("a notification", `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		call := callOf(<-h.relay.opened)
		big := wire.NewNotification("notifications/big", []byte(`{"x":"`+strings.Repeat("x", maxBacklogBytes/4)+`"}`))
		start := time.Now()
		sent := 0
		for sent < 20 && time.Since(start) == 0 {
			call.Notify(big)
			sent++
		}
		if d := time.Since(start); d != 30*time.Second || sent > 12 {
			t.Errorf("the sender went on after %d messages and %v", sent, d)
		}
		h.relay.release <- struct{}{}
		synctest.Wait()
		get := p.open("GET", "", headerResume, post.lastID)
		last := ""
		for {
			ev, err := get.next()
			if err != nil {
				break
			}
			last = string(ev.Data)
		}
		if last != `{"jsonrpc":"2.0","id":1,"result":"progressed"}` {
			t.Errorf("the last message is %.100s", last)
		}
		get.close()
	})
}
