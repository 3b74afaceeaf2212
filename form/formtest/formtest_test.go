package formtest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/form/formtest"
)

func parse(tb testing.TB, name string) *form.Form {
	tb.Helper()
	text, err := os.ReadFile("../testdata/" + name + ".json")
	if err != nil {
		tb.Fatal(err)
	}
	f, err := form.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// one returns one of them.
func one[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// draw makes a definition with rules of every kind, all of which can be obeyed.
func draw(rng *rand.Rand) form.Definition {
	d := form.Definition{ID: "f", Title: "F", AllowPartial: rng.IntN(8) == 0}
	for i := range 1 + rng.IntN(7) {
		f := drawField(rng, fmt.Sprintf("f%d", i))
		if i > 0 {
			depend(rng, &f, d.Fields)
		}
		d.Fields = append(d.Fields, f)
	}
	return d
}

func drawField(rng *rand.Rand, id string) form.Field {
	f := form.Field{ID: id, Label: "Field " + id, Required: rng.IntN(2) == 0}
	r := &f.Rules
	options := []form.Option{{Value: "a"}, {Value: "b", Title: "B"}, {Value: "c c"}, {Value: "é"}}
	switch f.Type = one(rng, form.Text, form.Text, form.Number, form.Number, form.Boolean, form.Date, form.Select, form.MultiSelect, form.URL, form.File); f.Type {
	case form.Text:
		*r = one(rng,
			form.FieldRules{}, form.FieldRules{MinLength: new(3), MaxLength: new(3)}, form.FieldRules{MinLength: new(1)}, form.FieldRules{MaxLength: new(0)},
			form.FieldRules{Pattern: "^sk-[a-zA-Z0-9]{40,}$", MinLength: new(32), MaxLength: new(64)}, form.FieldRules{Pattern: "^[a-z]+$", MinLength: new(30)},
			form.FieldRules{Pattern: `(?i)^(yes|no|\d{3}-[^x-z]*)$`}, form.FieldRules{Pattern: "b", MaxLength: new(4)}, form.FieldRules{Pattern: `^\p{Greek}+\s?\S$`},
			form.FieldRules{Format: "email"}, form.FieldRules{Format: "email", MaxLength: new(9)}, form.FieldRules{Format: "email", MinLength: new(80), Pattern: "@example"},
			form.FieldRules{Format: "uri", MaxLength: new(40)}, form.FieldRules{Format: "uuid"}, form.FieldRules{Format: "ipv4"}, form.FieldRules{Format: "ipv6"},
			form.FieldRules{Format: "hostname", MinLength: new(100)}, form.FieldRules{Format: "date"}, form.FieldRules{Format: "date-time", MinLength: new(25)})
	case form.Number:
		*r = one(rng,
			form.FieldRules{}, form.FieldRules{Minimum: raw("1024"), Maximum: raw("65535"), MultipleOf: raw("1")}, form.FieldRules{ExclusiveMinimum: raw("0")},
			form.FieldRules{ExclusiveMinimum: raw("0"), ExclusiveMaximum: raw("0.001")}, form.FieldRules{MultipleOf: raw("0.05"), Maximum: raw("-3")},
			form.FieldRules{Minimum: raw("7"), Maximum: raw("7")}, form.FieldRules{Minimum: raw("0.1"), ExclusiveMinimum: raw("0.1"), Maximum: raw("5e1"), MultipleOf: raw("2.5")},
			form.FieldRules{Minimum: raw("1e30"), MultipleOf: raw("1e10")}, form.FieldRules{ExclusiveMaximum: raw("1"), MultipleOf: raw("1")})
	case form.Date:
		*r = one(rng,
			form.FieldRules{}, form.FieldRules{Format: "date", Minimum: raw(`"2026-02-28"`), Maximum: raw(`"2026-03-01"`)}, form.FieldRules{Format: "date-time"},
			form.FieldRules{Format: "date-time", Minimum: raw(`"2026-01-01T00:00:00Z"`), Maximum: raw(`"2026-01-01T00:00:10Z"`)}, form.FieldRules{Maximum: raw(`"1999-12-31"`)})
	case form.Select:
		f.Options = options[:1+rng.IntN(4)]
	case form.MultiSelect:
		f.Options = options
		*r = one(rng, form.FieldRules{}, form.FieldRules{MinItems: new(1), MaxItems: new(4)}, form.FieldRules{MinItems: new(2), MaxItems: new(2)}, form.FieldRules{MaxItems: new(3)})
	case form.URL:
		*r = one(rng, form.FieldRules{}, form.FieldRules{MaxLength: new(16)}, form.FieldRules{AllowedSchemes: []string{"http", "https"}, BlockPrivateIPs: new(false), BlockLocalhost: new(false)},
			form.FieldRules{AllowedSchemes: []string{"mailto"}}, form.FieldRules{AllowedSchemes: []string{"ftp"}, MaxLength: new(100)})
	case form.File:
		*r = one(rng, form.FieldRules{}, form.FieldRules{MaxSize: new(int64(100)), AllowedMimeTypes: []string{"application/json", "text/yaml"}, AllowedExtensions: []string{".json", ".yaml"}},
			form.FieldRules{AllowedMimeTypes: []string{"image/*"}}, form.FieldRules{AllowedMimeTypes: []string{"video/mp4"}, AllowedExtensions: []string{".mp4"}}, form.FieldRules{MaxSize: new(int64(1))})
	}
	switch rng.IntN(12) {
	case 0:
		f.Hints.Hidden = true
	case 1:
		if f.Type == form.Number && string(r.Minimum) == "1024" {
			f.Default, f.Hints.Readonly = raw("8080"), true
		}
		if f.Type == form.Select {
			f.Default, f.Hints.Readonly = raw(`"a"`), true
		}
	case 2:
		if f.Type == form.Boolean {
			f.Default = raw("true")
		}
	}
	return f
}

// depend makes a field need another, or depend on one, now and then.
func depend(rng *rand.Rand, f *form.Field, earlier []form.Field) {
	other := earlier[rng.IntN(len(earlier))]
	if rng.IntN(5) == 0 {
		f.Needs = []string{other.ID}
	}
	if rng.IntN(3) > 0 {
		return
	}
	c := form.Condition{Field: other.ID, Operator: form.NotEquals}
	switch other.Type {
	case form.Boolean:
		c.Operator, c.Value = form.Equals, raw("true")
	case form.Number:
		c.Operator, c.Value = one(rng, form.Gte, form.Lt), raw("2000")
	case form.Select:
		c.Operator, c.Value = one(rng, form.Equals, form.NotEquals), raw(`"a"`)
	case form.MultiSelect:
		c.Operator, c.Value = form.Contains, raw(`"b"`)
	case form.Text, form.URL:
		c.Value = raw(`"x"`)
	default:
		return
	}
	f.When = []form.Dependency{{Field: f.ID, Condition: c, Action: one(rng, form.Show, form.Hide, form.Enable, form.Disable, form.Validate)}}
}

// anyForm calls check with so many forms.
func anyForm(t *testing.T, forms uint64, check func(t *testing.T, f *form.Form, rng *rand.Rand)) {
	for seed := range forms {
		rng := rand.New(rand.NewPCG(seed, 3))
		f, err := form.Compile(draw(rng))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if check(t, f, rng); t.Failed() {
			b, _ := f.MarshalJSON()
			t.Fatalf("seed %d: %s", seed, b)
		}
	}
}

// R126: valid answers to any form, as strict as a form can be; nothing hidden among
// them, all that is required, and most of the rest.
func TestValid(t *testing.T) {
	answered, fields := 0, 0
	anyForm(t, 400, func(t *testing.T, f *form.Form, rng *rand.Rand) {
		for range 3 {
			r, err := formtest.Valid(f, rng)
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []form.Mode{form.Strict, form.Coerce, form.Draft} {
				v, err := f.Read(r.Responses, mode)
				if err != nil {
					t.Errorf("mode %d: %s: %v", mode, r.Responses, err)
				}
				for id := range members(t, r.Responses) {
					if answered++; !v.Visible(id) {
						t.Errorf("%s answers %s, which is hidden", r.Responses, id)
					}
				}
			}
			if fields += 3 * len(f.Definition().Fields); r.FormID != "f" {
				t.Errorf("the answers are to the form %q", r.FormID)
			}
		}
	})
	if answered*10 < fields*6 {
		t.Errorf("%d of %d fields are answered, want more", answered, fields)
	}
}

func members(tb testing.TB, object []byte) map[string]json.RawMessage {
	tb.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(object, &m); err != nil {
		tb.Fatalf("%s: %v", object, err)
	}
	return m
}

// The same state of the generator gives the same answers, and another one others.
func TestValidIsRepeatable(t *testing.T) {
	f := parse(t, "eight")
	get := func(seed uint64) string {
		b, err := formtest.Answers(f, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first, again, other := get(1), get(1), get(2)
	if first != again || first == other {
		t.Errorf("got %s, %s and %s", first, again, other)
	}
}

// Conditions decide what is answered.
func TestValidRespectsConditions(t *testing.T) {
	f, err := form.Parse([]byte(`{"id":"f","title":"F","fields":[{"id":"smtp","type":"boolean","label":"SMTP","required":true},
		{"id":"port","type":"number","label":"Port","required":true,"rendering":{"conditionalDisplay":{"operator":"equals","field":"smtp","value":true}}},
		{"id":"host","type":"text","label":"Host","dependencies":["port"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for seed := range uint64(50) {
		b, err := formtest.Answers(f, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		m := members(t, b)
		if (string(m["smtp"]) == "true") != (m["port"] != nil) {
			t.Errorf("port and smtp do not go together: %s", b)
		}
		seen[string(m["smtp"])] = true
	}
	if len(seen) != 2 {
		t.Errorf("smtp is always the same: %v", seen)
	}
}

// What cannot be answered is told.
func TestValidGivesUp(t *testing.T) {
	for _, rules := range []form.FieldRules{{Pattern: "^a$", MinLength: new(2)}, {Pattern: "^[^@]*$", Format: "email"}, {Pattern: "a\\Bb c\\B"}} {
		f, err := form.Compile(form.Definition{ID: "f", Title: "F", Fields: []form.Field{{ID: "a", Type: form.Text, Label: "A", Required: true, Rules: rules}}})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := formtest.Answers(f, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("got %s, %v, want an error that names the field", b, err)
		}
	}
}

// A rule of a program is obeyed where chance finds how.
func TestValidWithRules(t *testing.T) {
	d := form.Definition{ID: "f", Title: "F", Fields: []form.Field{{ID: "a", Type: form.Boolean, Label: "A", Required: true}, {ID: "b", Type: form.Boolean, Label: "B", Required: true}}}
	d.Rules = []form.Rule{func(v form.Values) []form.Error {
		if v.Get("a").Bool() == v.Get("b").Bool() {
			return []form.Error{{Field: "b"}}
		}
		return nil
	}}
	f, err := form.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := formtest.Answers(f, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Error(err)
	}
}

// R126: every scenario is refused with its error and no other, whatever the form.
func TestInvalid(t *testing.T) {
	seen := make(map[string]int)
	anyForm(t, 200/fewer, func(t *testing.T, f *form.Form, rng *rand.Rand) {
		for _, s := range formtest.Scenarios(f) {
			r, err := formtest.Invalid(f, s, rng)
			if err != nil {
				t.Error(err)
				continue
			}
			_, err = f.Read(r.Responses, form.Coerce)
			errs, _ := err.(form.Errors)
			if len(errs) != 1 || errs[0].Field != s.Field || errs[0].Constraint != s.Constraint || errs[0].Code != s.Code {
				t.Errorf("%s: %s is answered with %v", s, r.Responses, err)
			}
			seen[s.Name]++
		}
	})
	for _, name := range []string{"missing_required_field", "wrong_type", "readonly", "too_short_text", "too_long_text", "pattern_mismatch", "invalid_format",
		"invalid_number", "below_minimum", "above_maximum", "at_exclusive_minimum", "at_exclusive_maximum", "not_multiple", "invalid_boolean",
		"invalid_date", "before_minimum", "after_maximum", "not_an_option", "duplicate_choice", "too_few_choices", "too_many_choices",
		"invalid_url", "too_long_url", "invalid_url_scheme", "invalid_url_private_ip", "invalid_url_localhost",
		"invalid_file", "file_too_large", "file_extension", "file_type", "file_content", "missing_dependency", "unknown_field"} {
		if seen[name] == 0 {
			t.Errorf("no form had the scenario %s", name)
		}
		delete(seen, name)
	}
	if len(seen) > 0 {
		t.Errorf("scenarios that this test does not know: %v", seen)
	}
}

// Which scenarios a form has is a matter of its rules. R126
func TestScenarios(t *testing.T) {
	tests := []struct{ name, want string }{
		{"seed", "missing_required_field api_key, wrong_type api_key, too_short_text api_key, too_long_text api_key, pattern_mismatch api_key, wrong_type region, not_an_option region, " +
			"unknown_field nobody-asked-for-this.field"},
		{"eight", "missing_required_field service, wrong_type service, too_short_text service, too_long_text service, pattern_mismatch service, " +
			"wrong_type replicas, invalid_number replicas, below_minimum replicas, above_maximum replicas, not_multiple replicas, wrong_type public, invalid_boolean public, " +
			"missing_required_field start, wrong_type start, invalid_date start, before_minimum start, after_maximum start, wrong_type region, not_an_option region, " +
			"wrong_type features, not_an_option features, duplicate_choice features, too_few_choices features, too_many_choices features, " +
			"wrong_type webhook, invalid_url webhook, too_long_url webhook, invalid_url_scheme webhook, invalid_url_private_ip webhook, invalid_url_localhost webhook, " +
			"wrong_type manifest, invalid_file manifest, file_too_large manifest, file_extension manifest, file_type manifest, file_content manifest, " +
			"unknown_field nobody-asked-for-this.field"},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range formtest.Scenarios(parse(t, tt.name)) {
			got = append(got, s.String())
		}
		if all := strings.Join(got, ", "); all != tt.want {
			t.Errorf("%s: got  %s\nwant %s", tt.name, all, tt.want)
		}
	}
}

// Whatever a form takes, a client that shows its flat schema takes, too: what is lost
// is lost on the wide side. C19
func TestFlatSchemaTakesValidAnswers(t *testing.T) {
	lossless := 0
	anyForm(t, 400, func(t *testing.T, f *form.Form, rng *rand.Rand) {
		flat := f.Flatten()
		g, err := form.Lift(flat.Schema)
		if err != nil {
			t.Fatalf("%s: %v", flat.Schema, err)
		}
		r, err := formtest.Valid(f, rng)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Read(r.Responses, form.Strict); err != nil {
			t.Errorf("%s\nrefuses %s: %v", flat.Schema, r.Responses, err)
		}
		if len(flat.Lost) > 0 {
			return
		}
		// The other way round, when nothing is lost.
		lossless++
		back, err := formtest.Valid(g, rng)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(back.Responses, form.Strict); err != nil {
			t.Errorf("nothing is lost in %s, and the form refuses %s: %v", flat.Schema, back.Responses, err)
		}
	})
	if lossless < 20 {
		t.Errorf("%d forms are without loss, want more", lossless)
	}
}

// A form that is not closed, or takes duplicates, has no scenario of that.
func TestScenariosOfLiftedForms(t *testing.T) {
	f, err := form.Lift([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x","y"]},"minItems":1},"b c":{"enum":[1,2]}},"required":["a"]}`))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var names []string
	for _, s := range formtest.Scenarios(f) {
		names = append(names, s.String())
		if _, err := formtest.Invalid(f, s, rng); err != nil {
			t.Error(err)
		}
	}
	want := []string{"missing_required_field a", "wrong_type a", "not_an_option a", "too_few_choices a", "wrong_type b c", "invalid_number b c"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if _, err := formtest.Answers(f, rng); err != nil {
		t.Error(err)
	}
}

// R127 R130: the thresholds of the seed, with room for a machine that is busy.
func TestMeasure(t *testing.T) {
	for _, name := range []string{"seed", "eight"} {
		got, err := formtest.Measure(parse(t, name), 2000)
		if err != nil {
			t.Fatal(err)
		}
		if got.P50 <= 0 || got.P50 > got.P95 || got.P95 > got.P99 || got.Average <= 0 {
			t.Errorf("%s: the numbers cannot be: %v", name, got)
		}
		if got.P95 > 5*time.Millisecond {
			t.Errorf("%s: %v, want less than 5ms", name, got)
		}
		t.Logf("%s: %v", name, got)
	}
}
