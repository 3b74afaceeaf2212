package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// scraps are values that some field may take, and most do not.
var scraps = []string{
	`""`, `" "`, `"a"`, `"abc"`, `"äöü"`, `"\u0061\n"`, `"a\/b"`, `"region-12"`, `"yes"`, `"true"`, `"false"`, `"True"`, `"1"`, `" 8080 "`, `"1.5e3"`, `"-0"`, `"+1"`,
	`0`, `-0`, `1`, `2.0`, `-17`, `3.25`, `1e2`, `0.001`, `12345678901234567890`, `1e30`, `true`, `false`, `null`, `{}`, `[]`, `[1]`, `[null]`, `["a"]`, `[["a"]]`, `{"a":"b"}`,
	`"2026-02-28"`, `"2026-02-30"`, `"2026-02-28T12:00:00Z"`, `"2016-12-31T23:59:60Z"`, `"2026-02-28T12:00:00"`, `"https://example.com/"`, `"http://10.0.0.1/"`, `"nobody@example.org"`,
	`"192.0.2.1"`, `"::1"`, `"123e4567-e89b-12d3-a456-426614174000"`, `"example.org"`, `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`,
	`{"filename":"a.txt","content_type":"text/plain","size":3,"content":"YWJj"}`, `{"filename":"a.txt","content_type":"text/plain","size":4,"content":"YWJj"}`,
	`{"filename":"a.png","content_type":"image/png","size":4,"content":{"type":"url","location":"https://example.com/a.png"}}`, `{"filename":"../a","size":0}`,
}

// genAnswer draws an answer to a field: one that may be right, or a scrap.
func genAnswer(t *rapid.T, f *Field) string {
	switch rapid.IntRange(0, 5).Draw(t, "kind of answer") {
	case 0:
		return rapid.SampledFrom(scraps).Draw(t, "scrap")
	case 1:
		if f.Default != nil {
			return string(f.Default)
		}
	}
	switch f.Type {
	case Text, URL, File:
		if f.Type == Text && rapid.Bool().Draw(t, "free") {
			return quoteJSON(genText.Draw(t, "text"))
		}
		answers := rapid.SampledFrom(textKinds).Draw(t, "text rules").answers
		for _, k := range textKinds {
			if k.rules.Pattern == f.Rules.Pattern && k.rules.Format == f.Rules.Format && rapid.Bool().Draw(t, "fitting") {
				answers = k.answers
			}
		}
		return quoteJSON(rapid.SampledFrom(answers).Draw(t, "answer"))
	case Number:
		bounds := []string{hundredths(rapid.IntRange(-30000, 30000).Draw(t, "number")), strconv.Itoa(rapid.IntRange(-500, 500).Draw(t, "integer"))}
		for _, b := range []json.RawMessage{f.Rules.Minimum, f.Rules.Maximum, f.Rules.ExclusiveMinimum, f.Rules.ExclusiveMaximum, f.Default} {
			if b != nil {
				bounds = append(bounds, string(b), string(b)+"e0")
			}
		}
		return rapid.SampledFrom(bounds).Draw(t, "answer")
	case Boolean:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "answer")
	case Date:
		return rapid.SampledFrom([]string{`"2026-02-28"`, `"2024-02-29"`, `"2026-02-28T12:00:00Z"`, `"2026-02-28T12:00:00.5+01:00"`, `"2023-02-29"`}).Draw(t, "answer")
	}
	var chosen []string
	for range rapid.IntRange(0, 4).Draw(t, "choices") {
		chosen = append(chosen, rapid.SampledFrom(f.Options).Draw(t, "choice").Value)
	}
	if f.Type == Select || len(chosen) == 1 && rapid.Bool().Draw(t, "single") {
		return quoteJSON(strings.Join(chosen[:min(len(chosen), 1)], ""))
	}
	b, _ := json.Marshal(append([]string{}, chosen...))
	return string(b)
}

// genAnswers draws a submission.
func genAnswers(t *rapid.T, d *Definition) []byte {
	j := &jot{}
	j.open('{')
	for i := range d.Fields {
		if rapid.IntRange(0, 4).Draw(t, "left out") > 0 {
			j.raw(d.Fields[i].ID, []byte(genAnswer(t, &d.Fields[i])))
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "has stranger") == 0 {
		j.raw("stranger in the form", []byte(rapid.SampledFrom(scraps).Draw(t, "of stranger")))
	}
	j.close('}')
	return j.b
}

func compile(t rapid.TB, d Definition) *Form {
	t.Helper()
	f, err := Compile(d)
	if err != nil {
		t.Fatalf("the definition is refused: %v", err)
	}
	return f
}

// plainly takes out of a definition what JSON Schema cannot say: conditions, URL
// rules, files, ranges of dates.
func plainly(d *Definition) {
	d.Dependencies = nil
	d.Fields = slices.DeleteFunc(d.Fields, func(f Field) bool { return f.Type == URL || f.Type == File })
	for i := range d.Fields {
		f := &d.Fields[i]
		f.When, f.Hints.ConditionalDisplay, f.Rendering, f.Accessibility = nil, nil, nil, nil
		f.Needs = slices.DeleteFunc(f.Needs, func(id string) bool { return d.field(id) == nil })
		if f.Type == Date {
			f.Rules.Minimum, f.Rules.Maximum = nil, nil
		}
	}
}

// The verdict of Read in Strict is that of the JSON Schema of the form, as an
// independent implementation sees it. R87, R88, R89, R90, R91, R94, R96
func TestStrictIsTheSchema(t *testing.T) {
	verdicts := make(map[bool]int)
	rapid.Check(t, func(t *rapid.T) {
		d := genDefinition(t)
		plainly(&d)
		if len(d.Fields) == 0 {
			return
		}
		f := compile(t, d)
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		c.AssertContent()
		text, err := jsonschema.UnmarshalJSON(bytes.NewReader(f.Schema()))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("x:form", text); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile("x:form")
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			answers := genAnswers(t, &d)
			v, _ := jsonschema.UnmarshalJSON(bytes.NewReader(answers))
			want := schema.Validate(v)
			_, got := f.Read(answers, Strict)
			if (got == nil) != (want == nil) {
				t.Fatalf("schema %s\nanswers %s\nours: %v\nthat of the schema: %v", f.Schema(), answers, got, want)
			}
			verdicts[got == nil]++
		}
	})
	if verdicts[true] < 20 || verdicts[false] < 20 {
		t.Errorf("the verdicts were %v: too few of one kind to mean anything", verdicts)
	}
}

// What Coerce makes of answers is strictly valid, and needs no more coercion. With
// errors, the values are those that are valid. C20
func TestCoercedIsStrict(t *testing.T) {
	valid := 0
	rapid.Check(t, func(t *rapid.T) {
		d := genDefinition(t)
		f := compile(t, d)
		for range 4 {
			answers := genAnswers(t, &d)
			v, err := f.Read(answers, Coerce)
			if err != nil {
				// Where fields depend on each other, an answer can be valid beside
				// one that is not.
				if _, err := f.Read(v.JSON(), Draft); err != nil && !f.program.conditional {
					t.Fatalf("%s\nleft %s, in which is wrong: %v", answers, v.JSON(), err)
				}
				continue
			}
			valid++
			again, err := f.Read(v.JSON(), Strict)
			if err != nil {
				t.Fatalf("%s\nbecame %s, which is refused: %v", answers, v.JSON(), err)
			}
			if !bytes.Equal(again.JSON(), v.JSON()) {
				t.Fatalf("%s\nbecame %s\nand then %s", answers, v.JSON(), again.JSON())
			}
			if loose, err := f.Read(answers, Draft); err != nil {
				t.Fatalf("%s is valid, and no draft (%s): %v", answers, loose.JSON(), err)
			}
		}
	})
	if valid == 0 {
		t.Error("nothing was valid")
	}
}

// Whatever is wrong: one error at most for each field, in their order, with a
// message, a path and a code. R98
func TestErrorsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDefinition(t)
		f := compile(t, d)
		_, err := f.Read(genAnswers(t, &d), rapid.SampledFrom([]Mode{Coerce, Strict, Draft}).Draw(t, "mode"))
		errs, ok := errors.AsType[Errors](err)
		if err != nil && (!ok || len(errs) == 0) {
			t.Fatalf("the error is %#v", err)
		}
		last := -1
		for _, e := range errs {
			i := slices.IndexFunc(d.Fields, func(f Field) bool { return f.ID == e.Field })
			if i < 0 {
				i = len(d.Fields)
			}
			if i <= last {
				t.Fatalf("%s comes out of order, or twice", e.Field)
			}
			last = i
			if e.Message == "" || e.Path == nil || e.Code == "" {
				t.Fatalf("%+v lacks something", e)
			}
		}
	})
}

const sentinel = "8642097531864209" // can be a text, and a number

// No error holds what a secret field was answered, whatever is wrong with it. R122
func TestErrorsKeepSecrets(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		d := genDefinition(t)
		for i := range d.Fields {
			d.Fields[i].Hints.InputType, d.Fields[i].Rendering = "password", nil
		}
		d.Rules = []Rule{func(v Values) []Error {
			var errs []Error
			for id, value := range v.All() {
				errs = append(errs, Error{Field: id, Message: fmt.Sprintf("%v cannot be", value), Expected: "not " + value.Text(), Actual: value.File()})
			}
			return errs
		}}
		f := compile(t, d)
		j := &jot{}
		j.open('{')
		for i := range d.Fields {
			if rapid.IntRange(0, 3).Draw(t, "usual") > 0 {
				j.raw(d.Fields[i].ID, []byte(rapid.SampledFrom([]string{
					`"` + sentinel + `"`, sentinel, sentinel + "e-3", "-" + sentinel, `"` + sentinel + sentinel + sentinel + `"`, `["` + sentinel + `"]`, `["` + sentinel + `","` + sentinel + `"]`,
					`{"` + sentinel + `":1}`, `"https://` + sentinel + `/"`, `"https://` + sentinel + `@10.0.0.1/"`, `"` + sentinel + `:x"`, `"a` + sentinel + `://b/"`, `"http://127.0.0.1/` + sentinel + `"`,
					`{"filename":"` + sentinel + `","content_type":"a/` + sentinel + `","size":3,"content":"YWJj"}`,
					`{"filename":"` + sentinel + `.txt","content_type":"image/png","size":3,"content":"YWJj"}`,
					`{"filename":"a.txt","content_type":"text/plain","size":9,"content":{"type":"url","location":"http://` + sentinel + `"}}`,
					`{"filename":"a.txt","content_type":"text/plain","size":1,"content":{"type":"` + sentinel + `","location":"` + sentinel + `"}}`,
					`"` + sentinel + ` "`, `"1e` + sentinel + `"`, `"2026-02-` + sentinel + `"`,
				}).Draw(t, "secret")))
				continue
			}
			j.raw(d.Fields[i].ID, []byte(genAnswer(t, &d.Fields[i])))
		}
		j.close('}')
		_, err := f.Read(j.b, rapid.SampledFrom([]Mode{Coerce, Strict, Draft}).Draw(t, "mode"))
		if err == nil {
			return
		}
		found++
		told, jsonErr := json.Marshal(err)
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		if bytes.Contains(told, []byte(sentinel)) {
			t.Fatalf("answers %s\nerrors %s", j.b, told)
		}
	})
	if found == 0 {
		t.Error("there were no errors")
	}
}

// FuzzRead holds that nothing makes Read fail but by an error, and that it keeps what
// it promises of the order, the secret and the result.
func FuzzRead(f *testing.F) {
	var forms []*Form
	for _, name := range []string{"seed.json", "eight.json", "oauth.json"} {
		forms = append(forms, load(f, name))
	}
	for _, s := range submissions {
		f.Add([]byte(s.answers))
	}
	for _, s := range scraps {
		f.Add([]byte(`{"service":` + s + `,"replicas":` + s + `,"public":` + s + `,"start":` + s + `,"region":` + s + `,"features":` + s + `,"webhook":` + s + `,"manifest":` + s + `}`))
	}
	f.Add([]byte(`{"api_key":1,"api_key":2}`))
	f.Add([]byte(`{"api_key":"\ud800"}`))
	f.Add([]byte(`{"a\u0070i_key":"x"} `))
	f.Add([]byte("{\"region\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, answers []byte) {
		for _, form := range forms {
			v, err := form.Read(answers, Coerce)
			if err == nil {
				again, err := form.Read(v.JSON(), Strict)
				if err != nil || !bytes.Equal(again.JSON(), v.JSON()) {
					t.Fatalf("%q became %s, then %s: %v", answers, v.JSON(), again.JSON(), err)
				}
			}
			if !json.Valid(v.JSON()) {
				t.Fatalf("%q became %s", answers, v.JSON())
			}
			for _, mode := range []Mode{Strict, Draft} {
				v, err := form.Read(answers, mode)
				if _, ok := errors.AsType[Errors](err); err != nil && !ok {
					t.Fatalf("error %#v", err)
				}
				v.Redacted()
			}
		}
	})
}
