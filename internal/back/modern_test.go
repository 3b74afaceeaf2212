package back

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// openModern is a session with a modern backend over a pipe.
func openModern(t *testing.T, modern bool, hello string) (*testSession, *scriptConn) {
	t.Helper()
	s := newScript(t)
	s.discover = says(`{"supportedVersions":["2026-07-28"],"capabilities":` +
		`{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true,"listChanged":true}}}`)
	host := newClient("session")
	b := New("b", s, Options{Era: EraModern}, slog.New(slog.DiscardHandler))
	ts := &testSession{b.NewSession(Hello{Params: []byte(hello), Modern: modern}, host), t, s, host}
	t.Cleanup(ts.Close)
	return ts, ts.connect()
}

// webTest is a session with a modern backend over HTTP that the test plays.
type webTest struct {
	*Session
	*web
	t    *testing.T
	host *client
}

func openWeb(t *testing.T, modern bool, hello string) *webTest {
	t.Helper()
	d, err := NewHTTP(slog.New(slog.DiscardHandler), HTTPOptions{URL: testURL, Header: http.Header{sessionHeader: {"configured"}}})
	if err != nil {
		t.Fatal(err)
	}
	wt := &webTest{web: newWeb(t), t: t, host: newClient("session")}
	d.site.http.Transport = wt.web
	wt.Session = New("b", d, Options{Era: EraModern}, slog.New(slog.DiscardHandler)).
		NewSession(Hello{Params: []byte(hello), Modern: modern}, wt.host)
	t.Cleanup(wt.Close)
	done := make(chan error, 1)
	go func() {
		_, err := wt.Connect(t.Context())
		done <- err
	}()
	wt.want("server/discover").result(`{"supportedVersions":["2026-07-28"],"capabilities":` +
		`{"tools":{"listChanged":true},"resources":{"subscribe":true}}}`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return wt
}

// modernAsk is one POST of the modern era.
type modernAsk struct {
	*ask
	m wire.Message
}

// want takes the next POST, which must be a request with the headers of the modern
// era and nothing of the legacy one.
func (wt *webTest) want(method string) *modernAsk {
	wt.t.Helper()
	a := wt.web.want(method, "POST", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Session-Id", "", "Last-Event-Id", "")
	m := parse(a.body)
	if m.Method() != method {
		wt.t.Fatalf("got %s, want %s", a.body, method)
	}
	return &modernAsk{a, m}
}

func (a *modernAsk) result(text string) {
	a.answer(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.m.ID(), text))
}

func (a *modernAsk) failure(status int, text string) {
	a.answer(status, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, a.m.ID(), text))
}

const asking1 = `{"resultType":"input_required", "inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"?"}}},"requestState":"s\u0031"}`

// A modern client and a modern backend: over HTTP nothing changes but the id, in
// either direction, and neither side is asked anything by Beckon.
func TestModernPassesOverHTTP(t *testing.T) {
	wt := openWeb(t, true, legacyHello)
	raw := strings.Replace(modernRequest(`"x"`, "prompts/get", `{ "name":"caf\u00e9","z":1.0,"_meta":{"progressToken":"p"},"inputResponses":{"q":{}},"requestState":""}`),
		`"jsonrpc":"2.0"`, `"extra": [1.0], "jsonrpc":"2.0"`, 1)
	c := newClient("call")
	done := callIn(t.Context(), wt.Session, parse(raw), c)
	a := wt.want("prompts/get")
	if want := strings.Replace(raw, `"id":"x"`, `"id":`+string(a.m.ID()), 1); a.body != want {
		t.Errorf("the backend got %s, want %s", a.body, want)
	}
	if got := a.Header.Get("Mcp-Name"); got != "=?base64?Y2Fmw6k=?=" {
		t.Errorf("Mcp-Name is %q", got)
	}
	w := a.stream()
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p", "progress":1.0}}`
	w.message(progress)
	if got := receive(t, "progress", c.notes); string(got.Raw()) != progress {
		t.Errorf("the client got %s", got.Raw())
	}
	w.message(fmt.Sprintf(`{"k":1,"jsonrpc":"2.0","id":%s,"result":%s}`, a.m.ID(), asking1))
	w.end(nil)
	if got := receive(t, "the result", done); string(got.m.Raw()) != `{"k":1,"jsonrpc":"2.0","id":"x","result":`+asking1+`}` {
		t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
	}
	if len(c.asked) > 0 {
		t.Error("Beckon asked for what the client has to answer itself")
	}
}

// On a pipe that several clients share, ids, progress tokens and subscription ids
// are Beckon's own for the backend, and each client's own for the client.
func TestModernSharesAPipe(t *testing.T) {
	ts, conn := openModern(t, true, legacyHello)
	clients := []*client{newClient("one"), newClient("two")}
	var reqs []wire.Message
	var dones []<-chan outcome
	for _, c := range clients {
		raw := modernRequest("1", "tools/call", `{"_meta":{"progressToken":"p"},"name":"t"}`)
		dones = append(dones, callIn(t.Context(), ts.Session, parse(raw), c))
		req := conn.want("call", "tools/call")
		reqs = append(reqs, req)
		token := string(wire.Get(req.Params(), "_meta", "progressToken"))
		if want := strings.Replace(string(parse(raw).Params()), `"p"`, token, 1); string(req.Params()) != want || token == `"p"` {
			t.Errorf("the backend got %s", req.Params())
		}
	}
	for i, req := range reqs {
		conn.send("", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.0,"progressToken":%s}}`,
			wire.Get(req.Params(), "_meta", "progressToken"))
		want := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.0,"progressToken":"p"}}`
		if got := receive(t, "progress", clients[i].notes); string(got.Raw()) != want {
			t.Errorf("client %d got %s", i, got.Raw())
		}
	}
	for i, req := range reqs {
		conn.receiver.Receive(wire.NewResult(req.ID(), []byte(`{}`)), "")
		if got := receive(t, "result", dones[i]); got.m.ID() != "1" {
			t.Errorf("client %d got %s, %v", i, got.m.Raw(), got.err)
		}
	}
	conn.send("", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2,"progressToken":%s}}`, reqs[0].ID())
	if len(clients[0].notes)+len(ts.host.notes) > 0 {
		t.Error("progress of a call that is over reached a client")
	}
}

// Log messages on a pipe belong to the one call that wants them.
func TestModernLogMessages(t *testing.T) {
	ts, conn := openModern(t, true, legacyHello)
	note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`
	call := func(level string) (*client, <-chan outcome, wire.Message) {
		c := newClient("call")
		raw := modernRequest("1", "tools/call", `{"_meta":{`+level+`}}`)
		done := callIn(t.Context(), ts.Session, parse(raw), c)
		return c, done, conn.want("call", "tools/call")
	}
	loud := `"io.modelcontextprotocol/logLevel":"info"`
	_, quiet, quietReq := call("")
	one, oneDone, oneReq := call(loud)
	conn.send("", "%s", note)
	receive(t, "message of the only call that wants some", one.notes)
	_, two, twoReq := call(loud)
	conn.send("", "%s", note)
	receive(t, "message of one of two calls", ts.host.notes)
	for i, req := range []wire.Message{quietReq, oneReq, twoReq} {
		conn.receiver.Receive(wire.NewResult(req.ID(), []byte(`{}`)), "")
		receive(t, "result", []<-chan outcome{quiet, oneDone, two}[i])
	}
}

// A listen of a modern client carries the client's own id back, in notifications
// and in the result that closes it; however the backend closes it.
func TestModernListenPasses(t *testing.T) {
	listen := modernRequest(`"L"`, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)
	tagged := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`
	closed := `{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":%s}}`
	for _, byNotification := range []bool{false, true} {
		ts, conn := openModern(t, true, legacyHello)
		c := newClient("listener")
		done := callIn(t.Context(), ts.Session, parse(listen), c)
		req := conn.want("listen", "subscriptions/listen")
		conn.send("", tagged, req.ID())
		if got := receive(t, "notification", c.notes); string(got.Raw()) != fmt.Sprintf(tagged, `"L"`) {
			t.Errorf("the client got %s", got.Raw())
		}
		if byNotification {
			conn.send("", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"bye"}}`, req.ID())
			want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"L","reason":"bye"}}`
			if got := receive(t, "cancellation", c.notes); string(got.Raw()) != want {
				t.Errorf("the client got %s", got.Raw())
			}
		} else {
			conn.receiver.Receive(wire.NewResult(req.ID(), fmt.Appendf(nil, closed, req.ID())), "")
		}
		if got := receive(t, "end", done); string(got.m.Result()) != fmt.Sprintf(closed, `"L"`) {
			t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
		}
	}

	wt := openWeb(t, true, legacyHello)
	c := newClient("listener")
	done := callIn(t.Context(), wt.Session, parse(listen), c)
	a := wt.want("subscriptions/listen")
	w := a.stream()
	w.message(fmt.Sprintf(tagged, a.m.ID()))
	if got := receive(t, "notification", c.notes); string(got.Raw()) != fmt.Sprintf(tagged, `"L"`) {
		t.Errorf("over HTTP the client got %s", got.Raw())
	}
	w.message(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":`+closed+`}`, a.m.ID(), a.m.ID()))
	w.end(nil)
	if got := receive(t, "end", done); string(got.m.Result()) != fmt.Sprintf(closed, `"L"`) {
		t.Errorf("over HTTP the client got %s, %v", got.m.Raw(), got.err)
	}
}

// A client that no longer wants a call: over HTTP its stream is closed and nothing
// is said, on a pipe the backend is told, in the client's words.
func TestModernCancel(t *testing.T) {
	cause := cancelled{parse(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x","reason":"no","k":1.0}}`)}
	call := parse(modernRequest(`"x"`, "tools/call", `{"name":"t"}`))

	ts, conn := openModern(t, true, legacyHello)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := callIn(ctx, ts.Session, call, newClient("call"))
	req := conn.want("call", "tools/call")
	cancel(cause)
	if got := receive(t, "call", done); !errors.As(got.err, &cancelled{}) {
		t.Errorf("the call ended with %v", got.err)
	}
	want := fmt.Sprintf(`{"requestId":%s,"reason":"no","k":1.0}`, req.ID())
	if got := conn.want("cancellation", "notifications/cancelled"); string(got.Params()) != want {
		t.Errorf("the backend got %s, want %s", got.Params(), want)
	}
	conn.receiver.Receive(wire.NewResult(req.ID(), []byte(`{"late":true}`)), "")

	synctest.Test(t, func(t *testing.T) {
		wt := openWeb(t, true, legacyHello)
		wt.backend.mirrors.set("t", nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := callIn(ctx, wt.Session, call, newClient("call"))
		w := wt.want("tools/call").stream()
		cancel(cause)
		if got := receive(t, "call", done); !errors.As(got.err, &cancelled{}) {
			t.Errorf("the call ended with %v", got.err)
		}
		w.wantAbandoned(t)
		wt.wantIdle("a cancellation is the end of the stream", time.Minute)
	})
}

// A stream that breaks off is an error for the call: it is neither resumed nor sent
// again.
func TestModernBrokenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wt := openWeb(t, true, legacyHello)
		done := callIn(t.Context(), wt.Session, parse(modernRequest("1", "prompts/get", `{"name":"p"}`)), newClient("call"))
		w := wt.want("prompts/get").stream()
		w.write("id: 7\nretry: 1\n" + "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
		w.end(nil)
		if got := receive(t, "call", done); wire.ErrorFrom(got.err).Reason != wire.ReasonBackendGone {
			t.Errorf("the call ended with %s, %v", got.m.Raw(), got.err)
		}
		wt.wantIdle("nothing is resumed", time.Minute)
	})
}

// What a modern backend must not do is an error of its call, with a code that both
// eras know.
func TestViolations(t *testing.T) {
	many := strings.Repeat(`"q%":{"method":"elicitation/create"},`, maxQuestions)
	for i := range maxQuestions {
		many = strings.Replace(many, "%", fmt.Sprint(i), 1)
	}
	ask := func(request string) string {
		return `{"resultType":"input_required","requestState":"s","inputRequests":{"q":` + request + `}}`
	}
	for _, tt := range []struct{ name, method, result, want string }{
		{"wrong method", "tools/list", asking1, "asks for input in answer to tools/list"},
		{"not declared", "tools/call", ask(`{"method":"sampling/createMessage"}`), "asks for sampling, which"},
		{"sampling with tools", "tools/call", ask(`{"method":"sampling/createMessage","params":{"tools":[]}}`), "asks for sampling with tools, which"},
		{"another mode", "prompts/get", ask(`{"method":"elicitation/create","params":{"mode":"url"}}`), "asks for elicitation by url, which"},
		{"roots", "resources/read", ask(`{"method":"roots/list"}`), "asks for roots, which"},
		{"unknown", "tools/call", ask(`{"method":"ping"}`), "asks for an input that is not known"},
		{"no object", "tools/call", ask(`7`), "asks for an input that is not known"},
		{"params", "tools/call", ask(`{"method":"elicitation/create","params":[]}`), "params that are no object"},
		{"no map", "tools/call", `{"resultType":"input_required","inputRequests":[]}`, "in no known form"},
		{"nothing", "tools/call", `{"resultType":"input_required"}`, "no input and gives no state"},
		{"nothing at length", "tools/call", `{"resultType":"input_required","inputRequests":{}}`, "no input and gives no state"},
		{"too many", "tools/call", `{"resultType":"input_required","inputRequests":{` + many + `"one":{"method":"elicitation/create"}}}`, "more than 100 inputs"},
	} {
		for _, modern := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/modern=%v", tt.name, modern), func(t *testing.T) {
				ts, conn := openModern(t, modern, `{"capabilities":{"elicitation":{}}}`)
				raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q}`, tt.method)
				if modern {
					raw = modernRequest(`"x"`, tt.method, `{}`)
				}
				c := newClient("call")
				done := callIn(t.Context(), ts.Session, parse(raw), c)
				conn.answer(conn.want("call", tt.method), tt.result)
				got := receive(t, "call", done)
				if code(got.m) != wire.CodeInternal || !strings.Contains(ErrorText(got.m), tt.want) || got.m.ID() != `"x"` {
					t.Errorf("the client got %s, %v, want %q", got.m.Raw(), got.err, tt.want)
				}
				if len(c.asked) > 0 {
					t.Error("the client was asked")
				}
			})
		}
	}
	t.Run("requests", func(t *testing.T) {
		ts, conn := openModern(t, true, legacyHello)
		conn.send("", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`)
		conn.send("", `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		done := callIn(t.Context(), ts.Session, parse(modernRequest("1", "x", `{}`)), newClient("call"))
		conn.answer(conn.want("the call, and no response before it", "x"), `{}`)
		receive(t, "call", done)
		if len(ts.host.asked) > 0 {
			t.Error("a question outside of a result reached the client")
		}
	})
}

// A legacy backend does not hear what only the modern era says, and everything else
// as it was.
func TestModernRequestAtLegacyBackend(t *testing.T) {
	ts := open(t, newScript(t))
	conn := ts.connect()
	raw := modernRequest("1", "tools/call", `{ "name":"t","_meta":{"a/b":1.0,"progressToken":"p","io.modelcontextprotocol/logLevel":"info"},"arguments":{"x":1.0}}`)
	done := callIn(t.Context(), ts.Session, parse(raw), newClient("call"))
	req := conn.want("call", "tools/call")
	if want := `{ "name":"t","_meta":{"a/b":1.0,"progressToken":"p"},"arguments":{"x":1.0}}`; string(req.Params()) != want {
		t.Errorf("the backend got %s, want %s", req.Params(), want)
	}
	conn.answer(req, `{}`)
	receive(t, "call", done)
	if ts.Modern() || ts.Attributes() {
		t.Error("a legacy backend over a pipe is neither modern nor does it attribute")
	}
}

func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }
