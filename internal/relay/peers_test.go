package relay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a backend that the test plays: what it answers is a table, what it
// sends by itself is the test's to say.
type server struct {
	t       *testing.T
	name    string
	hello   string                               // its InitializeResult
	dial    func(ctx context.Context) error      // nil dials at once
	answers map[string]func(wire.Message) string // results by method; others are answered by the test
	got     chan arrived                         // requests and answers that the table does not know
	offered chan wire.Message                    // the initialize requests
	open    atomic.Int32                         // connections to it
	limit   time.Duration                        // of a call; 0 means none

	attributes   bool          // its transport tells which call a message belongs to
	modern       bool          // it speaks 2026-07-28 and nothing else
	seal         bool          // seal_request_state
	instances    int           // processes of one modern client; 0 means 1
	instanceWait time.Duration // how long a call waits for one
}

// arrived is a message at a backend, on one of its connections.
type arrived struct {
	wire.Message
	conn *serverConn
}

const tools = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"%s","version":"1"}}`

func newServer(t *testing.T, name string) *server {
	return &server{
		t: t, name: name, hello: fmt.Sprintf(tools, name),
		answers: map[string]func(wire.Message) string{},
		got:     make(chan arrived, 100),
		offered: make(chan wire.Message, 100),
	}
}

// lists lets the server answer a list request with a fixed result.
func (s *server) lists(method, result string) *server {
	s.answers[method] = func(wire.Message) string { return result }
	return s
}

func (s *server) Dial(ctx context.Context, r back.Receiver) (back.Conn, error) {
	if s.dial != nil {
		if err := s.dial(ctx); err != nil {
			return nil, err
		}
	}
	s.open.Add(1)
	return &serverConn{server: s, receiver: r, done: make(chan struct{})}, nil
}

type serverConn struct {
	server   *server
	receiver back.Receiver
	once     sync.Once
	done     chan struct{}
}

func (c *serverConn) Send(_ context.Context, m wire.Message) error {
	result := ""
	if m.Method() == "initialize" && !c.server.modern {
		result = c.server.hello
		c.server.offered <- m
	} else if m.Method() == "initialize" {
		c.receiver.Receive(wire.NewFailure(m.ID(), wire.Errorf(wire.ReasonRevision, "Unsupported protocol version").
			With("supported", wire.Modern())), "")
		return nil
	} else if f := c.server.answers[m.Method()]; f != nil && m.Kind() == wire.Request {
		result = f(m)
	}
	switch {
	case result != "":
		c.receiver.Receive(wire.NewResult(m.ID(), []byte(result)), "")
	case m.Method() == "server/discover":
		c.receiver.Receive(wire.NewFailure(m.ID(), wire.Errorf(wire.ReasonMethod, "Method not found")), "")
	case m.Method() != "notifications/initialized":
		c.server.got <- arrived{m, c}
	}
	return nil
}

func (c *serverConn) Attributes() bool         { return c.server.attributes }
func (c *serverConn) Negotiated(wire.Revision) {}
func (c *serverConn) Close() {
	c.once.Do(func() {
		c.server.open.Add(-1)
		close(c.done)
	})
}
func (c *serverConn) Done() <-chan struct{} { return c.done }
func (c *serverConn) Err() error            { return errors.New("it has gone") }

// send is the backend's sending a message by itself.
func (c *serverConn) send(format string, args ...any) {
	c.server.t.Helper()
	c.receiver.Receive(parse(c.server.t, fmt.Sprintf(format, args...)), "")
}

// sendOn is the backend's sending a message on the stream of a call.
func (a arrived) sendOn(format string, args ...any) {
	a.conn.server.t.Helper()
	a.conn.receiver.Receive(parse(a.conn.server.t, fmt.Sprintf(format, args...)), a.ID())
}

// next returns the next message that reaches the backend.
func (s *server) next(why string) arrived {
	s.t.Helper()
	select {
	case m := <-s.got:
		return m
	case <-time.After(10 * time.Second):
		s.t.Fatalf("%s: backend %s got nothing", why, s.name)
	}
	panic("unreachable")
}

// want returns the next message, which must have the method; a response has
// none.
func (s *server) want(why, method string) arrived {
	s.t.Helper()
	m := s.next(why)
	if m.Method() != method {
		s.t.Fatalf("%s: backend %s got %s, want method %q", why, s.name, m.Raw(), method)
	}
	return m
}

// answer is the backend's answering a request.
func (a arrived) answer(format string, args ...any) {
	a.conn.receiver.Receive(wire.NewResult(a.ID(), fmt.Appendf(nil, format, args...)), "")
}

func parse(t *testing.T, text string) wire.Message {
	t.Helper()
	m, err := wire.Parse([]byte(text))
	if err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	return m
}

// ignore is an observer that looks away.
type ignore struct{}

func (ignore) Opened(*input.Request)                             {}
func (ignore) Ended(*input.Request, input.Answer, time.Duration) {}
func (ignore) Changed(*input.Request, input.Event)               {}
func (ignore) Refused(input.Question, *wire.Error)               {}
func (ignore) Called(relay.Report)                               {}
func (ignore) Passed(relay.Passing)                              {}

// gateway is a relay over servers.
func gateway(t *testing.T, o relay.Options, servers ...*server) *relay.Relay {
	log := slog.New(slog.DiscardHandler)
	for _, s := range servers {
		b := back.New(s.name, s, back.Options{}, log)
		b.CallTimeout, b.Instances, b.InstanceWait, b.SealState = s.limit, s.instances, s.instanceWait, s.seal
		o.Backends = append(o.Backends, b)
	}
	if o.Broker == nil {
		o.Broker = input.NewBroker(input.Limits{Timeout: time.Minute, Total: 1000, PerSession: 100,
			Rules: input.Rules{Check: true, Secrets: true}}, ignore{})
	}
	o.Observer = ignore{}
	r, err := relay.New(o, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// client is a client at a pipe that the test plays.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	got  chan wire.Message
	left chan struct{}
}

const capable = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}}`

// connect is a client that shakes hands; it returns the InitializeResult too.
func connect(t *testing.T, r *relay.Relay) (*client, wire.Message) {
	t.Helper()
	c := attach(t, r)
	c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"c","version":"1"}}}`, capable)
	hello := c.wantID("handshake", `"hello"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c, hello
}

// attach is a client that has said nothing yet.
func attach(t *testing.T, r *relay.Relay) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, got: make(chan wire.Message, 1000), left: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		front.ServeStdio(t.Context(), inR, outW, r, front.Options{}, slog.New(slog.DiscardHandler))
		outW.Close()
		close(c.left)
	})
	wg.Go(func() {
		lines := wire.NewLineReader(outR, 1<<20)
		for {
			line, err := lines.Next()
			if err != nil {
				return
			}
			m, err := wire.Parse(line)
			if err != nil {
				t.Errorf("the client got %s: %v", line, err)
				continue
			}
			c.got <- m
		}
	})
	t.Cleanup(func() {
		c.leave()
		wg.Wait()
	})
	return c
}

func (c *client) leave() { c.in.Close() }

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatalf("the client cannot send: %v", err)
	}
}

// next returns the next message that reaches the client.
func (c *client) next(why string) wire.Message {
	c.t.Helper()
	select {
	case m := <-c.got:
		return m
	case <-time.After(10 * time.Second):
		c.t.Fatalf("%s: the client got nothing", why)
	}
	panic("unreachable")
}

// wantID returns the next message, which must be a response to id.
func (c *client) wantID(why, id string) wire.Message {
	c.t.Helper()
	m := c.next(why)
	if !m.IsResponse() || string(m.ID()) != id {
		c.t.Fatalf("%s: the client got %s, want the response to %s", why, m.Raw(), id)
	}
	return m
}

// want returns the next message, which must have the method.
func (c *client) want(why, method string) wire.Message {
	c.t.Helper()
	m := c.next(why)
	if m.Method() != method {
		c.t.Fatalf("%s: the client got %s, want method %s", why, m.Raw(), method)
	}
	return m
}

// call sends a request and returns the response, with nothing in between.
func (c *client) call(id, method, params string) wire.Message {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	return c.wantID(method, id)
}

// askForm makes a call of the client in which the backend asks by form, and
// returns the call at the backend and the question at the client.
func askForm(c *client, s *server, callID, askID string) (call arrived, asked wire.Message) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{}}`, callID)
	call = s.want("the call", "tools/call")
	call.conn.send(form, askID)
	return call, c.want("the question", "elicitation/create")
}

// wantResult fails unless the response has exactly this result.
func wantResult(t *testing.T, why string, m wire.Message, want string) {
	t.Helper()
	if got := string(m.Result()); got != want {
		t.Errorf("%s: %s\nwant result %s", why, m.Raw(), want)
	}
}

// wantError fails unless the response is an error with this code and reason.
func wantError(t *testing.T, why string, m wire.Message, code int, reason wire.Reason) {
	t.Helper()
	got, _ := wire.Text(m.Error(), "data", "reason")
	if string(wire.Get(m.Error(), "code")) != fmt.Sprint(code) || got != string(reason) {
		t.Errorf("%s: %s\nwant error %d with reason %s", why, m.Raw(), code, reason)
	}
}

// names lists the keys of the items of a list result.
func names(m wire.Message, member, key string) string {
	var all []string
	for item := range wire.Elements(wire.Get(m.Result(), member)) {
		name, _ := wire.Text(item, key)
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
