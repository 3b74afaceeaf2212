package front

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// A client that speaks only the modern era needs no handshake, and no session is
// made for it.
func TestStdioModern(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.send(modern("1", "server/discover", ""))
		p.want("the probe", `{"jsonrpc":"2.0","id":1,"result":`+fakeDiscovery+`}`)
		leg := <-relay.legs
		if leg.Principal != "local" || leg.Route != "" || leg.Transport != TransportStdio || leg.Header != nil || leg.Meta.Revision != wire.R20260728 {
			t.Errorf("leg %+v", leg)
		}
		p.send(modern(`"\u0061"`, "progress", ""))
		p.want("a notification", `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		relay.release <- struct{}{}
		p.want("the response behind it", `{"jsonrpc":"2.0","id":"\u0061","result":"progressed"}`)
		p.send(modern("2", methodListen, ""))
		p.wantPart("the acknowledgement", "notifications/subscriptions/acknowledged", `subscriptionId":2`)
		relay.changed <- struct{}{}
		p.wantPart("a change", "notifications/tools/list_changed")
		if len(relay.opened) > 0 {
			t.Error("a session was opened")
		}
	})
}

// What a request must say on stdio, and that the next is served after a bad one.
func TestStdioModernRefuses(t *testing.T) {
	at := func(revision string) string {
		return strings.ReplaceAll(modern("5", "echo", ""), "2026-07-28", revision)
	}
	tests := []struct{ name, line, want string }{
		{"no capabilities", `{"jsonrpc":"2.0","id":5,"method":"echo","params":{"_meta":{` + metaRevision + `}}}`, `"code":-32602`},
		{"revision of another type", `{"jsonrpc":"2.0","id":5,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}`, `"code":-32602`},
		{"an unknown revision", at("v999.0.0"), `"code":-32022,"message":"the revision of the request is not supported","data":{"hint":`},
		{"what was asked for", at("2027-01-01"), `"requested":"2027-01-01","supported":["2026-07-28","2025-11-25"`},
		{"a legacy revision", at("2025-11-25"), `open one by initialize`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
				p.send(test.line)
				p.wantPart("the refusal", `"id":5,"error":`, test.want, `"reason":`, `"hint":`)
				p.send(modern("5", "echo", ""))
				p.wantPart("the next", `"id":5,"result":`)
				if went := relay.went(); went != "answer" {
					t.Errorf("went to %q", went)
				}
			})
		})
	}
}

// Both eras share the pipe: each request is served in its own, and no two of either
// have the same id at the same time.
func TestStdioBothEras(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.send(modern("0", "server/discover", ""))
		p.wantPart("the probe", `"supportedVersions"`)
		p.shake(wire.R20250326)
		<-relay.notes
		if got := relay.went(); got != "open 1, answer 1" {
			t.Errorf("went to %q", got)
		}

		p.send(`{"jsonrpc":"2.0","id":1,"method":"wait"}`, modern("1", "echo", ""))
		p.wantPart("an id of a legacy call", `"id":1,"error":{"code":-32600`, `in progress`)
		p.send(modern("2", "wait", ""), modern("2", "echo", ""))
		p.wantPart("an id of a leg", `"id":2,"error":{"code":-32600`, `in progress`)
		for _, legacy := range []string{`{"jsonrpc":"2.0","id":2,"method":"echo"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`} {
			p.send(legacy)
			p.wantPart("an id of a leg, legacy", `"id":2,"error":{"code":-32600`, `in progress`)
		}
		p.send(`[{"jsonrpc":"2.0","id":2,"method":"echo"},{"jsonrpc":"2.0","id":3,"method":"echo"}]`)
		p.wantPart("an id of a leg, in a batch", `"id":null,"error":{"code":-32600`, `in progress`)
		p.send(`[` + modern("3", "echo", "") + `]`)
		p.wantPart("a leg in a batch", `[{"jsonrpc":"2.0","id":3,"error":{"code":-32600`)
		p.send(modern(`"2"`, "echo", ""))
		p.wantPart("another type of id", `"id":"2","result"`)

		p.send(modern("4", "initialize", `"protocolVersion":"2025-11-25"`))
		p.wantPart("initialize with modern marks is no handshake", `"id":4,"result":{"protocolVersion":"2025-11-25","_meta"`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/x","params":{`+metaWhole+`}}`, `{"jsonrpc":"2.0","method":"notifications/y"}`)
		if m := <-relay.notes; m.Method() != "notifications/y" {
			t.Errorf("a modern notification went to the session: %s", m.Raw())
		}
		relay.release <- struct{}{}
		relay.release <- struct{}{}
		got := p.next() + p.next()
		for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":"waited"}`, `{"jsonrpc":"2.0","id":2,"result":"waited"}`} {
			if !strings.Contains(got, want) {
				t.Errorf("got %s, without %s", got, want)
			}
		}
		if got := relay.went(); got != "open 0, answer 3" {
			t.Errorf("went to %q", got)
		}
	})
}

// D3: a client cancels a leg by its id, and hears nothing of it any more. An id that
// is no leg's is the session's.
func TestStdioModernCancel(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		cancel := func(id string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"enough"}}`, id)
		}
		p.send(modern("1", "block", ""), cancel(`"1"`), cancel("2"), cancel("null"), `{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
		synctest.Wait()
		if len(relay.causes) > 0 {
			t.Fatalf("ended by the id of another: %v", <-relay.causes)
		}
		p.send(cancel("1"))
		if c, ok := errors.AsType[*Cancelled](<-relay.causes); !ok || string(c.CancelNotification().Raw()) != cancel("1") {
			t.Errorf("cause %v", c)
		}
		p.send(cancel("1"), modern("1", "echo", `"again":1`))
		p.wantPart("nothing of what was cancelled, and the id is free", `{"jsonrpc":"2.0","id":1,"result":{"again":1`)

		p.send(modern("2", "wait", ""), cancel("2"), modern("2", "echo", `"again":2`))
		p.wantPart("the id is free though the relay takes its time", `{"jsonrpc":"2.0","id":2,"result":{"again":2`)
		relay.release <- struct{}{}

		p.shake(wire.Latest)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"block"}`, cancel("1"))
		if c, ok := errors.AsType[*Cancelled](<-relay.causes); !ok {
			t.Errorf("a legacy call: cause %v", c)
		}
	})
}

// A leg that was cancelled while its notification waits for room says nothing more.
func TestStdioModernCancelWhileBlocked(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.send(modern("1", "flood", ""))
		synctest.Wait()
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		held := 0
		p.send(modern("2", "echo", ""))
		for ; !strings.Contains(p.next(), `"id":2`); held++ {
		}
		<-relay.causes
		if held < maxBacklog || held > 2*maxBacklog+2 {
			t.Errorf("%d notifications", held)
		}
	})
}

// MaxCalls bounds the legs, beside the calls of a session.
func TestStdioModernLimit(t *testing.T) {
	onStdio(t, Options{MaxCalls: 2}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.send(modern("1", "wait", ""), modern("2", "wait", ""), modern("3", "echo", ""))
		p.wantPart("too many", `"id":3,"error":{"code":-32603`, `"reason":"limit"`, `"limit":2`, `"hint"`)
		relay.release <- struct{}{}
		p.wantPart("one of them", `"waited"`)
		p.send(modern("3", "echo", ""))
		p.wantPart("there is room again", `"id":3,"result"`)
		relay.release <- struct{}{}
		p.wantPart("the other", `"waited"`)
	})
}

// The legs of a client that has closed its end have a moment to finish; a
// subscription, which would never, holds up nothing.
func TestStdioModernLastResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		p := newPipePeer(t, relay, Options{})
		p.send(modern("1", "wait", ""), modern("2", "block", ""))
		closed := time.Now()
		p.in.Close()
		time.Sleep(700 * time.Millisecond)
		relay.release <- struct{}{}
		p.want("a response in time", `{"jsonrpc":"2.0","id":1,"result":"waited"}`)
		time.Sleep(49 * time.Millisecond)
		synctest.Wait()
		if len(relay.causes) > 0 {
			t.Errorf("ended early: %v", <-relay.causes)
		}
		// The client may still read, so what the relay says before the end is sent.
		got := p.next()
		if strings.Contains(got, "notifications/late") {
			got = p.next()
		}
		if !strings.Contains(got, `"id":2,"error":{"code":-32603`) || !strings.Contains(got, `"reason":"client_gone"`) {
			t.Errorf("a leg that takes too long: got %s", got)
		}
		if took := time.Since(closed); took != 750*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if cause := <-relay.causes; reasonOf(cause) != wire.ReasonClientGone {
			t.Errorf("cause %v", cause)
		}
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		p.stop()
	})
}

func TestStdioModernListenLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		p := newPipePeer(t, relay, Options{})
		p.send(modern("1", methodListen, ""))
		p.wantPart("the acknowledgement", "acknowledged")
		closed := time.Now()
		if err := p.leave(); err != nil {
			t.Error(err)
		}
		if took := time.Since(closed); took != 0 {
			t.Errorf("it took %v", took)
		}
		if cause := <-relay.causes; reasonOf(cause) != wire.ReasonClientGone {
			t.Errorf("cause %v", cause)
		}
	})
}

// When the gateway stops, what the relay says at the end is sent; when it says
// nothing, an error is.
func TestStdioModernStops(t *testing.T) {
	tests := []struct{ method, want string }{
		{"block", `{"jsonrpc":"2.0","id":1,"result":"after the end"}`},
		{"ignore", `"reason":"stopping"`},
		{methodListen, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`},
		{"flood", `{"jsonrpc":"2.0","id":1,"result":"flooded"}`},
	}
	for _, test := range tests {
		t.Run(test.method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				relay := newFakeRelay(t)
				p := newPipePeer(t, relay, Options{})
				p.send(modern("1", test.method, ""))
				if test.method == methodListen {
					p.wantPart("the acknowledgement", "acknowledged")
				}
				synctest.Wait()
				p.stop()
				if cause := <-relay.causes; reasonOf(cause) != wire.ReasonStopping {
					t.Errorf("cause %v", cause)
				}
				got := p.next()
				for strings.Contains(got, `"method":`) {
					got = p.next()
				}
				if !strings.Contains(got, test.want) {
					t.Errorf("got %s, want %s", got, test.want)
				}
				if err := <-p.done; err != nil {
					t.Error(err)
				}
				p.in.Close()
			})
		})
	}
}

// A client that is gone ends its legs.
func TestStdioModernWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		p := newPipePeer(t, relay, Options{})
		p.send(modern("1", "block", ""))
		p.out.Close()
		p.send(modern("2", "echo", ""))
		if cause := <-relay.causes; reasonOf(cause) != wire.ReasonClientGone {
			t.Errorf("cause %v", cause)
		}
		if err := <-p.done; err == nil {
			t.Error("a client that is gone is no error")
		}
		p.stop()
	})
}

// HTTP+SSE is older than the modern era: a client that tries is told what is spoken
// there, on its stream.
func TestModernOverSSE(t *testing.T) {
	onWeb(t, Options{SSE: true}, func(t *testing.T, h *web) {
		p := h.peer()
		p.path = "/sse"
		e := p.open("GET", "")
		endpoint, err := e.next()
		if err != nil {
			t.Fatal(err)
		}
		p.path = string(endpoint.Data)
		body := modern("1", "server/discover", "")
		p.post("the probe", body, 202, "")
		got := e.data("the refusal")
		for _, want := range []string{`"id":1,"error":{"code":-32022`, `"requested":"2026-07-28"`, `"supported":["2024-11-05"`} {
			if !strings.Contains(got, want) {
				t.Errorf("got %s, without %s", got, want)
			}
		}
		if went := h.relay.went(); went != "" {
			t.Errorf("went to %q", went)
		}
		e.close()
	})
}
