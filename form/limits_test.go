package form

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// limit is a bound of a definition, from both sides.
type limit struct {
	name    string
	inside  string // a definition
	outside string
	path    string // of the only fault of outside
	message string
}

// Every limit of a definition, just inside and just outside. Characters are code
// points: 語 has three bytes. R85 R118
func TestLimits(t *testing.T) {
	text := func(n int) string { return strings.Repeat("語", n) }
	form := func(members string) string {
		return `{` + members + `,"fields":[{"id":"x","type":"text","label":"X"}]}`
	}
	field := func(members string) string {
		return `{"id":"f","title":"F","fields":[{` + members + `}]}`
	}
	option := func(v string) string { return fieldWith("select", `"options":[`+v+`]`) }
	fields := func(n int) string {
		return `{"id":"f","title":"F","fields":[` + numbered(n, func(i string) string { return `{"id":"x` + i + `","type":"text","label":"X"}` }) + `]}`
	}
	terms := func(name string, ms int) string {
		if name == "timeout" || name == "max_attempts" {
			return around(fmt.Sprintf(`"%s":%d`, name, ms))
		}
		return around(fmt.Sprintf(`"timeout_config":{"%s":%d}`, name, ms))
	}
	leaf := `{"operator":"equals","field":"boolean","value":true}`
	nested := func(depth int) string {
		return when(strings.Repeat(`{"operator":"and","conditions":[`, depth-1) + leaf + strings.Repeat(`]}`, depth-1))
	}
	deepest := "$.fields[0].dependencies[0].condition" + strings.Repeat(".conditions[0]", maxNesting-1) + ".conditions"
	members := func(n int) string {
		return when(`{"operator":"or","conditions":[` + numbered(n, func(string) string { return leaf }) + `]}`)
	}
	conditions := func(n int) string {
		return fieldWith("text", `"dependencies":[`+numbered(n, func(string) string { return `{"action":"show","condition":` + leaf + `}` })+`]`)
	}
	patterns := func(n int) string {
		return fieldWith("text", `"dependencies":[`+numbered(n, func(string) string {
			return `{"action":"show","condition":{"operator":"regex","field":"text","value":"a{1000}b{1000}c{1000}d{1000}e{999}"}}`
		})+`]`)
	}
	words := func(n int) string {
		return rulesWith("url", `"allowedSchemes":[`+numbered(n, func(i string) string { return `"s` + i + `"` })+`]`)
	}
	padded := func(n int) string {
		d := around(`"metadata":{"pad":""}`)
		return strings.Replace(d, `""`, `"`+strings.Repeat("x", n-len(d))+`"`, 1)
	}
	// The object of the form is the first level, metadata the second.
	deep := func(n int) string {
		return around(`"metadata":{"a":` + strings.Repeat("[", n-2) + strings.Repeat("]", n-2) + `}`)
	}

	for _, l := range []limit{
		{"form id", form(`"title":"F","id":"` + strings.Repeat("x", 128) + `"`), form(`"title":"F","id":"` + strings.Repeat("x", 129) + `"`), "$.id", "129"},
		{"title", form(`"id":"f","title":"` + text(256) + `"`), form(`"id":"f","title":"` + text(257) + `"`), "$.title", "257"},
		{"empty title", form(`"id":"f","title":"F"`), form(`"id":"f","title":""`), "$.title", "needs"},
		{"description", around(`"description":"` + text(2048) + `"`), around(`"description":"` + text(2049) + `"`), "$.description", "2049"},
		{"fields", fields(100), fields(101), "$.fields", "101"},
		{"field id", field(`"type":"text","label":"X","id":"` + strings.Repeat("x", 64) + `"`), field(`"type":"text","label":"X","id":"` + strings.Repeat("x", 65) + `"`), "$.fields[0].id", "65"},
		{"field id characters", field(`"type":"text","label":"X","id":"aZ09_.-"`), field(`"type":"text","label":"X","id":"a/b"`), "$.fields[0].id", "other characters"},
		{"label", field(`"type":"text","id":"x","label":"` + text(256) + `"`), field(`"type":"text","id":"x","label":"` + text(257) + `"`), "$.fields[0].label", "257"},
		{"field description", fieldWith("text", `"description":"`+text(1024)+`"`), fieldWith("text", `"description":"`+text(1025)+`"`), "$.fields[0].description", "1025"},
		{"options", option(numbered(1000, func(i string) string { return `"` + i + `"` })), option(numbered(1001, func(i string) string { return `"` + i + `"` })), "$.fields[0].options", "1001"},
		{"option value", option(`"` + text(1024) + `"`), option(`"` + text(1025) + `"`), "$.fields[0].options[0]", "1025"},
		{"option title", option(`{"value":"a","title":"` + text(256) + `"}`), option(`{"value":"a","title":"` + text(257) + `"}`), "$.fields[0].options[0]", "257"},
		{"least timeout", terms("timeout", 1000), terms("timeout", 999), "$.timeout", "999"},
		{"most timeout", terms("timeout", 3_600_000), terms("timeout", 3_600_001), "$.timeout", "3600001"},
		{"initial timeout", terms("initial_timeout", 1000), terms("initial_timeout", 999), "$.timeout_config.initial_timeout", "999"},
		{"least extension", terms("extension_duration", 1000), terms("extension_duration", 999), "$.timeout_config.extension_duration", "999"},
		{"most extension", terms("extension_duration", 3_600_000), terms("extension_duration", 3_600_001), "$.timeout_config.extension_duration", "3600001"},
		{"warning", terms("warn_before", 1000), terms("warn_before", 999), "$.timeout_config.warn_before", "999"},
		{"no extensions", terms("max_extensions", 0), terms("max_extensions", -1), "$.timeout_config.max_extensions", "-1"},
		{"extensions", terms("max_extensions", 100), terms("max_extensions", 101), "$.timeout_config.max_extensions", "101"},
		{"least attempts", terms("max_attempts", 1), terms("max_attempts", 0), "$.max_attempts", "0"},
		{"most attempts", terms("max_attempts", 100), terms("max_attempts", 101), "$.max_attempts", "101"},
		{"nested conditions", nested(8), nested(9), deepest, "deeper than 8"},
		{"members of a condition", members(20), members(21), "$.fields[0].dependencies[0].condition.conditions", "21"},
		{"conditions", conditions(1000), conditions(1001), "$", "1001 conditions"},
		{"file size", rulesWith("file", `"maxSize":1073741824`), rulesWith("file", `"maxSize":1073741825`), "$.fields[0].validation.maxSize", "1073741825"},
		{"count", rulesWith("text", `"maxLength":2147483647`), rulesWith("text", `"maxLength":2147483648`), "$.fields[0].validation.maxLength", "2147483648"},
		{"pattern", rulesWith("text", `"pattern":"`+strings.Repeat("a", 4096)+`"`), rulesWith("text", `"pattern":"`+strings.Repeat("a", 4097)+`"`), "$.fields[0].validation.pattern", "4097"},
		{"patterns", patterns(10), patterns(11), "$", "too large together"},
		{"words", words(100), words(101), "$.fields[0].validation.allowedSchemes", "101 elements"},
		{"definition", padded(256 << 10), padded(256<<10 + 1), "$", "262145 bytes"},
		{"depth", deep(64), deep(65), "$.metadata.a" + strings.Repeat("[0]", 62), "deeper than 64"},
	} {
		if _, err := Parse([]byte(l.inside)); err != nil {
			t.Errorf("%s: just inside: %v", l.name, err)
		}
		t.Run(l.name, func(t *testing.T) { check(t, l.outside, []wantFault{{l.path, l.message, ""}}) })
	}
}

// A program gets the same faults as one that writes JSON, and those of what JSON
// cannot say.
func TestCompileFaults(t *testing.T) {
	type change func(*Definition, *Field)
	for name, c := range map[string]struct {
		change change
		want   string // part of the error; "" for none
	}{
		"nothing":            {func(*Definition, *Field) {}, ""},
		"no fields":          {func(d *Definition, _ *Field) { d.Fields = nil }, "$.fields: the form has no fields"},
		"title":              {func(d *Definition, _ *Field) { d.Title = "\xff" }, "$.title: the title is no valid UTF-8"},
		"timeout":            {func(d *Definition, _ *Field) { d.Terms.Timeout = time.Second / 2 }, "$.timeout: 500ms is not within 1000 and 3600000"},
		"fractions":          {func(d *Definition, _ *Field) { d.Terms.Timeout = time.Minute + time.Microsecond }, "whole milliseconds"},
		"negative extension": {func(d *Definition, _ *Field) { d.Terms.Extension = -time.Second }, "$.timeout_config.extension_duration"},
		"extensions":         {func(d *Definition, _ *Field) { d.Terms.MaxExtensions = new(101) }, "$.timeout_config.max_extensions: 101"},
		"attempts":           {func(d *Definition, _ *Field) { d.Terms.MaxAttempts = -1 }, "$.max_attempts: -1"},
		"metadata":           {func(d *Definition, _ *Field) { d.Metadata = json.RawMessage(`{"a":`) }, "$.metadata.a: is no valid JSON"},
		"metadata kind":      {func(d *Definition, _ *Field) { d.Metadata = json.RawMessage(`[]`) }, "$.metadata: is an array"},
		"default":            {func(_ *Definition, f *Field) { f.Default = json.RawMessage(`x`) }, "$.fields[0].default: is no valid JSON"},
		"rule of other type": {func(_ *Definition, f *Field) { f.Rules.MinItems = new(1) }, "$.fields[0].validation.minItems: a text field has no minItems"},
		"negative length":    {func(_ *Definition, f *Field) { f.Rules.MinLength = new(-1) }, "$.fields[0].validation.minLength: -1"},
		"size":               {func(_ *Definition, f *Field) { f.Type = File; f.Rules.MaxSize = new(int64(0)) }, "$.fields[0].validation.maxSize: 0"},
		"nothing allowed":    {func(_ *Definition, f *Field) { f.Type = URL; f.Rules.AllowedSchemes = []string{} }, "$.fields[0].validation.allowedSchemes: is empty"},
		"bound":              {func(_ *Definition, f *Field) { f.Type = Number; f.Rules.Minimum = json.RawMessage(`1.`) }, "$.fields[0].validation.minimum: is no valid JSON"},
		"options":            {func(_ *Definition, f *Field) { f.Options = []Option{{Value: "a"}} }, "$.fields[0].options: a text field has no options"},
		"extra":              {func(_ *Definition, f *Field) { f.Extra = []Member{{"a", json.RawMessage(`1`)}} }, "$.fields[0]: Extra is for lifted schemas"},
		"hints alone":        {func(_ *Definition, f *Field) { f.Hints.Placeholder = "p" }, ""},
		"hints that differ":  {func(_ *Definition, f *Field) { f.Hints.Placeholder = "p"; f.Rendering = json.RawMessage(`{}`) }, "$.fields[0].rendering: Rendering and Hints do not say the same"},
		"hints that agree": {func(_ *Definition, f *Field) {
			f.Hints.Rows = 3
			f.Rendering = json.RawMessage(`{"rows":3, "theme":1}`)
		}, ""},
		"wrong hints":   {func(_ *Definition, f *Field) { f.Hints.InputType = "pasword" }, `$.fields[0].rendering.inputType: "pasword" is not known here; write "password"`},
		"rendering":     {func(_ *Definition, f *Field) { f.Rendering = json.RawMessage(`"x"`) }, "$.fields[0].rendering: is a string"},
		"accessibility": {func(_ *Definition, f *Field) { f.Accessibility = json.RawMessage(`{"a":1}{}`) }, "$.fields[0].accessibility: something follows"},
		"other's dependency": {func(_ *Definition, f *Field) {
			f.When = []Dependency{{Field: "y", Action: Show, Condition: Condition{Operator: Equals, Field: "y", Value: json.RawMessage(`true`)}}}
		}, `concerns the field "y"`},
		"condition value": {func(_ *Definition, f *Field) {
			f.When = []Dependency{{Action: Show, Condition: Condition{Operator: Equals, Field: "y", Value: json.RawMessage(`tru`)}}}
		}, "$.fields[0].dependencies[0].condition.value: is no valid JSON"},
		"endless condition": {func(_ *Definition, f *Field) {
			endless := []Condition{{Operator: And}}
			endless[0].Conditions = endless
			f.When = []Dependency{{Action: Show, Condition: endless[0]}}
		}, "deeper than 8"},
		"needs": {func(_ *Definition, f *Field) { f.Needs = []string{"z"} }, `$.fields[0].dependencies[0]: there is no field "z"`},
	} {
		d := Definition{ID: "f", Title: "F", Fields: []Field{{ID: "x", Type: Text, Label: "X"}, {ID: "y", Type: Boolean, Label: "Y"}}}
		c.change(&d, &d.Fields[0])
		switch _, err := Compile(d); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Compile leaves the fields of the caller alone, and fills in what is clear.
func TestCompileFillsIn(t *testing.T) {
	yes := Condition{Operator: Equals, Field: "b", Value: json.RawMessage(` true `)}
	d := Definition{ID: "f", Title: "F",
		Fields: []Field{
			{ID: "a", Type: Text, Label: "A", Hints: Hints{InputType: "password", ConditionalDisplay: &yes}},
			{ID: "b", Type: Boolean, Label: "B", Rendering: json.RawMessage(`{"readonly": true, "accessibility": {"tabIndex": 1}}`)},
			{ID: "c", Type: Text, Label: "C", When: []Dependency{{Condition: yes, Action: Hide}}, Default: json.RawMessage(`""`), Rules: FieldRules{MinLength: new(1)}},
		},
		Dependencies: []Dependency{{"a", yes, Enable}, {"c", yes, Show}, {"a", yes, Disable}},
	}
	f, err := Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	if d.Fields[0].Rendering != nil || d.Fields[1].Hints.Readonly || d.Fields[1].Accessibility != nil || d.Fields[2].When[0].Field != "" ||
		d.Fields[2].Default == nil || d.Dependencies[1].Field != "c" {
		t.Error("Compile changed what it was given")
	}
	text, err := f.MarshalJSON()
	want := `{"id":"f","title":"F","fields":[` +
		`{"id":"a","type":"text","label":"A","rendering":{"inputType":"password","conditionalDisplay":{"operator":"equals","field":"b","value":true}}},` +
		`{"id":"b","type":"boolean","label":"B","rendering":{"readonly":true,"accessibility":{"tabIndex":1}}},` +
		`{"id":"c","type":"text","label":"C","validation":{"minLength":1},"dependencies":[{"condition":{"operator":"equals","field":"b","value":true},"action":"hide"}]}],` +
		`"validation":{"dependencies":{` +
		`"a":[{"condition":{"operator":"equals","field":"b","value":true},"action":"enable"},{"condition":{"operator":"equals","field":"b","value":true},"action":"disable"}],` +
		`"c":{"condition":{"operator":"equals","field":"b","value":true},"action":"show"}}}}`
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s, want\n%s", err, text, want)
	}
	if _, err := Parse(text); err != nil {
		t.Error(err)
	}
}

// What a schema was lifted to has the names that it has.
func TestLiftedFormsAreFree(t *testing.T) {
	d := Definition{Open: true, Fields: []Field{{ID: "a b/ü", Type: Text}, {ID: "", Type: Select}}}
	if _, err := Compile(d); err != nil {
		t.Error(err)
	}
	d.Open = false
	if _, err := compileLifted(d); err != nil {
		t.Error(err)
	}
	if _, err := Compile(d); err == nil {
		t.Error("a form that was not lifted has such names")
	}
	if _, err := compileLifted(Definition{}); err != nil {
		t.Error(err)
	}
	d.Fields[1].ID = "a b/ü"
	if _, err := compileLifted(d); err == nil || !strings.Contains(err.Error(), "that of field 0 too") {
		t.Errorf("two fields with one name: %v", err)
	}
}
