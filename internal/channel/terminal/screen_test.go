//go:build unix

package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
)

const (
	enter  = "\r"
	down   = "\x1b[B"
	escape = "\x1b"
	ctrlC  = "\x03"
	behind = "\x1b[Z" // shift and tab
)

// R86, R98, R104, R122: a person at a real terminal fills in the form of the design, first
// with a value that is not valid, then with one that is. What they type in secret
// is not shown.
func TestSeedFormOnScreen(t *testing.T) {
	p := sit(t.Context(), t, formIn(t, "seed.json"), Options{From: "deployer", Message: "I need to deploy."})
	p.sees("deployer asks:")
	p.sees("Region")
	p.types("sk-tooshort" + enter)
	p.sees("32") // the rule that is not met
	p.types("\x15" + goodKey + enter)
	p.sees("┃ Region")
	p.types(down + enter)
	p.sees("> Send")
	p.types(enter)
	r, err := p.leaves()
	if want := fmt.Sprintf(`{"api_key":%q,"region":"us-west-2"}`, goodKey); err != nil || r.Outcome != input.Accept || string(r.Values.JSON()) != want {
		t.Errorf("got %s %s, %v, want %s", r.Outcome, r.Values.JSON(), err, want)
	}
	if said := p.written(); strings.Contains(said, "a1B2") || strings.Contains(said, "tooshort") {
		t.Errorf("a secret was shown:\n%q", said)
	}
	if !p.echoes() {
		t.Error("the terminal is not as it was before")
	}
}

// R86, R89, R93: all types on a screen, each with its own control.
func TestEightTypesOnScreen(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("a: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sit(t.Context(), t, formIn(t, "eight.json"), Options{})
	p.sees("┃ Username (required)")
	p.types("ada" + enter)
	p.sees("┃ Port Number")
	p.types("\x15" + "80" + enter) // the default is there already
	p.sees("1024")
	p.types("\x15" + "9090" + enter)
	p.sees("┃ Enable SSL/TLS")
	p.types("n") // moves on by itself
	p.sees("┃ Log Level")
	p.types(down + enter)
	p.sees("┃ Features")
	p.types("x" + down + "x" + enter)
	p.sees("┃ Webhook URL")
	p.types(enter)
	p.sees("┃ Configuration File")
	p.types(config + enter)
	p.sees("┃ Start Date")
	p.types("2026-02-30" + enter)
	p.sees("* ")
	p.types("\x15" + "2026-03-01" + enter)
	p.sees("> Send")
	p.types(enter)
	r, err := p.leaves()
	want := `{"username":"ada","port":9090,"enable_ssl":false,"log_level":"info","features":["logging","metrics"],` +
		`"config_file":{"filename":"config.yaml","content_type":"text/yaml","size":5,"content":"YTogMQo="},"start_date":"2026-03-01"}`
	if err != nil || r.Outcome != input.Accept || string(r.Values.JSON()) != want {
		t.Errorf("got %s %s, %v, want %s", r.Outcome, r.Values.JSON(), err, want)
	}
}

// R97: fields appear and disappear with the answers before them.
func TestConditionsOnScreen(t *testing.T) {
	p := sit(t.Context(), t, parse(t, conditional), Options{})
	p.sees("┃ Use SMTP")
	p.types(enter) // yes
	p.sees("┃ SMTP Port")
	p.types("25" + enter)
	p.sees("┃ Anonymous")
	p.types(behind)
	p.sees("┃ SMTP Port")
	p.types("\x15" + "2525" + enter)
	p.sees("┃ Relay")
	p.types("mx" + enter)
	p.sees("┃ Anonymous")
	p.types(enter)
	p.sees("> Send")
	p.types(enter)
	r, err := p.leaves()
	if want := `{"use_smtp":true,"smtp_port":2525,"relay":"mx","anonymous":true}`; err != nil || string(r.Values.JSON()) != want {
		t.Errorf("got %s, %v, want %s", r.Values.JSON(), err, want)
	}
	if strings.Contains(p.written(), "Name") {
		t.Error("a hidden field was shown")
	}
}

// R101, R108: hints shape the pages: a text of several lines, one that cannot be
// changed, one that is hidden; and earlier answers are there to begin with.
func TestHintsOnScreen(t *testing.T) {
	f := parse(t, `{"id": "f", "title": "F", "fields": [
		{"id": "trace", "type": "text", "label": "Trace", "rendering": {"hidden": true}},
		{"id": "host", "type": "text", "label": "Host", "default": "db1", "rendering": {"readonly": true}},
		{"id": "why", "type": "text", "label": "Why", "description": "For the record.", "rendering": {"rows": 3, "helpText": "In a few words."}},
		{"id": "note", "type": "text", "label": "Note", "default": "none", "rendering": {"placeholder": "something"}}]}`)
	before, err := f.Read([]byte(`{"why": "because"}`), form.Coerce)
	if err != nil {
		t.Fatal(err)
	}
	p := sit(t.Context(), t, f, Options{Values: before, Errors: form.Errors{{Field: "why", Message: "Why needs a reason"}}})
	p.sees("- Why needs a reason")
	p.sees("db1 (cannot be changed)")
	p.sees("┃ Why")
	p.sees("For the record.")
	p.sees("In a few words.")
	p.types(" of" + "\n" + "this" + enter) // ctrl-j is a new line
	p.sees("┃ Note")
	p.types("\x15" + enter) // emptied, which is not the default
	p.sees("> Send")
	p.types(enter)
	r, err := p.leaves()
	if want := `{"host":"db1","why":"because of\nthis","note":""}`; err != nil || string(r.Values.JSON()) != want {
		t.Errorf("got %s, %v, want %s", r.Values.JSON(), err, want)
	}
	if strings.Contains(p.written(), "Trace") {
		t.Error("a hidden field was shown")
	}
}

// R125: what may be left out can be, and is not called required.
func TestPartialOnScreen(t *testing.T) {
	p := sit(t.Context(), t, parse(t, partial), Options{})
	for _, field := range []string{"Name", "Size", "Gift", "Tags"} {
		p.sees("┃ " + field)
		p.types(enter)
	}
	p.sees("> Send")
	p.types(enter)
	r, err := p.leaves()
	if err != nil || string(r.Values.JSON()) != `{}` || strings.Contains(p.written(), "(required)") {
		t.Errorf("answered %s, %v", r.Values.JSON(), err)
	}
}

// R97: what is required on a condition can be left out while that does not hold, and
// not while it does.
func TestRequiredOnConditionOnScreen(t *testing.T) {
	f := parse(t, `{"id": "f", "title": "F", "fields": [
		{"id": "send", "type": "boolean", "label": "Send", "default": false},
		{"id": "size", "type": "select", "label": "Size", "options": ["small", "large"], "required": true,
		 "dependencies": [{"condition": {"operator": "equals", "field": "send", "value": true}, "action": "validate"}]}]}`)
	p := sit(t.Context(), t, f, Options{})
	p.sees("┃ Send")
	p.types(enter)
	p.sees("┃ Size")
	p.types(enter)
	p.sees("> Send")
	p.types(enter)
	r, err := p.leaves()
	if err != nil || string(r.Values.JSON()) != `{"send":false}` {
		t.Errorf("answered %s, %v", r.Values.JSON(), err)
	}
	_, said, _ := typing(t, f, Options{}, "yes", "", "small", "y")
	wantSaid(t, said, "Not valid: Size needs an answer")
}

// On a small terminal the field that has the focus is seen, and its error.
func TestSmallScreen(t *testing.T) {
	for _, rows := range []uint16{24, 12} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			p := sitAt(t.Context(), t, formIn(t, "eight.json"), Options{}, rows, 60)
			for _, step := range []struct{ field, keys string }{
				{"Username", "a" + enter}, {"at least 3", "da" + enter}, {"Port Number", enter}, {"Enable SSL/TLS", "y"}, {"Log Level", down + enter},
				{"Features", enter}, {"Webhook URL", enter}, {"Configuration File", enter}, {"Start Date", "2027" + enter}, {"* ", "\x15" + enter},
				{"> Send", enter},
			} {
				p.sees(step.field)
				p.types(step.keys)
			}
			r, err := p.leaves()
			if want := `{"username":"ada","port":8080,"enable_ssl":true,"log_level":"info"}`; err != nil || string(r.Values.JSON()) != want {
				t.Errorf("got %s, %v, want %s", r.Values.JSON(), err, want)
			}
		})
	}
}

// Answers that do not fit on the screen can be scrolled back to; what is to be chosen
// is seen.
func TestLongReview(t *testing.T) {
	const many = 40
	var fields []string
	for i := range many {
		fields = append(fields, fmt.Sprintf(`{"id": "f%[1]d", "type": "text", "label": "Field %[1]d", "default": "v%[1]d"}`, i))
	}
	p := sitAt(t.Context(), t, parse(t, `{"id": "f", "title": "F", "fields": [`+strings.Join(fields, ",")+`]}`), Options{}, 24, 60)
	for i := range many {
		p.sees(fmt.Sprintf("┃ Field %d\n", i))
		p.types(enter)
	}
	p.sees("> Send")
	p.sees(fmt.Sprintf("  Field %[1]d: v%[1]d", many-1))
	p.types(enter)
	if r, err := p.leaves(); err != nil || r.Outcome != input.Accept {
		t.Errorf("got %+v, %v", r, err)
	}
	for i := range many {
		if !strings.Contains(p.written(), fmt.Sprintf("  Field %[1]d: v%[1]d", i)) {
			t.Errorf("answer %d was not shown", i)
		}
	}
}

// What is typed faster than the pages move belongs to the field that it was typed for.
func TestTypingAhead(t *testing.T) {
	p := sit(t.Context(), t, formIn(t, "eight.json"), Options{})
	p.sees("┃ Username (required)")
	p.types("ada" + enter + "\x15" + "9090" + enter + "n" + down + down + enter + "x" + enter + "https://example.com" + enter + enter + "2026-03-01" + enter)
	p.sees("> Send")
	p.types(enter)
	r, err := p.leaves()
	want := `{"username":"ada","port":9090,"enable_ssl":false,"log_level":"warning","features":["logging"],"webhook_url":"https://example.com","start_date":"2026-03-01"}`
	if err != nil || string(r.Values.JSON()) != want {
		t.Errorf("got %s, %v, want %s", r.Values.JSON(), err, want)
	}
}

// R58: at any point the person can decline, cancel, or change their mind about it.
func TestDeclineAndCancelOnScreen(t *testing.T) {
	for keys, want := range map[string]input.Outcome{
		down + enter:        input.Decline,
		down + down + enter: input.Cancel,
	} {
		p := sit(t.Context(), t, formIn(t, "seed.json"), Options{})
		p.sees("Region")
		p.types(escape)
		p.sees("Leave the form?")
		p.types(keys)
		if r, err := p.leaves(); err != nil || r.Outcome != want || r.Values.Form() != nil {
			t.Errorf("got %+v, %v, want %s", r, err, want)
		}
	}

	p := sit(t.Context(), t, formIn(t, "seed.json"), Options{})
	p.sees("Region")
	p.types(goodKey)
	p.types(escape)
	p.sees("Leave the form?")
	p.types(enter) // go on
	p.sees("┃ API Key")
	p.types(enter)
	p.sees("┃ Region")
	p.types(enter)
	p.sees("> Send")
	p.types(down + down + enter)
	if r, err := p.leaves(); err != nil || r.Outcome != input.Decline {
		t.Errorf("got %+v, %v", r, err)
	}
}

// R96, R108: what is wrong with the whole is told at the end, nothing can be sent
// before it is right, and the valid answers are still there.
func TestErrorsOnScreen(t *testing.T) {
	f := parse(t, `{"id": "f", "title": "F", "fields": [
		{"id": "card", "type": "text", "label": "Card", "dependencies": ["holder"]},
		{"id": "holder", "type": "text", "label": "Holder"}]}`)
	p := sit(t.Context(), t, f, Options{})
	p.sees("┃ Card")
	p.types("1234" + enter)
	p.sees("┃ Holder")
	p.types(enter)
	p.sees("Not valid yet")
	p.types(enter) // change something
	p.sees("┃ Card")
	p.sees("> 1234")
	p.types(enter)
	p.sees("┃ Holder")
	p.types("Ada" + enter)
	p.sees("> Send")
	p.types(enter)
	r, err := p.leaves()
	if want := `{"card":"1234","holder":"Ada"}`; err != nil || string(r.Values.JSON()) != want {
		t.Errorf("got %s, %v, want %s", r.Values.JSON(), err, want)
	}
}

// D7, D13: Ctrl-C and the end of the context mean that nobody answered, and leave the
// terminal as it was.
func TestNobodyOnScreen(t *testing.T) {
	p := sit(t.Context(), t, formIn(t, "seed.json"), Options{})
	p.sees("Region")
	p.types(ctrlC)
	if r, err := p.leaves(); !errors.Is(err, ErrNobody) || r.Outcome != "" {
		t.Errorf("got %+v, %v", r, err)
	}
	if !p.echoes() {
		t.Error("the terminal is not as it was before")
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	p = sit(ctx, t, formIn(t, "seed.json"), Options{})
	p.sees("Region")
	cancel(errLate)
	if r, err := p.leaves(); !errors.Is(err, ErrNobody) || !errors.Is(err, errLate) || r.Outcome != "" {
		t.Errorf("got %+v, %v", r, err)
	}
	p.sees("(no longer needed: the form expired after a minute)")
	if !p.echoes() {
		t.Error("the terminal is not as it was before")
	}
}

// Texts of the form do not steer the terminal on a screen either: of what is written,
// only what draws the pages does.
func TestNothingSteersTheScreen(t *testing.T) {
	f := parse(t, `{"id": "f", "title": "F", "fields": [{"id": "a", "type": "text", "label": "Alpha"}]}`)
	p := sit(t.Context(), t, f, Options{From: nasty, Message: nasty})
	p.sees("Alpha")
	p.types(ctrlC)
	if _, err := p.leaves(); !errors.Is(err, ErrNobody) {
		t.Error(err)
	}
	for _, sent := range []string{"\x1b]0;", "\x1b[2J\x1b]", "\u009b31m", "\u202e", "\u2066"} {
		if strings.Contains(p.written(), sent) {
			t.Errorf("wrote %q", sent)
		}
	}
}

// Which terminals get pages, and which lines.
func TestWaysOfAsking(t *testing.T) {
	tests := []struct {
		name    string
		plain   bool
		environ []string
		want    string // what is seen on the terminal
	}{
		{"a screen", false, []string{"TERM=xterm"}, "ctrl+c"},
		{"without colours", false, []string{"TERM=xterm-256color", "NO_COLOR=1"}, "ctrl+c"},
		{"dumb", false, []string{"TERM=dumb"}, "API Key (required):"},
		{"unknown", false, []string{"HOME=/"}, "API Key (required):"},
		{"asked for", true, []string{"TERM=xterm"}, "API Key (required):"},
		{"for a screen reader", false, []string{"TERM=xterm", "ACCESSIBLE=1"}, "API Key (required):"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			p := sit(ctx, t, formIn(t, "seed.json"), Options{Plain: tt.plain, Environ: tt.environ})
			p.sees(tt.want)
			cancel(errLate)
			if _, err := p.leaves(); !errors.Is(err, errLate) {
				t.Error(err)
			}
			if coloured := strings.Contains(p.written(), "\x1b[3"); tt.name == "without colours" && coloured {
				t.Errorf("there are colours:\n%q", p.written())
			}
		})
	}
}

// R122: line by line, too, a terminal does not show a secret while it is typed, and
// shows again what comes after it.
func TestEchoByLine(t *testing.T) {
	p := sit(t.Context(), t, formIn(t, "seed.json"), Options{Plain: true})
	p.sees("API Key (required):")
	if p.awaits(false); p.echoes() {
		t.Error("the secret would be shown")
	}
	p.types(goodKey + "\n")
	p.sees("Number [US East (Virginia)]:")
	p.awaits(true)
	p.types("3\n")
	p.sees("Send?")
	p.types("y\n")
	if r, err := p.leaves(); err != nil || r.Values.Get("region").Text() != "eu-west-1" {
		t.Errorf("got %+v, %v", r, err)
	}
	if strings.Contains(p.written(), "a1B2") {
		t.Errorf("a secret was shown:\n%q", p.written())
	}
}
