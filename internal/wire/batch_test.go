package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestIsBatch(t *testing.T) {
	for in, want := range map[string]bool{
		``: false, ` `: false, `{}`: false, `"["`: false, `[`: true, " \r\n\t[{}]": true, "\u00a0[": false, "\ufeff[": false,
	} {
		if got := IsBatch([]byte(in)); got != want {
			t.Errorf("IsBatch(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestParseBatch(t *testing.T) {
	const batch = ` [ {"jsonrpc":"2.0","id":1,"method":"x","n":1.50} , {"jsonrpc":"2.0","method":"y"},{"jsonrpc":"2.0","id":1,"result":{}}] `
	got, err := ParseBatch([]byte(batch), 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"jsonrpc":"2.0","id":1,"method":"x","n":1.50}`, `{"jsonrpc":"2.0","method":"y"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`}
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i, m := range got {
		if string(m.Raw()) != want[i] {
			t.Errorf("message %d is %s, want %s", i, m.Raw(), want[i])
		}
		sameParts(t, m)
	}
}

func TestParseBatchRefuses(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":1,"method":"x"}`
	for _, tt := range []struct {
		name, in string
		code     int
	}{
		{"empty", `[]`, CodeInvalidRequest},
		{"nothing", ``, CodeParse},
		{"a lone message", good, CodeInvalidRequest},
		{"null", `null`, CodeInvalidRequest},
		{"cut off", `[` + good, CodeParse},
		{"trailing data", `[` + good + `]x`, CodeParse},
		{"trailing batch", `[` + good + `][` + good + `]`, CodeParse},
		{"comma at the end", `[` + good + `,]`, CodeParse},
		{"a batch in it", `[` + good + `,[` + good + `]]`, CodeInvalidRequest},
		{"no message in it", `[` + good + `,1]`, CodeInvalidRequest},
		{"one bad message", `[` + good + `,{"id":2,"method":"x"},` + good + `]`, CodeInvalidRequest},
		{"duplicate member in one", `[` + good + `,{"jsonrpc":"2.0","id":2,"method":"x","params":{"a":1,"a":2}}]`, CodeInvalidRequest},
		{"broken UTF-8 in one", "[" + good + ",{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}]", CodeParse},
		{"too many", `[` + strings.Repeat(good+`,`, 3) + good + `]`, CodeInvalidRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseBatch([]byte(tt.in), 3)
			e, ok := errors.AsType[*ParseError](err)
			if !ok || got != nil {
				t.Fatalf("got %d messages and error %v, want a *ParseError alone", len(got), err)
			}
			if e.Code != tt.code {
				t.Errorf("code %d (%v), want %d", e.Code, e, tt.code)
			}
			if e.ID != "" || e.Answers != "" {
				t.Errorf("the error is for %s%s, want nobody: the whole batch is refused", e.ID, e.Answers)
			}
		})
	}
}
