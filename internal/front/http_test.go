package front

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

func TestHTTPLife(t *testing.T) {
	for _, r := range []wire.Revision{wire.R20241105, wire.R20250326, wire.R20250618, wire.R20251125} {
		t.Run(string(r), func(t *testing.T) {
			onWeb(t, Options{}, func(t *testing.T, h *web) {
				p := h.peer().shake(r)
				c := <-h.relay.opened
				if c.Revision() != r || c.Transport != TransportHTTP || c.Route != "" || c.ID == p.session {
					t.Errorf("client %+v", c)
				}
				got := p.send("POST", `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"b":1.50,
"a":1e2}}`)
				if got.body != "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"b\":1.50,\n\"a\":1e2}}" ||
					got.header.Get("Content-Type") != typeJSON || got.header.Get("Content-Length") == "" {
					t.Errorf("an echo: got %+v", got)
				}
				p.post("a ping", `{"jsonrpc":"2.0","id":"x","method":"ping"}`, 200, `{"jsonrpc":"2.0","id":"x","result":{}}`)
				if got := p.send("DELETE", ""); got.status != 204 {
					t.Errorf("DELETE: got %+v", got)
				}
				<-h.relay.closed
				if got := p.send("POST", `{"jsonrpc":"2.0","id":1,"method":"echo"}`); got.status != 404 || !strings.Contains(got.body, `"reason":"session"`) {
					t.Errorf("after the end: got %+v", got)
				}
			})
		})
	}
}

// The legacy era has no status for the error of a request: it is a response like any
// other.
func TestHTTPErrorOfRequest(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		got := h.peer().shake(wire.Latest).send("POST", `{"jsonrpc":"2.0","id":1,"method":"fail"}`)
		if got.status != 200 || !strings.Contains(got.body, `"id":1,"error":{"code":-32601`) {
			t.Errorf("got %+v", got)
		}
	})
}

// The header waits until it is known what there is to send.
func TestHTTPCommit(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20251125)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"progress"}`)
		ev, err := post.next()
		if err != nil || ev.ID == "" || len(ev.Data) != 0 || ev.Retry != 250*time.Millisecond {
			t.Errorf("the priming event: got %+v, %v", ev, err)
		}
		ev, err = post.next()
		if err != nil || string(ev.Data) != `{"jsonrpc":"2.0","method":"notifications/progress"}` || ev.Type != "message" {
			t.Errorf("the notification: got %+v, %v", ev, err)
		}
		h.relay.release <- struct{}{}
		post.want("the response", `{"jsonrpc":"2.0","id":1,"result":"progressed"}`)
		post.wantEnd("the end")
		if got := p.send("POST", `{"jsonrpc":"2.0","id":1,"method":"echo"}`, "Accept", "text/event-stream"); !strings.Contains(got.body, `data: {"jsonrpc":"2.0","id":1,"result":{}}`) {
			t.Errorf("a client that takes no JSON: got %+v", got)
		}
	})
}

func TestHTTPNoPrimingBefore20251125(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20250618)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"progress"}`)
		if ev, err := post.next(); err != nil || ev.ID == "" || len(ev.Data) == 0 {
			t.Errorf("got %+v, %v", ev, err)
		}
		h.relay.release <- struct{}{}
		post.want("the response", `{"jsonrpc":"2.0","id":1,"result":"progressed"}`)
		post.wantEnd("the end")
	})
}

func TestHTTPKeepAlive(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20250618)
		start := time.Now()
		res, err := p.do(p.base, "POST", `{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		if err != nil || time.Since(start) != 15*time.Second {
			t.Fatalf("the header came after %v, %v", time.Since(start), err)
		}
		buf := make([]byte, 100)
		n, err := res.Body.Read(buf)
		if string(buf[:n]) != ": keepalive\n\n" || err != nil || time.Since(start) != 30*time.Second {
			t.Errorf("got %q after %v, %v", buf[:n], time.Since(start), err)
		}
		res.Body.Close()
		h.relay.release <- struct{}{}
	})
}

// A dropped connection is no cancellation: the response waits for the client.
// Whoever resumes takes the stream over from a connection that only seems to be
// alive.
// An event that is not held, or never was, opens the stream of the session.
// Nobody else's stream can be resumed.
// What belongs to no request waits for a GET, goes on one stream only, and the
// newest is where it goes.
// "Not send a response for the cancelled request."
func TestHTTPCancel(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"r"}}`
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20251125)
		for _, test := range []struct {
			accept string
			status int
			kind   string
		}{
			{"application/json, text/event-stream", 200, typeEvents},
			{"application/json", 204, ""},
		} {
			response := p.background(`{"jsonrpc":"2.0","id":"a","method":"block"}`, "Accept", test.accept)
			p.post("cancel", cancel, 202, "")
			got := <-response
			if got.status != test.status || got.header.Get("Content-Type") != test.kind || got.body != "" {
				t.Errorf("accepting %s: got %+v", test.accept, got)
			}
			if err := <-h.relay.causes; err.Error() != "the client cancelled the request" {
				t.Errorf("cause %v", err)
			}
		}
		post := p.open("POST", `{"jsonrpc":"2.0","id":"a","method":"ask"}`)
		post.want("the question", fmt.Sprintf(askedForm, 1))
		p.post("cancel", cancel, 202, "")
		if got := post.data("the question is taken back"); !strings.Contains(got, "ask-1") {
			t.Errorf("got %s", got)
		}
		post.wantEnd("the stream ends")
		if got := p.send("GET", "", headerResume, post.lastID); got.status != 204 {
			t.Errorf("resuming what was cancelled: got %+v", got)
		}
		p.post("cancel what is not known", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}`, 202, "")
		p.post("cancel nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, 202, "")
	})
}

// D1: late answers end nothing; answers to nothing are refused (R75).
func TestHTTPAnswers(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p, q := h.peer().shake(wire.R20251125), h.peer().shake(wire.R20251125)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"ask"}`)
		post.want("the question", fmt.Sprintf(askedForm, 1))
		const answer = `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`
		if got := q.send("POST", answer); got.status != 400 || !strings.Contains(got.body, "answers no question") {
			t.Errorf("from another session: got %+v", got)
		}
		p.post("the answer", answer, 202, "")
		p.post("the answer again", answer, 202, "")
		post.want("the response", `{"jsonrpc":"2.0","id":1,"result":`+answer+`}`)
		post.wantEnd("the end")
		if late, stray := h.relay.counted(); late != 1 || stray != 1 {
			t.Errorf("counted %d late, %d stray", late, stray)
		}
	})
}

// R18: two sessions that use the same ids at the same time.
func TestHTTPNothingCrosses(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		peers := []*webPeer{h.peer().shake(wire.R20251125), h.peer().shake(wire.R20250618)}
		streams := make([]*events, len(peers))
		for i, p := range peers {
			streams[i] = p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"ask"}`)
			streams[i].want("the question", fmt.Sprintf(askedForm, 1))
		}
		for i := len(peers) - 1; i >= 0; i-- {
			peers[i].post("the answer", fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{"n":%d}}}`, i), 202, "")
			if got := streams[i].data("the response"); !strings.Contains(got, fmt.Sprintf(`{"n":%d}`, i)) {
				t.Errorf("session %d: got %s", i, got)
			}
			streams[i].wantEnd("the end")
		}
	})
}

// D12: a session belongs to its principal, and to its route.
func TestHTTPSessionIsBound(t *testing.T) {
	o := Options{
		Authenticate: StaticTokens(map[string]string{"t1": "ann", "t2": "bob"}),
		Backends:     []string{"one", "two"},
	}
	onWeb(t, o, func(t *testing.T, h *web) {
		p := h.peer()
		p.headers.Set("Authorization", "Bearer t1")
		p.path = "/mcp/one"
		p.shake(wire.Latest)
		if c := <-h.relay.opened; c.Principal != "ann" || c.Route != "one" {
			t.Errorf("client %+v", c)
		}
		const echo = `{"jsonrpc":"2.0","id":1,"method":"echo"}`
		for _, test := range []struct {
			name, token, path string
			status            int
		}{
			{"the owner", "t1", "/mcp/one", 200},
			{"somebody else", "t2", "/mcp/one", 404},
			{"nobody", "t3", "/mcp/one", 401},
			{"another route", "t1", "/mcp/two", 404},
			{"all routes", "t1", "/mcp", 404},
		} {
			p.headers.Set("Authorization", "Bearer "+test.token)
			p.path = test.path
			for _, method := range []string{"POST", "GET", "DELETE"} {
				if test.status == 200 && method != "POST" {
					continue
				}
				if got := p.send(method, echo); got.status != test.status {
					t.Errorf("%s, %s: got %+v", test.name, method, got)
				}
			}
		}
	})
}

func TestHTTPBatch(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20250326)
		p.post("one request", `[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","method":"notifications/x"}]`,
			200, `[{"jsonrpc":"2.0","id":1,"result":{}}]`)
		p.post("no request", ` [{"jsonrpc":"2.0","method":"notifications/x"}]`, 202, "")
		if got := p.send("POST", `[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":1}]`); got.status != 400 {
			t.Errorf("half a batch: got %+v", got)
		}
		post := p.open("POST", `[{"jsonrpc":"2.0","id":1,"method":"ask"},{"jsonrpc":"2.0","id":2,"method":"ask"}]`)
		questions := post.data("a question") + post.data("a question")
		for _, id := range []string{`"ask-1"`, `"ask-2"`} {
			if !strings.Contains(questions, id) {
				t.Errorf("got %s", questions)
			}
		}
		p.post("both answers", `[{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}},{"jsonrpc":"2.0","id":"ask-2","error":{"code":1,"message":"m"}}]`, 202, "")
		if got := post.data("the responses"); !strings.HasPrefix(got, "[{") || !strings.Contains(got, `"id":1,`) || !strings.Contains(got, `"id":2,`) {
			t.Errorf("got %s", got)
		}
		post.wantEnd("the end")
	})
}

func TestHTTPLimits(t *testing.T) {
	onWeb(t, Options{MaxSessions: 2, MaxCalls: 1}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		q := h.peer().shake(wire.Latest)
		got := h.peer().send("POST", initializeAs(wire.Latest))
		if got.status != 503 || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, `"reason":"limit"`) {
			t.Errorf("a session too many: got %+v", got)
		}
		q.send("DELETE", "")
		h.peer().shake(wire.Latest)
		response := p.background(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		if got := p.send("POST", `{"jsonrpc":"2.0","id":1,"method":"echo"}`); got.status != 400 || !strings.Contains(got.body, `"id":1,"error":{"code":-32600`) {
			t.Errorf("an id in use: got %+v", got)
		}
		if got := p.send("POST", `{"jsonrpc":"2.0","id":2,"method":"echo"}`); got.status != 200 || !strings.Contains(got.body, `"reason":"limit"`) {
			t.Errorf("a call too many: got %+v", got)
		}
		h.relay.release <- struct{}{}
		<-response
	})
}

// A session that nobody uses ends; one with a call or a stream does not.
func TestHTTPIdle(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		get := p.open("GET", "")
		go io.Copy(io.Discard, get.body)
		time.Sleep(5 * time.Hour)
		get.close()
		post, err := p.do(p.base, "POST", `{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		if err != nil {
			t.Fatal(err)
		}
		post.Body.Close()
		time.Sleep(5 * time.Hour)
		h.relay.release <- struct{}{}
		time.Sleep(29 * time.Minute)
		p.post("it is still there", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		time.Sleep(30*time.Minute - time.Nanosecond)
		synctest.Wait()
		select {
		case <-h.relay.closed:
			t.Error("it ended too early")
		default:
		}
		<-h.relay.closed
		if got := p.send("POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`); got.status != 404 {
			t.Errorf("got %+v", got)
		}
	})
}

// A client that is gone before the response to initialize leaves nothing behind.
func TestHTTPInitializeAbandoned(t *testing.T) {
	onWeb(t, Options{MaxSessions: 1}, func(t *testing.T, h *web) {
		began := make(chan context.Context)
		h.relay.open = func(ctx context.Context, _ *Client, _ wire.Message) *wire.Error {
			began <- ctx
			<-ctx.Done()
			return wire.ErrorFrom(context.Cause(ctx))
		}
		ctx, hangup := context.WithCancel(h.base)
		failed := make(chan error)
		go func() {
			_, err := h.peer().do(ctx, "POST", initializeAs(wire.Latest))
			failed <- err
		}()
		opening := <-began
		hangup()
		<-failed
		<-opening.Done()
		synctest.Wait()
		h.relay.open = nil
		h.peer().shake(wire.Latest)
	})
}

func TestHTTPInitializeFails(t *testing.T) {
	onWeb(t, Options{MaxSessions: 1}, func(t *testing.T, h *web) {
		h.relay.open = func(context.Context, *Client, wire.Message) *wire.Error {
			return wire.Errorf(wire.ReasonBackendDown, "no backend")
		}
		got := h.peer().send("POST", initializeAs(wire.Latest))
		if got.status != 200 || got.header.Get(headerSession) != "" || !strings.Contains(got.body, `"id":0,"error":`) {
			t.Errorf("got %+v", got)
		}
		h.relay.open = nil
		h.peer().shake(wire.Latest)
	})
}

// A client that does not take what it is sent holds up the sender, and is cut.
func TestHTTPSlowBody(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		conn := h.connect()
		defer conn.Close()
		start := time.Now()
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\nContent-Length: 100\r\n\r\n{", p.session)
		buf := make([]byte, 1000)
		n, _ := conn.Read(buf)
		if got := string(buf[:n]); !strings.HasPrefix(got, "HTTP/1.1 408 ") || time.Since(start) != 30*time.Second {
			t.Errorf("got %s after %v", got, time.Since(start))
		}
		p.post("the session lives", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
}

// Calls may finish while the front drains; then everything ends.
func TestHTTPDrain(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p, q := h.peer().shake(wire.Latest), h.peer().shake(wire.Latest)
		get := p.open("GET", "")
		other := q.background(`{"jsonrpc":"2.0","id":2,"method":"block"}`)
		waiting := p.background(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		blocked := p.background(`{"jsonrpc":"2.0","id":2,"method":"block"}`)
		start := time.Now()
		h.stop()
		synctest.Wait()
		if got := h.peer().send("POST", initializeAs(wire.Latest)); got.status != 503 || !strings.Contains(got.body, `"reason":"stopping"`) {
			t.Errorf("a new session: got %+v", got)
		}
		for _, p := range []*webPeer{p, q} {
			if got := p.send("POST", `{"jsonrpc":"2.0","id":3,"method":"echo"}`); got.status != 503 || !strings.Contains(got.body, `"id":3`) {
				t.Errorf("a new call: got %+v", got)
			}
		}
		h.relay.release <- struct{}{}
		if got := <-waiting; got.body != `{"jsonrpc":"2.0","id":1,"result":"waited"}` || time.Since(start) != 0 {
			t.Errorf("a call that finishes: got %+v", got)
		}
		if got := <-blocked; !strings.Contains(got.body, `"reason":"stopping"`) || time.Since(start) != time.Second {
			t.Errorf("a call that does not: got %+v after %v", got, time.Since(start))
		}
		<-other
		get.wantEnd("the stream of the session ends")
		<-h.relay.closed
		<-h.relay.closed
	})
}

// A client that takes only JSON gets it, however long that takes.
func TestHTTPOnlyJSON(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20251125)
		response := p.background(`{"jsonrpc":"2.0","id":1,"method":"progress"}`, "Accept", "application/json")
		get := p.open("GET", "")
		get.want("what it cannot carry goes on the other stream", `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		get.close()
		time.Sleep(time.Minute)
		h.relay.release <- struct{}{}
		if got := <-response; got.body != `{"jsonrpc":"2.0","id":1,"result":"progressed"}` || got.header.Get("Content-Type") != typeJSON {
			t.Errorf("got %+v", got)
		}
	})
}
