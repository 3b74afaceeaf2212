package form

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What is written reads as the same: for every valid definition, Parse of MarshalJSON
// gives an equal form, and writing that gives the same bytes.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDefinition(t)
		f, err := Compile(d)
		if err != nil {
			t.Fatalf("the definition is refused: %v", err)
		}
		text, err := f.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%s\nis refused: %v", text, err)
		}
		if diff := cmp.Diff(f.Definition(), again.Definition(), cmp.AllowUnexported(Definition{}, Field{})); diff != "" {
			t.Fatalf("%s\nreads otherwise (-want +got):\n%s", text, diff)
		}
		twice, err := again.MarshalJSON()
		if err != nil || string(twice) != string(text) {
			t.Fatalf("written again: %v\n%s, want\n%s", err, twice, text)
		}
		if !json.Valid(text) {
			t.Fatalf("%s is no JSON", text)
		}
	})
}
