package front

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Members of _meta, as a modern client writes them.
const (
	metaRevision = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	metaCaps     = `"io.modelcontextprotocol/clientCapabilities":{}`
	metaWhole    = `"_meta":{` + metaRevision + `,` + metaCaps + `}`
)

// modern returns a request of a modern client; more are further members of params.
func modern(id, method, more string) string {
	if more != "" {
		more += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, more, metaWhole)
}

// standard returns the standard headers that go with a message, as pairs.
func standard(body string) []string {
	m, err := wire.Parse([]byte(body))
	if err != nil {
		return []string{mirror.HeaderRevision, string(wire.R20260728)}
	}
	h := make(http.Header)
	mirror.SetStandard(h, m)
	pairs := []string{mirror.HeaderRevision, string(wire.R20260728)}
	for _, name := range []string{mirror.HeaderMethod, mirror.HeaderName} {
		if v := h.Get(name); v != "" {
			pairs = append(pairs, name, v)
		}
	}
	return pairs
}

// modernRequest is request for a message of the modern era.
func modernRequest(body string) *http.Request {
	r := request("POST", body)
	for pairs := standard(body); len(pairs) > 0; pairs = pairs[2:] {
		r.Header.Set(pairs[0], pairs[1])
	}
	return r
}

// went tells which of the two the relay was asked for since the last time.
func (f *fakeRelay) went() string {
	opened, legs := len(f.opened), len(f.legs)
	for range opened {
		<-f.opened
	}
	for range legs {
		<-f.legs
	}
	switch {
	case opened == 1 && legs == 0:
		return "open"
	case opened == 0 && legs == 1:
		return "answer"
	case opened+legs == 0:
		return ""
	}
	return fmt.Sprintf("open %d, answer %d", opened, legs)
}

// What a POST is told, and where it goes. The headers of a row are added to those
// that repeat its body; an empty value takes one away.
func TestModernExchanges(t *testing.T) {
	echo := modern("5", "echo", `"a":1.50`)
	call := modern("5", "tools/call", `"name":"echo"`)
	in := func(meta string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"echo","params":{"_meta":{%s}}}`, meta)
	}
	at := func(revision string) string { return strings.ReplaceAll(echo, "2026-07-28", revision) }
	version := func(v string) []string { return []string{headerVersion, v} }
	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		want    string // a part of the body
		went    string
	}{
		{"a request", echo, nil, 200, `{"jsonrpc":"2.0","id":5,"result":{"a":1.50,"_meta":{` + metaRevision, "answer"},
		{"a string as id", modern(`"\u0061"`, "echo", ""), nil, 200, `"id":"\u0061"`, "answer"},
		{"what sessions need is ignored", echo, []string{headerSession, "nope", headerResume, "1-1"}, 200, `"id":5,"result"`, "answer"},
		{"server/discover", modern("5", "server/discover", ""), nil, 200, `"supportedVersions"`, "answer"},
		{"an unknown method is the relay's", modern("5", "no/such", ""), nil, 200, `"result"`, "answer"},
		{"initialize with modern marks", modern("5", "initialize", ""), nil, 200, `"result"`, "answer"},
		{"ping with modern marks", modern("5", "ping", ""), nil, 200, `"result"`, "answer"},

		// The message is incomplete: -32602, also when only the header is modern.
		{"no params", `{"jsonrpc":"2.0","id":5,"method":"echo"}`, nil, 400, `"id":5,"error":{"code":-32602`, ""},
		{"no _meta", `{"jsonrpc":"2.0","id":5,"method":"echo","params":{}}`, nil, 400, `"id":5,"error":{"code":-32602`, ""},
		{"no revision", in(metaCaps), nil, 400, `-32602`, ""},
		{"no capabilities", in(metaRevision), nil, 400, `"id":5,"error":{"code":-32602`, ""},
		{"capabilities of another type", in(metaRevision + `,"io.modelcontextprotocol/clientCapabilities":[]`), nil, 400, `-32602`, ""},
		{"revision of another type", in(metaCaps + `,"io.modelcontextprotocol/protocolVersion":2026`), nil, 400, `-32602`, ""},
		{"the same without the header", in(metaCaps + `,"io.modelcontextprotocol/protocolVersion":2026`), version(""), 400, `-32602`, ""},
		{"the modern header on a legacy initialize", initializeAs(wire.Latest), nil, 400, `-32602`, ""},

		// The headers say something else: -32020.
		{"no version header", echo, version(""), 400, `"id":5,"error":{"code":-32020`, ""},
		{"a legacy version header", echo, version("2025-11-25"), 400, `-32020`, ""},
		{"another version in the message", at("v999.0.0"), version("2026-07-28"), 400, `-32020`, ""},
		{"no method header", echo, []string{mirror.HeaderMethod, ""}, 400, `-32020`, ""},
		{"another method", echo, []string{mirror.HeaderMethod, "tools/list"}, 400, `-32020`, ""},
		{"a method in another case", echo, []string{mirror.HeaderMethod, "ECHO"}, 400, `-32020`, ""},
		{"no name", call, []string{mirror.HeaderName, ""}, 400, `-32020`, ""},
		{"another name", call, []string{mirror.HeaderName, "rm"}, 400, `-32020`, ""},
		{"a name in Base64", call, []string{mirror.HeaderName, "=?base64?ZWNobw==?="}, 200, `"result"`, "answer"},
		{"a name in broken Base64", call, []string{mirror.HeaderName, "=?base64?ZWNobw=?="}, 400, `-32020`, ""},
		{"a name with space around it", call, []string{mirror.HeaderName, "  echo  "}, 200, `"result"`, "answer"},
		{"header names in another case", echo, []string{mirror.HeaderMethod, "", "MCP-METHOD", "echo"}, 200, `"result"`, "answer"},

		// Headers and message agree on a revision that is not spoken: -32022.
		{"no revision at all", at("v999.0.0"), version("v999.0.0"), 400, `"requested":"v999.0.0"`, ""},
		{"a future revision", at("2027-01-01"), version("2027-01-01"), 400, `"supported":["2026-07-28","2025-11-25"`, ""},
		{"a legacy revision without a session", at("2025-11-25"), version("2025-11-25"), 400, `"code":-32022`, ""},

		// Messages that are no requests.
		{"a batch", `[` + echo + `]`, nil, 400, `"code":-32600`, ""},
		{"a response", `{"jsonrpc":"2.0","id":"ask-1","result":{}}`, nil, 400, `"id":null,"error":{"code":-32600`, ""},
		{"an error", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, nil, 400, `"code":-32600`, ""},
		{"notifications/cancelled", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`, nil, 202, ``, ""},
		{"a notification with nothing but the version header", `{"jsonrpc":"2.0","method":"notifications/x"}`, []string{mirror.HeaderMethod, ""}, 202, ``, ""},
		{"a notification without headers", `{"jsonrpc":"2.0","method":"notifications/x","params":{` + metaWhole + `}}`, []string{mirror.HeaderMethod, "", headerVersion, ""}, 202, ``, ""},

		// What no message may be.
		{"half a message", `{"jsonrpc":"2.0","id":5,"met`, nil, 400, `-32700`, ""},
		{"nothing", ``, nil, 400, `-32700`, ""},
		{"trailing data", echo + `{}`, nil, 400, `"id":5,"error":{"code":-32700`, ""},
		{"a member twice", strings.Replace(echo, `"a":1.50`, `"a":1,"a":2`, 1), nil, 400, `"id":5,"error":{"code":-32600`, ""},
		{"too long", modern("5", "echo", `"a":"`+strings.Repeat("x", 3000)+`"`), nil, 413, `"limitBytes":2000`, ""},
		{"no JSON", echo, []string{"Content-Type", "text/plain"}, 415, `"reason":"http"`, ""},
		{"an Accept of something else", echo, []string{"Accept", "text/html"}, 406, `"id":5`, ""},
		{"listen without events", modern("5", methodListen, ""), []string{"Accept", "application/json"}, 406, `"id":5`, ""},

		// The legacy era, as always.
		{"initialize", initializeAs(wire.Latest), []string{headerVersion, "", mirror.HeaderMethod, ""}, 200, `"protocolVersion":"2025-11-25"`, "open"},
		{"initialize with a legacy header", initializeAs(wire.Latest), version("2025-11-25"), 200, `"protocolVersion"`, "open"},
		{"initialize with other _meta", strings.Replace(initializeAs(wire.Latest), `"params":{`, `"params":{"_meta":{"x":1},`, 1), version(""), 200, `"protocolVersion"`, "open"},
		{"no session", `{"jsonrpc":"2.0","id":5,"method":"echo"}`, version(""), 400, `"id":5,"error":{"code":-32600`, ""},
		{"an unknown session", `{"jsonrpc":"2.0","id":5,"method":"echo"}`, []string{headerVersion, "", headerSession, "nope"}, 404, `"reason":"session"`, ""},
		{"a revision that is no date", `{"jsonrpc":"2.0","id":5,"method":"echo"}`, version("latest"), 400, `names no session`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onWeb(t, Options{MaxBody: 2000}, func(t *testing.T, h *web) {
				got := h.peer().send("POST", test.body, append(standard(test.body), test.headers...)...)
				if got.status != test.status || !strings.Contains(got.body, test.want) {
					t.Errorf("got %d %s\nwant %d, %s", got.status, got.body, test.status, test.want)
				}
				if went := h.relay.went(); went != test.went {
					t.Errorf("went to %q, want %q", went, test.went)
				}
				if test.status >= 400 {
					for _, part := range []string{`"reason":`, `"hint":`, `"jsonrpc":"2.0"`} {
						if !strings.Contains(got.body, part) {
							t.Errorf("got %s\nwithout %s", got.body, part)
						}
					}
				}
				if id := got.header.Get(headerSession); id != "" && test.went != "open" {
					t.Errorf("a session was made: %s", id)
				}
			})
		})
	}
}

// "HTTP GET or DELETE to the MCP endpoint: respond with 405 Method Not Allowed."
func TestModernMethods(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		for _, method := range []string{"GET", "DELETE", "PUT"} {
			got := h.peer().send(method, "", headerVersion, "2026-07-28", headerSession, "x")
			if got.status != 405 || got.header.Get("Allow") != "POST" || !strings.Contains(got.body, `"reason":"http"`) {
				t.Errorf("%s: got %+v", method, got)
			}
		}
		if got := h.peer().send("GET", ""); got.status != 400 || !strings.Contains(got.body, "names no session") {
			t.Errorf("a legacy GET: got %+v", got)
		}
	})
}

// The status of an error goes by its code, whoever gives it, as long as nothing was
// sent before.
func TestModernStatus(t *testing.T) {
	tests := []struct {
		code   string
		status int
	}{
		{"-32601", 404}, {"-32602", 400}, {"-32600", 400}, {"-32700", 400},
		{"-32020", 400}, {"-32021", 400}, {"-32022", 400},
		{"-32603", 200}, {"-32000", 200}, {"-32023", 200}, {"1", 200}, {`"-32601"`, 200},
	}
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		for _, test := range tests {
			for _, accept := range []string{"application/json, text/event-stream", "application/json", "text/event-stream"} {
				body := modern("5", "fail", `"code":`+test.code)
				got := h.peer().send("POST", body, append(standard(body), "Accept", accept)...)
				kind := typeJSON
				if accept == typeEvents && test.status == 200 {
					kind = typeEvents
				}
				want := fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"error":{"code":%s,"message":"m"}}`, test.code)
				if got.status != test.status || got.header.Get("Content-Type") != kind || !strings.Contains(got.body, want) {
					t.Errorf("%s accepting %s: got %+v", test.code, accept, got)
				}
			}
		}
		for _, method := range []string{"nothing", "mistaken"} {
			body := modern("5", method, "")
			got := h.peer().send("POST", body, standard(body)...)
			if got.status != 200 || !strings.Contains(got.body, `"id":5,"error":{"code":-32603`) {
				t.Errorf("a relay that says %s: got %+v", method, got)
			}
		}
	})
}

// The relay is told who asks, for what, and what the request says of itself.
func TestModernLeg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWeb(t, newFakeRelay(t), Options{
			Backends:     []string{"one"},
			Authenticate: StaticTokens(map[string]string{"secret-1": "ann"}),
		})
		defer h.close()
		p := h.peer()
		p.path = "/mcp/one"
		body := `{"jsonrpc":"2.0","id":5,"method":"echo","params":{"_meta":{` + metaRevision +
			`,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}},"io.modelcontextprotocol/logLevel":"info","progressToken":7}}}`
		headers := append(standard(body), "Authorization", "Bearer secret-1", "Mcp-Param-Region", "eu")
		if got := p.send("POST", body, headers...); got.status != 200 {
			t.Fatalf("got %+v", got)
		}
		leg := <-h.relay.legs
		if leg.Principal != "ann" || leg.Route != "one" || leg.Transport != TransportHTTP || leg.Header.Get("Mcp-Param-Region") != "eu" {
			t.Errorf("leg %+v", leg)
		}
		meta := leg.Meta
		if meta.Revision != wire.R20260728 || !meta.Caps.URL || meta.Caps.Form || meta.LogLevel != "info" || string(meta.Progress) != "7" {
			t.Errorf("meta %+v", meta)
		}
		if string(leg.Request().Raw()) != body {
			t.Errorf("request %s", leg.Request().Raw())
		}
		if got := p.send("POST", body, standard(body)...); got.status != 401 || h.relay.went() != "" {
			t.Errorf("without a token: got %+v", got)
		}
	})
}

// A session of the legacy era and requests of the modern one share the endpoint, and
// a request of the modern era is none of the session, whatever its header says.
func TestModernBesideSession(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.R20250326)
		h.relay.went()
		body := modern("1", "echo", "")
		if got := p.send("POST", body, standard(body)...); got.status != 200 || h.relay.went() != "answer" {
			t.Errorf("got %+v", got)
		}
		if got := p.send("POST", body); got.status != 400 || !strings.Contains(got.body, "-32020") {
			t.Errorf("with the header of the session: got %+v", got)
		}
		got := p.send("POST", `[`+body+`,{"jsonrpc":"2.0","id":2,"method":"echo"}]`)
		if got.status != 200 || !strings.Contains(got.body, `"id":1,"error":{"code":-32600`) || !strings.Contains(got.body, `"id":2,"result":{}`) {
			t.Errorf("in a batch: got %+v", got)
		}
		p.post("the session", `{"jsonrpc":"2.0","id":3,"method":"echo"}`, 200, `{"jsonrpc":"2.0","id":3,"result":{}}`)
		if went := h.relay.went(); went != "" {
			t.Errorf("went to %q", went)
		}
	})
}

// At most MaxLegs requests are in progress, of all clients together.
func TestModernLimit(t *testing.T) {
	onWeb(t, Options{MaxLegs: 2}, func(t *testing.T, h *web) {
		p := h.peer()
		wait, echo := modern("1", "wait", ""), modern("2", "echo", "")
		first := p.background(wait, standard(wait)...)
		second := p.background(wait, standard(wait)...)
		got := p.send("POST", echo, standard(echo)...)
		if got.status != 503 || got.header.Get("Retry-After") == "" {
			t.Errorf("got %+v", got)
		}
		for _, part := range []string{`"id":2,"error":{"code":-32603`, `"reason":"limit"`, `"limit":2`, `"hint"`} {
			if !strings.Contains(got.body, part) {
				t.Errorf("got %s, without %s", got.body, part)
			}
		}
		h.relay.release <- struct{}{}
		h.relay.release <- struct{}{}
		for _, c := range []<-chan whole{first, second} {
			if got := <-c; got.body != `{"jsonrpc":"2.0","id":1,"result":"waited"}` {
				t.Errorf("got %+v", got)
			}
		}
		if got := p.send("POST", echo, standard(echo)...); got.status != 200 {
			t.Errorf("when there is room again: got %+v", got)
		}
	})
}
