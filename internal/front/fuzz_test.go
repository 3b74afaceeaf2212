package front

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// request returns a request to /mcp as if it had come in at 192.0.2.1.
func request(method, body string) *http.Request {
	r := httptest.NewRequest(method, "/mcp", strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set("Accept", "application/json, text/event-stream")
	local := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
}

// Whatever a client posts, nothing panics, a refusal is a JSON-RPC error, and the
// session can be used afterwards.
func FuzzPost(f *testing.F) {
	seeds := []string{
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":2,"method":"initialize"}]`,
		`[]`, `{`, ``, "\xff", `{"jsonrpc":"2.0","id":1,"id":2}`, initializeAs(wire.Latest),
		"{\"jsonrpc\":\"2.0\",\n\"id\":1,\"method\":\"echo\",\"params\":{\"a\":\n1}}",
	}
	for _, s := range seeds {
		f.Add(s, "application/json, text/event-stream", "application/json", "", "")
		f.Add(s, "text/event-stream", "application/json;", "2025-03-26", "1-1")
		f.Add(s, "", "", "2026-07-28", "-")
	}
	f.Fuzz(func(t *testing.T, body, accept, kind, version, last string) {
		relay := newFakeRelay(t)
		h := NewHTTP(relay, Options{MaxBody: 1 << 16}, discard)
		defer h.Close(t.Context())
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request("POST", initializeAs(wire.R20250326)))
		session := w.Header().Get(headerSession)

		r := request("POST", body)
		for name, value := range map[string]string{
			"Accept": accept, "Content-Type": kind, headerVersion: version, headerResume: last, headerSession: session,
		} {
			r.Header.Set(name, value)
		}
		if blocks(body) {
			return
		}
		w = httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 400 {
			if m, err := wire.Parse(w.Body.Bytes()); err != nil || m.Kind() != wire.Failure {
				t.Errorf("refused %d with %s", w.Code, w.Body)
			}
		}

		r = request("POST", `{"jsonrpc":"2.0","id":"after","method":"echo"}`)
		r.Header.Set(headerSession, session)
		w = httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Body.String(); got != `{"jsonrpc":"2.0","id":"after","result":{}}` {
			t.Errorf("the session cannot be used any more: %d %s", w.Code, got)
		}
	})
}

// Whatever a client posts, it is of one era: what the header or the message calls
// modern never opens a session, and what neither does never becomes a leg. Nothing
// panics, and a refusal is a JSON-RPC error.
func FuzzModernPost(f *testing.F) {
	seeds := []string{
		modern("1", "echo", ""), modern("1", "tools/call", `"name":"echo"`), modern("1", "initialize", ""),
		initializeAs(wire.Latest), strings.Replace(initializeAs(wire.Latest), `"params":{`, `"params":{`+metaWhole+`,`, 1),
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_m\u0065ta":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}}`,
		`{"jsonrpc":"2.0","method":"notifications/x","params":{` + metaWhole + `}}`,
		`{"jsonrpc":"2.0","id":1,"result":{` + metaWhole + `}}`, `[` + modern("1", "echo", "") + `]`, `{`,
	}
	for _, s := range seeds {
		f.Add(s, "2026-07-28", "echo", "", "", "application/json, text/event-stream")
		f.Add(s, "", "", "", "", "")
		f.Add(s, "2025-11-25", "tools/call", "echo", "1", "text/event-stream")
		f.Add(s, "v9", "initialize", "=?base64?ZWNobw==?=", "", "application/json")
	}
	f.Fuzz(func(t *testing.T, body, version, method, name, session, accept string) {
		if m, err := wire.Parse([]byte(body)); err == nil && slices.Contains([]string{"block", "ignore", "wait", "progress", "flood", methodListen}, m.Method()) {
			return // the fake relay would wait for the test
		} else if tool, _ := wire.Text(m.Params(), "name"); tool == "block" {
			return
		}
		relay := newFakeRelay(t)
		h := NewHTTP(relay, Options{MaxBody: 1 << 16}, discard)
		defer h.Close(t.Context())
		r := request("POST", body)
		for header, value := range map[string]string{
			headerVersion: version, mirror.HeaderMethod: method, mirror.HeaderName: name, headerSession: session, "Accept": accept,
		} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 400 {
			if m, err := wire.Parse(w.Body.Bytes()); err != nil || m.Kind() != wire.Failure {
				t.Errorf("refused %d with %s", w.Code, w.Body)
			}
		}
		era := "open"
		if isModernByJSON(version, body) {
			era = "answer"
		}
		if went := relay.went(); went != "" && went != era {
			t.Errorf("version %q, %s: went to %s", version, body, went)
		}
		if id := w.Header().Get(headerSession); id != "" && era != "open" {
			t.Errorf("a session was made for %s", body)
		}
	})
}

// isModernByJSON decides the era of a request as somebody else would.
func isModernByJSON(version, body string) bool {
	var m struct {
		Params map[string]json.RawMessage `json:"params"`
	}
	var meta map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &m)
	_ = json.Unmarshal(m.Params["_meta"], &meta)
	_, says := meta[wire.MetaRevision]
	return says || wire.Revision(version).IsModern()
}

// blocks reports whether the fake relay would wait for the test.
func blocks(body string) bool {
	for _, method := range []string{"block", "wait", "progress", "ask", "stall", "tools", "flood", "ignore", "listen", `\`} {
		if strings.Contains(body, method) {
			return true
		}
	}
	return false
}

func FuzzHeaders(f *testing.F) {
	f.Add("localhost:80", "http://localhost", "1-2", "Bearer x", "GET")
	f.Add("[::1", "http://[::1", "18446744073709551615-0", "", "DELETE")
	h := NewHTTP(newFakeRelay(&testing.T{}), Options{}, discard)
	f.Fuzz(func(t *testing.T, host, origin, last, auth, method string) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // an event stream ends at once
		r := request("POST", "")
		r.Method, r.Host = method, host
		for name, value := range map[string]string{"Origin": origin, headerResume: last, "Authorization": auth} {
			r.Header.Set(name, value)
		}
		h.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	})
}
