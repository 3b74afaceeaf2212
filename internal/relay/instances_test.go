package relay_test

import (
	"testing"
	"testing/synctest"

	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// A backend over a pipe that still asks for a call which its client cancelled asks
// nobody else: no other call is made in a process that may still be at that one.
// D6, R16
func TestCancelledCallAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		r := gateway(t, relay.Options{}, s)
		one, other := attach(t, r), attach(t, r)
		var seen []*serverConn
		for range 3 { // the first process of a session is another matter than those that follow
			one.modernly("1", "tools/call", `"name":"do"`)
			call := s.want("the call", "tools/call")
			one.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			s.want("the end of the call", "notifications/cancelled")
			synctest.Wait()

			other.modernly("2", "tools/call", `"name":"do"`)
			next := s.want("the call of the other", "tools/call")
			if next.conn == call.conn {
				t.Error("a call is made in the process that is still at another")
			}
			seen = append(seen, call.conn)
			for _, late := range seen {
				late.send(form, "7")
			}
			synctest.Wait()
			if len(other.got) > 0 {
				t.Fatalf("the other client was asked: %s", (<-other.got).Raw())
			}
			for len(s.got) > 0 {
				if m := s.next("the refusal"); m.ID() != "7" || m.Kind() != wire.Failure {
					t.Errorf("the backend got %s", m.Raw())
				}
			}
			next.answer(`{"content":[]}`)
			other.wantID("the result", "2")
			if n := s.open.Load(); n > 2 {
				t.Errorf("there are %d processes, of which one may be used", n)
			}
		}
		leave(one, other)
	})
}
