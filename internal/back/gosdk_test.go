package back

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// sdkServer is a server of the reference implementation. Its tool "ask" asks the
// person for a colour; with an argument "poll", it first closes the stream of
// the call. Its tool "deploy" asks in the way of the modern era.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if bytes.Contains(req.Params.Arguments, []byte("poll")) {
				req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: time.Millisecond})
			}
			answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which colour?",
				RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"c": map[string]any{"type": "string"}}}})
			if err != nil {
				return nil, err
			}
			text := fmt.Sprintf("%s %v", answer.Action, answer.Content["c"])
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "deploy", InputSchema: json.RawMessage(deploySchema)}, deploy)
	return s
}

// sdkTest is a connection to a server of the reference implementation.
type sdkTest struct {
	*recorder
	Conn
	t *testing.T
}

// connectSDK dials and shakes hands.
func connectSDK(t *testing.T, d Dialer) *sdkTest {
	t.Helper()
	st := &sdkTest{recorder: record(t), t: t}
	var err error
	if st.Conn, err = d.Dial(t.Context(), st.recorder); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	st.send("initialize", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}`)
	hello := receive(t, "the answer to initialize", st.arrivals)
	revision, _ := wire.Text(hello.msg.Result(), "protocolVersion")
	if revision == "" {
		t.Fatalf("answer to initialize: %s", hello.msg.Raw())
	}
	st.Negotiated(wire.Revision(revision))
	st.send("initialized", initialized)
	return st
}

// send sends a message beside the test; it has to succeed in the end.
func (st *sdkTest) send(why, raw string) {
	st.t.Helper()
	m := parse(raw)
	if m.Kind() != wire.Request {
		if err := st.Send(st.t.Context(), m); err != nil {
			st.t.Fatalf("%s: %v", why, err)
		}
		return
	}
	done := make(chan error, 1)
	go func() { done <- st.Send(context.WithoutCancel(st.t.Context()), m) }()
	st.t.Cleanup(func() {
		if err := <-done; err != nil && !errors.Is(err, ErrClosed) {
			st.t.Errorf("%s: %v", why, err)
		}
	})
}

// ask calls the tool, answers the question and wants the result, each on the
// stream of the call where there is one.
func (st *sdkTest) ask(id, arguments string) {
	st.t.Helper()
	st.send("the call", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"ask","arguments":%s}}`, id, arguments))
	of := wire.ID("")
	if st.Attributes() {
		of = wire.ID(id)
	}
	q := receive(st.t, "the question", st.arrivals)
	if q.msg.Method() != "elicitation/create" || q.of != of {
		st.t.Fatalf("received %s on stream %q, want a question on %q", q.msg.Raw(), q.of, of)
	}
	st.send("the answer", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"c":"blue"}}}`, q.msg.ID()))
	a := receive(st.t, "the result", st.arrivals)
	if a.msg.ID() != wire.ID(id) || a.of != of || !strings.Contains(string(a.msg.Result()), `"accept blue"`) {
		st.t.Fatalf("received %s on stream %q, want the result of %s on %q", a.msg.Raw(), a.of, id, of)
	}
}

func serveSDK(t *testing.T, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestPeerStreamableHTTP(t *testing.T) {
	server := sdkServer()
	for _, auto := range []bool{false, true} {
		t.Run(fmt.Sprintf("auto=%v", auto), func(t *testing.T) {
			url := serveSDK(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
				&mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}))
			st := connectSDK(t, dialerFor(t, url, auto))
			st.ask("1", `{}`)
			st.ask(`"two"`, `{}`)
			st.ask("3", `{"poll":true}`) // the stream is resumed
			st.Close()

			// The goodbye was heard: no session is left.
			for range server.Sessions() {
				t.Error("the backend still has a session")
			}
		})
	}
}

// dialerFor returns a dialer for url that is closed after the test.
func dialerFor(t *testing.T, url string, auto bool) Dialer {
	t.Helper()
	log, o := slog.New(slog.DiscardHandler), HTTPOptions{URL: url}
	if auto {
		d, err := NewAuto(log, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	d, err := NewHTTP(log, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestPeerJSON(t *testing.T) {
	server := sdkServer()
	url := serveSDK(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	st := connectSDK(t, dialerFor(t, url, false))
	st.send("the list", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	a := receive(t, "the list", st.arrivals)
	if a.of != "1" || !strings.Contains(string(a.msg.Result()), `"ask"`) {
		t.Errorf("received %s on stream %q", a.msg.Raw(), a.of)
	}
}

// What has no call comes on the GET stream.
func TestPeerListening(t *testing.T) {
	server := sdkServer()
	url := serveSDK(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	st := connectSDK(t, dialerFor(t, url, false))
	for n := 0; ; n++ { // until the stream is open: what comes before that is lost
		server.AddTool(&mcp.Tool{Name: fmt.Sprint("tool", n), InputSchema: map[string]any{"type": "object"}}, nil)
		select {
		case a := <-st.arrivals:
			if a.msg.Method() != "notifications/tools/list_changed" || a.of != "" {
				t.Errorf("received %s on stream %q", a.msg.Raw(), a.of)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestPeerLosesSession(t *testing.T) {
	server := sdkServer()
	url := serveSDK(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	st := connectSDK(t, dialerFor(t, url, false))
	for s := range server.Sessions() {
		s.Close()
	}
	err := st.Send(t.Context(), parse(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if !errors.Is(err, ErrSessionLost) {
		t.Errorf("%v, want the session to be lost", err)
	}
}

func TestPeerSSE(t *testing.T) {
	server := sdkServer()
	url := serveSDK(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil))
	d, err := NewSSE(slog.New(slog.DiscardHandler), HTTPOptions{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	st := connectSDK(t, d)
	st.ask("1", `{}`)
	st.Close()

	auto := connectSDK(t, dialerFor(t, url, true))
	auto.ask("2", `{}`)
	auto.Close()
}
