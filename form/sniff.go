package form

import (
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"
	"github.com/go-json-experiment/json/jsontext"
)

// sniffed is how much of a file its type is recognised by.
const sniffed = 4096

// agrees reports whether a content can be of the type that it is declared to be, and
// what it looks like. The answer is no where it looks like something that is not of
// that type: a program that is called application/json. What looks like nothing in
// particular can be of any type that has no marks of its own.
func agrees(declared string, content []byte) (found string, ok bool) {
	declared = baseType(declared)
	if len(content) == 0 {
		return "nothing", true
	}
	// What parses as a JSON object is one, and nothing else: cheaper than to look for
	// the marks of everything else first.
	if declared == "application/json" && len(content) <= sniffed && content[0] == '{' && jsontext.Value(content).IsValid(jsontext.AllowDuplicateNames(true)) {
		return declared, true
	}
	looks := mimetype.Detect(content)
	found = baseType(looks.String())
	outer := structure(declared)
	for m := looks; m != nil; m = m.Parent() {
		if m.Is(declared) || outer != "" && m.Is(outer) { // text/html is also text/plain, and everything application/octet-stream
			return found, true
		}
	}
	known := mimetype.Lookup(declared)
	if known == nil {
		return found, plausible(declared, found)
	}
	// A type whose marks can be missed, such as CSV with one column, looks like the
	// more general one; but nothing looks like no type at all that has marks.
	textual := false
	for m := known.Parent(); m != nil && m.Parent() != nil; m = m.Parent() {
		if m.Is(found) {
			return found, true
		}
		textual = textual || m.Is("text/plain")
	}
	return found, textual && plain(found)
}

// structure is the type that the suffix of a type promises: application/geo+json is
// JSON.
// https://www.rfc-editor.org/rfc/rfc6838#section-4.2.8
func structure(declared string) string {
	switch declared[strings.LastIndexByte(declared, '+')+1:] {
	case "json":
		return "application/json"
	case "xml":
		return "text/xml"
	case "zip":
		return "application/zip"
	case "gzip":
		return "application/gzip"
	}
	return ""
}

// plain reports whether a type is one of texts that may as well be of another type:
// every list of words looks like CSV to somebody.
func plain(found string) bool {
	switch found {
	case "text/plain", "text/csv", "text/tab-separated-values", "application/x-ndjson":
		return true
	}
	return false
}

// plausible judges a type that is not known by its marks.
func plausible(declared, found string) bool {
	if found == "application/octet-stream" {
		return !strings.HasPrefix(declared, "text/")
	}
	if plain(found) {
		return !slices.ContainsFunc([]string{"image/", "audio/", "video/", "font/"}, func(kind string) bool { return strings.HasPrefix(declared, kind) })
	}
	switch found {
	case "application/json": // which is YAML, too
		return strings.HasPrefix(declared, "text/") || strings.Contains(declared, "yaml")
	case "text/html":
		return declared == "text/markdown"
	}
	return false
}
