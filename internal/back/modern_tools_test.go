package back

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const mirroredTool = `{"name":"sql","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}}`

func toolsPage(cursor string, tools ...string) string {
	return `{"ttlMs":0,"tools":[` + strings.Join(tools, ",") + `]` + cursor + `}`
}

// The arguments of a tool that want it are repeated in headers; for that the tools
// are listed once, page by page, unless they are known.
func TestMirroredArguments(t *testing.T) {
	for _, modern := range []bool{true, false} {
		wt := openWeb(t, modern, legacyHello)
		raw := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sql","_meta":{"progressToken":"p"},"arguments":{"region":"Zürich","n":42.0}}}`
		if modern {
			raw = modernRequest("1", "tools/call", string(parse(raw).Params()))
		}
		done := callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
		a := wt.want("tools/list")
		if meta := wire.ParseMeta(a.m.Params()); meta.Complete() != nil || meta.Progress != nil {
			t.Errorf("listed with %s", a.body)
		}
		a.result(toolsPage(`,"nextCursor":"c\u0031"`, `{"name":"other"}`))
		a = wt.want("tools/list")
		if got := string(wire.Get(a.m.Params(), "cursor")); got != `"c\u0031"` {
			t.Errorf("the cursor is %s", got)
		}
		a.result(toolsPage("", mirroredTool))
		for range 2 {
			a = wt.want("tools/call")
			if got := a.Header.Get("Mcp-Param-Region") + " " + a.Header.Get("Mcp-Param-N"); got != "=?base64?WsO8cmljaA==?= 42" {
				t.Errorf("headers %q", got)
			}
			a.result(`{"content":[]}`)
			receive(t, "call", done)
			done = callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
		}
		wt.want("tools/call").result(`{}`)
		receive(t, "call", done)

		unknown := strings.Replace(raw, `"sql"`, `"none"`, 1)
		done = callIn(t.Context(), wt.Session, parse(unknown), newClient("call"))
		wt.want("tools/call").failure(400, `{"code":-32602,"message":"Unknown tool"}`)
		if got := receive(t, "a tool that is in no list", done); code(got.m) != wire.CodeInvalidParams {
			t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
		}
	}
}

// Calls that come at the same time wait for one list.
func TestListedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wt := openWeb(t, true, legacyHello)
		raw := modernRequest("1", "tools/call", `{"name":"sql"}`)
		one := callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
		two := callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
		a := wt.want("tools/list")
		synctest.Wait()
		a.result(toolsPage("", `{"name":"other"}`))
		for range 2 {
			wt.want("tools/call").result(`{}`)
		}
		receive(t, "one", one)
		receive(t, "two", two)
	})
}

// Headers that are not what the backend expects make Beckon list the tools and try
// again, once.
func TestHeaderMismatch(t *testing.T) {
	for _, modern := range []bool{true, false} {
		wt := openWeb(t, modern, legacyHello)
		wt.backend.mirrors.set("sql", nil)
		raw := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sql","arguments":{"region":"x"}}}`
		want := wire.CodeInternal
		if modern {
			raw = modernRequest("1", "tools/call", string(parse(raw).Params()))
			want = wire.CodeHeaderMismatch
		}
		mismatch := `{"code":-32020,"message":"Header mismatch"}`
		for _, second := range []bool{true, false} {
			done := callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
			wt.want("tools/call").failure(400, mismatch)
			wt.want("tools/list").result(toolsPage("", mirroredTool))
			a := wt.want("tools/call")
			if got := a.Header.Get("Mcp-Param-Region"); got != "x" {
				t.Errorf("header %q", got)
			}
			if second {
				a.result(`{"content":[]}`)
				if got := receive(t, "call", done); got.m.Kind() != wire.Result {
					t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
				}
				continue
			}
			a.failure(400, mismatch)
			if got := receive(t, "call", done); code(got.m) != want {
				t.Errorf("the client got %s, %v, want code %d", got.m.Raw(), got.err, want)
			}
		}
	}
}

// A backend that does not list its tools holds up a call for 10 s, and no longer;
// and not the next one.
func TestListingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wt := openWeb(t, true, legacyHello)
		raw := modernRequest("1", "tools/call", `{"name":"sql"}`)
		began := time.Now()
		done := callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
		wt.want("tools/list") // never answered
		wt.want("tools/call").result(`{}`)
		receive(t, "call", done)
		if took := time.Since(began); took != listToolsTime {
			t.Errorf("the call came after %v, want %v", took, listToolsTime)
		}
		done = callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
		wt.want("tools/call").result(`{}`)
		receive(t, "call", done)

		wt.backend.mirrors.listed = false
		done = callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
		for range maxToolPages {
			wt.want("tools/list").result(toolsPage(`,"nextCursor":"more"`))
		}
		wt.want("tools/call").result(`{}`)
		receive(t, "call of a backend whose list has no end", done)
	})
}

func TestMirrorsAreBounded(t *testing.T) {
	var m mirrors
	for i := range maxMirrored + 1 {
		m.set(fmt.Sprint("good", i), nil)
		if first := m.refuse(fmt.Sprint("bad", i)); first != (i < maxMirrored) {
			t.Errorf("tool %d is logged: %v", i, first)
		}
	}
	if len(m.byTool) != maxMirrored || len(m.broken) != maxMirrored {
		t.Errorf("%d and %d tools are kept", len(m.byTool), len(m.broken))
	}
	if m.refuse("bad1") {
		t.Error("a tool is logged twice")
	}
}

// What clients see of lists and results of tools.
func TestToolsForClients(t *testing.T) {
	invalid := `{"name":"bad","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}}`
	array := `{"name":"array", "outputSchema":{"type":"array"},"k":1.0}`
	object := `{"name":"object","outputSchema":{"type":"object"}}`
	all := `{ "tools":[` + invalid + `, ` + array + `, ` + object + `],"ttlMs":5}`
	for _, tt := range []struct {
		name         string
		web, modern  bool
		method       string
		result, want string
	}{
		{"legacy over HTTP", true, false, "tools/list", all, `{ "tools":[{"name":"array","k":1.0},` + object + `],"ttlMs":5}`},
		{"modern over HTTP", true, true, "tools/list", all, `{ "tools":[` + array + `,` + object + `],"ttlMs":5}`},
		{"legacy over a pipe", false, false, "tools/list", all, `{ "tools":[` + invalid + `,{"name":"array","k":1.0},` + object + `],"ttlMs":5}`},
		{"modern over a pipe", false, true, "tools/list", all, all},
		{"nothing to change", true, false, "tools/list", `{ "tools" : [ ` + object + ` ] }`, `{ "tools" : [ ` + object + ` ] }`},
		{"structured", false, false, "tools/call", `{"content":[], "structuredContent":{"a":1}}`, `{"content":[], "structuredContent":{"a":1}}`},
		{"structured array", false, false, "tools/call", `{"content":[], "structuredContent":[1]}`, `{"content":[]}`},
		{"structured array, modern", false, true, "tools/call", `{"content":[], "structuredContent":[1]}`, `{"content":[], "structuredContent":[1]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, tt.method)
			if tt.modern {
				raw = modernRequest("1", tt.method, "{}")
			}
			var done <-chan outcome
			if tt.web {
				wt := openWeb(t, tt.modern, legacyHello)
				done = callIn(t.Context(), wt.Session, parse(raw), newClient("call"))
				wt.want(tt.method).result(tt.result)
			} else {
				ts, conn := openModern(t, tt.modern, legacyHello)
				done = callIn(t.Context(), ts.Session, parse(raw), newClient("call"))
				conn.answer(conn.want("call", tt.method), tt.result)
			}
			if got := receive(t, "call", done); string(got.m.Result()) != tt.want {
				t.Errorf("the client got %s, %v, want %s", got.m.Raw(), got.err, tt.want)
			}
		})
	}
}
