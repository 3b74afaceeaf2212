package relay_test

import (
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// begun notes forms at which somebody is.
type begun struct {
	ignore
	states chan input.State
}

func (b begun) Changed(_ *input.Request, e input.Event) { b.states <- e.Status.State }

// R111: a client that reports progress on the question tells that somebody is at it, and
// the form is active before anything was answered; once is enough.
func TestProgressIsASignOfLife(t *testing.T) {
	watch := begun{states: make(chan input.State, 10)}
	b := input.NewBroker(input.Limits{Timeout: time.Minute, Total: 10, PerSession: 10}, watch)
	s := newServer(t, "one")
	c, _ := connect(t, gateway(t, relay.Options{Broker: b}, s))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
	call := s.want("the call", "tools/call")
	call.conn.send(`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{},"formDefinition":%s,"_meta":{"progressToken":7}}}`, definition)
	asked := c.want("the question", "elicitation/create")
	for range 2 {
		c.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, wire.Get(asked.Params(), "_meta", "progressToken"))
		if got := s.want("the progress", "notifications/progress"); string(wire.Get(got.Params(), "progressToken")) != "7" {
			t.Errorf("the backend got %s", got.Raw())
		}
	}
	c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, asked.ID())
	s.want("the answer", "")
	if got := len(watch.states); got != 1 {
		t.Fatalf("%d things happened to the form", got)
	}
	if got := <-watch.states; got != input.Active {
		t.Errorf("the form is %s", got)
	}
	call.answer(`{}`)
	c.wantID("the result", "1")
}
