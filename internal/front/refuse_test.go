package front

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Bad input over HTTP is refused with a reason and what to do next, and a call
// that is in progress meanwhile is not harmed, nor is the next.
func TestHTTPBadInput(t *testing.T) {
	const echo = `{"jsonrpc":"2.0","id":5,"method":"echo"}`
	tests := []struct {
		name, method, body string
		headers            []string
		status             int
		want               string
	}{
		{"half a message", "POST", `{"jsonrpc":"2.0","id":5,"method":"ec`, nil, 400, `-32700`},
		{"no message", "POST", ``, nil, 400, `-32700`},
		{"trailing data", "POST", echo + `{}`, nil, 400, `"id":5,"error":{"code":-32700`},
		{"duplicate member", "POST", `{"jsonrpc":"2.0","id":5,"method":"a","method":"echo"}`, nil, 400, `-32600`},
		{"invalid UTF-8", "POST", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xff\"}", nil, 400, `-32700`},
		{"too long", "POST", `{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", 3000) + `"}`, nil, 413, `"limitBytes":2000`},
		{"batch", "POST", `[` + echo + `]`, nil, 400, `-32600`},
		{"second initialize", "POST", initializeAs(wire.Latest), nil, 400, `"id":0,"error":{"code":-32600`},
		{"answer to a question never asked", "POST", `{"jsonrpc":"2.0","id":"ask-1","result":{}}`, nil, 400, `never`},
		{"error that answers nothing", "POST", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, nil, 400, `answers no question`},
		{"no session", "POST", echo, []string{headerSession, ""}, 400, `"id":5,"error":`},
		{"unknown session", "POST", echo, []string{headerSession, "nope"}, 404, `"id":5,"error":`},
		{"no session on GET", "GET", ``, []string{headerSession, ""}, 400, `Mcp-Session-Id`},
		{"unknown session on GET", "GET", ``, []string{headerSession, "nope"}, 404, `"reason":"session"`},
		{"no session on DELETE", "DELETE", ``, []string{headerSession, ""}, 400, `"reason":"session"`},
		{"unknown session on DELETE", "DELETE", ``, []string{headerSession, "nope"}, 404, `"reason":"session"`},
		{"Accept of something else", "POST", echo, []string{"Accept", "text/html"}, 406, `"id":5`},
		{"Accept without events on GET", "GET", ``, []string{"Accept", "application/json"}, 406, `text/event-stream`},
		{"Content-Type of something else", "POST", echo, []string{"Content-Type", "text/plain"}, 415, `application/json`},
		{"no Content-Type", "POST", echo, []string{"Content-Type", ""}, 415, `"reason":"http"`},
		{"unknown revision", "POST", echo, []string{headerVersion, "2024-01-01"}, 400, `"supported":["2024-11-05"`},
		{"malformed revision", "POST", echo, []string{headerVersion, "latest"}, 400, `"reason":"http"`},
		{"another revision", "POST", echo, []string{headerVersion, "2025-03-26"}, 400, `speaks revision 2025-11-25`},
		{"unknown revision on GET", "GET", ``, []string{headerVersion, "1"}, 400, `"reason":"http"`},
		{"unknown revision on initialize", "POST", initializeAs(wire.Latest), []string{headerVersion, "1", headerSession, ""}, 400, `"supported"`},
		{"another method", "PUT", echo, nil, 405, `"reason":"http"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onWeb(t, Options{MaxBody: 2000}, func(t *testing.T, h *web) {
				p := h.peer().shake(wire.Latest)
				before := p.background(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
				got := p.send(test.method, test.body, test.headers...)
				want := strings.Replace(test.want, "never", "answers no question", 1)
				if got.status != test.status || !strings.Contains(got.body, want) {
					t.Errorf("got %d %s\nwant %d, %s", got.status, got.body, test.status, want)
				}
				for _, part := range []string{`"reason":`, `"hint":`, `"jsonrpc":"2.0"`} {
					if !strings.Contains(got.body, part) {
						t.Errorf("got %s\nwithout %s", got.body, part)
					}
				}
				h.relay.release <- struct{}{}
				if got := <-before; got.body != `{"jsonrpc":"2.0","id":1,"result":"waited"}` {
					t.Errorf("the call before: got %+v", got)
				}
				p.post("the call after", `{"jsonrpc":"2.0","id":2,"method":"echo"}`, 200, `{"jsonrpc":"2.0","id":2,"result":{}}`)
			})
		})
	}
}

func TestHTTPTolerates(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20250618)
		for _, headers := range [][]string{
			{"Accept", ""},
			{"Accept", "*/*"},
			{"Accept", "application/*;q=0.5, TEXT/Event-Stream ; x=y"},
			{"Content-Type", "Application/JSON; charset=utf-8"},
			{headerVersion, ""},
		} {
			if got := p.send("POST", `{"jsonrpc":"2.0","id":1,"method":"echo"}`, headers...); got.status != 200 {
				t.Errorf("%v: got %+v", headers, got)
			}
		}
	})
}

func TestHostAndOrigin(t *testing.T) {
	tests := []struct {
		host, origin string
		status       int
	}{
		{"localhost", "", 200},
		{"localhost:8080", "", 200},
		{"LOCALHOST.:8080", "", 200},
		{"127.0.0.1:8080", "", 200},
		{"127.8.8.8", "", 200},
		{"[::1]:8080", "", 200},
		{"[::1]", "", 200},
		{"gateway.example", "", 200},
		{"Gateway.Example:443", "", 200},
		{"192.0.2.1", "", 200}, // the address of the connection
		{"192.0.2.1:8080", "http://192.0.2.1:8080", 200},
		{"192.0.2.2", "", 403},
		{"evil.example", "", 403},
		{"evil.example", "http://evil.example", 403}, // after rebinding
		{"localhost.evil.example", "", 403},
		{"127.0.0.1.evil.example", "", 403},
		{"0.0.0.0", "", 403},
		{"", "", 403},
		{"localhost:8080", "http://localhost:8080", 200},
		{"localhost:8080", "http://127.0.0.1:6274", 200},
		{"localhost:8080", "http://[::1]:6274", 200},
		{"localhost:8080", "https://page.example", 200},
		{"localhost:8080", "https://PAGE.example", 200},
		{"localhost:8080", "http://page.example", 403},
		{"localhost:8080", "https://page.example.evil.example", 403},
		{"localhost:8080", "http://evil.example", 403},
		{"localhost:8080", "http://localhost.evil.example", 403},
		{"localhost:8080", "null", 403},
		{"localhost:8080", "file://localhost", 403},
		{"localhost:8080", "http://", 403},
		{"localhost:8080", "%", 403},
		{"gateway.example", "https://gateway.example", 200},
		{"gateway.example", "http://localhost:6274", 403},
	}
	h := NewHTTP(newFakeRelay(t), Options{
		AllowedHosts: []string{"gateway.example"}, AllowedOrigins: []string{"https://page.example/"},
	}, discard)
	defer h.Close(t.Context())
	for _, test := range tests {
		r := request("POST", initializeAs(wire.Latest))
		r.Host = test.host
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("Host %q, Origin %q: got %d %s", test.host, test.origin, w.Code, w.Body)
		}
		if w.Code == 403 && !strings.Contains(w.Body.String(), `"id":null,"error":{"code":-32600`) {
			t.Errorf("Host %q, Origin %q: got %s", test.host, test.origin, w.Body)
		}
		if allowed := w.Header().Get("Access-Control-Allow-Origin"); allowed != "" && (w.Code != 200 || allowed != test.origin) {
			t.Errorf("Host %q, Origin %q: the browser may read it", test.host, test.origin)
		}
	}
}

// A web page of an allowed origin can use the front.
func TestPreflight(t *testing.T) {
	h := NewHTTP(newFakeRelay(t), Options{Authenticate: StaticTokens(nil), AllowedOrigins: []string{"https://page.example"}}, discard)
	defer h.Close(t.Context())
	r := request("OPTIONS", "")
	r.Header.Set("Origin", "https://page.example")
	r.Header.Set("Access-Control-Request-Method", "POST")
	r.Header.Set("Access-Control-Request-Headers", "authorization,content-type,mcp-session-id")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	want := map[string]string{
		"Access-Control-Allow-Origin":   "https://page.example",
		"Access-Control-Allow-Methods":  "GET, POST, DELETE",
		"Access-Control-Allow-Headers":  "authorization,content-type,mcp-session-id",
		"Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate",
		"Vary":                          "Origin",
	}
	for name, value := range want {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s: got %q, want %q", name, got, value)
		}
	}
	if w.Code != http.StatusNoContent {
		t.Errorf("got %d", w.Code)
	}
}

func TestAuthentication(t *testing.T) {
	h := NewHTTP(newFakeRelay(t), Options{
		Authenticate: StaticTokens(map[string]string{"secret-1": "ann", "": "empty"}),
		Backends:     []string{"one", "two"}, SSE: true,
	}, discard)
	defer h.Close(t.Context())
	tests := []struct {
		path, header string
		status       int
		want         string
	}{
		{"/mcp", "Bearer secret-1", 200, ""},
		{"/mcp", "bearer  secret-1 ", 200, ""},
		{"/mcp", "", 401, `"reason":"auth"`},
		{"/mcp", "Bearer", 401, ""},
		{"/mcp", "Bearer secret-2", 401, ""},
		{"/mcp", "Basic secret-1", 401, ""},
		{"/mcp/three", "Bearer secret-2", 401, ""},
		{"/mcp/three", "Bearer secret-1", 404, `one, two`},
		{"/sse/three", "Bearer secret-1", 404, `one, two`},
		{"/mcp/one/x", "Bearer secret-1", 404, ""},
		{"/elsewhere", "Bearer secret-1", 404, `/mcp`},
		{"/elsewhere", "", 401, ""},
		{"/mcp/one", "Bearer secret-1", 200, ""},
		{"/mcp/", "Bearer secret-1", 200, ""},
	}
	for _, test := range tests {
		r := request("POST", initializeAs(wire.Latest))
		r.URL.Path = test.path
		r.Header.Set("Authorization", test.header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s with %q: got %d %s", test.path, test.header, w.Code, w.Body)
		}
		if w.Code == 401 && w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s with %q: got %v", test.path, test.header, w.Header())
		}
		if strings.Contains(w.Body.String(), "secret") || w.Code != 404 && strings.Contains(w.Body.String(), "one, two") {
			t.Errorf("%s with %q tells %s", test.path, test.header, w.Body)
		}
	}
}

// Who sends two tokens may be taken for one by a proxy, and for the other here.
func TestTwoTokens(t *testing.T) {
	authenticate := StaticTokens(map[string]string{"secret-1": "ann", "secret-2": "bob"})
	for _, second := range []string{"Bearer secret-2", "Bearer secret-1", "Basic eDp5", ""} {
		for _, order := range [][]string{{"Bearer secret-1", second}, {second, "Bearer secret-1"}} {
			r := request("POST", initializeAs(wire.Latest))
			r.Header["Authorization"] = order
			if who, ok := authenticate(r); ok {
				t.Errorf("%q is %s", order, who)
			}
		}
	}
}

// What is none of the protocol needs no authentication, but a host of ours.
func TestOther(t *testing.T) {
	h := NewHTTP(newFakeRelay(t), Options{
		Authenticate: StaticTokens(nil),
		Other:        http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(299) }),
	}, discard)
	defer h.Close(t.Context())
	for _, test := range []struct {
		host, path string
		status     int
	}{{"localhost", "/healthz", 299}, {"evil.example", "/healthz", 403}, {"localhost", "/mcp", 401}} {
		r := request("GET", "")
		r.Host, r.URL.Path = test.host, test.path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%s%s: got %d", test.host, test.path, w.Code)
		}
	}
}
