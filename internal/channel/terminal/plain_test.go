package terminal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
)

var goodKey = "sk-" + strings.Repeat("a1B2", 12)

// R86, R98, R104, R122: the form of the design, with an invalid answer that is told at once
// and asked again, a default that is taken, and a secret that is never shown.
func TestSeedFormByLine(t *testing.T) {
	r, said, err := typing(t, formIn(t, "seed.json"), Options{From: "deployer", Message: "I need to deploy."},
		"sk-tooshort", "", goodKey, "", "y")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`{"api_key":%q,"region":"us-east-1"}`, goodKey); r.Outcome != input.Accept || string(r.Values.JSON()) != want {
		t.Errorf("got %s %s, want %s", r.Outcome, r.Values.JSON(), want)
	}
	wantSaid(t, said,
		"deployer asks:\n", "API Key Configuration\n", "  I need to deploy.\n", "  Please provide your API credentials\n",
		"\nAPI Key (required): ", "Not valid: ", "32", "API Key (required): ", "Not valid: ", "API Key (required): ",
		"\nRegion\n  1. US East (Virginia)\n  2. US West (Oregon)\n  3. Europe (Ireland)\nNumber [US East (Virginia)]: ",
		"Your answers:\n  1. API Key: (hidden)\n  2. Region: US East (Virginia)\n",
		"Send? [y]es / [e]dit / [d]ecline / [c]ancel: ")
	if strings.Contains(said, goodKey) || strings.Contains(said, "tooshort") {
		t.Errorf("a secret was shown:\n%s", said)
	}
}

// R86, R87, R88, R89, R90, R91, R92, R93, R94, R95, R106: each type takes what people type, says what is wrong with the rest, and
// becomes the JSON of its type.
func TestEightTypesByLine(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte("a: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		field string
		typed []string // for this field; the others get a valid answer, or none
		want  string   // the member in the answer, "" when it is not there
		said  string   // what is said about the answers before the last
	}{
		{"username", []string{"a!", "ada_99"}, `"username":"ada_99"`, "Not valid: "},
		{"username", []string{"", "  ", "ada"}, `"username":"ada"`, "Not valid: "},
		{"port", []string{""}, `"port":8080`, ""},
		{"port", []string{"80", "http", "8443"}, `"port":8443`, "Not valid: "},
		{"port", []string{"2e3"}, `"port":2e3`, ""},
		{"enable_ssl", []string{""}, `"enable_ssl":true`, ""},
		{"enable_ssl", []string{"perhaps", "NO"}, `"enable_ssl":false`, "Not valid: type yes or no"},
		{"log_level", []string{"", "4", "2"}, `"log_level":"info"`, `Not valid: "4" is none of the choices; type a number from 1 to 3`},
		{"log_level", []string{"Warning"}, `"log_level":"warning"`, ""},
		{"features", []string{""}, "", ""},
		{"features", []string{"0", "1,2,3", "3, 1"}, `"features":["logging","tracing"]`, "Not valid: "},
		{"features", []string{"performance metrics"}, `"features":["metrics"]`, ""},
		{"webhook_url", []string{"http://example.com", "https://10.0.0.1/x", "https://example.com/x"}, `"webhook_url":"https://example.com/x"`, "Not valid: "},
		{"start_date", []string{"2026-02-30", "2027-01-01", "31.12.2026", "2026-12-31"}, `"start_date":"2026-12-31"`, "Not valid: "},
		{"config_file", []string{dir, config}, `"config_file":{"filename":"config.yaml","content_type":"text/yaml","size":5,"content":"` +
			base64.StdEncoding.EncodeToString([]byte("a: 1\n")) + `"}`, "is no file"},
	}
	valid := map[string]string{"username": "grace", "log_level": "1"}
	f := formIn(t, "eight.json")
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %q", tt.field, tt.typed), func(t *testing.T) {
			var typed []string
			for _, one := range f.Definition().Fields {
				if one.ID == tt.field {
					typed = append(typed, tt.typed...)
				} else {
					typed = append(typed, valid[one.ID])
				}
			}
			r, said, err := typing(t, f, Options{}, append(typed, "yes")...)
			if err != nil {
				t.Fatalf("%v, after:\n%s", err, said)
			}
			if got := string(r.Values.JSON()); tt.want != "" && !strings.Contains(got, tt.want) || tt.want == "" && strings.Contains(got, tt.field) {
				t.Errorf("got %s, want %s in it", got, tt.want)
			}
			wantSaid(t, said, tt.said)
			if got, want := strings.Count(said, "Not valid: "), len(tt.typed)-1; got != want {
				t.Errorf("%d answers were refused, want %d:\n%s", got, want, said)
			}
		})
	}
}

const conditional = `{"id": "mail", "title": "Mail", "fields": [
	{"id": "name", "type": "text", "label": "Name", "dependencies": [{"condition": {"operator": "equals", "field": "anonymous", "value": true}, "action": "hide"}]},
	{"id": "use_smtp", "type": "boolean", "label": "Use SMTP", "required": true},
	{"id": "smtp_port", "type": "number", "label": "SMTP Port", "required": true,
	 "rendering": {"conditionalDisplay": {"operator": "equals", "field": "use_smtp", "value": true}}},
	{"id": "relay", "type": "text", "label": "Relay", "required": true,
	 "dependencies": [{"condition": {"operator": "gt", "field": "smtp_port", "value": 1000}, "action": "show"}]},
	{"id": "anonymous", "type": "boolean", "label": "Anonymous", "default": true}
]}`

const partial = `{"id": "f", "title": "F", "allow_partial": true, "fields": [
	{"id": "name", "type": "text", "label": "Name", "required": true, "validation": {"minLength": 2}},
	{"id": "size", "type": "select", "label": "Size", "options": ["small", "large"], "required": true},
	{"id": "gift", "type": "boolean", "label": "Gift", "required": true},
	{"id": "tags", "type": "multi_select", "label": "Tags", "options": ["a", "b"], "required": true}
]}`

// R125: what may be left out can be, and is not called required.
func TestPartialByLine(t *testing.T) {
	r, said, err := typing(t, parse(t, partial), Options{}, "", "", "", "", "y")
	if err != nil || string(r.Values.JSON()) != `{}` {
		t.Errorf("answered %s, %v", r.Values.JSON(), err)
	}
	if strings.Contains(said, "(required)") {
		t.Errorf("it says that something is required:\n%s", said)
	}
}

// R97: what is asked follows the answers, also those to later fields, and what is hidden
// is neither asked nor sent.
func TestConditionsByLine(t *testing.T) {
	tests := []struct {
		name  string
		typed []string
		want  string
		asked string
	}{
		{"nothing appears", []string{"no", "", "y"}, `{"use_smtp":false,"anonymous":true}`, "Use SMTP,Anonymous"},
		{"one appears", []string{"yes", "25", "", "y"}, `{"use_smtp":true,"smtp_port":25,"anonymous":true}`, "Use SMTP,SMTP Port,Anonymous"},
		{"two appear", []string{"yes", "2525", "mx", "", "y"}, `{"use_smtp":true,"smtp_port":2525,"relay":"mx","anonymous":true}`, "Use SMTP,SMTP Port,Relay,Anonymous"},
		{"an earlier one appears", []string{"no", "no", "Ada", "y"}, `{"name":"Ada","use_smtp":false,"anonymous":false}`, "Use SMTP,Anonymous,Name"},
		{"one disappears again", []string{"yes", "2525", "mx", "", "e", "1", "no", "y"}, `{"use_smtp":false,"anonymous":true}`, "Use SMTP,SMTP Port,Relay,Anonymous,Use SMTP"},
	}
	f := parse(t, conditional)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, said, err := typing(t, f, Options{}, tt.typed...)
			if err != nil {
				t.Fatalf("%v, after:\n%s", err, said)
			}
			if got := string(r.Values.JSON()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := askedIn(said, f); got != tt.asked {
				t.Errorf("asked %s, want %s:\n%s", got, tt.asked, said)
			}
		})
	}
}

// askedIn are the labels of the fields whose prompts were printed.
func askedIn(said string, f *form.Form) string {
	var asked []string
	for l := range strings.Lines(said) {
		for _, one := range f.Definition().Fields {
			if strings.HasPrefix(l, one.Label+" (") || strings.HasPrefix(l, one.Label+" [") || strings.HasPrefix(l, one.Label+": ") {
				asked = append(asked, one.Label)
			}
		}
	}
	return strings.Join(asked, ",")
}

// R58: declining and cancelling are the person's own, can be said everywhere, and differ.
func TestDeclineAndCancelByLine(t *testing.T) {
	answers := []string{goodKey, "2"}
	for i := range 3 {
		for word, want := range map[string]input.Outcome{"!decline": input.Decline, "!cancel": input.Cancel} {
			r, said, err := typing(t, formIn(t, "seed.json"), Options{}, append(answers[:i:i], word)...)
			if err != nil || r.Outcome != want || r.Values.Form() != nil {
				t.Errorf("%s at place %d: %+v, %v\n%s", word, i, r, err, said)
			}
		}
	}
	for word, want := range map[string]input.Outcome{"d": input.Decline, "Decline": input.Decline, "c": input.Cancel, "cancel": input.Cancel} {
		if r, _, err := typing(t, formIn(t, "seed.json"), Options{}, append(answers[:2:2], "", "what", word)...); err != nil || r.Outcome != want {
			t.Errorf("%q at the end: %+v, %v", word, r, err)
		}
	}
}

// D7: wherever the input ends, also in the middle of a line, nobody has answered.
func TestEndOfInput(t *testing.T) {
	whole := "sk-tooshort\n" + goodKey + "\n2\nedit\n\n" + goodKey + "\n\nyes\n"
	f := formIn(t, "seed.json")
	for end := range len(whole) {
		var out strings.Builder
		r, err := Ask(t.Context(), Options{In: strings.NewReader(whole[:end]), Out: &out}, f)
		if !errors.Is(err, ErrNobody) || r.Outcome != "" {
			t.Fatalf("after %q: %+v, %v", whole[:end], r, err)
		}
	}
	if r, said, err := typing(t, f, Options{}, strings.Split(whole, "\n")...); err != nil || r.Outcome != input.Accept {
		t.Errorf("the whole: %+v, %v\n%s", r, err, said)
	}
}

// Words that steer the dialogue, and how to answer them.
func TestCommandsByLine(t *testing.T) {
	const two = `{"id": "f", "title": "F", "fields": [
		{"id": "a", "type": "text", "label": "First", "description": "The first one.", "validation": {"maxLength": 9}, "rendering": {"helpText": "Anything.", "placeholder": "x"}},
		{"id": "b", "type": "text", "label": "Second"}]}`
	tests := []struct {
		name  string
		typed []string
		want  string
		said  string
	}{
		{"help", []string{"?", "1", "2", "y"}, `{"a":"1","b":"2"}`, "  The first one.\n  Anything.\n  Text, at most 9 characters.\n  For example: x\n"},
		{"a question mark", []string{`\?`, `\!back`, "y"}, `{"a":"?","b":"!back"}`, ""},
		{"backslashes", []string{`\\?`, `\\a\?`, "y"}, `{"a":"\\?","b":"\\\\a\\?"}`, ""},
		{"back", []string{"!back", "1", "!back", "one", "2", "y"}, `{"a":"one","b":"2"}`, "This is the first question."},
		{"keep after back", []string{"1", "!back", "", "2", "y"}, `{"a":"1","b":"2"}`, "First [1]: "},
		{"skip", []string{"1", "!back", "!skip", "2", "y"}, `{"b":"2"}`, "  1. First: (not answered)\n"},
		{"edit one", []string{"1", "2", "e", "3", "x", "2", "two", "y"}, `{"a":"1","b":"two"}`, "Type a number from 1 to 2."},
		{"edit all", []string{"1", "2", "e", "", "", "two", "y"}, `{"a":"1","b":"two"}`, "First [1]: "},
		{"nothing is sent by an empty line", []string{"1", "2", "", "", "y"}, `{"a":"1","b":"2"}`, "[c]ancel: \nSend?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, said, err := typing(t, parse(t, two), Options{}, tt.typed...)
			if err != nil {
				t.Fatalf("%v, after:\n%s", err, said)
			}
			if got := string(r.Values.JSON()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			wantSaid(t, said, tt.said)
		})
	}
}

// R96, R98: what concerns the form as a whole is told at the end, all of it, and only
// those fields are asked again.
func TestErrorsAtTheEnd(t *testing.T) {
	f := parse(t, `{"id": "f", "title": "F", "fields": [
		{"id": "card", "type": "text", "label": "Card", "dependencies": ["holder"]},
		{"id": "holder", "type": "text", "label": "Holder"},
		{"id": "note", "type": "text", "label": "Note"}]}`)
	r, said, err := typing(t, f, Options{}, "1234", "", "hello", "!skip", "y")
	if err != nil {
		t.Fatalf("%v, after:\n%s", err, said)
	}
	if got, want := string(r.Values.JSON()), `{"note":"hello"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wantSaid(t, said, "That is not valid yet:\n  - ", "\nNot valid: ", "Card [1234]: ", "Your answers:")

	never := f.Definition()
	d := *never
	d.Rules = []form.Rule{func(form.Values) []form.Error { return []form.Error{{Message: "never on a Sunday"}} }}
	whole, err := form.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	r, said, err = typing(t, whole, Options{}, "", "", "", "y", "d")
	if err != nil || r.Outcome != input.Decline {
		t.Errorf("%+v, %v", r, err)
	}
	wantSaid(t, said, "  - never on a Sunday\n", "Your answers:", "Not valid yet: [e]dit / [d]ecline / [c]ancel: ", "Not valid yet: ")
}

// R108: who is asked again finds the earlier answers, and what was wrong with them.
func TestEarlierAnswers(t *testing.T) {
	f := formIn(t, "eight.json")
	before, err := f.Read([]byte(`{"username":"ada","port":1,"log_level":"debug","features":["logging"],"enable_ssl":false}`), form.Coerce)
	wrong, ok := errors.AsType[form.Errors](err)
	if !ok {
		t.Fatal(err)
	}
	r, said, err := typing(t, f, Options{Values: before, Errors: wrong}, "", "9090", "", "", "", "", "", "", "y")
	if err != nil {
		t.Fatalf("%v, after:\n%s", err, said)
	}
	if got, want := string(r.Values.JSON()), `{"username":"ada","port":9090,"enable_ssl":false,"log_level":"debug","features":["logging"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wantSaid(t, said, "not valid yet:\n  - ", "Username (required) [ada]: ", "Not valid: ", "Port Number", "[no]: ", "[debug]: ", "[Application Logging]: ")
}

// R101: a read-only field is shown and not asked; a hidden one is neither.
func TestHintsByLine(t *testing.T) {
	f := parse(t, `{"id": "f", "title": "F", "fields": [
		{"id": "host", "type": "text", "label": "Host", "default": "db1", "rendering": {"readonly": true}},
		{"id": "trace", "type": "text", "label": "Trace", "default": "t", "rendering": {"hidden": true}},
		{"id": "why", "type": "text", "label": "Why"}]}`)
	r, said, err := typing(t, f, Options{}, "because", "y")
	if err != nil {
		t.Fatalf("%v, after:\n%s", err, said)
	}
	if got, want := string(r.Values.JSON()), `{"host":"db1","why":"because"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wantSaid(t, said, "Host: db1 (cannot be changed)")
	if strings.Contains(said, "Trace") {
		t.Errorf("a hidden field is shown:\n%s", said)
	}
}

// What is no text, or too long, is refused and asked again.
func TestUnreadableLines(t *testing.T) {
	f := parse(t, `{"id": "f", "title": "F", "fields": [{"id": "a", "type": "text", "label": "A"}]}`)
	r, said, err := typing(t, f, Options{}, "\xff\xfe", strings.Repeat("x", longest+1), "fine\r", "y\r")
	if err != nil {
		t.Fatalf("%v, after:\n%.300s", err, said)
	}
	if got, want := string(r.Values.JSON()), `{"a":"fine"}`; got != want {
		t.Errorf("got %.100s, want %s", got, want)
	}
	wantSaid(t, said, "Not understood: the line is not valid UTF-8.", "Not understood: the line is longer than 1048576 bytes.")
}

// Where the questions cannot be written, nobody is asked.
func TestBrokenOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Ask(t.Context(), Options{In: strings.NewReader(goodKey + "\n\ny\n"), Out: w}, formIn(t, "seed.json"))
	if err == nil || errors.Is(err, ErrNobody) || got.Outcome != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}
