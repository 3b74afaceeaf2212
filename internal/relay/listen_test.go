package relay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// acknowledge is a modern backend's acknowledging a listen.
func (a arrived) acknowledge(granted string) {
	a.conn.send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{%q:%s},"notifications":%s}}`,
		wire.MetaSubscription, a.ID(), granted)
}

// tell is a modern backend's telling a change to a listen.
func (a arrived) tell(method, more string) {
	a.conn.send(`{"jsonrpc":"2.0","method":%q,"params":{%s"_meta":{%q:%s}}}`, method, more, wire.MetaSubscription, a.ID())
}

const listenAll = `"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:///one","a:///t\u0077o"]}`

// A listen at a modern backend: what that grants is acknowledged, and what it tells
// passes, under the id that the client chose; when it ends the listen, that ends.
func TestListenModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newModern(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly(`"l"`, "subscriptions/listen", listenAll)
		l := s.want("the listen", "subscriptions/listen")
		synctest.Wait()
		if len(c.got) > 0 {
			t.Errorf("told before the backend has acknowledged: %s", (<-c.got).Raw())
		}
		l.acknowledge(`{"toolsListChanged":true,"resourceSubscriptions":["a:///two"]}`)
		ack := c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		if got, want := string(ack.Params()), `{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:///t\u0077o"]}}`; got != want {
			t.Errorf("acknowledged %s\nwant %s", got, want)
		}
		l.tell("notifications/resources/list_changed", "") // not granted
		l.tell("notifications/resources/updated", `"uri":"a:///two",`)
		if got := c.want("the resource", "notifications/resources/updated"); string(wire.Get(got.Params(), "_meta", wire.MetaSubscription)) != `"l"` {
			t.Errorf("told %s", got.Raw())
		}
		l.answer(`{"resultType":"complete","_meta":{%q:%s}}`, wire.MetaSubscription, l.ID())
		end := c.wantID("the end", `"l"`)
		if got := string(wire.Get(end.Result(), "_meta", wire.MetaSubscription)); got != `"l"` {
			t.Errorf("ended with %s", end.Raw())
		}
		c.leave()
		<-c.left
	})
}

// A backend that refuses to be listened to is heard.
func TestListenRefused(t *testing.T) {
	s := newModern(t, "a")
	c := attach(t, gateway(t, relay.Options{}, s))
	c.modernly("1", "subscriptions/listen", listenAll)
	l := s.want("the listen", "subscriptions/listen")
	l.conn.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method","data":{"x":1}}}`, l.ID())
	if got := c.wantID("the refusal", "1"); string(got.Error()) != `{"code":-32601,"message":"no such method","data":{"x":1}}` {
		t.Errorf("refused with %s", got.Raw())
	}
	many := `"notifications":{"resourceSubscriptions":["` + strings.Repeat(`x:///","`, 1000) + `x:///"]}`
	wantError(t, "too many", c.ask("2", "subscriptions/listen", many), -32603, wire.ReasonLimit)
	wantError(t, "no filter", c.ask("3", "subscriptions/listen", ""), -32602, wire.ReasonParams)
}

// A catalogue is listened to as one. A backend that does not acknowledge in time is
// left out, and what it tells later is not passed on.
func TestListenCatalogue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lister(t, "a"), newModern(t, "b")
		b.lists("resources/list", `{"resources":[]}`).lists("resources/templates/list", `{"resourceTemplates":[]}`)
		c := attach(t, gateway(t, relay.Options{}, a, b))
		began := time.Now()
		c.modernly("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:///one"]}`)
		sub := a.want("the subscription", "resources/subscribe")
		sub.answer(`{}`)
		l := b.want("the listen", "subscriptions/listen")
		if got := string(wire.Get(l.Params(), "notifications")); got != `{"toolsListChanged":true,"promptsListChanged":true}` {
			t.Errorf("the modern backend is asked for %s", got)
		}
		ack := c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("acknowledged after %v, want 5s", waited)
		}
		if got := string(wire.Get(ack.Params(), "notifications")); got != `{"toolsListChanged":true,"resourceSubscriptions":["a:///one"]}` {
			t.Errorf("acknowledged %s", got)
		}
		l.acknowledge(`{"toolsListChanged":true,"promptsListChanged":true}`)
		l.tell("notifications/prompts/list_changed", "")
		l.tell("notifications/tools/list_changed", "")
		sub.conn.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:///one"}}`)
		c.want("the tools of one of them have changed", "notifications/tools/list_changed")
		c.want("the resource", "notifications/resources/updated")
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		a.want("the end at the one", "resources/unsubscribe").answer(`{}`)
		b.want("the end at the other", "notifications/cancelled")
		c.leave()
		<-c.left
	})
}

// What Beckon does not know of a listen passes between a client and the one modern
// backend behind it: the tasks that an extension lets listen to.
func TestListenExtension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newModern(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly(`"l"`, "subscriptions/listen", `"notifications":{"taskIds":["t1","t2"],"toolsListChanged":true}`)
		l := s.want("the listen", "subscriptions/listen")
		if got := string(wire.Get(l.Params(), "notifications", "taskIds")); got != `["t1","t2"]` {
			t.Errorf("the backend is asked for the tasks %s", got)
		}
		l.acknowledge(`{"taskIds":["t2"],"promptsListChanged":true}`)
		ack := c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		if got := string(wire.Get(ack.Params(), "notifications")); got != `{"taskIds":["t2"]}` {
			t.Errorf("acknowledged %s", got)
		}
		l.tell("notifications/tools/list_changed", "") // not granted
		l.tell("notifications/tasks", `"taskId":"t2","status":"working","x":1.0,`)
		told := c.want("the task", "notifications/tasks")
		if got, want := string(told.Params()), `{"taskId":"t2","status":"working","x":1.0,"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}`; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		l.conn.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, l.ID())
		c.wantID("the end, and nothing before it", `"l"`)

		c.modernly(`"m"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		l = s.want("another listen", "subscriptions/listen")
		l.acknowledge(`{"toolsListChanged":true}`)
		c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		l.tell("notifications/tasks", `"taskId":"t2",`)
		synctest.Wait()
		if len(c.got) > 0 {
			t.Errorf("told of what was not listened to: %s", (<-c.got).Raw())
		}
		c.leave()
		<-c.left
	})
}

// Of several listens to one resource a legacy backend hears once, and it is told the
// end when the last has ended. Each hears under its own id.
func TestListenShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lister(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		var sub arrived
		for i, id := range []string{`"one"`, `2`} {
			c.modernly(id, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["a:///one"]}`)
			if i == 0 {
				sub = s.want("the subscription", "resources/subscribe")
				sub.answer(`{}`)
			}
			c.want("the acknowledgement, with nothing asked again", "notifications/subscriptions/acknowledged")
		}
		changed := func(want ...string) {
			t.Helper()
			sub.conn.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:///one"}}`)
			heard := map[string]bool{}
			for range want {
				m := c.want("a change", "notifications/resources/updated")
				heard[string(wire.Get(m.Params(), "_meta", wire.MetaSubscription))] = true
			}
			for _, id := range want {
				if !heard[id] {
					t.Errorf("the listen %s heard nothing", id)
				}
			}
		}
		changed(`"one"`, `2`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"one"}}`)
		synctest.Wait()
		changed(`2`)
		if len(s.got)+len(c.got) > 0 {
			t.Error("the end of one listen is the end of the subscription, or of nothing")
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		s.want("the end", "resources/unsubscribe").answer(`{}`)
		c.leave()
		<-c.left
	})
}

// A legacy backend that does not say whether it agrees to a subscription holds up
// nobody but the listen that wants it, and that not for long.
func TestListenUnconfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lister(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		began := time.Now()
		c.modernly("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["a:///one"]}`)
		s.want("a subscription that is not confirmed", "resources/subscribe")
		ack := c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		if got := string(wire.Get(ack.Params(), "notifications")); got != `{}` || time.Since(began) != 5*time.Second {
			t.Errorf("acknowledged %s after %v, want nothing after 5s", got, time.Since(began))
		}
		s.want("nobody waits for it any more", "notifications/cancelled")
		c.modernly("2", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["a:///two"]}`)
		s.want("the next subscription", "resources/subscribe").answer(`{}`)
		ack = c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		if got := string(wire.Get(ack.Params(), "notifications")); got != `{"resourceSubscriptions":["a:///two"]}` {
			t.Errorf("acknowledged %s", got)
		}
		c.leave()
		s.want("the end", "resources/unsubscribe").answer(`{}`)
		<-c.left
	})
}

// Two listens to one resource are one subscription, however they spell it: it lasts
// as long as one of them.
func TestListenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lister(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["a:///one",7]}`)
		sub := s.want("the subscription", "resources/subscribe")
		sub.answer(`{}`)
		c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		c.modernly("2", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["a:///\u006fne"]}`)
		c.want("the other acknowledgement", "notifications/subscriptions/acknowledged")
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		sub.conn.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:///one"}}`)
		got := c.want("the change", "notifications/resources/updated")
		if id := string(wire.Get(got.Params(), "_meta", wire.MetaSubscription)); id != "2" {
			t.Errorf("told %s", got.Raw())
		}
		c.leave()
		s.want("the end of both", "resources/unsubscribe").answer(`{}`)
		<-c.left
	})
}

// A backend that cannot be listened to because it is not there is an error, and not
// an empty subscription; one that goes away ends the subscription.
func TestListenBackendGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newModern(t, "a")
		s.dial = func(context.Context) error { return errors.New("no such server") }
		c := attach(t, gateway(t, relay.Options{}, s))
		wantError(t, "not there", c.ask("1", "subscriptions/listen", listenAll), -32603, wire.ReasonBackendDown)
		s.dial = nil
		c.modernly("2", "subscriptions/listen", listenAll)
		s.want("the listen", "subscriptions/listen").conn.Close()
		wantError(t, "gone before the acknowledgement", c.wantID("the end", "2"), -32603, wire.ReasonBackendGone)
		c.modernly("3", "subscriptions/listen", listenAll)
		l := s.want("the listen", "subscriptions/listen")
		l.acknowledge(`{"toolsListChanged":true}`)
		c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		l.conn.Close()
		if end := c.wantID("the end", "3"); end.Kind() != wire.Result {
			t.Errorf("ended with %s", end.Raw())
		}
		c.leave()
		<-c.left
	})
}
