package terminal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/beckon-mcp/beckon/form"
)

// shown is how much of one text of a form is shown, in characters. A definition
// cannot have more; what a foreign schema was lifted to can.
const shown = 2048

// line is a text that somebody else wrote, fit to be shown in one line.
func line(text string) string {
	return strings.Join(strings.Fields(strings.Map(printable, cut(text, shown))), " ")
}

// paragraph is a text that somebody else wrote, fit to be shown in lines of its own.
func paragraph(text string) []string {
	var lines []string
	for l := range strings.Lines(cut(text, shown)) {
		lines = append(lines, strings.TrimRight(strings.Map(printable, l), " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// printable maps white space to a space, and drops what steers a terminal or turns
// the direction of writing. Joiners stay, and marks that are seen.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r):
		return -1
	case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return -1
	}
	return r
}

func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// label is what a field is called.
func label(f *form.Field) string {
	if l := line(f.Label); l != "" {
		return l
	}
	return line(f.ID)
}

// title is the label, and whether an answer is needed.
func title(f *form.Field) string {
	if f.Required && f.Default == nil {
		return label(f) + " (required)"
	}
	return label(f)
}

// optionTitle is what an option is called.
func optionTitle(o form.Option) string {
	if t := line(o.Title); t != "" {
		return t
	}
	if v := line(o.Value); v != "" {
		return v
	}
	return `""`
}

// show is how an answer, as JSON, is shown; nil is none.
func (s *sheet) show(f *form.Field, raw json.RawMessage) string {
	const long = 200
	if raw == nil || string(raw) == "null" {
		return "(not answered)"
	}
	if s.secret[f.ID] {
		return "(hidden)"
	}
	switch f.Type {
	case form.Boolean:
		if truth(raw) {
			return "yes"
		}
		return "no"
	case form.MultiSelect:
		var titles []string
		for _, i := range chosen(f, raw) {
			titles = append(titles, optionTitle(f.Options[i]))
		}
		if len(titles) == 0 {
			return "(none)"
		}
		return strings.Join(titles, ", ")
	case form.Select:
		if at := chosen(f, raw); len(at) == 1 {
			return optionTitle(f.Options[at[0]])
		}
	case form.File:
		var file form.Upload
		if json.Unmarshal(raw, &file) == nil {
			return fmt.Sprintf("%s (%s)", line(file.Filename), bytesOf(file.Size))
		}
	}
	if text := line(cut(plainText(raw), long)); text != "" {
		return text
	}
	return "(empty)"
}

// plainText is a JSON string as it is, and anything else as JSON.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func truth(raw json.RawMessage) bool { return plainText(raw) == "true" }

// chosen are the places of the chosen options, in the order of the options.
func chosen(f *form.Field, raw json.RawMessage) []int {
	var values []string
	if json.Unmarshal(raw, &values) != nil {
		values = []string{plainText(raw)}
	}
	var at []int
	for i, o := range f.Options {
		if slices.Contains(values, o.Value) {
			at = append(at, i)
		}
	}
	return at
}

// quoted is a text as a JSON string.
func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // of a string it cannot fail
	return raw
}

// picked is the JSON list of the options at these places.
func picked(f *form.Field, at []int) json.RawMessage {
	values := make([]string, len(at))
	for i, place := range at {
		values[i] = f.Options[place].Value
	}
	raw, _ := json.Marshal(values) // of strings it cannot fail
	return raw
}

// bytesOf is a size for people.
func bytesOf(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
