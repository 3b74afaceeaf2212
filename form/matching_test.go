package form

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// C21: what patterns may take is bounded for a submission, not for each of them: by
// their size and the length of what they look at, in conditions and lifted forms too.
func TestMatchingIsBounded(t *testing.T) {
	const heavy = `(.{1,100}){1,10}x$`
	condition := `{"id":"c","type":"text","label":"C","dependencies":[{"condition":{"operator":"regex","field":"a","value":"` + heavy + `"},"action":"show"}]}`
	size := matchingSize(heavy)
	most := maxMatching / size
	parsed := func(fields string) func() (*Form, error) {
		return func() (*Form, error) { return Parse([]byte(`{"id":"f","title":"F","fields":[` + fields + `]}`)) }
	}
	var huge strings.Builder
	for c := 'a'; c <= 'd'; c++ {
		huge.WriteString(string(c) + ".{1,1000}x|")
	}
	lifted := `{"type":"object","properties":{"a":{"type":"string","pattern":"` + huge.String() + `z$"}}}`
	for name, tt := range map[string]struct {
		make   func() (*Form, error)
		length int
		wrong  string // which field is too long; "" for none
	}{
		"just short enough": {parsed(`{"id":"a","type":"text","label":"A","validation":{"pattern":"^` + heavy + `"}}`), 1000, ""},
		"too long":          {parsed(`{"id":"a","type":"text","label":"A","validation":{"pattern":"` + heavy + `"}}`), most + 1, "a"},
		"in a condition":    {parsed(`{"id":"a","type":"text","label":"A"},` + condition), most + 1, "a"},
		"two together":      {parsed(`{"id":"a","type":"text","label":"A","validation":{"pattern":"a"}},{"id":"b","type":"text","label":"B","validation":{"pattern":"` + heavy + `"}}`), most, "b"},
		"no pattern":        {parsed(`{"id":"a","type":"text","label":"A"},{"id":"b","type":"text","label":"B"}`), 400_000, ""},
		"a simple one":      {parsed(`{"id":"a","type":"text","label":"A","validation":{"pattern":"^a+$"}}`), 900_000, ""},
		"a lifted one":      {func() (*Form, error) { return Lift([]byte(lifted)) }, maxMatching/4000 + 1, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := tt.make()
			if err != nil {
				t.Fatal(err)
			}
			text := strconv.Quote(strings.Repeat("a", tt.length))
			answers := `{"a":` + text + `}`
			if len(f.program.fields) > 1 && f.program.fields[1].ID == "b" {
				answers = `{"a":` + text + `,"b":` + text + `}`
			}
			_, err = f.Read([]byte(answers), Coerce)
			errs, _ := errors.AsType[Errors](err)
			switch {
			case tt.wrong == "" && len(errs) > 0 && errs[0].Code == CodeTooLarge:
				t.Errorf("got %v", err)
			case tt.wrong != "" && (len(errs) == 0 || errs[0].Field != tt.wrong || errs[0].Code != CodeTooLarge):
				t.Errorf("got %.300v", err)
			}
		})
	}
}
