package back

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// listenTest is a legacy client that subscribes at a modern backend over a pipe.
type listenTest struct {
	*testSession
	conn *scriptConn
}

func openListen(t *testing.T) *listenTest {
	ts, conn := openModern(t, false, legacyHello)
	return &listenTest{ts, conn}
}

// ask makes a request of the client and returns where its outcome will be.
func (lt *listenTest) ask(method, uri string) <-chan outcome {
	return lt.start(lt.t.Context(), newClient("call"), `"x"`, method, fmt.Sprintf(`{"uri":%q}`, uri))
}

// want takes the next listen, which must have this filter.
func (lt *listenTest) want(why, filter string) wire.ID {
	lt.t.Helper()
	req := lt.conn.want(why, listenMethod)
	if got := string(wire.Get(req.Params(), "notifications")); got != filter {
		lt.t.Fatalf("%s: filter %s, want %s", why, got, filter)
	}
	if meta := wire.ParseMeta(req.Params()); meta.Complete() != nil {
		lt.t.Errorf("%s: %s", why, req.Raw())
	}
	return req.ID()
}

// tell sends a notification on a subscription.
func (lt *listenTest) tell(id wire.ID, method, members string) {
	lt.conn.send("", `{"jsonrpc":"2.0","method":"notifications/%s","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}%s}}`, method, id, members)
}

func (lt *listenTest) acknowledge(id wire.ID, filter string) {
	lt.tell(id, "subscriptions/acknowledged", `,"notifications":`+filter)
}

// wantDone takes the outcome of a request, which must be empty success.
func (lt *listenTest) wantDone(why string, done <-chan outcome) {
	lt.t.Helper()
	if got := receive(lt.t, why, done); string(got.m.Result()) != "{}" {
		lt.t.Fatalf("%s: %s, %v", why, got.m.Raw(), got.err)
	}
}

// wantNote takes what the client hears next.
func (lt *listenTest) wantNote(why, want string) {
	lt.t.Helper()
	if got := receive(lt.t, why, lt.host.notes); string(got.Raw()) != want {
		lt.t.Errorf("%s: the client got %s, want %s", why, got.Raw(), want)
	}
}

const (
	listChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`
	updatedA    = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:a"}}`
	bothLists   = `"toolsListChanged":true,"resourcesListChanged":true`
)

// A legacy client's subscriptions are one listen: for each change a new one is
// opened, its acknowledgement waited for, and then the old one closed. What comes on
// both in between is told once.
func TestOneListen(t *testing.T) {
	lt := openListen(t)
	if err := lt.Notify(t.Context(), wire.NewNotification("notifications/initialized", nil)); err != nil {
		t.Fatal(err)
	}
	one := lt.want("the lists", `{`+bothLists+`}`)
	lt.tell(one, "tools/list_changed", "")
	lt.acknowledge(one, `{`+bothLists+`}`)
	lt.tell(one, "tools/list_changed", "")
	lt.wantNote("a change of a list, but none before the acknowledgement", listChanged)

	done := lt.ask("resources/subscribe", "x:a")
	two := lt.want("the lists and a resource", `{`+bothLists+`,"resourceSubscriptions":["x:a"]}`)
	lt.tell(one, "tools/list_changed", "")
	lt.wantNote("the old stream tells until the new one is there", listChanged)
	if len(done) > 0 {
		t.Error("answered before the acknowledgement")
	}
	lt.acknowledge(two, `{"resourceSubscriptions":["x:a"]}`)
	lt.wantDone("subscribe", done)
	if got := lt.conn.want("the old one is closed", "notifications/cancelled"); string(wire.Get(got.Params(), "requestId")) != string(one) {
		t.Errorf("closed %s, want %s", got.Raw(), one)
	}
	lt.tell(two, "resources/updated", `,"uri":"x:a"`)
	lt.wantNote("a resource", updatedA)

	lt.wantDone("subscribe again", lt.ask("resources/subscribe", "x:a"))
	lt.wantDone("unsubscribe from nothing", lt.ask("resources/unsubscribe", "x:b"))
	done = lt.ask("resources/unsubscribe", "x:a")
	three := lt.want("the lists", `{`+bothLists+`}`)
	lt.acknowledge(three, `{}`)
	lt.wantDone("unsubscribe", done)
	lt.conn.want("the old one is closed", "notifications/cancelled")
	if len(lt.host.notes) > 0 || len(lt.conn.sent) > 0 {
		t.Error("something came or went that nobody asked for")
	}
}

// What comes on the old and on the new stream while there are two is told once.
func TestTwoStreams(t *testing.T) {
	l := newLink(New("b", nil, Options{}, quietLog()).NewSession(Hello{}, nil), true)
	r := l.listener
	old, next := &subscription{listener: r, acked: make(chan struct{})}, &subscription{listener: r, acked: make(chan struct{})}
	a, b := parse(updatedA), parse(listChanged)
	step := func(sub *subscription, m wire.Message, want bool) {
		t.Helper()
		if got := r.isNew(sub, m); got != want {
			t.Errorf("new: %v, want %v", got, want)
		}
	}
	r.acknowledged(old, nil)
	step(old, a, true)
	step(old, a, true)
	step(next, a, false) // not acknowledged
	r.acknowledged(next, nil)
	step(old, a, true)
	step(next, a, false)
	step(next, b, true)
	step(next, b, true)
	step(old, b, false)
	step(old, b, false)
	step(old, b, true)
	step(&subscription{}, a, false) // over
	r.ended(t.Context(), old)
	step(old, a, false)
	step(next, b, true)
}

// A listen that is given up is not acknowledged any more.
func TestLateAcknowledgement(t *testing.T) {
	r := newLink(New("b", nil, Options{}, quietLog()).NewSession(Hello{}, nil), true).listener
	sub := &subscription{listener: r, acked: make(chan struct{})}
	if !r.giveUp(sub) {
		t.Fatal("not given up")
	}
	r.acknowledged(sub, nil)
	if r.current() != nil {
		t.Error("it is open all the same")
	}
	r.acknowledged(new(subscription{listener: r, acked: make(chan struct{})}), nil)
	if r.giveUp(r.current()) {
		t.Error("given up after its acknowledgement")
	}
}

// A resource that the backend does not agree to, or a listen that it refuses, is an
// error for who subscribes; what was subscribed to before stays.
func TestSubscriptionRefused(t *testing.T) {
	lt := openListen(t)
	done := lt.ask("resources/subscribe", "x:a")
	one := lt.want("one", `{"resourceSubscriptions":["x:a"]}`)
	lt.acknowledge(one, `{"resourceSubscriptions":["x:a"]}`)
	lt.wantDone("one", done)

	done = lt.ask("resources/subscribe", "x:b")
	two := lt.want("two", `{"resourceSubscriptions":["x:a","x:b"]}`)
	lt.acknowledge(two, `{"resourceSubscriptions":["x:a"]}`)
	if got := receive(t, "two", done); wire.ErrorFrom(got.err).Reason != wire.ReasonUnknown {
		t.Errorf("a resource that is left out: %s, %v", got.m.Raw(), got.err)
	}
	lt.conn.want("one is closed", "notifications/cancelled")
	lt.tell(two, "resources/updated", `,"uri":"x:a"`)
	lt.wantNote("the resource that is heard", updatedA)

	done = lt.ask("resources/subscribe", "x:c")
	three := lt.want("three", `{"resourceSubscriptions":["x:a","x:c"]}`)
	lt.conn.send("", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no","k":1.0}}`, three)
	if got := receive(t, "three", done); string(got.m.Error()) != `{"code":-32602,"message":"no","k":1.0}` || got.m.ID() != `"x"` {
		t.Errorf("a listen that is refused: %s, %v", got.m.Raw(), got.err)
	}
	lt.tell(two, "resources/updated", `,"uri":"x:a"`)
	lt.wantNote("the resource that is heard on", updatedA)

	if got := receive(t, "no uri", lt.start(t.Context(), newClient(""), `"x"`, "resources/subscribe", `{}`)); code(got.m) != wire.CodeInvalidParams {
		t.Errorf("without uri: %s, %v", got.m.Raw(), got.err)
	}
}

// A backend has 10 s to acknowledge a listen.
func TestAcknowledgementTimeout(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			lt := openListen(t)
			done := lt.ask("resources/subscribe", "x:a")
			id := lt.want("listen", `{"resourceSubscriptions":["x:a"]}`)
			if late {
				time.Sleep(ackTimeout + 1)
				lt.acknowledge(id, `{"resourceSubscriptions":["x:a"]}`)
				if got := receive(t, "late", done); wire.ErrorFrom(got.err).Reason != wire.ReasonTimeout {
					t.Errorf("%s, %v", got.m.Raw(), got.err)
				}
				lt.conn.want("the listen is cancelled", "notifications/cancelled")
				return
			}
			time.Sleep(ackTimeout - 1)
			lt.acknowledge(id, `{"resourceSubscriptions":["x:a"]}`)
			lt.wantDone("in time", done)
		})
	}
}

// A listen that ends is opened again, later each time, and at once after it had
// lived for a while; one that is refused is not.
func TestListenReopens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const filter = `{"resourceSubscriptions":["x:a"]}`
		lt := openListen(t)
		done := lt.ask("resources/subscribe", "x:a")
		id := lt.want("listen", filter)
		lt.acknowledge(id, filter)
		lt.wantDone("subscribe", done)
		end := func(byNotification bool) {
			if byNotification {
				lt.conn.send("", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
				return
			}
			lt.conn.receiver.Receive(wire.NewResult(id, []byte(`{"resultType":"complete"}`)), "")
		}
		again := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			id = lt.want("the listen again", filter)
			if took := time.Since(began); took < want || took > want+want/10 {
				t.Errorf("again after %v, want %v", took, want)
			}
			lt.acknowledge(id, filter)
			synctest.Wait()
		}
		for i := range 3 {
			end(i == 1)
			again(firstBackoff << i)
		}
		time.Sleep(steady)
		end(false)
		again(firstBackoff)
		end(false)
		id = lt.want("the listen again", filter)
		lt.conn.send("", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id)
		time.Sleep(time.Hour)
		if len(lt.conn.sent) > 0 {
			t.Errorf("a listen that was refused is asked for again: %s", (<-lt.conn.sent).Raw())
		}
	})
}

// A backend over a pipe that left and came back is listened to again.
func TestListenAfterRestart(t *testing.T) {
	lt := openListen(t)
	done := lt.ask("resources/subscribe", "x:a")
	lt.acknowledge(lt.want("listen", `{"resourceSubscriptions":["x:a"]}`), `{"resourceSubscriptions":["x:a"]}`)
	lt.wantDone("subscribe", done)
	lt.conn.fail(errors.New("killed"))
	if _, err := lt.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	lt.conn = receive(t, "second connection", lt.conns)
	id := lt.want("listen", `{"resourceSubscriptions":["x:a"]}`)
	lt.acknowledge(id, `{}`)
	lt.tell(id, "resources/updated", `,"uri":"x:a"`)
	lt.wantNote("a resource", updatedA)
}

func TestSubscriptionsAreBounded(t *testing.T) {
	lt := openListen(t)
	lt.mu.Lock()
	for i := range maxSubscriptions {
		lt.subscribed[fmt.Sprint(i)] = wire.Message{}
	}
	lt.mu.Unlock()
	if got := receive(t, "one more", lt.ask("resources/subscribe", "x:a")); code(got.m) != wire.CodeConnectionClosed {
		t.Errorf("%s, %v, want a limit", got.m.Raw(), got.err)
	}
}

// Over HTTP a listen is a stream of its own, and closing it is the end of it.
func TestListenOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wt := openWeb(t, false, legacyHello)
		done := callIn(t.Context(), wt.Session, parse(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x:a"}}`), newClient("call"))
		var streams []*eventWriter
		for _, change := range []string{"subscribe", "unsubscribe"} {
			a := wt.want(listenMethod)
			w := a.stream()
			streams = append(streams, w)
			w.message(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"resourceSubscriptions":["x:a","x:b"]}}}`, a.m.ID()))
			if got := receive(t, change, done); string(got.m.Result()) != "{}" {
				t.Fatalf("%s: %s, %v", change, got.m.Raw(), got.err)
			}
			done = callIn(t.Context(), wt.Session, parse(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x:b"}}`), newClient("call"))
		}
		streams[0].wantAbandoned(t)
		receive(t, "subscribe again", done)
		streams[1].message(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:a"}}`)
		receive(t, "a resource", wt.host.notes)
		streams[1].end(errors.New("reset"))
		wt.want(listenMethod).stream()
	})
}
