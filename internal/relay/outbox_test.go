package relay_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// A client that does not read what it is told holds up no other that shares a
// process of the backend with it, and is told the latest when it reads again.
func TestSlowClientHoldsUpNobody(t *testing.T) {
	long := strings.Repeat("x", 1000)
	const many = 5000 // more than fits on the way to a client of these tests
	t.Run("listen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := lister(t, "a")
			r := gateway(t, relay.Options{}, s)
			slow, other := attach(t, r), attach(t, r)
			slow.modernly(`"l"`, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["a:///one","a:///two"]}`)
			sub := s.want("the subscription", "resources/subscribe")
			sub.answer(`{}`)
			s.want("the other", "resources/subscribe").answer(`{}`)
			synctest.Wait()
			began := time.Now()
			sub.conn.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:///two"}}`)
			for n := range many {
				sub.conn.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:///one","n":%d,"x":%q}}`, n, long)
			}
			other.modernly("1", "completion/complete", "")
			s.want("the other client", "completion/complete").answer(`{}`)
			other.wantID("the other client", "1")
			if took := time.Since(began); took > 0 {
				t.Errorf("the others waited %v for the slow client", took)
			}
			slow.want("the acknowledgement", "notifications/subscriptions/acknowledged")
			var last wire.Message
			for n := 0; n != many-1; {
				last = slow.want("an update", "notifications/resources/updated")
				n = number(last, "n")
			}
			leave(slow, other)
		})
	})
	t.Run("call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newModern(t, "a")
			r := gateway(t, relay.Options{}, s)
			slow, other := attach(t, r), attach(t, r)
			slow.modernly("1", "tools/call", `"name":"do"`, `"progressToken":"mine"`)
			call := s.want("the call", "tools/call")
			began := time.Now()
			for n := range many {
				call.conn.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":%q}}`,
					wire.Get(call.Params(), "_meta", "progressToken"), n, long)
			}
			call.answer(`{"content":[],"resultType":"complete"}`)
			other.modernly("1", "tools/call", `"name":"do"`)
			s.want("the other client", "tools/call").answer(`{"content":[],"resultType":"complete"}`)
			other.wantID("the other client", "1")
			if took := time.Since(began); took > 0 {
				t.Errorf("the others waited %v for the slow client", took)
			}
			for n := -1; n != many-1; {
				n = number(slow.want("progress", "notifications/progress"), "progress")
			}
			slow.wantID("the response", "1")
			leave(slow, other)
		})
	})
}

// leave has clients go, and returns when nothing of them is left.
func leave(all ...*client) {
	for _, c := range all {
		c.leave()
		<-c.left
	}
}

// number returns a member of the params of m.
func number(m wire.Message, member string) int {
	n, err := strconv.Atoi(string(wire.Get(m.Params(), member)))
	if err != nil {
		return -1
	}
	return n
}
