package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/beckon-mcp/beckon/form"
)

// steers reports whether r does something else to a terminal than being seen, but for
// the end of a line.
func steers(r rune) bool {
	return r != '\n' && (unicode.IsControl(r) || strings.ContainsRune("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u2028\u2029", r))
}

// nasty is what somebody would write who wants to draw on the terminal.
const nasty = "\x1b[2J\x1b]0;owned\x07\u009b31mred\r\nSend? y\t\u202etxt.exe\u2066\x00\x7f\u2028"

// No text of a form, of who asks or of an error steers the terminal, in a label, an
// option, a hint, a default, a rule or a message.
func TestNothingSteersTheTerminal(t *testing.T) {
	n, _ := json.Marshal(nasty)
	requested := fmt.Appendf(nil, `{"type": "object", "title": %[1]s, "description": %[1]s, "properties": {
		%[1]s: {"type": "string", "title": %[1]s, "description": %[1]s, "default": %[1]s},
		"b": {"type": "string", "oneOf": [{"const": %[1]s, "title": %[1]s}, {"const": "2", "title": ""}]},
		"c": {"type": "array", "items": {"anyOf": [{"const": "c", "title": %[1]s}]}},
		"d": {"type": "string", "pattern": "\u001b\\[x", "title": ""}}}`, n)
	lifted, err := form.Lift(requested)
	if err != nil {
		t.Fatal(err)
	}
	def := *lifted.Definition()
	def.Title, def.Description = nasty, nasty
	def.Fields[0].Hints = form.Hints{Placeholder: nasty, HelpText: nasty}
	def.Rules = []form.Rule{func(form.Values) []form.Error { return []form.Error{{Message: nasty}, {Field: "b", Message: nasty}} }}
	o := Options{From: nasty, Message: nasty, Errors: form.Errors{{Field: "d", Message: nasty}}}
	f, err := form.Compile(def)
	if err != nil {
		t.Logf("compiling: %v", err)
		f = lifted
	}
	_, said, err := typing(t, f, o, "?", "", nasty, "?", "1", "?", "1", "?", nasty, "\x1b[x", "2", "", "y", "e", "1", "?", nasty)
	if err == nil {
		t.Error("the input has no answer to the last question")
	}
	if at := strings.IndexFunc(said, steers); at >= 0 {
		t.Errorf("wrote %q in:\n%q", said[at:min(at+10, len(said))], said)
	}
	for l := range strings.Lines(said) {
		if strings.HasPrefix(l, "Send? y") {
			t.Errorf("a text stands where the dialogue asks: %q", l)
		}
	}
	wantSaid(t, said, "[2J]0;owned31mred Send? y txt.exe")
}

func TestPrintable(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain", "plain"},
		{"two\nlines\r\nand\ttabs", "two lines and tabs"},
		{"  spaces \u00a0 \u3000 ", "spaces"},
		{"\x1b[31mred\x1b[0m", "[31mred[0m"},
		{"\u009b31mred", "31mred"},
		{"\u202eabc\u202c", "abc"},
		{"\u06a9\u062a\u0627\u0628\u200c\u0647\u0627", "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627"}, // a joiner in a word
		{"👩\u200d💻", "👩\u200d💻"},               // a joiner in a picture
		{"\u0601 12", "\u0601 12"},             // a mark that is seen
		{"a\u00adb\ufeffc\U000e0041d", "abcd"}, // what is not seen at all
		{"\xff", "\ufffd"},
		{strings.Repeat("é", shown+1), strings.Repeat("é", shown) + "…"},
	}
	for _, tt := range tests {
		if got := line(tt.in); got != tt.want {
			t.Errorf("line(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got, want := strings.Join(paragraph("one\n\n\x1b[Ktwo\r\n\n"), "|"), "one||[Ktwo"; got != want {
		t.Errorf("paragraph: %q, want %q", got, want)
	}
}

func FuzzLine(f *testing.F) {
	f.Add(nasty)
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range append(paragraph(text), line(text)) {
			if strings.ContainsFunc(got, steers) || strings.Contains(got, "\n") || !utf8.ValidString(got) {
				t.Errorf("%q became %q", text, got)
			}
		}
	})
}

// Each rule is said in the help of its field.
func TestExpected(t *testing.T) {
	tests := []struct{ field, want string }{
		{`"type": "text"`, "Text."},
		{`"type": "text", "validation": {"minLength": 3, "maxLength": 9, "pattern": "^x"}`, "Text, at least 3 characters, at most 9 characters, that matches ^x."},
		{`"type": "text", "validation": {"format": "email"}`, "An e-mail address."},
		{`"type": "text", "validation": {"format": "date-time"}`, "A date and time, such as 2026-12-31T18:30:00Z."},
		{`"type": "number"`, "A number."},
		{`"type": "number", "validation": {"minimum": 1, "exclusiveMaximum": 9.5, "multipleOf": 0.5}`, "A number, at least 1, less than 9.5, a multiple of 0.5."},
		{`"type": "number", "validation": {"exclusiveMinimum": 1, "maximum": 9, "multipleOf": 1}`, "A whole number, more than 1, at most 9."},
		{`"type": "boolean"`, "Yes or no."},
		{`"type": "select", "options": ["a"]`, "One of the choices."},
		{`"type": "multi_select", "options": ["a", "b"], "validation": {"minItems": 1, "maxItems": 2}`, "Any of the choices, at least 1, at most 2."},
		{`"type": "url"`, "The address of a page, with https://."},
		{`"type": "url", "validation": {"allowedSchemes": ["http", "ftp"], "maxLength": 99}`, "The address of a page, with http, ftp://, at most 99 characters."},
		{`"type": "date", "validation": {"minimum": "2026-01-01", "maximum": "2026-12-31"}`, "A date, such as 2026-12-31, not before 2026-01-01, not after 2026-12-31."},
		{`"type": "date", "validation": {"format": "date-time"}`, "A date and time, such as 2026-12-31T18:30:00Z."},
		{`"type": "file"`, "The path of a file, at most 10.0 MiB."},
		{`"type": "file", "validation": {"maxSize": 2048, "allowedExtensions": [".json", ".yml"], "allowedMimeTypes": ["image/*"]}`, "The path of a file, at most 2.0 KiB, named .json, .yml, of the type image/*."},
	}
	for _, tt := range tests {
		f := parse(t, `{"id": "f", "title": "F", "fields": [{"id": "x", "label": "X", `+tt.field+`}]}`)
		if got := expected(&f.Definition().Fields[0]); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.field, got, tt.want)
		}
	}
}
