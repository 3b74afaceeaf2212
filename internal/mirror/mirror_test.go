package mirror

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// The examples of the specification, and what lies between them.
func TestEncode(t *testing.T) {
	for value, want := range map[string]string{
		"us-west1":             "us-west1",
		"":                     "",
		"two words":            "two words",
		"Hello, 世界":            "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":             "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":         "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?literal?=":   "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"=?BASE64?literal?=":   "=?BASE64?literal?=",
		"=?base64?unfinished=": "=?base64?unfinished=",
	} {
		got := Encode(value)
		if got != want {
			t.Errorf("Encode(%q) = %q, want %q", value, got, want)
		}
		if back, err := Decode(got); back != value || err != nil {
			t.Errorf("Decode(%q) = %q, %v, want %q", got, back, err, value)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, header := range []string{"=?base64?***?=", "=?base64?SGVsbG8?=", "=?base64?SGVsbG9=?=", "caf\xc3\xa9", "a\x00b"} {
		if got, err := Decode(header); err == nil {
			t.Errorf("Decode(%q) = %q, want an error", header, got)
		}
	}
}

func request(method, params string) wire.Message {
	return wire.NewRequest("1", method, []byte(params))
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`

// What SetStandard writes, CheckStandard takes; each deviation it refuses.
func TestStandard(t *testing.T) {
	call := request("tools/call", `{"name":"wéather",`+meta+`}`)
	h := http.Header{}
	SetStandard(h, call)
	want := http.Header{
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"=?base64?d8OpYXRoZXI=?="},
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Fatalf("headers (-want +got):\n%s", diff)
	}
	if err := CheckStandard(h, call); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		name   string
		change func(h http.Header)
	}{
		{"no revision", func(h http.Header) { h.Del(HeaderRevision) }},
		{"other revision", func(h http.Header) { h.Set(HeaderRevision, "2025-11-25") }},
		{"no method", func(h http.Header) { h.Del(HeaderMethod) }},
		{"other method", func(h http.Header) { h.Set(HeaderMethod, "tools/list") }},
		{"method in capitals", func(h http.Header) { h.Set(HeaderMethod, "Tools/Call") }},
		{"two methods", func(h http.Header) { h.Add(HeaderMethod, "tools/list") }},
		{"no name", func(h http.Header) { h.Del(HeaderName) }},
		{"other name", func(h http.Header) { h.Set(HeaderName, "x") }},
		{"bad name", func(h http.Header) { h.Set(HeaderName, "=?base64?*?=") }},
	} {
		broken := h.Clone()
		tt.change(broken)
		if err := CheckStandard(broken, call); err == nil || err.Code != -32020 {
			t.Errorf("%s: %v, want -32020", tt.name, err)
		}
	}
	for method, params := range map[string]string{
		"tools/list": `{` + meta + `}`, "resources/read": `{"uri":"file:///a b",` + meta + `}`, "prompts/get": `{"name":"p",` + meta + `}`,
		"tasks/get": `{"taskId":"t1",` + meta + `}`, "tasks/update": `{"taskId":"t 1",` + meta + `}`, "tasks/cancel": `{"taskId":"",` + meta + `}`,
	} {
		m, h := request(method, params), http.Header{}
		SetStandard(h, m)
		if err := CheckStandard(h, m); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}

	get := request("tasks/get", `{"taskId":"t1",`+meta+`}`)
	h = http.Header{}
	SetStandard(h, get)
	if got := h.Get(HeaderName); got != "t1" {
		t.Errorf("the task is named %q", got)
	}
	h.Set(HeaderName, "t2")
	if err := CheckStandard(h, get); err == nil || err.Code != -32020 {
		t.Errorf("another task: %v, want -32020", err)
	}
	h.Del(HeaderName)
	if err := CheckStandard(h, get); err != nil {
		t.Errorf("a task that the headers do not name: %v", err)
	}
}

const schema = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"n":{"type":"integer","x-mcp-header":"count"},
	"deep":{"type":"object","properties":{"dry":{"type":"boolean","x-mcp-header":"Dry"}}},
	"query":{"type":"string"}}}`

func TestParams(t *testing.T) {
	ps, err := ParseParams([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		arguments string
		want      http.Header
	}{
		{`{"region":"us-west1","n":42,"deep":{"dry":true},"query":"x"}`,
			http.Header{"Mcp-Param-Region": {"us-west1"}, "Mcp-Param-Count": {"42"}, "Mcp-Param-Dry": {"true"}}},
		{`{"region":null,"n":-7.0}`, http.Header{"Mcp-Param-Count": {"-7"}}},
		{`{"n":1e2}`, http.Header{"Mcp-Param-Count": {"100"}}},
		{`{"region":" x"}`, http.Header{"Mcp-Param-Region": {"=?base64?IHg=?="}}},
		{`{}`, http.Header{}},
		{``, http.Header{}},
	} {
		h := http.Header{"Mcp-Param-Region": {"stale"}}
		ps.Set(h, []byte(tt.arguments))
		if diff := cmp.Diff(tt.want, h); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.arguments, diff)
		}
		if err := ps.Check(h, []byte(tt.arguments)); err != nil {
			t.Errorf("%s: %v", tt.arguments, err)
		}
	}
}

func TestParamsCheck(t *testing.T) {
	ps, err := ParseParams([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, arguments string
		header          http.Header
		ok              bool
	}{
		{"equal numbers", `{"n":42}`, http.Header{"Mcp-Param-Count": {"42.0"}}, true},
		{"a header that nobody asked for", `{}`, http.Header{"Mcp-Param-Else": {"1"}}, true},
		{"other number", `{"n":42}`, http.Header{"Mcp-Param-Count": {"43"}}, false},
		{"no number", `{"n":42}`, http.Header{"Mcp-Param-Count": {"1/2"}}, false},
		{"missing", `{"region":"a"}`, http.Header{}, false},
		{"too many", `{"region":"a"}`, http.Header{"Mcp-Param-Region": {"a", "a"}}, false},
		{"other", `{"region":"a"}`, http.Header{"Mcp-Param-Region": {"A"}}, false},
		{"for nothing", `{}`, http.Header{"Mcp-Param-Region": {"a"}}, false},
		{"for null", `{"region":null}`, http.Header{"Mcp-Param-Region": {"null"}}, false},
		{"broken", `{"region":"a"}`, http.Header{"Mcp-Param-Region": {"=?base64?!?="}}, false},
	} {
		if err := ps.Check(tt.header, []byte(tt.arguments)); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

func TestInvalidTools(t *testing.T) {
	for name, schema := range map[string]string{
		"empty":           `{"properties":{"a":{"type":"string","x-mcp-header":""}}}`,
		"no text":         `{"properties":{"a":{"type":"string","x-mcp-header":1}}}`,
		"space":           `{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}`,
		"line break":      `{"properties":{"a":{"type":"string","x-mcp-header":"a\r\nb"}}}`,
		"number":          `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`,
		"object":          `{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`,
		"no type":         `{"properties":{"a":{"x-mcp-header":"A"}}}`,
		"twice":           `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`,
		"in items":        `{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`,
		"below items":     `{"properties":{"a":{"items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}}`,
		"in a choice":     `{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`,
		"in a condition":  `{"if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`,
		"in a definition": `{"$defs":{"d":{"type":"string","x-mcp-header":"A"}}}`,
		"at the root":     `{"type":"string","x-mcp-header":"A"}`,
	} {
		if ps, err := ParseParams([]byte(schema)); err == nil {
			t.Errorf("%s: %v, want an error", name, ps)
		}
	}
	for _, schema := range []string{`{}`, ``, `{"properties":{"x-mcp-header":{"type":"string"}}}`, `true`} {
		if ps, err := ParseParams([]byte(schema)); err != nil || len(ps) != 0 {
			t.Errorf("%s: %v, %v, want nothing", schema, ps, err)
		}
	}
}

// Whatever is in the message, what is written is taken, and fits into a header.
func FuzzHeaders(f *testing.F) {
	f.Add("us-west1", int64(42), true, schema)
	f.Add("=?base64??=", int64(-1<<53), false, `{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`)
	f.Add("\x00\xff \t", int64(0), false, "")
	f.Fuzz(func(t *testing.T, text string, n int64, b bool, free string) {
		if h := Encode(text); !plain(h) || strings.Trim(h, " \t") != h {
			t.Errorf("Encode(%q) = %q", text, h)
		} else if back, err := Decode(h); err != nil || back != text {
			t.Errorf("%q came back as %q, %v", text, back, err)
		}
		_, _ = Decode(free)
		m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + free + `}`))
		if err != nil {
			return
		}
		ps, err := ParseParams(m.Params())
		if err != nil {
			return
		}
		h := http.Header{}
		SetStandard(h, m)
		if err := CheckStandard(h, m); err != nil {
			t.Errorf("%s: %v", m.Raw(), err)
		}
		ps.Set(h, m.Params())
		if err := ps.Check(h, m.Params()); err != nil {
			t.Errorf("%s: %v", m.Raw(), err)
		}
	})
}
