package front

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// onStdio runs a story of one client on stdio in a bubble.
func onStdio(t *testing.T, o Options, story func(t *testing.T, p *pipePeer, relay *fakeRelay)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		hooks := relay.options()
		o.Late, o.Stray = hooks.Late, hooks.Stray
		p := newPipePeer(t, relay, o)
		story(t, p, relay)
		if err := p.leave(); err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
}

func TestStdioLife(t *testing.T) {
	onStdio(t, Options{MaxCalls: 2}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		p.want("a ping before initialize", `{"jsonrpc":"2.0","id":"p","result":{}}`)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"echo"}`)
		p.wantPart("a request before initialize", `"id":1`, `-32600`, `initialize first`)
		p.shake(wire.R20250618)
		if c := <-relay.opened; c.Revision() != wire.R20250618 || c.Transport != TransportStdio || c.Principal != "local" {
			t.Errorf("client %+v", c)
		}
		p.send(initializeAs(wire.R20250618))
		p.wantPart("a second initialize", `-32600`, `initialized before`)

		// R7: what the client sent comes back, byte by byte.
		p.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"b":1.50,"a":1e2,"b\u0032":null}}`)
		p.want("an echo", `{"jsonrpc":"2.0","id":1,"result":{"b":1.50,"a":1e2,"b\u0032":null}}`)

		p.send(`{"jsonrpc":"2.0","id":1,"method":"block"}`, `{"jsonrpc":"2.0","id":1,"method":"echo"}`)
		p.wantPart("an id that is in use", `"id":1`, `-32600`, `in progress`)
		p.send(`{"jsonrpc":"2.0","id":"1","method":"block"}`, `{"jsonrpc":"2.0","id":3,"method":"echo"}`)
		p.wantPart("too many calls", `"id":3`, `"reason":"limit"`, `"limit":2`)

		// D3: the types of ids are kept apart.
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`)
		if c, ok := errors.AsType[*Cancelled](<-relay.causes); !ok || !strings.Contains(string(c.Notification.Raw()), `"requestId":"1"`) {
			t.Errorf("cause %v", c)
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if err := <-relay.causes; err.Error() != "the client cancelled the request" {
			t.Errorf("cause %v", err)
		}
		synctest.Wait()
		p.send(`{"jsonrpc":"2.0","id":1,"method":"echo"}`)
		p.want("no response to what was cancelled, and the id is free", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
}

func TestStdioInitializeFailsAndIsTriedAgain(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		relay.open = func(_ context.Context, c *Client, _ wire.Message) *wire.Error {
			relay.open = nil
			return wire.Errorf(wire.ReasonBackendDown, "no backend")
		}
		p.send(initializeAs(wire.Latest))
		p.wantPart("a relay that refuses", `"id":0`, `no backend`)
		p.shake(wire.Latest)
	})
}

// What comes while the relay opens the session waits for it, in both directions.
func TestStdioPipelined(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		ended := make(chan input.Answer, 1)
		relay.open = func(_ context.Context, c *Client, _ wire.Message) *wire.Error {
			c.Notify(note("early"))
			relay.pose(question(""), c, ended)
			<-relay.release
			return nil
		}
		p.send(initializeAs(wire.Latest), initializedNote, `{"jsonrpc":"2.0","id":1,"method":"echo"}`)
		synctest.Wait()
		p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		p.want("a ping while the session opens", `{"jsonrpc":"2.0","id":"p","result":{}}`)
		time.Sleep(10 * time.Second) // far more than LeaveGrace
		relay.release <- struct{}{}
		p.want("first the response", initialized(wire.Latest))
		p.want("then what came early", `{"jsonrpc":"2.0","method":"notifications/early"}`)
		got := p.next() + p.next()
		if !strings.Contains(got, `"id":1,"result":{}`) || !strings.Contains(got, `"id":"ask-1","method":"elicitation/create"`) {
			t.Errorf("after that, in any order, the call and the question: got %s", got)
		}
		p.send(`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"decline"}}`)
		if a := <-ended; a.Outcome != input.Decline {
			t.Errorf("outcome %v", a.Outcome)
		}
	})
}

// A request is served behind the notifications that came before it.
func TestStdioNotificationsInOrder(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.shake(wire.Latest)
		<-relay.notes
		p.send(
			`{"jsonrpc":"2.0","method":"notifications/stall"}`,
			`{"jsonrpc":"2.0","method":"notifications/second"}`,
			`{"jsonrpc":"2.0","id":1,"method":"echo"}`,
			`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		p.want("a stalled backend holds up no ping", `{"jsonrpc":"2.0","id":2,"result":{}}`)
		synctest.Wait()
		relay.release <- struct{}{}
		p.want("the call", `{"jsonrpc":"2.0","id":1,"result":{}}`)
		if a, b := <-relay.notes, <-relay.notes; a.Method() != "notifications/stall" || b.Method() != "notifications/second" {
			t.Errorf("got %s, %s", a.Method(), b.Method())
		}
	})
}

// A client that floods a stalled backend waits; nothing is lost, and nothing grows.
func TestStdioNotificationsBackPressure(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.shake(wire.Latest)
		<-relay.notes
		const flood = 3 * maxNotes
		sent := make(chan int)
		p.send(`{"jsonrpc":"2.0","method":"notifications/stall"}`)
		synctest.Wait()
		go func() {
			for i := range flood {
				p.send(`{"jsonrpc":"2.0","method":"notifications/flood"}`)
				_ = i
			}
			close(sent)
		}()
		synctest.Wait()
		select {
		case <-sent:
			t.Error("the client did not have to wait")
		default:
		}
		relay.release <- struct{}{}
		<-sent
		for range flood + 1 {
			<-relay.notes
		}
	})
}

// Bad input is refused with an error, and the connection and the other calls go on.
func TestStdioBadInput(t *testing.T) {
	long := strings.Repeat("x", 1000)
	tests := []struct{ name, line, want string }{
		{"half a message", `{"jsonrpc":"2.0","id":5,"method":"echo","params":{"a":`, `"code":-32700`},
		{"trailing data", `{"jsonrpc":"2.0","id":5,"method":"echo"} {}`, `"id":5,"error":{"code":-32700`},
		{"duplicate member", `{"jsonrpc":"2.0","id":5,"id":6,"method":"echo"}`, `"id":null,"error":{"code":-32600`},
		{"duplicate inner member", `{"jsonrpc":"2.0","id":5,"method":"echo","params":{"a":1,"a":2}}`, `"id":5,"error":{"code":-32600`},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"echo\xff\"}", `"code":-32700`},
		{"no JSON", `hello`, `"id":null,"error":{"code":-32700`},
		{"fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"echo"}`, `"code":-32600`},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"echo"}`, `"code":-32600`},
		{"array params", `{"jsonrpc":"2.0","id":5,"method":"echo","params":[1]}`, `"code":-32600`},
		{"batch", `[{"jsonrpc":"2.0","id":5,"method":"echo"}]`, `batch`},
		{"too long", `{"jsonrpc":"2.0","id":5,"method":"` + long + `"}`, `"limitBytes":500`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onStdio(t, Options{MaxMessage: 500}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
				p.shake(wire.R20250618)
				p.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
				p.send(test.line)
				p.wantPart("the refusal", test.want, `"reason":`, `"hint":`)
				relay.release <- struct{}{}
				p.want("the call before", `{"jsonrpc":"2.0","id":1,"result":"waited"}`)
				p.send(`{"jsonrpc":"2.0","id":2,"method":"echo"}`)
				p.want("the call after", `{"jsonrpc":"2.0","id":2,"result":{}}`)
			})
		})
	}
}

func TestStdioHundredMegabyteLine(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.shake(wire.Latest)
		go func() {
			chunk := strings.Repeat("y", 1<<20)
			for range 100 {
				p.in.Write([]byte(chunk))
			}
			p.send("")
		}()
		p.wantPart("the refusal", `"id":null`, `"reason":"size"`)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"echo"}`)
		p.want("the connection lives", `{"jsonrpc":"2.0","id":2,"result":{}}`)
	})
}

func TestStdioBatch(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.shake(wire.R20250326)
		<-relay.notes
		p.send(`[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","method":"notifications/x"}]`)
		p.want("one request", `[{"jsonrpc":"2.0","id":1,"result":{}}]`)
		if m := <-relay.notes; m.Method() != "notifications/x" {
			t.Errorf("got %s", m.Method())
		}
		p.send(`[{"jsonrpc":"2.0","id":1,"method":"block"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
		synctest.Wait()
		p.send(`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`)
		p.want("a cancelled request is left out", `[{"jsonrpc":"2.0","id":2,"result":{}}]`)
		p.send(`[{"jsonrpc":"2.0","id":3,"method":"initialize"}]`)
		p.wantPart("initialize in a batch", `[{"jsonrpc":"2.0","id":3,"error":{"code":-32600`)
		p.send(`[]`)
		p.wantPart("an empty batch", `"id":null,"error":{"code":-32600`)
	})
}

// The calls of a client that has closed its end have a moment to finish.
func TestStdioLastResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		p := newPipePeer(t, relay, Options{})
		p.shake(wire.Latest)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`, `{"jsonrpc":"2.0","id":2,"method":"block"}`)
		p.in.Close()
		time.Sleep(700 * time.Millisecond)
		relay.release <- struct{}{}
		p.want("a response in time", `{"jsonrpc":"2.0","id":1,"result":"waited"}`)
		p.wantPart("a call that takes too long", `"id":2`, `"reason":"client_gone"`)
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		<-relay.closed
		if e, ok := errors.AsType[*wire.Error](<-relay.causes); !ok || e.Reason != wire.ReasonClientGone {
			t.Errorf("cause %v", e)
		}
		p.stop()
	})
}

func TestStdioStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		p := newPipePeer(t, relay, Options{})
		p.shake(wire.Latest)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"block"}`)
		synctest.Wait()
		p.stop()
		p.wantPart("a call at the end", `"id":2`, `"reason":"stopping"`)
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		<-relay.closed
	})
}

// A client that takes nothing any more ends the session, and holds up nobody.
func TestStdioClientDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		p := newPipePeer(t, relay, Options{})
		p.shake(wire.Latest)
		c := <-relay.opened
		sent := 0
		done := make(chan struct{})
		go func() {
			for range 10 * maxBacklog {
				c.Notify(note("flood"))
				sent++
			}
			close(done)
		}()
		synctest.Wait()
		if sent < maxBacklog || sent > 2*maxBacklog+2 {
			t.Errorf("%d notifications were taken before the relay had to wait", sent)
		}
		p.stop()
		<-done
		if err := <-p.done; err == nil || !strings.Contains(err.Error(), "does not read") {
			t.Errorf("got %v", err)
		}
		p.in.Close()
	})
}

func TestStdioWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		p := newPipePeer(t, relay, Options{})
		p.shake(wire.Latest)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"block"}`)
		p.out.Close()
		p.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if err := <-p.done; err == nil {
			t.Error("a client that is gone is no error")
		}
		<-relay.closed
		p.stop()
	})
}
