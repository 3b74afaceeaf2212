package formtest

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/form"
)

// answer makes an answer to a field that obeys the rules of the field itself; ok says
// whether it could.
func answer(rng *rand.Rand, f *form.Field) (value any, ok bool) {
	if f.Hints.Readonly && len(f.Default) > 0 {
		return f.Default, true
	}
	switch f.Type {
	case form.Text:
		return text(rng, &f.Rules)
	case form.Number:
		if x := spanOf(&f.Rules).pick(rng); x != nil {
			return json.RawMessage(decimal(x)), true
		}
		return nil, false
	case form.Boolean:
		return rng.IntN(2) == 0, true
	case form.Date:
		return date(rng, f)
	case form.Select:
		if len(f.Options) == 0 {
			return nil, false
		}
		return f.Options[rng.IntN(len(f.Options))].Value, true
	case form.MultiSelect:
		return choice(rng, f)
	case form.URL:
		return address(rng, &f.Rules)
	case form.File:
		return file(rng, &f.Rules)
	}
	return nil, false
}

// choice makes a choice of as many options as may be.
func choice(rng *rand.Rand, f *form.Field) (any, bool) {
	least, most := 0, len(f.Options)
	if f.Rules.MinItems != nil {
		least = *f.Rules.MinItems
	}
	if f.Rules.MaxItems != nil {
		most = min(most, *f.Rules.MaxItems)
	}
	if least > most || len(f.Options) == 0 {
		return nil, false
	}
	chosen := make([]string, 0, most)
	for _, i := range rng.Perm(len(f.Options))[:least+rng.IntN(most-least+1)] {
		chosen = append(chosen, f.Options[i].Value)
	}
	return chosen, true
}

// day is the layout of a date without a time.
const day = "2006-01-02"

// moment reads a bound of a date field.
func moment(bound json.RawMessage) (time.Time, bool) {
	var s string
	if json.Unmarshal(bound, &s) != nil {
		return time.Time{}, false
	}
	for _, layout := range []string{day, time.RFC3339Nano} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// date makes a day, or a day and time, from the first to the last.
func date(rng *rand.Rand, f *form.Field) (any, bool) {
	first, low := moment(f.Rules.Minimum)
	last, high := moment(f.Rules.Maximum)
	switch {
	case !low && !high:
		first = time.Date(2000+rng.IntN(60), 1, 1, 0, 0, 0, 0, time.UTC)
		last = first.AddDate(1, 0, 0)
	case !low:
		first = last.AddDate(-1, 0, 0)
	case !high:
		last = first.AddDate(1, 0, 0)
	}
	if f.Rules.Format == "date-time" {
		seconds := int64(last.Sub(first) / time.Second)
		if seconds < 0 {
			return nil, false
		}
		at := first.Add(time.Duration(rng.Int64N(seconds+1)) * time.Second)
		return at.Format(time.RFC3339Nano), true
	}
	if midnight := first.Truncate(24 * time.Hour); midnight.Before(first) {
		first = midnight.AddDate(0, 0, 1)
	}
	days := int64(last.Sub(first) / (24 * time.Hour))
	if last.Before(first) {
		return nil, false
	}
	return first.AddDate(0, 0, int(rng.Int64N(days+1))).Format(day), true
}

// address makes a public address of an allowed scheme.
func address(rng *rand.Rand, r *form.FieldRules) (any, bool) {
	scheme := "https"
	if len(r.AllowedSchemes) > 0 {
		scheme = r.AllowedSchemes[rng.IntN(len(r.AllowedSchemes))]
	}
	if hostless(scheme) {
		return scheme + ":" + map[string]string{"mailto": "a@b.io", "tel": "+1555", "sms": "+1555", "urn": "a:b", "file": "///a"}[scheme], true
	}
	least := scheme + "://a.io"
	hosts := []string{least, scheme + "://www.example.com/" + word(rng, rng.IntN(10)), scheme + "://api.example.com:8443/a?b=" + word(rng, 3)}
	for range 20 {
		s := hosts[rng.IntN(len(hosts))]
		if r.MaxLength == nil || len(s) <= *r.MaxLength {
			return s, true
		}
	}
	return least, r.MaxLength == nil || len(least) <= *r.MaxLength
}

// hostless reports whether addresses of a scheme have no host.
func hostless(scheme string) bool {
	switch scheme {
	case "mailto", "tel", "sms", "urn", "file":
		return true
	}
	return false
}

// sample is a small file of a type.
type sample struct{ kind, extension, content string }

// samples are files whose content says which type they are, or says nothing against it.
func samples() []sample {
	return []sample{
		{"application/json", ".json", `{"a":1}`},
		{"text/plain", ".txt", "Some words.\n"},
		{"text/yaml", ".yaml", "a: 1\n"},
		{"application/x-yaml", ".yml", "a: 1\n"},
		{"text/csv", ".csv", "a,b\n1,2\n3,4\n"},
		{"image/png", ".png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"},
		{"image/gif", ".gif", "GIF89a\x01\x00\x01\x00\x00\x00\x00;"},
		{"application/pdf", ".pdf", "%PDF-1.4\n%%EOF\n"},
		{"text/html", ".html", "<!DOCTYPE html><title>a</title>\n"},
		{"application/zip", ".zip", "PK\x03\x04\x14\x00\x00\x00\x00\x00"},
	}
}

// file makes a file with its content where a sample fits the rules, and otherwise one
// whose content is elsewhere.
func file(rng *rand.Rand, r *form.FieldRules) (any, bool) {
	size := int64(10 << 20)
	if r.MaxSize != nil {
		size = *r.MaxSize
	}
	all := samples()
	for _, i := range rng.Perm(len(all)) {
		s := all[i]
		extension, fits := extensionOf(r, s.extension)
		if fits && int64(len(s.content)) <= size && allowsType(r, s.kind) {
			return upload{word(rng, 5) + extension, s.kind, int64(len(s.content)), []byte(s.content)}, true
		}
	}
	kind := "application/octet-stream"
	if len(r.AllowedMimeTypes) > 0 {
		kind = strings.Replace(r.AllowedMimeTypes[rng.IntN(len(r.AllowedMimeTypes))], "/*", "/plain", 1)
	}
	extension, fits := extensionOf(r, ".bin")
	if !fits {
		extension = r.AllowedExtensions[rng.IntN(len(r.AllowedExtensions))]
	}
	return upload{word(rng, 5) + extension, kind, rng.Int64N(size + 1), form.Reference{Type: "s3", Location: "bucket/" + word(rng, 8)}}, true
}

// upload is a file as it is answered.
type upload struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size"`
	Content     any    `json:"content"`
}

// extensionOf returns the extension of a sample, and whether the rules allow it.
func extensionOf(r *form.FieldRules, extension string) (string, bool) {
	if len(r.AllowedExtensions) == 0 {
		return extension, true
	}
	for _, e := range r.AllowedExtensions {
		if strings.EqualFold(e, extension) {
			return e, true
		}
	}
	return "", false
}

func allowsType(r *form.FieldRules, kind string) bool {
	if len(r.AllowedMimeTypes) == 0 {
		return true
	}
	for _, a := range r.AllowedMimeTypes {
		if a == kind {
			return true
		}
		if family, ok := strings.CutSuffix(a, "/*"); ok && strings.HasPrefix(kind, family+"/") {
			return true
		}
	}
	return false
}
