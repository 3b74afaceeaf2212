package back

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// deploySchema wants its argument in a header too.
const deploySchema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`

// deploy asks before it deploys, and says where it did.
func deploy(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer, ok := req.Params.InputResponses["confirm"].(*mcp.ElicitResult)
	if !ok {
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{"confirm": &mcp.ElicitParams{Message: "Deploy?"}},
			RequestState:  "state",
		}, nil
	}
	text := fmt.Sprintf("%s %s %s", answer.Action, req.Params.RequestState, req.Params.Arguments)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

const deployCall = `{"name":"deploy","arguments":{"region":"Zürich"}}`

// deployModern plays a modern client that deploys.
func deployModern(t *testing.T, s *Session) {
	t.Helper()
	params := deployCall
	for _, want := range []string{`"input_required"`, `accept state {\"region\":\"Zürich\"}`} {
		resp, err := s.Call(t.Context(), parse(modernRequest(`"x"`, "tools/call", params)), newClient("call"))
		if err != nil || !strings.Contains(string(resp.Raw()), want) {
			t.Fatalf("the client got %s, %v, want %s", resp.Raw(), err, want)
		}
		params = `{"name":"deploy","arguments":{"region":"Zürich"},"inputResponses":{"confirm":{"action":"accept"}},"requestState":"state"}`
	}
}

// deployLegacy plays a legacy client that deploys and is asked.
func deployLegacy(t *testing.T, s *Session) {
	t.Helper()
	c := newClient("call")
	done := callIn(t.Context(), s, wire.NewRequest("1", "tools/call", []byte(deployCall)), c)
	q := receive(t, "the question", c.asked)
	if q.Message.Method() != "elicitation/create" {
		t.Errorf("asked %s", q.Message.Raw())
	}
	q.Reply(parse(`{"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}`))
	if got := receive(t, "the result", done); !strings.Contains(string(got.m.Raw()), `accept state {\"region\":\"Zürich\"}`) {
		t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
	}
}

// sdkHandler serves s over HTTP.
func sdkHandler(s *mcp.Server, stateless bool) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless})
}

// The reference implementation without sessions speaks both eras.
func TestPeerModernHTTP(t *testing.T) {
	server := sdkServer()
	for _, auto := range []bool{false, true} {
		d := dialerFor(t, serveSDK(t, sdkHandler(server, true)), auto)
		b := New("b", d, Options{}, quietLog())
		deployModern(t, checkEra(t, b, true, "modern"))
		checkEra(t, b, false, "legacy")
		deployLegacy(t, checkEra(t, New("b", d, Options{Era: EraModern}, quietLog()), false, "modern"))
	}
}

// With sessions it answers server/discover all the same, and is a legacy server that
// puts such questions itself.
func TestPeerStatefulHTTP(t *testing.T) {
	b := New("b", dialerFor(t, serveSDK(t, sdkHandler(sdkServer(), false)), true), Options{}, quietLog())
	for _, modern := range []bool{true, false} {
		s := checkEra(t, b, modern, "legacy")
		if err := s.Notify(t.Context(), parse(initialized)); err != nil {
			t.Fatal(err)
		}
		deployLegacy(t, s)
	}
}

// A server of HTTP+SSE is a legacy one, also for modern clients; when that is known,
// nothing is opened for a probe.
func TestPeerSSEIsLegacy(t *testing.T) {
	for _, first := range []bool{true, false} {
		sse := mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sdkServer() }, nil)
		var streams atomic.Int32
		url := serveSDK(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				streams.Add(1)
			}
			sse.ServeHTTP(w, r)
		}))
		b := New("b", dialerFor(t, url, true), Options{}, quietLog())
		checkEra(t, b, first, "legacy").Close()
		checkEra(t, b, true, "legacy").Close()
		if n := streams.Load(); n != 2 {
			t.Errorf("%d streams for two sessions", n)
		}
	}
}

// What changes reaches a legacy client by the listen.
func TestPeerListen(t *testing.T) {
	server := sdkServer()
	b := New("b", dialerFor(t, serveSDK(t, sdkHandler(server, true)), false), Options{Era: EraModern}, quietLog())
	host := newClient("session")
	s := b.NewSession(Hello{Params: []byte(legacyHello)}, host)
	defer s.Close()
	if _, err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Notify(t.Context(), parse(initialized)); err != nil {
		t.Fatal(err)
	}
	s.link.listener.awaitOpen(t)
	server.AddTool(&mcp.Tool{Name: "new", InputSchema: map[string]any{"type": "object"}}, nil)
	if got := receive(t, "a change", host.notes); got.Method() != "notifications/tools/list_changed" || wire.Get(got.Params(), "_meta") != nil {
		t.Errorf("the client got %s", got.Raw())
	}
}

// awaitOpen waits until the stream is acknowledged.
func (r *listener) awaitOpen(t *testing.T) {
	t.Helper()
	if !r.begin(t.Context()) {
		t.Fatal("no turn")
	}
	defer r.finish()
	if _, err := r.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}
