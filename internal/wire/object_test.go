package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestParseObject(t *testing.T) {
	for _, good := range []string{`{}`, " \n{\"a\":1.50}\r\n", `{"a":{"b":[1,{"b":2}]},"b":null}`} {
		got, err := ParseObject([]byte(good))
		if err != nil || string(got) != strings.TrimSpace(good) {
			t.Errorf("%q: got %q, %v", good, got, err)
		}
	}
	for _, tt := range []struct {
		name, text string
		code       int
	}{
		{"nothing", ``, CodeParse},
		{"white space", ` `, CodeParse},
		{"an array", `[]`, CodeInvalidRequest},
		{"a text", `"{}"`, CodeInvalidRequest},
		{"null", `null`, CodeInvalidRequest},
		{"half of it", `{"a":`, CodeParse},
		{"two", `{}{}`, CodeParse},
		{"a comma behind it", `{},`, CodeParse},
		{"a member behind it", `{},"method":"x"`, CodeParse},
		{"twice", `{"a":1,"a":2}`, CodeInvalidRequest},
		{"twice, spelled differently", `{"a":1,"\u0061":2}`, CodeInvalidRequest},
		{"twice, deep", `{"x":[{"a":1,"a":2}]}`, CodeInvalidRequest},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", CodeParse},
		{"half a surrogate", `{"a":"\ud800"}`, CodeParse},
		{"a comment", `{/**/}`, CodeParse},
	} {
		got, err := ParseObject([]byte(tt.text))
		if p, ok := errors.AsType[*ParseError](err); !ok || p.Code != tt.code || got != nil {
			t.Errorf("%s: got %q, %v; want code %d", tt.name, got, err, tt.code)
		}
	}
}

// Whatever ParseObject takes, Parse takes as params, and reads the same.
func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{},"id":2`, `{}}`, `[`, "{\"\xff\":0}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, err := ParseObject(data)
		if err != nil {
			return
		}
		m, err := Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":` + string(obj) + `}`))
		if err != nil || string(m.Params()) != string(obj) {
			t.Errorf("%q is an object here and %q, %v as params", obj, m.Params(), err)
		}
	})
}
