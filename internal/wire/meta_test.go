package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},` +
	`"io.modelcontextprotocol/logLevel":"info","progressToken":7,"trace":"x"}`

func TestParseMeta(t *testing.T) {
	got := ParseMeta([]byte(`{"_meta":` + modernMeta + `}`))
	want := Meta{
		Revision:   R20260728,
		ClientInfo: []byte(`{"name":"c","version":"1"}`),
		Caps:       ClientCaps{Raw: []byte(`{"elicitation":{}}`), Form: true},
		LogLevel:   "info",
		Progress:   []byte("7"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
}

// What is no Implementation counts as missing.
func TestMetaClientInfo(t *testing.T) {
	for info, ok := range map[string]bool{
		`{"name":"c","version":"1","title":null}`: true,
		`{"version":"","name":""}`:                true,
		`{"name":"c"}`:                            false,
		`{"version":"1"}`:                         false,
		`{"name":"c","version":1}`:                false,
		`{}`:                                      false, `null`: false, `5`: false, `"c"`: false, `["name","version"]`: false,
	} {
		got := ParseMeta([]byte(`{"_meta":{"io.modelcontextprotocol/clientInfo":` + info + `}}`)).ClientInfo
		if ok && string(got) != info || !ok && got != nil {
			t.Errorf("%s: got %s", info, got)
		}
	}
}

// The two members that every modern request carries; anything else may be missing.
func TestMetaComplete(t *testing.T) {
	for _, tt := range []struct {
		meta string
		ok   bool
	}{
		{modernMeta, true},
		{`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`, true},
		{`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{}}`, false},
		{`{"io.modelcontextprotocol/protocolVersion":20260728,"io.modelcontextprotocol/clientCapabilities":{}}`, false},
		{`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":null}`, false},
		{`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}`, false},
		{`null`, false},
		{`{}`, false},
	} {
		err := ParseMeta([]byte(`{"_meta":` + tt.meta + `}`)).Complete()
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v, want ok %v", tt.meta, err, tt.ok)
		}
		if err != nil && err.Code != CodeInvalidParams {
			t.Errorf("%s: code %d, want %d", tt.meta, err.Code, CodeInvalidParams)
		}
	}
}

func TestIsModern(t *testing.T) {
	for params, want := range map[string]bool{
		`{"_meta":` + modernMeta + `}`:                               true,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}`: true, // malformed, but of that era
		`{"protocolVersion":"2026-07-28"}`:                           false,
		`{"_meta":{"protocolVersion":"2026-07-28"}}`:                 false,
		`{}`: false,
	} {
		if got := IsModern(NewRequest("1", "tools/list", []byte(params))); got != want {
			t.Errorf("%s: %v, want %v", params, got, want)
		}
	}
}

func TestWithoutModernMeta(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"x","_meta":` + modernMeta + `}`:                                    `{"name":"x","_meta":{"progressToken":7,"trace":"x"}}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"a":1.0}`: `{"a":1.0}`,
		`{"_meta":{},"a":1}`: `{"a":1}`,
		`{"a":1}`:            `{"a":1}`,
		`{"_meta":null}`:     `{"_meta":null}`,
	} {
		if got := string(WithoutModernMeta([]byte(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Two spellings of one value are the same, two values never are.
func TestCanonical(t *testing.T) {
	for a, b := range map[string]string{
		`{"b":1,"a":[true,null]}`: `{ "a" : [ true, null ], "b" : 1 }`,
		`"\u0041"`:                `"A"`,
		`1.50`:                    `1.5`,
		`1e2`:                     `100`,
	} {
		if x, y := Canonical([]byte(a)), Canonical([]byte(b)); string(x) != string(y) {
			t.Errorf("%s and %s: %s and %s", a, b, x, y)
		}
	}
	for a, b := range map[string]string{
		`9007199254740993`: `9007199254740992`,
		`{"a":1}`:          `{"a":"1"}`,
		`[1,2]`:            `[2,1]`,
		`null`:             `{}`,
	} {
		if x, y := Canonical([]byte(a)), Canonical([]byte(b)); string(x) == string(y) {
			t.Errorf("%s and %s are both %s", a, b, x)
		}
	}
}

// C8: an error goes to modern peers with a code of their revision.
func TestErrorModern(t *testing.T) {
	for code, want := range map[int]int{
		CodeConnectionClosed: CodeInternal, CodeRateLimited: CodeInternal, -32019: CodeInternal,
		CodeResourceNotFound: CodeInvalidParams, CodeURLRequired: CodeInternal,
		CodeHeaderMismatch: CodeHeaderMismatch, CodeInvalidParams: CodeInvalidParams, CodeMethodNotFound: CodeMethodNotFound,
		1090: 1090,
	} {
		e := (&Error{Code: code, Reason: ReasonTimeout}).Modern()
		if e.Code != want || e.Reason != ReasonTimeout {
			t.Errorf("%d becomes %d (%s), want %d", code, e.Code, e.Reason, want)
		}
	}
}
