package form

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A valid definition with one place changed is either valid too, and then reads as
// what is written of it, or refused with faults whose places are in the text.
func TestChangedDefinitions(t *testing.T) {
	var accepted, refused int
	rapid.Check(t, func(t *rapid.T) {
		f, err := Compile(genDefinition(t))
		if err != nil {
			t.Fatal(err)
		}
		text, err := f.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			text := changed(t, text)
			form, err := Parse(text)
			if err != nil {
				refused++
				wantPlaces(t, text, err)
				continue
			}
			accepted++
			written, err := form.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse(written)
			if err != nil || !reflect.DeepEqual(form.Definition(), again.Definition()) {
				t.Fatalf("%s\nwritten as\n%s\nreads otherwise: %v", text, written, err)
			}
		}
	})
	if accepted == 0 || refused == 0 {
		t.Errorf("%d were accepted and %d refused: the test shows nothing", accepted, refused)
	}
}

// changed replaces, doubles or takes out one value of the text.
func changed(t *rapid.T, text []byte) []byte {
	root, faults := readText(text, "$")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var all []*node
	var walk func(*node)
	walk = func(n *node) {
		all = append(all, n)
		for _, c := range n.children {
			walk(c)
		}
	}
	walk(root)
	n := rapid.SampledFrom(all).Draw(t, "place")
	other := rapid.SampledFrom(all).Draw(t, "other place")
	var with []byte
	switch rapid.IntRange(0, 3).Draw(t, "how") {
	case 0:
		with = []byte(rapid.SampledFrom([]string{"null", "true", "0", "-1", "1.5", "1e999", `""`, `"a"`, `"id"`, "[]", "{}", `["a"]`, `{"a":1}`}).Draw(t, "value"))
	case 1:
		with = other.raw
	case 2: // another name, or the same twice
		if n.kind == '{' && other.name != "" {
			with = append([]byte(`{`+quoteJSON(other.name)+`:`+string(other.raw)), n.raw[1:]...)
			if len(n.children) > 0 {
				with = bytes.Replace(with, append(slices.Clone(other.raw), n.raw[1]), append(append(slices.Clone(other.raw), ','), n.raw[1]), 1)
			}
		} else {
			with = other.raw
		}
	case 3: // spelled otherwise
		with = bytes.Replace(n.raw, []byte("e"), []byte("ee"), 1)
	}
	return slices.Concat(text[:n.at], with, text[n.at+len(n.raw):])
}

// wantPlaces checks that each fault is at a value of the text, or where a member is
// missing.
func wantPlaces(t *rapid.T, text []byte, err error) {
	var faults Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("%v is no list of faults", err)
	}
	places := map[string]bool{"$": true}
	if root, _ := readText(text, "$"); root != nil {
		var walk func(*node)
		walk = func(n *node) {
			places[n.path()] = true
			for _, c := range n.children {
				walk(c)
			}
		}
		walk(root)
	} else if len(faults) == 1 {
		return // the text is no JSON, and the place is as far as it is
	}
	for _, f := range faults {
		twice := strings.HasSuffix(f.Message, "is there twice")
		if !places[f.Path] && !places[parentPath(f.Path)] && !twice {
			t.Fatalf("%s\n%v: there is no such place", text, f)
		}
		if f.Message == "" || f.Fix == "" {
			t.Fatalf("%+v lacks something", f)
		}
	}
}
