package form

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// oneField is a form of one field, which is given without its id.
func oneField(tb testing.TB, field string) *Form {
	tb.Helper()
	f, err := Parse([]byte(`{"id":"f","title":"F","fields":[{"id":"a",` + field + `}]}`))
	if err != nil {
		tb.Fatalf("%s: %v", field, err)
	}
	return f
}

// propertyOf returns the property of a field in a schema.
func propertyOf(tb testing.TB, schema []byte, id string) string {
	tb.Helper()
	members, ok := membersOf(schema)
	for _, m := range members {
		if m.Name != "properties" {
			continue
		}
		fields, _ := membersOf(m.Value)
		for _, f := range fields {
			if f.Name == id {
				return string(f.Value)
			}
		}
		return ""
	}
	tb.Fatalf("%s has no properties (%v)", schema, ok)
	return ""
}

// R90 R91 R94 R95 R99 C19: what becomes of each type of field.
func TestSchemaOfFields(t *testing.T) {
	tests := []struct{ name, field, want string }{
		{"text", `"type":"text","label":"A","description":"What.","default":"abc","validation":{"minLength":3,"maxLength":5,"pattern":"^a"}`,
			`{"title":"A","description":"What.","type":"string","minLength":3,"maxLength":5,"pattern":"^a","default":"abc"}`},
		{"email", `"type":"text","label":"A","validation":{"format":"email"}`, `{"title":"A","type":"string","format":"email"}`},
		{"number", `"type":"number","label":"A","default":1.50,"validation":{"minimum":1,"maximum":2e0}`,
			`{"title":"A","type":"number","minimum":1,"maximum":2e0,"default":1.50}`},
		{"exclusive", `"type":"number","label":"A","validation":{"exclusiveMinimum":0,"exclusiveMaximum":1,"multipleOf":0.01}`,
			`{"title":"A","type":"number","exclusiveMinimum":0,"exclusiveMaximum":1,"multipleOf":0.01}`},
		{"integer", `"type":"number","label":"A","validation":{"multipleOf":1}`, `{"title":"A","type":"integer"}`},
		{"integer in another spelling", `"type":"number","label":"A","validation":{"multipleOf":10e-1}`, `{"title":"A","type":"integer"}`},
		{"fives", `"type":"number","label":"A","validation":{"multipleOf":5}`, `{"title":"A","type":"integer","multipleOf":5}`},
		{"halves", `"type":"number","label":"A","validation":{"multipleOf":0.5}`, `{"title":"A","type":"number","multipleOf":0.5}`},
		{"boolean", `"type":"boolean","label":"A","default":false`, `{"title":"A","type":"boolean","default":false}`},
		{"day", `"type":"date","label":"A","default":"2026-02-02","validation":{"minimum":"2026-01-01"}`, `{"title":"A","type":"string","format":"date","default":"2026-02-02"}`},
		{"moment", `"type":"date","label":"A","validation":{"format":"date-time"}`, `{"title":"A","type":"string","format":"date-time"}`},
		{"select", `"type":"select","label":"A","options":["x","y"],"default":"y"`, `{"title":"A","type":"string","enum":["x","y"],"default":"y"}`},
		{"titled select", `"type":"select","label":"A","options":[{"value":"x","title":"X"},"y"]`,
			`{"title":"A","type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"y"}]}`},
		{"multi_select", `"type":"multi_select","label":"A","options":["x","y"],"default":["x"],"validation":{"minItems":1,"maxItems":2}`,
			`{"title":"A","type":"array","items":{"type":"string","enum":["x","y"]},"uniqueItems":true,"minItems":1,"maxItems":2,"default":["x"]}`},
		{"titled multi_select", `"type":"multi_select","label":"A","options":[{"value":"x","title":"X"}]`,
			`{"title":"A","type":"array","items":{"anyOf":[{"const":"x","title":"X"}]},"uniqueItems":true}`},
		{"url", `"type":"url","label":"A","validation":{"maxLength":99}`, `{"title":"A","type":"string","maxLength":99,"format":"uri"}`},
		{"read-only", `"type":"text","label":"A","default":"x","rendering":{"readonly":true}`,
			`{"title":"A","type":"string","default":"x","const":"x","readOnly":true}`},
		{"hidden", `"type":"text","label":"A","default":"x","rendering":{"hidden":true}`, `{"title":"A"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := oneField(t, tt.field)
			if got := propertyOf(t, f.Schema(), "a"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			judge(t, f.Schema())
		})
	}
}

// A file is an object whose content is there, or elsewhere. R93 R99
func TestSchemaOfFiles(t *testing.T) {
	f := oneField(t, `"type":"file","label":"A","validation":{"maxSize":10}`)
	s := judge(t, f.Schema())
	for answers, want := range map[string]bool{
		`{"a":{"filename":"x","content_type":"text/plain","size":1,"content":"eA=="}}`:                               true,
		`{"a":{"filename":"x","content_type":"text/plain","size":1,"content":{"type":"s3","location":"b/x"}}}`:       true,
		`{"a":{"filename":"x","content_type":"text/plain","size":11,"content":{"type":"s3","location":"b/x"}}}`:      false,
		`{"a":{"filename":"x","content_type":"text/plain","size":1,"content":{"type":"other","location":"b/x"}}}`:    false,
		`{"a":{"filename":"x","content_type":"text/plain","size":1}}`:                                                false,
		`{"a":{"filename":"","content_type":"text/plain","size":1,"content":"eA=="}}`:                                false,
		`{"a":{"filename":"x","content_type":"text/plain","size":1,"content":"eA==","path":"x"}}`:                    false,
		`{"a":{"filename":"x","content_type":"text/plain","size":1,"content":{"type":"s3","location":"b","and":1}}}`: false,
		`{"a":"x"}`: false,
	} {
		if got := approves(t, s, []byte(answers)); got != want {
			t.Errorf("the schema says %t to %s, want %t", got, answers, want)
		}
		if _, err := f.Read([]byte(answers), Strict); (err == nil) != want {
			t.Errorf("the form says %v to %s, want %t", err, answers, want)
		}
	}
}

// What stands around the fields: R99, and who is required.
func TestSchemaOfForms(t *testing.T) {
	seed, err := os.ReadFile("testdata/seed.json")
	if err != nil {
		t.Fatal(err)
	}
	a := `{"id":"a","type":"text","label":"A","required":true`
	b := `,{"id":"b","type":"text","label":"B"`
	c := `,{"id":"c","type":"text","label":"C","required":true`
	condition := `{"operator":"equals","field":"a","value":"x"}`
	tests := []struct{ name, definition, want string }{
		{"seed", string(seed), `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"API Key Configuration","description":"Please provide your API credentials",` +
			`"type":"object","properties":{"api_key":{"title":"API Key","type":"string","minLength":32,"maxLength":64,"pattern":"^sk-[a-zA-Z0-9]{40,}$"},` +
			`"region":{"title":"Region","type":"string","oneOf":[{"const":"us-east-1","title":"US East (Virginia)"},{"const":"us-west-2","title":"US West (Oregon)"},` +
			`{"const":"eu-west-1","title":"Europe (Ireland)"}],"default":"us-east-1"}},"required":["api_key","region"],"additionalProperties":false}`},
		{"needs", `{"id":"f","title":"F","fields":[` + a + `}` + b + `,"dependencies":["c","a"]}` + c + `}]}`,
			`"required":["a","c"],"dependentRequired":{"b":["c","a"]},"additionalProperties":false}`},
		{"conditional", `{"id":"f","title":"F","fields":[` + a + `}` + c + `,"rendering":{"conditionalDisplay":` + condition + `}}]}`,
			`"required":["a"],"additionalProperties":false}`},
		{"condition of the field", `{"id":"f","title":"F","fields":[` + a + `}` + c + `,"dependencies":[{"condition":` + condition + `,"action":"validate"}]}]}`,
			`"required":["a"],"additionalProperties":false}`},
		{"condition of the form", `{"id":"f","title":"F","fields":[` + a + `}` + c + `}],"validation":{"dependencies":{"c":{"condition":` + condition + `,"action":"hide"}}}}`,
			`"required":["a"],"additionalProperties":false}`},
		{"needs of a conditional field", `{"id":"f","title":"F","fields":[` + a + `}` + c + `,"dependencies":["b",{"condition":` + condition + `,"action":"show"}]}` + b + `,"dependencies":["c"]}]}`,
			`"required":["a"],"additionalProperties":false}`},
		{"hidden", `{"id":"f","title":"F","fields":[` + a + `,"rendering":{"hidden":true}}]}`, `"properties":{"a":{"title":"A"}},"additionalProperties":false}`},
		{"partial", `{"id":"f","title":"F","allow_partial":true,"fields":[` + a + `}]}`, `"properties":{"a":{"title":"A","type":"string"}},"additionalProperties":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse([]byte(tt.definition))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(f.Schema()); !strings.HasSuffix(got, tt.want) {
				t.Errorf("got  %s\nwant …%s", got, tt.want)
			}
			judge(t, f.Schema())
		})
	}
}

// The schema of every form compiles, with its fields in their order. R99
func TestSchemaCompiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDefinition(t)
		f, err := Compile(d)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, f.Schema())
		var got, want []string
		for _, field := range d.Fields {
			want = append(want, field.ID)
		}
		members, _ := membersOf(f.Schema())
		for _, m := range members {
			if m.Name == "properties" {
				properties, _ := membersOf(m.Value)
				for _, p := range properties {
					got = append(got, p.Name)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the properties are %v, want %v", got, want)
		}
	})
}

// What a person would give to a form is what the schema takes, too: defaults among it.
// R95
func TestSchemaTakesDefaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDefinition(t)
		d.Dependencies = nil
		for i := range d.Fields {
			f := &d.Fields[i]
			f.Required, f.Needs, f.When, f.Hints.ConditionalDisplay = false, nil, nil, nil
		}
		f, err := Compile(d)
		if err != nil {
			t.Fatal(err)
		}
		answers := &jot{}
		answers.open('{')
		for i := range d.Fields {
			answers.raw(d.Fields[i].ID, d.Fields[i].Default)
		}
		answers.close('}')
		if !json.Valid(answers.b) || !approves(t, judge(t, f.Schema()), answers.b) {
			t.Fatalf("the schema %s refuses the defaults %s", f.Schema(), answers.b)
		}
	})
}
