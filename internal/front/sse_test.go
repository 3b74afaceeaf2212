package front

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// connect opens a session over HTTP+SSE and returns its stream; the peer posts to
// the address that it was told.
func (p *webPeer) connect() *events {
	p.t.Helper()
	e := p.open("GET", "")
	ev, err := e.next()
	if err != nil || ev.Type != "endpoint" || ev.ID != "" {
		p.t.Fatalf("the first event: got %+v, %v", ev, err)
	}
	p.path = string(ev.Data)
	return e
}

func TestSSELife(t *testing.T) {
	onWeb(t, Options{SSE: true, Backends: []string{"one"}}, func(t *testing.T, h *web) {
		for _, path := range []string{"/sse", "/sse/one"} {
			p := h.peer()
			p.path = path
			e := p.connect()
			if !strings.HasPrefix(p.path, path+"?session=") {
				t.Errorf("the address is %s", p.path)
			}
			p.post("initialize", initializeAs(wire.R20241105), 202, "")
			e.want("the response", initialized(wire.R20241105))
			p.post("initialized", initializedNote, 202, "")
			c := <-h.relay.opened
			if c.Transport != TransportSSE || c.Route != strings.TrimPrefix(strings.TrimPrefix(path, "/sse"), "/") {
				t.Errorf("client %+v", c)
			}
			p.post("a call", `{"jsonrpc":"2.0","id":1,"method":"ask"}`, 202, "")
			e.want("the question", fmt.Sprintf(askedForm, 1))
			p.post("the answer", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"decline"}}`, 202, "")
			e.want("the response", `{"jsonrpc":"2.0","id":1,"result":{"jsonrpc":"2.0","id":"ask-1","result":{"action":"decline"}}}`)
			p.post("an answer too late", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"decline"}}`, 202, "")
			c.Notify(note("x"))
			e.want("of the session", `{"jsonrpc":"2.0","method":"notifications/x"}`)

			// The stream's end is the client's leaving.
			p.post("a call", `{"jsonrpc":"2.0","id":2,"method":"ask"}`, 202, "")
			e.want("the question", fmt.Sprintf(askedForm, 2))
			start := time.Now()
			e.close()
			<-h.relay.answers
			if a := <-h.relay.answers; a.Outcome != input.Abandoned || time.Since(start) != 0 {
				t.Errorf("got %v after %v", a.Outcome, time.Since(start))
			}
			<-h.relay.closed
			if got := p.send("POST", initializedNote); got.status != 404 {
				t.Errorf("after the end: got %+v", got)
			}
		}
	})
}

func TestSSERefusals(t *testing.T) {
	onWeb(t, Options{SSE: true}, func(t *testing.T, h *web) {
		p := h.peer()
		p.path = "/sse"
		e := p.connect()
		address := p.path
		for _, test := range []struct {
			name, method, path, body string
			headers                  []string
			status                   int
		}{
			{"a client that tries streamable HTTP", "POST", "/sse", initializeAs(wire.Latest), nil, 405},
			{"unknown session", "POST", "/sse?session=x", initializedNote, nil, 404},
			{"no message", "POST", address, `{`, nil, 400},
			{"batch", "POST", address, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, 400},
			{"never asked", "POST", address, `{"jsonrpc":"2.0","id":"ask-1","result":{}}`, nil, 400},
			{"no JSON", "POST", address, initializedNote, []string{"Content-Type", "text/plain"}, 415},
			{"no event stream", "GET", "/sse", ``, []string{"Accept", "application/json"}, 406},
			{"another method", "DELETE", address, ``, nil, 405},
			{"the session of the other transport", "GET", "/mcp", ``, []string{headerSession, strings.Split(address, "=")[1]}, 404},
		} {
			p.path = test.path
			if got := p.send(test.method, test.body, test.headers...); got.status != test.status || !strings.Contains(got.body, `"reason":`) {
				t.Errorf("%s: got %+v", test.name, got)
			}
		}
		p.path = address
		p.post("a request before initialize", `{"jsonrpc":"2.0","id":1,"method":"echo"}`, 202, "")
		if got := e.data("the refusal"); !strings.Contains(got, `"id":1,"error":{"code":-32600`) {
			t.Errorf("got %s", got)
		}
		e.close()
	})
}

func TestSSEIsOffUnlessConfigured(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer()
		p.path = "/sse"
		if got := p.send("GET", ""); got.status != http.StatusNotFound {
			t.Errorf("got %+v", got)
		}
	})
}

// The session of streamable HTTP cannot be used by way of HTTP+SSE.
func TestSSEOtherTransport(t *testing.T) {
	onWeb(t, Options{SSE: true}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		q := h.peer()
		q.path = "/sse?session=" + p.session
		if got := q.send("POST", initializedNote); got.status != 404 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestSSEDrain(t *testing.T) {
	onWeb(t, Options{SSE: true}, func(t *testing.T, h *web) {
		p := h.peer()
		p.path = "/sse"
		e := p.connect()
		p.post("initialize", initializeAs(wire.R20241105), 202, "")
		e.want("the response", initialized(wire.R20241105))
		p.post("a call", `{"jsonrpc":"2.0","id":1,"method":"block"}`, 202, "")
		h.stop()
		if got := e.data("the end of the call"); !strings.Contains(got, `"reason":"stopping"`) {
			t.Errorf("got %s", got)
		}
		e.wantEnd("the end of the stream")
		if err, ok := errors.AsType[*wire.Error](<-h.relay.causes); !ok || err.Reason != wire.ReasonStopping {
			t.Errorf("cause %v", err)
		}
	})
}
