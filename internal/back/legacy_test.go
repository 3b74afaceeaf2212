package back

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// script is a backend that the test plays: a Dialer whose connections hand what
// the gateway sends to the test.
type script struct {
	t          *testing.T
	attributes bool
	dial       func() error                         // nil dials; an error refuses
	hello      func(req wire.Message) *wire.Message // answers initialize; nil gives the usual answer
	discover   func(req wire.Message) *wire.Message // answers server/discover; nil leaves it unanswered
	conns      chan *scriptConn
}

func newScript(t *testing.T) *script {
	return &script{t: t, conns: make(chan *scriptConn, 100)}
}

func (s *script) Dial(_ context.Context, r Receiver) (Conn, error) {
	if s.dial != nil {
		if err := s.dial(); err != nil {
			return nil, err
		}
	}
	c := &scriptConn{script: s, receiver: r, sent: make(chan wire.Message, 100), done: make(chan struct{})}
	s.conns <- c
	return c, nil
}

type scriptConn struct {
	script   *script
	receiver Receiver
	sent     chan wire.Message // everything but initialize
	refuse   error             // what Send says, unless nil
	slow     chan struct{}     // Send waits until it is closed, unless nil
	once     sync.Once
	done     chan struct{}
	err      error
}

func (c *scriptConn) Send(ctx context.Context, m wire.Message) error {
	if m.Method() == "initialize" {
		answer := wire.NewResult(m.ID(), []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`))
		if c.script.hello != nil {
			p := c.script.hello(m)
			if p == nil {
				return nil // never answers
			}
			answer = *p
		}
		c.receiver.Receive(answer, "")
		return nil
	}
	if c.refuse != nil {
		return c.refuse
	}
	if c.slow != nil {
		select {
		case <-c.slow:
		case <-c.done:
			return c.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if m.Method() == "server/discover" && c.script.discover != nil {
		if p := c.script.discover(m); p != nil {
			c.receiver.Receive(*p, "")
		}
		return nil
	}
	c.sent <- m
	return nil
}

func (c *scriptConn) Attributes() bool         { return c.script.attributes }
func (c *scriptConn) Negotiated(wire.Revision) {}
func (c *scriptConn) Close()                   { c.fail(errors.New("closed")) }
func (c *scriptConn) Done() <-chan struct{}    { return c.done }
func (c *scriptConn) Err() error               { return c.err }

// fail is the backend's going away.
func (c *scriptConn) fail(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.done)
	})
}

// want returns the next message that the gateway sends.
func (c *scriptConn) want(why, method string) wire.Message {
	c.script.t.Helper()
	select {
	case m := <-c.sent:
		if m.Method() != method {
			c.script.t.Fatalf("%s: the backend got %s, want method %q", why, m.Raw(), method)
		}
		return m
	case <-time.After(10 * time.Second):
		c.script.t.Fatalf("%s: the backend got nothing, want method %q", why, method)
	}
	panic("unreachable")
}

// send is the backend's sending a message, on the stream of a request or not.
func (c *scriptConn) send(of wire.ID, format string, args ...any) {
	c.script.t.Helper()
	m, err := wire.Parse(fmt.Appendf(nil, format, args...))
	if err != nil {
		c.script.t.Fatal(err)
	}
	c.receiver.Receive(m, of)
}

func (c *scriptConn) answer(req wire.Message, result string) {
	c.receiver.Receive(wire.NewResult(req.ID(), []byte(result)), req.ID())
}

// client is a Caller that remembers.
type client struct {
	name      string
	notes     chan wire.Message
	asked     chan Asked
	withdrawn chan *wire.Error
}

func newClient(name string) *client {
	return &client{name, make(chan wire.Message, 100), make(chan Asked, 100), make(chan *wire.Error, 100)}
}

func (c *client) Notify(m wire.Message) { c.notes <- m }
func (c *client) Ask(a Asked) func(*wire.Error) {
	c.asked <- a
	return func(err *wire.Error) { c.withdrawn <- err }
}

// receive returns the next value of ch.
func receive[T any](t *testing.T, why string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: nothing came", why)
	}
	panic("unreachable")
}

// outcome is how a call ended.
type outcome struct {
	m   wire.Message
	err error
}

type testSession struct {
	*Session
	t *testing.T
	*script
	host *client // the session's caller
}

func open(t *testing.T, s *script) *testSession {
	b := New("b", s, Options{}, slog.New(slog.DiscardHandler))
	host := newClient("session")
	ts := &testSession{b.NewSession(Hello{Params: []byte(`{"protocolVersion":"2025-11-25","capabilities":{}}`)}, host), t, s, host}
	t.Cleanup(ts.Close)
	return ts
}

func (ts *testSession) connect() *scriptConn {
	ts.t.Helper()
	if _, err := ts.Connect(ts.t.Context()); err != nil {
		ts.t.Fatalf("connecting: %v", err)
	}
	return receive(ts.t, "connecting", ts.conns)
}

// start makes a call and returns where its outcome will be.
func (ts *testSession) start(ctx context.Context, c *client, id, method, params string) <-chan outcome {
	done := make(chan outcome, 1)
	req := wire.NewRequest(wire.ID(id), method, []byte(params))
	go func() {
		m, err := ts.Call(ctx, req, c)
		done <- outcome{m, err}
	}()
	return done
}

// R17, R18: responses find their calls whatever their order, and carry the
// client's own ids, types kept.
func TestCallsAreMatchedByID(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	number := ts.start(t.Context(), newClient(""), `1`, "tools/call", `{"name":"a"}`)
	first := conn.want("first call", "tools/call")
	text := ts.start(t.Context(), newClient(""), `"1"`, "tools/call", `{"name":"b"}`)
	second := conn.want("second call", "tools/call")
	conn.answer(second, `{"of":"b","n":1.0}`)
	conn.answer(first, `{"of":"a"}`)
	if got := receive(t, "number", number); string(got.m.Raw()) != `{"jsonrpc":"2.0","id":1,"result":{"of":"a"}}` {
		t.Errorf("call 1 got %s", got.m.Raw())
	}
	if got := receive(t, "text", text); string(got.m.Raw()) != `{"jsonrpc":"2.0","id":"1","result":{"of":"b","n":1.0}}` {
		t.Errorf(`call "1" got %s`, got.m.Raw())
	}
	conn.answer(first, `{"late":true}`) // changes nothing, ends nothing
	third := ts.start(t.Context(), newClient(""), `2`, "tools/list", `{}`)
	conn.answer(conn.want("third call", "tools/list"), `{}`)
	receive(t, "third", third)
}

// A response that is no valid message ends its call; there will be no other. The
// client is told in the words of its era.
func TestMalformedResponse(t *testing.T) {
	ts := open(t, newScript(t))
	malformedResponse(t, ts, ts.connect(), wire.CodeConnectionClosed)
	modern, conn := openModern(t, true, legacyHello)
	malformedResponse(t, modern, conn, wire.CodeInternal)
}

func malformedResponse(t *testing.T, ts *testSession, conn *scriptConn, want int) {
	t.Helper()
	done := ts.start(t.Context(), newClient(""), `1`, "tools/call", `{}`)
	req := conn.want("call", "tools/call")
	_, err := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"a":1,"a":2}}`, req.ID()))
	if err == nil {
		t.Fatal("a duplicate member was accepted")
	}
	conn.receiver.Noise(err)
	if got := receive(t, "call", done); string(got.m.ID()) != "1" || code(got.m) != want {
		t.Errorf("the call ended with %s, %v; want an error %d", got.m.Raw(), got.err, want)
	}
}

// D6, R16: a question goes to the call on whose stream it came; where the
// transport does not tell, to the only call that can have asked; and to the
// session, which is the same client, when that is none or several.
func TestWhoIsAsked(t *testing.T) {
	question := `{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`
	t.Run("by stream", func(t *testing.T) {
		s := newScript(t)
		s.attributes = true
		ts := open(t, s)
		conn := ts.connect()
		one, two := newClient("one"), newClient("two")
		ts.start(t.Context(), one, "1", "tools/call", `{}`)
		conn.want("one", "tools/call")
		ts.start(t.Context(), two, "2", "tools/call", `{}`)
		req := conn.want("two", "tools/call")
		conn.send(req.ID(), question, 0)
		if a := receive(t, "question on a stream", two.asked); a.Inferred {
			t.Error("inferred, though the stream tells")
		}
		conn.send("", question, 1)
		receive(t, "question on the stream of the session", ts.host.asked)
	})
	t.Run("by inference", func(t *testing.T) {
		ts := open(t, newScript(t))
		conn := ts.connect()
		conn.send("", question, 0)
		receive(t, "question without a call", ts.host.asked)
		lister, one, two := newClient("lister"), newClient("one"), newClient("two")
		ts.start(t.Context(), lister, "1", "tools/list", `{}`)
		conn.want("lister", "tools/list")
		conn.send("", question, 1)
		receive(t, "question during a call that cannot ask", ts.host.asked)
		ts.start(t.Context(), one, "2", "prompts/get", `{}`)
		conn.want("one", "prompts/get")
		conn.send("", question, 2)
		if a := receive(t, "question during one call", one.asked); !a.Inferred {
			t.Error("not inferred, though nothing tells")
		}
		ts.start(t.Context(), two, "3", "tools/call", `{}`)
		conn.want("two", "tools/call")
		conn.send("", question, 3)
		receive(t, "question during two calls", ts.host.asked)
	})
}

// R6: the answer goes to the backend under the id of its question; a second one
// goes nowhere.
func TestReplyOnce(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	conn.send("", `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}`)
	a := receive(t, "question", ts.host.asked)
	a.Reply(wire.NewResult("99", []byte(`{"action":"accept"}`)))
	a.Reply(wire.NewResult("99", []byte(`{"action":"decline"}`)))
	if got := conn.want("answer", ""); string(got.Raw()) != `{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}` {
		t.Errorf("the backend got %s", got.Raw())
	}
	conn.send("", `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	if got := conn.want("pong, and no second answer before it", ""); got.ID() != `"p"` {
		t.Errorf("the backend got %s, want the answer to its ping", got.Raw())
	}
}

// A question under the id of one that is open is refused, and harms it not.
func TestDuplicateQuestionID(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	conn.send("", `{"jsonrpc":"2.0","id":0,"method":"roots/list"}`)
	a := receive(t, "question", ts.host.asked)
	conn.send("", `{"jsonrpc":"2.0","id":0,"method":"roots/list"}`)
	if got := conn.want("refusal", ""); got.Kind() != wire.Failure {
		t.Errorf("the backend got %s, want an error", got.Raw())
	}
	a.Reply(wire.NewResult("1", []byte(`{"roots":[]}`)))
	if got := conn.want("answer", ""); got.Kind() != wire.Result {
		t.Errorf("the backend got %s, want the answer", got.Raw())
	}
}

// R11, R12, R29: what the backend cancels is withdrawn, and an answer that comes
// later is not sent.
func TestBackendCancels(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	conn.send("", `{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}}`)
	a := receive(t, "question", ts.host.asked)
	conn.send("", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"5"}}`) // another id
	conn.send("", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"too slow"}}`)
	if err := receive(t, "withdrawal", ts.host.withdrawn); err.Message != "too slow" {
		t.Errorf("withdrawn because %q, want the backend's reason", err.Message)
	}
	a.Reply(wire.NewResult("1", []byte(`{"action":"accept"}`)))
	conn.send("", `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	if got := conn.want("nothing but the pong", ""); got.ID() != `"p"` {
		t.Errorf("the backend got %s after it had cancelled", got.Raw())
	}
}

// cancelled is the cause that a front gives.
type cancelled struct{ m wire.Message }

func (c cancelled) Error() string                    { return "cancelled" }
func (c cancelled) CancelNotification() wire.Message { return c.m }

// A client's cancellation reaches the backend with the backend's id, in the
// client's words.
func TestClientCancels(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := ts.start(ctx, newClient(""), `"x"`, "tools/call", `{}`)
	req := conn.want("call", "tools/call")
	cancel(cancelled{wire.NewNotification("notifications/cancelled", []byte(`{"reason":"no","requestId":"x","k":1.0}`))})
	if got := receive(t, "call", done); !errors.As(got.err, &cancelled{}) {
		t.Errorf("the call ended with %v, want its cause", got.err)
	}
	want := fmt.Sprintf(`{"reason":"no","requestId":%s,"k":1.0}`, req.ID())
	if got := conn.want("cancellation", "notifications/cancelled"); string(got.Params()) != want {
		t.Errorf("the backend got %s, want %s", got.Params(), want)
	}
	conn.answer(req, `{}`) // late; nobody is there, nothing happens
}

// Progress follows its token; on a pipe, other notifications follow the only
// call, and those of several calls go to the session.
func TestNotificationsFindTheirCall(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	one, two := newClient("one"), newClient("two")
	ts.start(t.Context(), one, "1", "tools/call", `{"_meta":{"progressToken":"7"}}`)
	conn.want("one", "tools/call")
	conn.send("", `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	receive(t, "message during the only call", one.notes)
	ts.start(t.Context(), two, "2", "tools/call", `{"_meta":{"progressToken":7}}`)
	conn.want("two", "tools/call")
	conn.send("", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`)
	receive(t, "progress of two", two.notes)
	conn.send("", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"7","progress":1}}`)
	receive(t, "progress of one", one.notes)
	conn.send("", `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	receive(t, "message during two calls", ts.host.notes)
}

// A backend that goes away fails its calls and takes its questions back; the
// next call finds it started anew, with what the client had set.
func TestBackendGoesAndComesBack(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	if err := ts.Notify(t.Context(), wire.NewNotification("notifications/initialized", nil)); err != nil {
		t.Fatal(err)
	}
	conn.want("initialized", "notifications/initialized")
	for id, set := range []string{"logging/setLevel", "resources/subscribe"} {
		done := ts.start(t.Context(), newClient(""), fmt.Sprint(id), set, `{"level":"debug","uri":"x:y"}`)
		conn.answer(conn.want(set, set), `{}`)
		receive(t, set, done)
	}
	c := newClient("")
	done := ts.start(t.Context(), c, "1", "tools/call", `{}`)
	req := conn.want("call", "tools/call")
	conn.send(req.ID(), `{"jsonrpc":"2.0","id":0,"method":"roots/list"}`)
	receive(t, "question", c.asked)

	conn.fail(errors.New("it was killed"))
	if got := receive(t, "call", done); wire.ErrorFrom(got.err).Reason != wire.ReasonBackendGone || !strings.Contains(got.err.Error(), "it was killed") {
		t.Errorf("the call ended with %v, want backend_gone and why", got.err)
	}
	if err := receive(t, "withdrawal", c.withdrawn); err.Reason != wire.ReasonBackendGone {
		t.Errorf("the question was taken back because of %q", err.Reason)
	}

	done = ts.start(t.Context(), c, "2", "tools/call", `{}`)
	conn = receive(t, "second connection", ts.conns)
	conn.want("the handshake is repeated", "notifications/initialized")
	conn.answer(conn.want("the level is restored", "logging/setLevel"), `{}`)
	conn.answer(conn.want("the subscription is restored", "resources/subscribe"), `{}`)
	conn.answer(conn.want("the call", "tools/call"), `{"ok":true}`)
	if got := receive(t, "second call", done); got.err != nil {
		t.Errorf("the second call failed: %v", got.err)
	}
}

// "When a client receives HTTP 404 […] it MUST start a new session": the request
// was not processed, so it is sent again, once.
func TestSessionLost(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	conn.refuse = ErrSessionLost
	done := ts.start(t.Context(), newClient(""), "1", "tools/call", `{}`)
	conn = receive(t, "second connection", ts.conns)
	conn.answer(conn.want("the call again", "tools/call"), `{}`)
	if got := receive(t, "call", done); got.err != nil {
		t.Errorf("the call failed: %v", got.err)
	}
}

// What a client is told of a backend that does not come up.
func TestConnectFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		dial  func() error
		hello func(wire.Message) *wire.Message
		want  string
	}{
		{"cannot dial", func() error { return errors.New("no such file") }, nil, "no such file"},
		{"never answers initialize", nil, func(wire.Message) *wire.Message { return nil }, "did not answer initialize within 30s"},
		{"refuses", nil, func(m wire.Message) *wire.Message {
			return new(wire.NewFailure(m.ID(), wire.Errorf(wire.ReasonParams, "no thanks")))
		}, "no thanks"},
		{"speaks something else", nil, func(m wire.Message) *wire.Message {
			return new(wire.NewResult(m.ID(), []byte(`{"protocolVersion":"1999-01-01"}`)))
		}, "1999-01-01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t)
				s.dial, s.hello = tt.dial, tt.hello
				ts := open(t, s)
				_, err := ts.Connect(t.Context())
				if e := wire.ErrorFrom(err); e.Reason != wire.ReasonBackendDown || !strings.Contains(e.Message, tt.want) {
					t.Errorf("error %v, want backend_down that says %q", err, tt.want)
				}
			})
		})
	}
}

// Clients that leave while a backend starts say nothing of it: the next one is not
// told that the backend is down.
func TestLeavingWhileConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.hello = func(wire.Message) *wire.Message { return nil }
		b := New("b", s, Options{}, slog.New(slog.DiscardHandler))
		for range 5 {
			ts := b.NewSession(Hello{Params: []byte(legacyHello)}, newClient("session"))
			failed := make(chan error, 1)
			go func() {
				_, err := ts.Connect(t.Context())
				failed <- err
			}()
			synctest.Wait()
			ts.Close()
			if err := <-failed; wire.ErrorFrom(err).Reason != wire.ReasonClientGone {
				t.Errorf("a session that is closed while it connects gets %v, want client_gone", err)
			}
		}
		if err := b.LastErr(); err != nil {
			t.Errorf("the backend is said to have failed: %v", err)
		}
		s.hello = nil
		ts := b.NewSession(Hello{Params: []byte(legacyHello)}, newClient("session"))
		defer ts.Close()
		began := time.Now()
		if _, err := ts.Connect(t.Context()); err != nil || time.Since(began) > 0 {
			t.Errorf("the next client gets %v after %v", err, time.Since(began))
		}
	})
}

// A backend in a crash loop is tried ever more rarely; meanwhile clients are told
// at once. The first failure costs no wait.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		attempts := 0
		s.dial = func() error { attempts++; return errors.New("broken") }
		ts := open(t, s)
		began := time.Now()
		connect := func() time.Duration {
			before := time.Now()
			ts.Connect(t.Context())
			return time.Since(before)
		}
		if waited := connect() + connect(); waited != 0 || attempts != 2 {
			t.Fatalf("%d attempts after %v, want two at once", attempts, time.Since(began))
		}
		if waited := connect(); waited < firstBackoff || attempts != 3 {
			t.Errorf("third attempt after %v, want a wait of %v", waited, firstBackoff)
		}
		for range 10 {
			connect()
		}
		before := attempts
		if waited := connect(); waited != 0 || attempts != before {
			t.Errorf("waited %v for attempt %d; want to be told at once", waited, attempts)
		}
		s.dial = nil
		time.Sleep(maxBackoff * 2)
		if _, err := ts.Connect(t.Context()); err != nil {
			t.Errorf("after the backend is well again: %v", err)
		}
	})
}
