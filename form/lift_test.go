package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// failer is a test, of the testing package or of rapid.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// judge compiles a schema with an implementation of JSON Schema that is not ours.
func judge(tb failer, schema []byte) *jsonschema.Schema {
	tb.Helper()
	s, err := judgeOf(schema)
	if err != nil {
		tb.Fatalf("%s: %v", schema, err)
	}
	return s
}

func judgeOf(schema []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("file:///schema.json")
}

// approves reports whether answers are valid.
func approves(tb failer, s *jsonschema.Schema, answers []byte) bool {
	tb.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(answers))
	if err != nil {
		tb.Fatalf("%s: %v", answers, err)
	}
	return s.Validate(v) == nil
}

// drawTexts are texts that some rule or other is about.
var drawTexts = []string{"", "a", "b", "ab", "abc", "é", "aé😀", "12", "2026-01-02", "2026-02-30", "2026-01-02T03:04:05Z",
	"x@y.z", "https://a.b/c", "mailto:x@y.z", "127.0.0.1", "::1", "a.b", "123e4567-e89b-12d3-a456-426614174000"}

var drawNumbers = []string{"0", "1", "-1", "2", "2.5", "1.0", "1e1", "10", "0.1", "0.30", "100", "-0.5", "6"}

// drawValue is a JSON value, more often than not one that could be an answer.
func drawValue(t *rapid.T) string {
	switch rapid.IntRange(0, 9).Draw(t, "value") {
	case 0, 1, 2:
		return string(appendQuoted(nil, rapid.SampledFrom(drawTexts).Draw(t, "text")))
	case 3, 4:
		return rapid.SampledFrom(drawNumbers).Draw(t, "number")
	case 5:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "boolean")
	case 6, 7, 8:
		var list []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, string(appendQuoted(nil, rapid.SampledFrom(drawTexts[:5]).Draw(t, "item"))))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	return rapid.SampledFrom([]string{"null", "{}", "[1]", `{"a":1}`}).Draw(t, "other")
}

// members draws some of the members, in some order.
func drawMembers(t *rapid.T, members []string) string {
	var some []string
	for _, m := range rapid.Permutation(members).Draw(t, "order") {
		if m != "" {
			some = append(some, m)
		}
	}
	return "{" + strings.Join(some, ",") + "}"
}

func maybe(t *rapid.T, member string) string {
	if rapid.IntRange(0, 2).Draw(t, "with "+member) == 0 {
		return member
	}
	return ""
}

func drawCount(t *rapid.T, name string, least, most int) string {
	return maybe(t, fmt.Sprintf(`"%s":%d`, name, rapid.IntRange(least, most).Draw(t, name)))
}

// drawChoices are keywords that leave some texts.
func drawChoices(t *rapid.T, titled string) []string {
	values := rapid.SliceOfNDistinct(rapid.SampledFrom(drawTexts[:8]), 1, 5, rapid.ID[string]).Draw(t, "values")
	var plain, named []string
	for i, v := range values {
		q := string(appendQuoted(nil, v))
		plain = append(plain, q)
		if i%2 == 0 {
			named = append(named, `{"const":`+q+`,"title":"T`+fmt.Sprint(i)+`"}`)
		} else {
			named = append(named, `{"const":`+q+`}`)
		}
	}
	enum := `"enum":[` + strings.Join(plain, ",") + `]`
	switch rapid.IntRange(0, 4).Draw(t, "choices") {
	case 0:
		return []string{`"` + titled + `":[` + strings.Join(named, ",") + `]`}
	case 1:
		return []string{`"const":` + plain[0]}
	case 2:
		return []string{enum, `"enumNames":["One","Two"]`}
	case 3:
		return []string{enum, `"oneOf":[` + strings.Join(named, ",") + `,` + named[0] + `]`} // the first matches twice
	}
	return []string{enum}
}

// drawProperty is a property of any kind that can be lifted.
func drawProperty(t *rapid.T) string {
	common := []string{maybe(t, `"title":"Title"`), maybe(t, `"description":"What for."`), maybe(t, `"x-own":{"a":[1]}`),
		maybe(t, `"default":`+drawValue(t)), maybe(t, `"examples":[1]`)}
	format := maybe(t, `"format":"`+rapid.SampledFrom([]string{"email", "uri", "uuid", "ipv4", "ipv6", "hostname", "date", "date-time", "color"}).Draw(t, "format")+`"`)
	texts := []string{drawCount(t, "minLength", 0, 2), drawCount(t, "maxLength", 2, 5),
		maybe(t, `"pattern":"`+rapid.SampledFrom([]string{"^a", "b$", "[0-9]+", "", "^a*$"}).Draw(t, "pattern")+`"`), format}
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return drawMembers(t, slices.Concat(common, texts, []string{`"type":"string"`}))
	case 1:
		return drawMembers(t, slices.Concat(common, texts, drawChoices(t, "oneOf"), []string{maybe(t, `"type":"string"`)}))
	case 2:
		return drawMembers(t, slices.Concat(common, []string{`"type":"` + rapid.SampledFrom([]string{"number", "integer"}).Draw(t, "type") + `"`,
			maybe(t, `"minimum":`+rapid.SampledFrom(drawNumbers[:3]).Draw(t, "minimum")), maybe(t, `"exclusiveMinimum":`+rapid.SampledFrom([]string{"-2", "0", "0.5"}).Draw(t, "xmin")),
			maybe(t, `"maximum":`+rapid.SampledFrom([]string{"3", "10", "6.0"}).Draw(t, "maximum")), maybe(t, `"exclusiveMaximum":`+rapid.SampledFrom([]string{"3", "10.5", "100"}).Draw(t, "xmax")),
			maybe(t, `"multipleOf":`+rapid.SampledFrom([]string{"1", "2", "0.1", "2.5", "0.01"}).Draw(t, "multiple")), maybe(t, `"minLength":3`)}))
	case 3:
		return drawMembers(t, slices.Concat(common, []string{`"type":"boolean"`, maybe(t, `"const":true`)}))
	case 4:
		return drawMembers(t, slices.Concat(common, []string{rapid.SampledFrom([]string{`"type":"number"`, `"type":"integer"`, ""}).Draw(t, "type"),
			rapid.SampledFrom([]string{`"enum":[1,2,10]`, `"const":2`, `"oneOf":[{"const":1,"title":"One"},{"const":2.0,"title":"Two"}]`}).Draw(t, "numbers")}))
	}
	items := drawMembers(t, slices.Concat(drawChoices(t, rapid.SampledFrom([]string{"anyOf", "oneOf"}).Draw(t, "titled")), []string{maybe(t, `"type":"string"`), maybe(t, `"title":"Item"`)}))
	return drawMembers(t, slices.Concat(common, []string{`"type":"array"`, `"items":` + items, drawCount(t, "minItems", 0, 2), drawCount(t, "maxItems", 2, 3),
		maybe(t, `"uniqueItems":`+rapid.SampledFrom([]string{"true", "false"}).Draw(t, "unique"))}))
}

// drawSchema is a schema that can be lifted, and the names of its properties.
func drawSchema(t *rapid.T) (string, []string) {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b c", "", "é", "x.y", "_"}), 0, 4, rapid.ID[string]).Draw(t, "names")
	var properties, required, dependent []string
	for _, n := range names {
		q := string(appendQuoted(nil, n))
		properties = append(properties, q+":"+drawProperty(t))
		if rapid.Bool().Draw(t, "required") {
			required = append(required, q)
		}
	}
	if len(names) > 1 {
		dependent = append(dependent, fmt.Sprintf("%q:[%q]", names[0], names[1]))
	}
	return drawMembers(t, []string{`"type":"object"`, `"properties":{` + strings.Join(properties, ",") + `}`,
		maybe(t, `"required":[`+strings.Join(required, ",")+`]`), maybe(t, `"dependentRequired":{`+strings.Join(dependent, ",")+`}`),
		maybe(t, `"additionalProperties":`+rapid.SampledFrom([]string{"true", "false", "{}"}).Draw(t, "additional")),
		maybe(t, `"$schema":"https://json-schema.org/draft/2020-12/schema"`), maybe(t, `"title":"Form"`), maybe(t, `"x-form":1`)}), names
}

// drawAnswers are answers to a schema, or nearly.
func drawAnswers(t *rapid.T, names []string) []byte {
	var members []string
	for _, n := range append(slices.Clone(names), "other") {
		if rapid.IntRange(0, 3).Draw(t, "answered") > 0 && (n != "other" || rapid.Bool().Draw(t, "stranger")) {
			members = append(members, string(appendQuoted(nil, n))+":"+drawValue(t))
		}
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

// impossible are the reasons for which a schema of [drawSchema] may be no form: it
// takes no answer, or one that nobody could give.
var impossible = regexp.MustCompile(`no value of type|none of the values`)

// The verdict of a lifted form is that of its schema, and that of the form's own
// schema too. R90 R91 R95 R99
func TestLiftedVerdict(t *testing.T) {
	lifted, taken := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		schema, names := drawSchema(t)
		f, err := Lift([]byte(schema))
		if err != nil {
			if !impossible.MatchString(err.Error()) {
				t.Fatalf("%s\n%v", schema, err)
			}
			return
		}
		lifted++
		want, own := judge(t, []byte(schema)), judge(t, f.Schema())
		for range 4 {
			answers := drawAnswers(t, names)
			_, err := f.Read(answers, Strict)
			if err == nil {
				taken++
			}
			if approves(t, want, answers) != (err == nil) {
				t.Fatalf("schema %s\nanswers %s\nour verdict: %v\nthat of the schema: %v", schema, answers, err, want.Validate(decoded(t, answers)))
			}
			if approves(t, own, answers) != (err == nil) {
				t.Fatalf("schema %s\nbecame %s\nanswers %s\nour verdict: %v", schema, f.Schema(), answers, err)
			}
		}
	})
	if lifted < 50 || taken < 20 {
		t.Errorf("%d schemas were lifted, and %d answers taken: too few to tell anything", lifted, taken)
	}
}

// The same for one field, and all answers that any of its rules could be about.
func TestLiftedFieldVerdict(t *testing.T) {
	var values []string
	for _, s := range drawTexts {
		values = append(values, string(appendQuoted(nil, s)))
	}
	values = append(values, drawNumbers...)
	values = append(values, "true", "false", "null", "{}", "[]", "[1]", "3", "1e2", "-2", "10.5", "6.0", "5", "2.50")
	for _, a := range values[:5] {
		values = append(values, "["+a+"]")
		for _, b := range values[:4] {
			values = append(values, "["+a+","+b+"]", "["+a+","+b+","+a+"]")
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		schema := []byte(`{"type":"object","properties":{"a":` + drawProperty(t) + `},"required":["a"]}`)
		f, err := Lift(schema)
		if err != nil {
			return // see TestLiftedVerdict
		}
		want, own := judge(t, schema), judge(t, f.Schema())
		for _, v := range values {
			answers := []byte(`{"a":` + v + `}`)
			_, err := f.Read(answers, Strict)
			if approves(t, want, answers) != (err == nil) {
				t.Fatalf("schema %s\nanswers %s\nour verdict: %v", schema, answers, err)
			}
			if approves(t, own, answers) != (err == nil) {
				t.Fatalf("schema %s\nbecame %s\nanswers %s\nour verdict: %v", schema, f.Schema(), answers, err)
			}
		}
	})
}

func decoded(tb failer, text []byte) any {
	tb.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return v
}

// What is no flat form is a fault that says where, and what to write.
func TestLiftFaults(t *testing.T) {
	property := func(p string) string { return `{"type":"object","properties":{"a":` + p + `}}` }
	tests := []struct{ name, schema, path, message string }{
		{"no JSON", `{"type":`, "$", "no valid JSON"},
		{"empty", ``, "$", "no valid JSON"},
		{"two values", `{} {}`, "$", "more after it"},
		{"a name twice", `{"type":"object","type":"object"}`, "$", "duplicate"},
		{"a name twice within", `{"type":"object","properties":{"a":{"type":"string","type":"string"}}}`, "$", "duplicate"},
		{"invalid UTF-8", "{\"type\":\"\xff\"}", "$", "UTF-8"},
		{"too large", `{"type":"object","x":"` + strings.Repeat("x", 256<<10) + `"}`, "$", "more than"},
		{"no object", `[]`, "$", "object"},
		{"no type", `{"properties":{}}`, "$.type", "object"},
		{"another type", `{"type":"array"}`, "$.type", "object"},
		{"types", `{"type":["object","null"]}`, "$.type", "object"},
		{"properties", `{"type":"object","properties":[]}`, "$.properties", "object"},
		{"property", property(`true`), "$.properties.a", "object"},
		{"nested", property(`{"type":"object","properties":{}}`), "$.properties.a.type", "type"},
		{"null", property(`{"type":"null"}`), "$.properties.a.type", "type"},
		{"types of a field", property(`{"type":["string","null"]}`), "$.properties.a.type", "string"},
		{"no type of a field", property(`{}`), "$.properties.a.type", "type"},
		{"array of anything", property(`{"type":"array"}`), "$.properties.a.items", "choice"},
		{"array of strings", property(`{"type":"array","items":{"type":"string"}}`), "$.properties.a.items", "choice"},
		{"array of numbers", property(`{"type":"array","items":{"enum":[1]}}`), "$.properties.a.items", "choice"},
		{"array of tuples", property(`{"type":"array","items":{"enum":["a"]},"prefixItems":[]}`), "$.properties.a.prefixItems", "prefixItems"},
		{"enum of arrays", property(`{"type":"array","enum":[["a"]],"items":{"enum":["a"]}}`), "$.properties.a", "choice"},
		{"mixed", property(`{"enum":["a",1]}`), "$.properties.a.type", "type"},
		{"nullable", property(`{"enum":["a",null]}`), "$.properties.a.type", "type"},
		{"nothing allowed", property(`{"type":"string","enum":[1]}`), "$.properties.a", "no value"},
		{"nothing left", property(`{"enum":["a"],"const":"b"}`), "$.properties.a", "no value"},
		{"nothing long enough", property(`{"enum":["a"],"minLength":2}`), "$.properties.a", "none of the values"},
		{"enum", property(`{"enum":"a"}`), "$.properties.a.enum", "array"},
		{"no constants", property(`{"oneOf":[{"type":"string"}]}`), "$.properties.a.oneOf[0]", "constant"},
		{"more than constants", property(`{"anyOf":[{"const":"a","minLength":2}]}`), "$.properties.a.anyOf[0].minLength", "minLength"},
		{"reference", property(`{"$ref":"#/$defs/a"}`), "$.properties.a['$ref']", "$ref"},
		{"allOf", property(`{"type":"string","allOf":[]}`), "$.properties.a.allOf", "allOf"},
		{"not", property(`{"type":"string","not":{}}`), "$.properties.a.not", "not"},
		{"if", property(`{"type":"string","if":{}}`), "$.properties.a.if", "if"},
		{"title", property(`{"type":"string","title":1}`), "$.properties.a.title", "string"},
		{"minLength", property(`{"type":"string","minLength":-1}`), "$.properties.a.minLength", "whole number"},
		{"half a character", property(`{"type":"string","maxLength":1.5}`), "$.properties.a.maxLength", "whole number"},
		{"minimum", property(`{"type":"number","minimum":"1"}`), "$.properties.a.minimum", "number"},
		{"draft 4", property(`{"type":"number","minimum":1,"exclusiveMinimum":true}`), "$.properties.a.exclusiveMinimum", "number"},
		{"multipleOf", property(`{"type":"number","multipleOf":0}`), "$.properties.a.multipleOf", "greater than 0"},
		{"far too large", property(`{"type":"number","minimum":1e999999999}`), "$.properties.a.minimum", "digits"},
		{"uniqueItems", property(`{"type":"array","items":{"enum":["a"]},"uniqueItems":1}`), "$.properties.a.uniqueItems", "true or false"},
		{"unknown name", `{"type":"object","properties":{},"required":["a"]}`, "$.required[0]", "no property"},
		{"required", `{"type":"object","properties":{},"required":true}`, "$.required", "array"},
		{"required number", `{"type":"object","properties":{},"required":[1]}`, "$.required[0]", "string"},
		{"additionalProperties", `{"type":"object","additionalProperties":{"type":"string"}}`, "$.additionalProperties", "other members"},
		{"patternProperties", `{"type":"object","patternProperties":{}}`, "$.patternProperties", "patternProperties"},
		{"minProperties", `{"type":"object","minProperties":1}`, "$.minProperties", "minProperties"},
		{"name in the path", `{"type":"object","properties":{"a b":{"type":"null"}}}`, "$.properties['a b'].type", "type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Lift([]byte(tt.schema))
			faults, ok := errors.AsType[Faults](err)
			if !ok {
				t.Fatalf("got %v, want faults", err)
			}
			if faults[0].Path != tt.path {
				t.Errorf("the path is %s, want %s", faults[0].Path, tt.path)
			}
			if !strings.Contains(faults[0].Message, tt.message) || faults[0].Fix == "" {
				t.Errorf("got %+v, want a message with %q, and a fix", faults[0], tt.message)
			}
		})
	}
}

// What real servers send becomes the field that a person expects. R90 R91 R95
func TestLiftedFields(t *testing.T) {
	tests := []struct{ name, property, want string }{
		{"text", `{"type":"string","title":"Name","minLength":1,"default":"x"}`, `text "Name" default "x"`},
		{"empty default", `{"type":"string","default":""}`, `text "" default ""`},
		{"null default", `{"type":"string","default":null}`, `text ""`},
		{"wrong default", `{"type":"integer","default":1.5}`, `number ""`},
		{"day", `{"type":"string","format":"date"}`, `date ""`},
		{"moment", `{"type":"string","format":"date-time","default":"2026-01-02T03:04:05Z"}`, `date "" default "2026-01-02T03:04:05Z"`},
		{"bounded day", `{"type":"string","format":"date","maxLength":20}`, `text ""`},
		{"address", `{"type":"string","format":"uri"}`, `text ""`},
		{"password", `{"type":"string","format":"password"}`, `text "" secret`},
		{"input type", `{"type":"string","inputType":"password"}`, `text "" secret`},
		{"enum", `{"type":"string","enum":["a","b"],"default":"b"}`, `select "" default "b" a b`},
		{"enumNames", `{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`, `select "" a=A b=B`},
		{"few enumNames", `{"type":"string","enum":["a","b"],"enumNames":["A"]}`, `select "" a=A b`},
		{"oneOf", `{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`, `select "" a=A b=B`},
		{"anyOf", `{"anyOf":[{"const":"a","title":"A"},{"const":"a","title":"B"}]}`, `select "" a=A`},
		{"no type", `{"enum":["a"]}`, `select "" a`},
		{"const", `{"const":"a"}`, `select "" a`},
		{"filtered", `{"enum":["a","bb","b"],"pattern":"^b"}`, `select "" bb b`},
		{"numbers", `{"enum":[1,2],"default":2}`, `number "" default 2`},
		{"a default that is none of the numbers", `{"enum":[1,2],"default":3}`, `number ""`},
		{"true", `{"type":"boolean","const":true}`, `boolean ""`},
		{"multi", `{"type":"array","items":{"type":"string","enum":["a","b"]},"default":["a"]}`, `multi_select "" default ["a"] a b repeats`},
		{"multi anyOf", `{"type":"array","uniqueItems":true,"items":{"anyOf":[{"const":"a","title":"A"}]}}`, `multi_select "" a=A`},
		{"multi oneOf", `{"type":"array","uniqueItems":true,"items":{"oneOf":[{"const":"a","title":"A"}]}}`, `multi_select "" a=A`},
		{"pattern of another kind", `{"type":"string","pattern":"^(?=a)"}`, `text ""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Lift([]byte(`{"type":"object","properties":{"a":` + tt.property + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			field := f.Definition().Fields[0]
			var got strings.Builder
			got.WriteString(fmt.Sprintf("%s %q", field.Type, field.Label))
			if field.Default != nil {
				got.WriteString(" default " + string(field.Default))
			}
			for _, o := range field.Options {
				got.WriteString(" " + o.Value)
				if o.Title != "" {
					got.WriteString("=" + o.Title)
				}
			}
			if field.repeats() {
				got.WriteString(" repeats")
			}
			if len(f.Sensitive()) > 0 {
				got.WriteString(" secret")
			}
			if got.String() != tt.want {
				t.Errorf("got %s, want %s", got.String(), tt.want)
			}
		})
	}
}

// A schema as long as may be is lifted in a time that nobody notices, however it uses
// its length.
func TestLiftOfLongSchemas(t *testing.T) {
	repeat := func(n int, f func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = f(i)
		}
		return strings.Join(parts, ",")
	}
	constant := func(i int) string { return fmt.Sprintf(`{"const":"%d"}`, i) }
	number := func(i int) string { return fmt.Sprintf(`%d`, i) }
	name := func(i int) string { return fmt.Sprintf(`"%x"`, i) }
	for what, schema := range map[string]string{
		"choices":    `{"type":"object","properties":{"a":{"oneOf":[` + repeat(9000, constant) + `],"anyOf":[` + repeat(5000, constant) + `]}}}`,
		"filtered":   `{"type":"object","properties":{"a":{"enum":[` + repeat(20000, name) + `],"minLength":2}}}`,
		"numbers":    `{"type":"object","properties":{"a":{"enum":[` + repeat(30000, number) + `],"default":29999}}}`,
		"the same":   `{"type":"object","properties":{"a":{"enum":[` + repeat(60000, func(int) string { return `"a"` }) + `]}}}`,
		"properties": `{"type":"object","properties":{` + repeat(5000, func(i int) string { return name(i) + `:{"type":"string","default":"x"}` }) + `},"required":[` + repeat(5000, name) + `]}`,
		"unknown":    `{"type":"object","properties":{"a":{"type":"string",` + repeat(10000, func(i int) string { return name(i) + `:{"type":[]}` }) + `}}}`,
		"faults":     `{"type":"object","properties":{"a":{"oneOf":[` + repeat(40000, func(int) string { return `1` }) + `]}}}`,
		"deep":       `{"type":"object","properties":{"a":{"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `,"type":"string"}}}`,
		"deeper":     `{"type":"object","properties":{"a":` + strings.Repeat(`{"items":`, 20000) + `1` + strings.Repeat("}", 20000) + `}}`,
	} {
		begun := time.Now()
		_, err := Lift([]byte(schema))
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("%s: %d bytes took %v", what, len(schema), took)
		}
		t.Logf("%s: %d bytes, %v: %.100v", what, len(schema), time.Since(begun), err)
		if faults, _ := errors.AsType[Faults](err); len(faults) > 2*maxFaults {
			t.Errorf("%s: %d faults", what, len(faults))
		}
	}
}

// FuzzLift never panics, and what it lifts makes a schema that says the same.
func FuzzLift(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"type":"object","properties":{"a":{"type":"string","enum":["a"],"enumNames":["A"],"default":"a"}},"required":["a"]}`,
		`{"type":"object","properties":{"":{"type":"array","items":{"anyOf":[{"const":"x","title":"y"}]},"minItems":1}},"additionalProperties":false}`,
		`{"type":"object","properties":{"n":{"type":"integer","multipleOf":2.5,"minimum":1e3,"exclusiveMaximum":1e4}}}`,
		`{"type":"object","properties":{"n":{"enum":[1,2,true]},"d":{"type":"string","format":"date"},"p":{"type":"string","pattern":"(?=x)"}}}`,
	} {
		f.Add([]byte(seed), []byte(`{"a":"a","n":2500,"":["x","x"]}`))
	}
	f.Fuzz(func(t *testing.T, schema, answers []byte) {
		form, err := Lift(schema)
		if err != nil {
			if faults, ok := errors.AsType[Faults](err); !ok || len(faults) == 0 || faults[0].Path == "" || faults[0].Fix == "" {
				t.Fatalf("got %v, want faults", err)
			}
			return
		}
		if !json.Valid(form.Schema()) {
			t.Fatalf("%s became %s", schema, form.Schema())
		}
		flat := form.Flatten()
		if !json.Valid(flat.Schema) || !json.Valid(flat.Hints) {
			t.Fatalf("%s became %s, %s", schema, flat.Schema, flat.Hints)
		}
		again, err := Lift(flat.Schema)
		if err != nil {
			t.Fatalf("%s became %s, which is no form: %v", schema, flat.Schema, err)
		}
		if g := again.Flatten().Schema; string(g) != string(flat.Schema) {
			t.Fatalf("%s became %s, and then %s", schema, flat.Schema, g)
		}
		want, err := judgeOf(schema)
		if err != nil {
			return // an odd $id, a pattern of another kind: no verdict to compare
		}
		if _, err := form.Read(answers, Strict); json.Valid(answers) && !refusedUnread(err) && approves(t, want, answers) != (err == nil) {
			t.Fatalf("schema %s\nanswers %s\nour verdict: %v", schema, answers, err)
		}
	})
}

// refusedUnread reports whether answers were refused for what no schema speaks of: a
// name twice, a number beyond all use.
func refusedUnread(err error) bool {
	errs, _ := errors.AsType[Errors](err)
	return slices.ContainsFunc(errs, func(e Error) bool { return e.Code == CodeMalformed || e.Code == CodeTooLarge })
}
