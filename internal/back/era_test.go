package back

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const (
	legacyHello = `{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{},"roots":{"listChanged":true},"tasks":{}},` +
		`"clientInfo":{"name":"old","version":"1"}}`
	initializeResult = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	discoverResult   = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
	legacyList       = `{"resultType":"complete","supportedVersions":["2025-11-25"],"capabilities":{}}`
)

// says answers a request with a result, or with an error if text is one.
func says(text string) func(wire.Message) *wire.Message {
	return func(req wire.Message) *wire.Message {
		if strings.HasPrefix(text, `{"code":`) {
			return new(parse(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, req.ID(), text)))
		}
		return new(wire.NewResult(req.ID(), []byte(text)))
	}
}

func silent(wire.Message) *wire.Message { return nil }

func rpcError(code int, data string) string {
	return fmt.Sprintf(`{"code":%d,"message":"no","data":%s}`, code, data)
}

// eraCase is how a backend answers the two handshakes, and what comes of it.
type eraCase struct {
	name                 string
	discover, initialize func(wire.Message) *wire.Message
	modern, legacy       string // what clients of the two eras get: "modern", "legacy", or of an error what it says
}

var eraCases = []eraCase{
	{"modern only", says(discoverResult), says(rpcError(-32601, "{}")), "modern", "modern"},
	{"modern only, strict about versions", says(discoverResult), says(rpcError(-32022, `{"supported":["2026-07-28"]}`)), "modern", "modern"},
	{"modern only, strict about headers", says(discoverResult), says(rpcError(-32020, "{}")), "modern", "modern"},
	{"modern only, strict about _meta", says(discoverResult), says(rpcError(-32602, "{}")), "modern", "modern"},
	{"both", says(`{"supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{}}`), says(initializeResult), "modern", "legacy"},
	{"legacy only", says(rpcError(-32601, "{}")), says(initializeResult), "legacy", "legacy"},
	{"legacy, another code", says(rpcError(-32602, "{}")), says(initializeResult), "legacy", "legacy"},
	{"legacy that answers anything", says(`{}`), says(initializeResult), "legacy", "legacy"},
	{"lists no modern revision", says(legacyList), says(initializeResult), "legacy", "legacy"},
	{"-32022 with legacy revisions", says(rpcError(-32022, `{"supported":["2025-06-18"]}`)), says(initializeResult), "legacy", "legacy"},
	{"-32022 with a later revision", says(rpcError(-32022, `{"supported":["2099-01-01"]}`)), says(rpcError(-32601, "{}")), "refuses server/discover", "refuses server/discover"},
	{"-32021", says(rpcError(-32021, "{}")), says(initializeResult), "refuses server/discover", "legacy"},
	{"-32020", says(rpcError(-32020, "{}")), says(initializeResult), "refuses server/discover", "legacy"},
	{"refuses both", says(rpcError(-32601, "{}")), says(rpcError(-32601, "{}")), "refuses to initialize", "refuses to initialize"},
	{"refuses initialize for a reason of its own", says(discoverResult), says(rpcError(-32000, "{}")), "modern", "refuses to initialize"},
}

// checkEra connects and compares.
func checkEra(t *testing.T, b *Backend, modern bool, want string) *Session {
	t.Helper()
	s := b.NewSession(Hello{Params: []byte(legacyHello), Modern: modern}, newClient("session"))
	t.Cleanup(s.Close)
	got := "legacy"
	if _, err := s.Connect(t.Context()); err != nil {
		got = err.Error()
	} else if s.Modern() {
		got = "modern"
	}
	if !strings.Contains(got, want) {
		t.Errorf("modern=%v: the session is %s, want %s", modern, got, want)
	}
	return s
}

// In which era a backend is spoken to, by what it answers over a pipe.
func TestEraOverAPipe(t *testing.T) {
	cases := append(eraCases, []eraCase{
		{"silent about discover", silent, says(initializeResult), "legacy", "legacy"},
		{"silent", silent, silent, "did not answer initialize", "did not answer initialize"},
		{"an error without id", func(wire.Message) *wire.Message {
			return new(parse(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}`))
		}, says(initializeResult), "legacy", "legacy"},
	}...)
	for _, tt := range cases {
		for modern, want := range map[bool]string{true: tt.modern, false: tt.legacy} {
			t.Run(fmt.Sprintf("%s/modern=%v", tt.name, modern), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newScript(t)
					s.discover, s.hello = tt.discover, tt.initialize
					checkEra(t, New("b", s, Options{}, slog.New(slog.DiscardHandler)), modern, want)
				})
			})
		}
	}
}

// webBackend is a backend over HTTP that answers POSTs with serve.
func webBackend(t *testing.T, auto bool, serve func(m wire.Message, h http.Header) (*http.Response, error)) *Backend {
	t.Helper()
	round := transport(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodPost {
			return response(http.StatusMethodNotAllowed, io.NopCloser(strings.NewReader(""))), nil
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		m := parse(string(body))
		if m.Kind() == wire.Notification {
			return response(http.StatusAccepted, io.NopCloser(strings.NewReader(""))), nil
		}
		resp, err := serve(m, req.Header)
		if resp != nil {
			resp.Request = req
		}
		return resp, err
	})
	o := HTTPOptions{URL: testURL}
	log := slog.New(slog.DiscardHandler)
	var d Dialer
	if auto {
		a, err := NewAuto(log, o)
		if err != nil {
			t.Fatal(err)
		}
		a.http.site.http.Transport = round
		d = a
	} else {
		h, err := NewHTTP(log, o)
		if err != nil {
			t.Fatal(err)
		}
		h.site.http.Transport = round
		d = h
	}
	return New("b", d, Options{}, log)
}

func plain(status int, contentType, body string) (*http.Response, error) {
	return response(status, io.NopCloser(strings.NewReader(body)), "Content-Type", contentType), nil
}

// object answers with one message.
func object(status int, m *wire.Message) (*http.Response, error) {
	return plain(status, "application/json", string(m.Raw()))
}

// The same over HTTP, where a refusal comes with a status.
func TestEraOverHTTP(t *testing.T) {
	for _, tt := range eraCases {
		for modern, want := range map[bool]string{true: tt.modern, false: tt.legacy} {
			for _, auto := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/modern=%v,auto=%v", tt.name, modern, auto), func(t *testing.T) {
					checkEra(t, webBackend(t, auto, func(m wire.Message, _ http.Header) (*http.Response, error) {
						answer := tt.initialize
						if m.Method() == "server/discover" {
							answer = tt.discover
						}
						a := answer(m)
						status := http.StatusOK
						if a.Kind() == wire.Failure {
							status = http.StatusBadRequest
						}
						return object(status, a)
					}), modern, want)
				})
			}
		}
	}
}

// What no response says of the era over HTTP: which POST answers with what decides
// whether initialize is tried, and whether that is remembered.
func TestProbeOverHTTP(t *testing.T) {
	const page = "<html>no</html>"
	legacyError := `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`
	for _, tt := range []struct {
		name   string
		status int
		body   string
		err    error
		want   string // "legacy", or of an error what it says
	}{
		{"400 with nothing", 400, "", nil, "legacy"},
		{"400 with text", 400, page, nil, "legacy"},
		{"400 with a legacy error", 400, legacyError, nil, "legacy"},
		{"404", 404, page, nil, "legacy"},
		{"404 with -32601", 404, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, nil, "legacy"},
		{"405", 405, "", nil, "legacy"},
		{"406", 406, "", nil, "legacy"},
		{"200 with a page", 200, page, nil, "legacy"},
		{"202 with nothing", 202, "", nil, "legacy"},
		{"200 with an error without id", 200, legacyError, nil, "legacy"},
		{"400 with a modern error", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"which headers?"}}`, nil, "which headers?"},
		{"500 with a modern error", 500, `{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"which headers?"}}`, nil, "which headers?"},
		{"401", 401, "", nil, "refuses our credentials"},
		{"403 with a legacy error", 403, legacyError, nil, "refuses our credentials"},
		{"429", 429, "", nil, "HTTP status 429"},
		{"500", 500, page, nil, "HTTP status 500"},
		{"503 with a legacy error", 503, legacyError, nil, "HTTP status 503"},
		{"a broken connection", 0, "", errors.New("reset"), "broke before it answered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			probes := 0
			b := webBackend(t, true, func(m wire.Message, h http.Header) (*http.Response, error) {
				if m.Method() != "server/discover" {
					return object(200, says(initializeResult)(m))
				}
				probes++
				if got := h.Get("Mcp-Protocol-Version") + " " + h.Get("Mcp-Method") + h.Get("Mcp-Session-Id"); got != "2026-07-28 server/discover" {
					t.Errorf("headers of the probe: %q", got)
				}
				if tt.err != nil {
					return nil, tt.err
				}
				return plain(tt.status, "application/json", tt.body)
			})
			checkEra(t, b, true, tt.want)
			checkEra(t, b, true, tt.want)
			if wantProbes := map[bool]int{true: 1, false: 2}[tt.want == "legacy"]; probes != wantProbes {
				t.Errorf("%d probes for two sessions, want %d", probes, wantProbes)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if tt.want != "legacy" && b.eras != (eras{}) {
				t.Errorf("remembered %+v", b.eras)
			}
		})
	}
}

// A legacy client in front of a legacy backend costs nothing that it did not cost
// before: one connection, and no probe.
func TestLegacyCostsNothing(t *testing.T) {
	s := newScript(t)
	s.discover = func(wire.Message) *wire.Message {
		t.Error("a legacy backend was probed for a legacy client")
		return nil
	}
	b := New("b", s, Options{}, slog.New(slog.DiscardHandler))
	checkEra(t, b, false, "legacy")
	if n := len(s.conns); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// The probe is a process of its own when it fails, and the connection when it
// succeeds.
func TestProbeIsDisposable(t *testing.T) {
	s := newScript(t)
	s.discover = says(rpcError(-32601, "{}"))
	b := New("b", s, Options{}, slog.New(slog.DiscardHandler))
	checkEra(t, b, true, "legacy")
	probe := receive(t, "the probe", s.conns)
	select {
	case <-probe.done:
	default:
		t.Error("the process of the probe was not ended")
	}
	receive(t, "the connection", s.conns)
	checkEra(t, b, true, "legacy")
	receive(t, "the next connection", s.conns)
	if len(s.conns) > 0 {
		t.Error("a backend that is known was probed again")
	}

	s.discover = says(discoverResult)
	checkEra(t, New("b", s, Options{}, slog.New(slog.DiscardHandler)), true, "modern")
	receive(t, "the connection that answered the probe", s.conns)
	if len(s.conns) > 0 {
		t.Error("a modern backend was dialled twice")
	}
}

// A process that leaves when it is probed is a legacy one.
func TestExitOnProbe(t *testing.T) {
	s := newScript(t)
	s.discover = func(wire.Message) *wire.Message {
		(<-s.conns).fail(errors.New("it exited with status 1"))
		return nil
	}
	checkEra(t, New("b", s, Options{}, slog.New(slog.DiscardHandler)), true, "legacy")
}

// A backend over a pipe has 5 s to answer the probe, and no more; one that is known
// to be modern has the time that every connection has.
func TestProbeTimeout(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration
		known bool
		era   Era
		want  string
		took  time.Duration
	}{
		{"just in time", 5*time.Second - 1, false, EraAuto, "modern", 5*time.Second - 1},
		{"just too late", 5*time.Second + 1, false, EraAuto, "legacy", 5 * time.Second},
		{"known", 30*time.Second - 1, true, EraAuto, "modern", 30*time.Second - 1},
		{"known, too late", 30*time.Second + 1, true, EraAuto, "did not answer server/discover within 30s", 30 * time.Second},
		{"pinned", 30*time.Second - 1, false, EraModern, "modern", 30*time.Second - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t)
				s.discover = func(m wire.Message) *wire.Message {
					c := <-s.conns
					time.AfterFunc(tt.after, func() { c.receiver.Receive(*says(discoverResult)(m), "") })
					return nil
				}
				b := New("b", s, Options{Era: tt.era}, slog.New(slog.DiscardHandler))
				if tt.known {
					b.learn(true, false)
				}
				began := time.Now()
				checkEra(t, b, true, tt.want)
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// A backend that is known to be modern and leaves, or says nothing, is an error and
// no legacy one; but from then on it is not known.
func TestKnownModernFails(t *testing.T) {
	for want, fail := range map[string]func(*scriptConn){
		"it exited": func(c *scriptConn) { c.fail(errors.New("it exited")) },
		"did not answer server/discover within 30s": func(*scriptConn) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(t)
			s.discover = func(wire.Message) *wire.Message { fail(<-s.conns); return nil }
			b := New("b", s, Options{}, slog.New(slog.DiscardHandler))
			b.learn(true, true)
			checkEra(t, b, true, want)
			checkEra(t, b, true, "legacy")
		})
	}
}

// An error without id answers the probe, which is all that there is: nobody waits for
// the limit.
func TestErrorWithoutIDAnswersTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.discover = func(wire.Message) *wire.Message {
			return new(parse(`{"jsonrpc":"2.0","error":{"code":-32600,"message":"what?"}}`))
		}
		began := time.Now()
		checkEra(t, New("b", s, Options{}, slog.New(slog.DiscardHandler)), true, "legacy")
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// A modern backend that refuses initialize without naming it is not taken for one of
// HTTP+SSE.
func TestModernRefusalIsNoSSE(t *testing.T) {
	b := webBackend(t, true, func(m wire.Message, _ http.Header) (*http.Response, error) {
		if m.Method() == "initialize" {
			return plain(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"no headers"}}`)
		}
		return object(200, says(discoverResult)(m))
	})
	d := b.dialer.(*Auto)
	posts := d.http.site.http.Transport
	d.sse.site.http.Transport = transport(func(req *http.Request) (*http.Response, error) {
		if req.Method == http.MethodGet {
			t.Error("a GET was sent")
		}
		return posts.RoundTrip(req)
	})
	checkEra(t, b, false, "modern")
}

// That a backend did not answer the probe in time is believed only because it
// then shook hands.
func TestSilenceAloneProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.discover, s.hello = silent, silent
		b := New("b", s, Options{}, slog.New(slog.DiscardHandler))
		checkEra(t, b, true, "did not answer initialize within 30s")
		s.discover = says(discoverResult)
		checkEra(t, b, true, "modern")
	})
}

// Pinned, a backend is spoken to in that era by every client.
func TestPinnedEra(t *testing.T) {
	for era, want := range map[Era]string{EraLegacy: "legacy", EraModern: "modern"} {
		for _, modern := range []bool{true, false} {
			s := newScript(t)
			s.discover = says(discoverResult)
			checkEra(t, New("b", s, Options{Era: era}, slog.New(slog.DiscardHandler)), modern, want)
		}
	}
}

// A backend that was replaced by one of the other era is found out, whichever was
// believed.
func TestReplacedBackend(t *testing.T) {
	old := says(rpcError(-32601, "{}"))
	for _, modern := range []bool{true, false} {
		s := newScript(t)
		b := New("b", s, Options{}, slog.New(slog.DiscardHandler))
		for range 2 {
			s.discover, s.hello = old, says(initializeResult)
			checkEra(t, b, modern, "legacy")
			s.discover, s.hello = says(discoverResult), old
			checkEra(t, b, modern, "modern")
		}
	}
}

// A modern backend that answers as no modern one does is asked again what it is.
// What it certainly did not process is sent again, once, unless the client counts on
// the modern era; everything else is not.
func TestContradiction(t *testing.T) {
	legacyCall := `{"jsonrpc":"2.0","id":"c","method":"prompts/list"}`
	modernCall := modernRequest(`"c"`, "prompts/list", `{}`)
	for _, tt := range []struct {
		name   string
		call   string
		status int
		body   string // of the first answer; %s is the id
		still  bool   // it goes on to be modern
		want   string // what the outcome contains
		calls  int    // that the backend saw
	}{
		{"-32022", legacyCall, 400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no"}}`, false, `"ok":true`, 2},
		{"-32022 of a modern backend", legacyCall, 400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no"}}`, true, `-32603`, 1},
		{"404", legacyCall, 404, ``, false, `"ok":true`, 2},
		{"404 of a modern backend", legacyCall, 404, ``, true, `HTTP status 404`, 1},
		{"404 with an error", legacyCall, 404, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, false, `-32601`, 1},
		{"not initialized", legacyCall, 400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"Server not initialized"}}`, false, `not initialized`, 1},
		{"to a modern client", modernCall, 404, ``, false, "has changed", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls, replaced := 0, false
			b := webBackend(t, false, func(m wire.Message, _ http.Header) (*http.Response, error) {
				switch m.Method() {
				case "server/discover":
					if replaced && !tt.still {
						return plain(404, "text/plain", "")
					}
					return object(200, says(discoverResult)(m))
				case "initialize":
					if !replaced {
						return object(400, says(rpcError(-32601, "{}"))(m))
					}
					return object(200, says(initializeResult)(m))
				}
				calls++
				if replaced && calls > 1 {
					return object(200, says(`{"ok":true}`)(m))
				}
				replaced = true
				return plain(tt.status, "application/json", strings.ReplaceAll(tt.body, "%s", string(m.ID())))
			})
			call := parse(tt.call)
			s := checkEra(t, b, wire.IsModern(call), "modern")
			resp, err := s.Call(t.Context(), call, newClient("call"))
			got := string(resp.Raw())
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) || calls != tt.calls {
				t.Errorf("%s after %d calls, want %s after %d", got, calls, tt.want, tt.calls)
			}
			b.mu.Lock()
			if strings.Contains(tt.want, "not initialized") && b.eras != (eras{}) {
				t.Errorf("still believed: %+v", b.eras)
			}
			b.mu.Unlock()
			if _, err := s.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			if wantModern := tt.still || strings.Contains(tt.body, "-32601"); s.Modern() != wantModern {
				t.Errorf("the next connection is modern: %v, want %v", s.Modern(), wantModern)
			}
		})
	}
}

// What the two sides are told of the backend.
func TestResult(t *testing.T) {
	const discovered = `{ "resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` +
		`{"logging":{},"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{"a":1.0}}},` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2","title":"S"}},"instructions":"Do\u0021"}`
	for _, tt := range []struct{ name, discovered, params, want string }{
		{"all", discovered, legacyHello, `{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"tools":{"listChanged":true},` +
			`"extensions":{"x/y":{"a":1.0}}},"serverInfo":{"name":"s","version":"2","title":"S"},"instructions":"Do\u0021"}`},
		{"little", `{"supportedVersions":["2026-07-28"],"capabilities":null,"instructions":7}`, `{}`,
			`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"version":"","name":"b"}}`},
	} {
		if got := asInitializeResult([]byte(tt.discovered), []byte(tt.params), "b"); string(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	s := newScript(t)
	s.discover, s.hello = says(discovered), says(rpcError(-32601, "{}"))
	b := New("b", s, Options{}, slog.New(slog.DiscardHandler))
	if got := checkEra(t, b, true, "modern").Result(); string(got) != discovered {
		t.Errorf("a modern client gets %s, want what the backend wrote", got)
	}
	old := checkEra(t, b, false, "modern")
	if got, _ := wire.Text(old.Result(), "protocolVersion"); got != "2025-06-18" {
		t.Errorf("a legacy client gets %s", old.Result())
	}
	if !old.Attributes() {
		t.Error("a modern backend tells to which call a question belongs")
	}
}

// modernRequest is a request of a modern client that can be asked forms.
func modernRequest(id, method, params string) string {
	p := wire.Set([]byte(params), []byte(`"2026-07-28"`), "_meta", wire.MetaRevision)
	p = wire.Set(p, []byte(`{"elicitation":{"form":{}}}`), "_meta", wire.MetaCapabilities)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}`, id, method, p)
}

// callIn makes a call and returns where its outcome will be.
func callIn(ctx context.Context, s *Session, m wire.Message, c Caller) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		resp, err := s.Call(ctx, m, c)
		done <- outcome{resp, err}
	}()
	return done
}
