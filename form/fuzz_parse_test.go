package form

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// Whatever comes, Parse does not panic. What it accepts is written, and reads as the
// same; what it refuses has faults with a place and a way out.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(when(`{"operator":"or","conditions":[{"operator":"gt","field":"date","value":"2026-01-01"}]}`)))
	f.Add([]byte(rulesWith("number", `"multipleOf":1e-400,"minimum":-0`)))
	f.Add([]byte("{\"id\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		form, err := Parse(text)
		if err != nil {
			wantFaults(t, err)
			return
		}
		written, err := form.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("%s\nwritten as %s\nis refused: %v", text, written, err)
		}
		if !reflect.DeepEqual(form.Definition(), again.Definition()) {
			t.Fatalf("%s\nwritten as %s\nis %+v, want %+v", text, written, again.Definition(), form.Definition())
		}
		if _, err := Compile(*form.Definition()); err != nil {
			t.Fatalf("%s\nis not compiled: %v", text, err)
		}
		form.Sensitive()
	})
}

func wantFaults(t *testing.T, err error) {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > maxFaults+1 {
		t.Fatalf("%d faults: %v", len(faults), err)
	}
	for _, f := range faults {
		if f.Path == "" || f.Path[0] != '$' || f.Message == "" || f.Fix == "" {
			t.Fatalf("%+v lacks something", f)
		}
	}
}
