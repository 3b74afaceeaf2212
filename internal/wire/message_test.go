package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refusal parses what must be refused.
func refusal(t *testing.T, in string) *ParseError {
	t.Helper()
	m, err := Parse([]byte(in))
	if err == nil {
		t.Fatalf("Parse(%q) took it for a %v, want it refused", in, m.Kind())
	}
	if m.Kind() != Invalid || m.Raw() != nil {
		t.Errorf("Parse(%q) gives a message beside its error: %v %q", in, m.Kind(), m.Raw())
	}
	e, ok := errors.AsType[*ParseError](err)
	if !ok {
		t.Fatalf("Parse(%q): %T, want a *ParseError", in, err)
	}
	return e
}

func TestParse(t *testing.T) {
	type parts struct {
		Kind   Kind
		ID     ID
		Method string
		Params string
		Result string
	}
	for _, tt := range []struct {
		name, in string
		want     parts
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, parts{Kind: Request, ID: `1`, Method: "ping"}},
		{"request with params", `{"jsonrpc":"2.0","id":"a","method":"x","params":{"n":1.50}}`,
			parts{Kind: Request, ID: `"a"`, Method: "x", Params: `{"n":1.50}`}},
		{"any order", `{"params":{},"method":"x","id":1,"jsonrpc":"2.0"}`, parts{Kind: Request, ID: `1`, Method: "x", Params: `{}`}},
		{"white space", " \r\n\t{ \"jsonrpc\" :\t\"2.0\" , \"id\":\n1 ,\"method\": \"x\" , \"params\" : { } }\n ",
			parts{Kind: Request, ID: `1`, Method: "x", Params: `{ }`}},
		{"escaped names", `{"jsonrp\u0063":"2.0","\u0069d":1,"m\u0065thod":"x","p\u0061rams":{}}`,
			parts{Kind: Request, ID: `1`, Method: "x", Params: `{}`}},
		{"escaped method", `{"jsonrpc":"2.0","id":1,"method":"tools\/c\u0061ll"}`, parts{Kind: Request, ID: `1`, Method: "tools/call"}},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, parts{Kind: Request, ID: `1`}},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"x","params":null}`, parts{Kind: Request, ID: `1`, Method: "x", Params: `null`}},
		{"unknown members", `{"a":[1],"jsonrpc":"2.0","":{},"id":1,"method":"x","trace":{"method":"y","id":2,"jsonrpc":"1.0"}}`,
			parts{Kind: Request, ID: `1`, Method: "x"}},
		{"names within are their own", `{"jsonrpc":"2.0","method":"x","params":{"id":1,"ID":2,"result":{},"error":{}}}`,
			parts{Kind: Notification, Method: "x", Params: `{"id":1,"ID":2,"result":{},"error":{}}`}},
		{"id zero", `{"jsonrpc":"2.0","id":0,"method":"x"}`, parts{Kind: Request, ID: `0`, Method: "x"}},
		{"id negative", `{"jsonrpc":"2.0","id":-3,"method":"x"}`, parts{Kind: Request, ID: `-3`, Method: "x"}},
		{"id beyond 64 bits", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"x"}`,
			parts{Kind: Request, ID: `123456789012345678901234567890`, Method: "x"}},
		{"id a number in a string", `{"jsonrpc":"2.0","id":"1","method":"x"}`, parts{Kind: Request, ID: `"1"`, Method: "x"}},
		{"id an escaped string", `{"jsonrpc":"2.0","id":"\u0031","method":"x"}`, parts{Kind: Request, ID: `"\u0031"`, Method: "x"}},
		{"id an empty string", `{"jsonrpc":"2.0","id":"","method":"x"}`, parts{Kind: Request, ID: `""`, Method: "x"}},

		{"notification", `{"jsonrpc":"2.0","method":"x"}`, parts{Kind: Notification, Method: "x"}},
		{"notification with params", `{"jsonrpc":"2.0","method":"x","params":{"a":{}}}`,
			parts{Kind: Notification, Method: "x", Params: `{"a":{}}`}},

		{"result", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, parts{Kind: Result, ID: `1`, Result: `{"a":1}`}},
		{"result null", `{"jsonrpc":"2.0","id":1,"result":null}`, parts{Kind: Result, ID: `1`, Result: `null`}},
		{"result of another kind", `{"jsonrpc":"2.0","id":"a","result":[1, 2]}`, parts{Kind: Result, ID: `"a"`, Result: `[1, 2]`}},
		{"result before the id", `{"result":"x","id":1,"jsonrpc":"2.0"}`, parts{Kind: Result, ID: `1`, Result: `"x"`}},

		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":{"x":1}}}`, parts{Kind: Failure, ID: `1`}},
		{"error, id null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`, parts{Kind: Failure}},
		{"error, no id", `{"jsonrpc":"2.0","error":{"code":-32700}}`, parts{Kind: Failure}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatalf("Parse: %v", err)
			}
			got := parts{m.Kind(), m.ID(), m.Method(), string(m.Params()), string(m.Result())}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if got, want := string(m.Raw()), strings.Trim(tt.in, " \t\r\n"); got != want {
				t.Errorf("Raw = %s, want %s", got, want)
			}
			if got, want := m.IsResponse(), m.Kind() == Result || m.Kind() == Failure; got != want {
				t.Errorf("IsResponse = %v, want %v", got, want)
			}
			if tt.want.Params == "" && m.Params() != nil || tt.want.Result == "" && m.Result() != nil {
				t.Errorf("params %q, result %q: what is absent is nil", m.Params(), m.Result())
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	nested := func(depth int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}}`
	}
	if _, err := Parse([]byte(nested(1000))); err != nil {
		t.Errorf("1000 arrays within each other are refused: %v", err)
	}
	for _, tt := range []struct {
		name, in string
		code     int
	}{
		{"nothing", ``, CodeParse},
		{"white space", " \r\n\t", CodeParse},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"x"}`, CodeParse},
		{"NUL", "\x00", CodeParse},
		{"NUL behind", `{"jsonrpc":"2.0","id":1,"method":"x"}` + "\x00", CodeParse},
		{"white space that JSON does not know", "\u00a0" + `{"jsonrpc":"2.0","id":1,"method":"x"}`, CodeParse},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"x"`, CodeParse},
		{"comma at the end", `{"jsonrpc":"2.0","id":1,"method":"x",}`, CodeParse},
		{"comma missing", `{"jsonrpc":"2.0" "id":1,"method":"x"}`, CodeParse},
		{"name without quotes", `{jsonrpc:"2.0","id":1,"method":"x"}`, CodeParse},
		{"name a number", `{"jsonrpc":"2.0",1:1,"method":"x"}`, CodeParse},
		{"single quotes", `{'jsonrpc':'2.0','id':1,'method':'x'}`, CodeParse},
		{"comment", `{"jsonrpc":"2.0",/**/"id":1,"method":"x"}`, CodeParse},
		{"NaN", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":NaN}}`, CodeParse},
		{"leading zero", `{"jsonrpc":"2.0","id":01,"method":"x"}`, CodeParse},
		{"raw line break in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\ny\"}", CodeParse},
		{"deep nesting", nested(20_000), CodeParse},
		{"deeper nesting", nested(2_000_000), CodeParse},

		{"trailing object", `{"jsonrpc":"2.0","id":1,"method":"x"}{}`, CodeParse},
		{"trailing object behind a space", `{"jsonrpc":"2.0","id":1,"method":"x"} {}`, CodeParse},
		{"trailing line", `{"jsonrpc":"2.0","id":1,"method":"x"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"y"}`, CodeParse},
		{"trailing brace", `{"jsonrpc":"2.0","id":1,"method":"x"}}`, CodeParse},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"x"},`, CodeParse},

		{"UTF-8 broken in a value", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}", CodeParse},
		{"UTF-8 broken in a name", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"\xc3\":1}}", CodeParse},
		{"UTF-8 overlong", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}", CodeParse},
		{"UTF-8 of a surrogate", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}", CodeParse},
		{"lone surrogate escaped", `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, CodeParse},
		{"surrogates the wrong way round", `{"jsonrpc":"2.0","id":1,"method":"\udc00\ud800"}`, CodeParse},

		{"duplicate id", `{"jsonrpc":"2.0","id":1,"id":1,"method":"x"}`, CodeInvalidRequest},
		{"duplicate id escaped", `{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"x"}`, CodeInvalidRequest},
		{"duplicate method escaped", `{"jsonrpc":"2.0","id":1,"method":"x","metho\u0064":"y"}`, CodeInvalidRequest},
		{"duplicate unknown member", `{"jsonrpc":"2.0","id":1,"method":"x","a":1,"a":1}`, CodeInvalidRequest},
		{"duplicate in params", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","name":"b"}}`, CodeInvalidRequest},
		{"duplicate in params escaped", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","n\u0061me":"b"}}`, CodeInvalidRequest},
		{"duplicate in an array in params", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"l":[0,{"a":1,"a":2}]}}`, CodeInvalidRequest},
		{"duplicate deep in a result", `{"jsonrpc":"2.0","id":1,"result":{"a":{"b":{"c":1,"d":2,"c":3}}}}`, CodeInvalidRequest},
		{"duplicate in an error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2}}`, CodeInvalidRequest},
		{"duplicate empty name", `{"jsonrpc":"2.0","id":1,"method":"x","":1,"":2}`, CodeInvalidRequest},
		{"duplicate with escaped quote", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"\"":1,"\u0022":2}}`, CodeInvalidRequest},

		{"array", `[]`, CodeInvalidRequest},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"x"}]`, CodeInvalidRequest},
		{"empty object", `{}`, CodeInvalidRequest},

		{"version missing", `{"id":1,"method":"x"}`, CodeInvalidRequest},
		{"version 1.0", `{"jsonrpc":"1.0","id":1,"method":"x"}`, CodeInvalidRequest},
		{"version a number", `{"jsonrpc":2.0,"id":1,"method":"x"}`, CodeInvalidRequest},
		{"version null", `{"jsonrpc":null,"id":1,"method":"x"}`, CodeInvalidRequest},
		{"version escaped", `{"jsonrpc":"2\u002e0","id":1,"method":"x"}`, CodeInvalidRequest},

		{"id null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, CodeInvalidRequest},
		{"id a fraction", `{"jsonrpc":"2.0","id":1.0,"method":"x"}`, CodeInvalidRequest},
		{"id with exponent", `{"jsonrpc":"2.0","id":1e3,"method":"x"}`, CodeInvalidRequest},
		{"id with capital exponent", `{"jsonrpc":"2.0","id":1E3,"method":"x"}`, CodeInvalidRequest},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"x"}`, CodeInvalidRequest},
		{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"x"}`, CodeInvalidRequest},
		{"id a boolean", `{"jsonrpc":"2.0","id":true,"method":"x"}`, CodeInvalidRequest},
		{"result, id a fraction", `{"jsonrpc":"2.0","id":1.5,"result":{}}`, CodeInvalidRequest},
		{"error, id a boolean", `{"jsonrpc":"2.0","id":false,"error":{"code":1}}`, CodeInvalidRequest},

		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, CodeInvalidRequest},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":1}`, CodeInvalidRequest},
		{"method an object", `{"jsonrpc":"2.0","id":1,"method":{}}`, CodeInvalidRequest},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`, CodeInvalidRequest},
		{"params a string", `{"jsonrpc":"2.0","id":1,"method":"x","params":"{}"}`, CodeInvalidRequest},
		{"params a boolean", `{"jsonrpc":"2.0","method":"x","params":false}`, CodeInvalidRequest},

		{"request and result", `{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, CodeInvalidRequest},
		{"request and error", `{"jsonrpc":"2.0","id":1,"method":"x","error":{"code":1}}`, CodeInvalidRequest},
		{"notification and result", `{"jsonrpc":"2.0","method":"x","result":null}`, CodeInvalidRequest},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`, CodeInvalidRequest},
		{"result and error null", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, CodeInvalidRequest},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, CodeInvalidRequest},
		{"result, id null", `{"jsonrpc":"2.0","id":null,"result":{}}`, CodeInvalidRequest},
		{"error a string", `{"jsonrpc":"2.0","id":1,"error":"no"}`, CodeInvalidRequest},
		{"error null", `{"jsonrpc":"2.0","id":1,"error":null}`, CodeInvalidRequest},
		{"error an array", `{"jsonrpc":"2.0","id":1,"error":[]}`, CodeInvalidRequest},
		{"nothing of it", `{"jsonrpc":"2.0","id":1}`, CodeInvalidRequest},
		{"nothing but params", `{"jsonrpc":"2.0","id":1,"params":{}}`, CodeInvalidRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := refusal(t, tt.in)
			if e.Code != tt.code {
				t.Errorf("code %d (%v), want %d", e.Code, e, tt.code)
			}
			if e.Detail == "" {
				t.Error("no word on what is wrong")
			}
		})
	}
}

// The text around a fault may be a secret, and the error goes to logs and peers.
func TestParseErrorTellsNoText(t *testing.T) {
	for _, in := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"hunter2`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"hunter2":1,"hunter2":2}}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","hunter2":1,"hunter2":2}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"hunter2\":\"hunter2\xff\"}}",
		`{"jsonrpc":"2.0","id":1,"method":"x"} hunter2`,
		`hunter2`,
		`{"jsonrpc":"hunter2","id":1,"method":"x"}`,
		`{"jsonrpc":"2.0","id":{"hunter2":1},"method":"x"}`,
	} {
		if e := refusal(t, in); strings.Contains(e.Error(), "hunter2") {
			t.Errorf("Parse(%q) says %q", in, e)
		}
	}
}

// What is wrong with a request is told to whoever asked. What is wrong
// with a response must not be told under its id: that id is ours, and the peer
// may have a request with the same one open.
func TestParseErrorAddress(t *testing.T) {
	for _, tt := range []struct {
		name, in    string
		id, answers ID
	}{
		{"request, wrong version", `{"jsonrpc":"1.0","id":5,"method":"x"}`, "5", ""},
		{"request, duplicate inside", `{"jsonrpc":"2.0","id":"a","method":"x","params":{"n":1,"n":2}}`, `"a"`, ""},
		{"request, duplicate method", `{"jsonrpc":"2.0","id":5,"method":"x","method":"y"}`, "5", ""},
		{"request, bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"x\xff\"}", "5", ""},
		{"request, cut off", `{"jsonrpc":"2.0","id":5,"method":"x","par`, "5", ""},
		{"request, trailing data", `{"jsonrpc":"2.0","id":5,"method":"x"} {}`, "5", ""},
		{"request, params no object", `{"jsonrpc":"2.0","id":5,"params":[1],"method":"x"}`, "5", ""},
		{"request, method no string", `{"jsonrpc":"2.0","id":5,"method":1}`, "5", ""},
		{"request, fault before the id", `{"jsonrpc":"2.0","method":"x","params":{"n":1,"n":2},"id":5}`, "", ""},
		{"request, fault before the method", `{"jsonrpc":"2.0","id":5,"params":{"n":1,"n":2},"method":"x"}`, "", ""},
		{"request, duplicate id", `{"jsonrpc":"2.0","id":5,"method":"x","id":6}`, "", ""},
		{"request, duplicate id escaped", `{"jsonrpc":"2.0","id":5,"method":"x","\u0069d":6}`, "", ""},
		{"request, id null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, "", ""},
		{"request, id no integer", `{"jsonrpc":"2.0","id":5.5,"method":"x"}`, "", ""},

		{"result, wrong version", `{"id":5,"result":{}}`, "", "5"},
		{"result, duplicate inside", `{"jsonrpc":"2.0","id":5,"result":{"n":1,"n":2}}`, "", "5"},
		{"result, bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"a\":\"\xff\"}}", "", "5"},
		{"result, cut off", `{"jsonrpc":"2.0","id":5,"result":{"a":`, "", "5"},
		{"result, trailing data", `{"jsonrpc":"2.0","id":5,"result":{}}x`, "", "5"},
		{"result, id behind", `{"jsonrpc":"2.0","result":{},"id":5,"result":{}}`, "", "5"},
		{"result, duplicate id", `{"jsonrpc":"2.0","id":5,"result":{},"id":6}`, "", ""},
		{"error, no object", `{"jsonrpc":"2.0","id":5,"error":"no"}`, "", "5"},
		{"error, duplicate inside", `{"jsonrpc":"2.0","id":5,"error":{"code":1,"code":2}}`, "", "5"},
		{"result and error", `{"jsonrpc":"2.0","id":5,"result":{},"error":{}}`, "", "5"},

		{"request and result", `{"jsonrpc":"2.0","id":5,"method":"x","result":{}}`, "", ""},
		{"request and error", `{"jsonrpc":"2.0","id":5,"error":{},"method":"x"}`, "", ""},
		{"neither", `{"jsonrpc":"2.0","id":5}`, "", ""},
		{"no object", `[5]`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := refusal(t, tt.in)
			if e.ID != tt.id {
				t.Errorf("ID = %s, want %s", e.ID, tt.id)
			}
			if e.Answers != tt.answers {
				t.Errorf("Answers = %s, want %s", e.Answers, tt.answers)
			}
		})
	}
}

// A Go peer that decodes with encoding/json takes METHOD for method, and the
// last one wins. What Beckon would judge by one and forward with both, it
// refuses.
func TestParseRefusesMisspeltEnvelope(t *testing.T) {
	for _, in := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","METHOD":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","Id":2}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{},"Params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","param\u017f":{}}`, // the long s folds to s
		`{"jsonrpc":"2.0","id":1,"result":{},"\u0052esult":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{},"Error":{}}`,
		`{"jsonrpc":"2.0","JSONRPC":"1.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","Id":1,"method":"x"}`,
	} {
		if e := refusal(t, in); e.Code != CodeInvalidRequest {
			t.Errorf("Parse(%q): code %d, want %d", in, e.Code, CodeInvalidRequest)
		}
	}
}

// "Parse error ... Invalid JSON was received" is not "the JSON sent is not a
// valid Request object": the two have codes of their own, and noise on a pipe is
// the former. https://www.jsonrpc.org/specification#error_object
func TestParseTellsNoiseFromJSON(t *testing.T) {
	for _, tt := range []struct {
		in   string
		code int
	}{
		{`[1]`, CodeInvalidRequest},
		{`null`, CodeInvalidRequest},
		{`true`, CodeInvalidRequest},
		{`"text"`, CodeInvalidRequest},
		{`-1.5e3`, CodeInvalidRequest},
		{`nul`, CodeParse},
		{`no such file`, CodeParse},
		{`[INFO] listening`, CodeParse},
		{`"cut`, CodeParse},
		{`2025-11-25 12:00:00 started`, CodeParse},
		{`[1] trailing`, CodeParse},
		{`Hello`, CodeParse},
		{"\ufeff{}", CodeParse},
		{`{`, CodeParse},
		{``, CodeParse},
	} {
		if got := refusal(t, tt.in).Code; got != tt.code {
			t.Errorf("Parse(%q): code %d, want %d", tt.in, got, tt.code)
		}
	}
}

// R10, R28, D9: a rewritten message differs from the one that came in the
// rewritten bytes alone.
func TestRewrite(t *testing.T) {
	const request = `{ "x":1e2, "id" : 1 ,"params" :{"b":1.50,"a":"\u0041"}, "jsonrpc":"2.0","method":"tools\/call" ,"y":{ } }`
	const result = `{"result": {"z":1,"a":-0.0} ,"jsonrpc":"2.0", "id":"a"}`
	const failure = `{"error": {"code":-1, "message":"\u0041"} ,"jsonrpc":"2.0", "id":"a"}`
	for _, tt := range []struct {
		name, in string
		change   func(Message) Message
		want     string
	}{
		{"id", request, func(m Message) Message { return m.WithID(`"abc"`) },
			`{ "x":1e2, "id" : "abc" ,"params" :{"b":1.50,"a":"\u0041"}, "jsonrpc":"2.0","method":"tools\/call" ,"y":{ } }`},
		{"method", request, func(m Message) Message { return m.WithMethod("a/b\"") },
			`{ "x":1e2, "id" : 1 ,"params" :{"b":1.50,"a":"\u0041"}, "jsonrpc":"2.0","method":"a/b\"" ,"y":{ } }`},
		{"params", request, func(m Message) Message { return m.WithParams([]byte(`{}`)) },
			`{ "x":1e2, "id" : 1 ,"params" :{}, "jsonrpc":"2.0","method":"tools\/call" ,"y":{ } }`},
		{"a member of params", request, func(m Message) Message { return m.WithParams(Set(m.Params(), []byte(`2`), "b")) },
			`{ "x":1e2, "id" : 1 ,"params" :{"b":2,"a":"\u0041"}, "jsonrpc":"2.0","method":"tools\/call" ,"y":{ } }`},
		{"all, one after the other", request, func(m Message) Message {
			return m.WithParams([]byte(`{"longer":"than before"}`)).WithMethod("m").WithID(`123456789`).WithParams([]byte(`{}`)).WithID(`2`)
		}, `{ "x":1e2, "id" : 2 ,"params" :{}, "jsonrpc":"2.0","method":"m" ,"y":{ } }`},
		{"params where there were none", `{"method":"x","jsonrpc":"2.0" } `, func(m Message) Message {
			return m.WithParams([]byte(`{"a":1}`)).WithParams([]byte(`{"a":22}`))
		}, `{"method":"x","jsonrpc":"2.0" ,"params":{"a":22}}`},
		{"params that were null", `{"method":"x","params":null,"jsonrpc":"2.0"}`, func(m Message) Message {
			return m.WithParams(Set(m.Params(), []byte(`1`), "a"))
		}, `{"method":"x","params":{"a":1},"jsonrpc":"2.0"}`},
		{"id of a result", result, func(m Message) Message { return m.WithID(`77`) },
			`{"result": {"z":1,"a":-0.0} ,"jsonrpc":"2.0", "id":77}`},
		{"result", result, func(m Message) Message { return m.WithResult([]byte(`[1,2,3,4,5,6,7,8,9]`)).WithID(`7`) },
			`{"result": [1,2,3,4,5,6,7,8,9] ,"jsonrpc":"2.0", "id":7}`},
		{"id of an error", failure, func(m Message) Message { return m.WithID(`77`) },
			`{"error": {"code":-1, "message":"\u0041"} ,"jsonrpc":"2.0", "id":77}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.in)
			m, err := Parse(in)
			if err != nil {
				t.Fatal(err)
			}
			got := tt.change(m)
			if string(got.Raw()) != tt.want {
				t.Errorf("got  %s\nwant %s", got.Raw(), tt.want)
			}
			if string(in) != tt.in || string(m.Raw()) != strings.TrimSpace(tt.in) {
				t.Errorf("the original became %s", m.Raw())
			}
			sameParts(t, got)
		})
	}
}

// sameParts checks that m says of itself what a new reader of its bytes says.
func sameParts(t interface {
	Helper()
	Fatalf(string, ...any)
}, m Message) {
	t.Helper()
	again, err := Parse(m.Raw())
	if err != nil {
		t.Fatalf("%s is refused: %v", m.Raw(), err)
	}
	if diff := cmp.Diff(again, m, cmp.AllowUnexported(Message{})); diff != "" {
		t.Fatalf("%s: what is remembered is not what is there (-there +remembered):\n%s", m.Raw(), diff)
	}
}

// R10: bytes change for framing only where they must.
func TestLine(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"one line", `{ "jsonrpc" : "2.0", "method":"x" }`, `{ "jsonrpc" : "2.0", "method":"x" }`},
		{"LF", "{\n \"jsonrpc\": \"2.0\",\n \"method\": \"x\"\n}", `{"jsonrpc":"2.0","method":"x"}`},
		{"CR", "{\r\"jsonrpc\":\"2.0\",\"method\":\"x\"}", `{"jsonrpc":"2.0","method":"x"}`},
		{"spellings stay", "{\"jsonrpc\":\"2.0\",\r\n\"method\":\"\\u0061\\/\",\"params\":{\"n\":1.0e+02,\"m\":\" a  b \"}}",
			`{"jsonrpc":"2.0","method":"\u0061\/","params":{"n":1.0e+02,"m":" a  b "}}`},
		{"escaped line breaks are none", `{"jsonrpc":"2.0", "method":"a\nb\r"}`, `{"jsonrpc":"2.0", "method":"a\nb\r"}`},
		{"line breaks of Unicode are none", "{\"jsonrpc\":\"2.0\", \"method\":\"a\u2028b\u0085\"}", "{\"jsonrpc\":\"2.0\", \"method\":\"a\u2028b\u0085\"}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(m.Line()); got != tt.want {
				t.Errorf("Line = %s, want %s", got, tt.want)
			}
			if got := string(m.Raw()); got != tt.in {
				t.Errorf("Raw became %s", got)
			}
		})
	}
}

func TestZeroMessage(t *testing.T) {
	var m Message
	if m.Kind() != Invalid || m.IsResponse() || m.ID() != "" || m.Method() != "" || m.Raw() != nil || m.Params() != nil || m.Result() != nil {
		t.Errorf("the zero Message says something: %+v", m)
	}
}

func TestKindString(t *testing.T) {
	for k, want := range map[Kind]string{
		Invalid: "invalid", Request: "request", Notification: "notification", Result: "result", Failure: "error",
	} {
		if got := k.String(); got != want {
			t.Errorf("Kind(%d) = %q, want %q", k, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		``: `""`, `a`: `"a"`, `"`: `"\""`, "\n\x00": `"\n\u0000"`, "é\u2028": "\"é\u2028\"", "a\xffb": "\"a\ufffdb\"",
	} {
		if got := string(Quote(in)); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}
