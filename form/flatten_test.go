package form

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func losses(flat Flat) string {
	var all []string
	for _, l := range flat.Lost {
		s := l.What
		if l.Fatal {
			s += "!"
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

// C19: a flat schema has the keywords of the protocol; the rest is told.
func TestFlattenFields(t *testing.T) {
	tests := []struct{ name, field, want, lost string }{
		{"text", `"type":"text","label":"A","description":"What","default":"abc","validation":{"minLength":3,"maxLength":5}`,
			`{"type":"string","title":"A","description":"What","minLength":3,"maxLength":5,"default":"abc"}`, ""},
		{"help", `"type":"text","label":"A","rendering":{"helpText":"Help","placeholder":"P"}`, `{"type":"string","title":"A","description":"Help"}`, ""},
		{"email", `"type":"text","label":"A","validation":{"format":"email"}`, `{"type":"string","title":"A","format":"email"}`, ""},
		{"pattern", `"type":"text","label":"A","description":"A name","validation":{"pattern":"^[a-z]+$"}`,
			`{"type":"string","title":"A","description":"A name. Must match ^[a-z]+$."}`, "pattern"},
		{"uuid", `"type":"text","label":"A","validation":{"format":"uuid"}`, `{"type":"string","title":"A","description":"Must be a UUID."}`, "format"},
		{"host", `"type":"text","label":"A","validation":{"format":"hostname"}`, `{"type":"string","title":"A","description":"Must be the name of a host."}`, "format"},
		{"number", `"type":"number","label":"A","validation":{"minimum":1.5,"maximum":2}`, `{"type":"number","title":"A","minimum":1.5,"maximum":2}`, ""},
		{"integer", `"type":"number","label":"A","default":8080,"validation":{"multipleOf":1}`, `{"type":"integer","title":"A","default":8080}`, ""},
		{"whole number above zero", `"type":"number","label":"A","validation":{"multipleOf":1,"exclusiveMinimum":0,"exclusiveMaximum":9.5}`,
			`{"type":"integer","title":"A","minimum":1,"maximum":9}`, ""},
		{"whole numbers by both bounds", `"type":"number","label":"A","validation":{"multipleOf":1,"exclusiveMinimum":-3,"minimum":-1,"maximum":4,"exclusiveMaximum":4}`,
			`{"type":"integer","title":"A","minimum":-1,"maximum":3}`, ""},
		{"above zero", `"type":"number","label":"A","validation":{"exclusiveMinimum":0}`,
			`{"type":"number","title":"A","description":"Must be greater than 0.","minimum":0}`, "exclusiveMinimum"},
		{"within", `"type":"number","label":"A","validation":{"exclusiveMinimum":0,"exclusiveMaximum":1,"multipleOf":0.25}`,
			`{"type":"number","title":"A","description":"Must be greater than 0 and less than 1, and a multiple of 0.25.","minimum":0,"maximum":1}`, "exclusiveMinimum exclusiveMaximum multipleOf"},
		{"an exclusive bound that says nothing new", `"type":"number","label":"A","validation":{"exclusiveMinimum":0,"minimum":1}`, `{"type":"number","title":"A","minimum":1}`, ""},
		{"fives", `"type":"number","label":"A","validation":{"multipleOf":5}`, `{"type":"integer","title":"A","description":"Must be a multiple of 5."}`, "multipleOf"},
		{"boolean", `"type":"boolean","label":"A","default":true`, `{"type":"boolean","title":"A","default":true}`, ""},
		{"day", `"type":"date","label":"A"`, `{"type":"string","title":"A","format":"date"}`, ""},
		{"days", `"type":"date","label":"A","validation":{"minimum":"2026-01-01","maximum":"2026-12-31"}`,
			`{"type":"string","title":"A","description":"From 2026-01-01 to 2026-12-31.","format":"date"}`, "minimum maximum"},
		{"from", `"type":"date","label":"A","validation":{"minimum":"2026-01-01"}`, `{"type":"string","title":"A","description":"Not before 2026-01-01.","format":"date"}`, "minimum"},
		{"until", `"type":"date","label":"A","validation":{"format":"date-time","maximum":"2026-01-01T00:00:00Z"}`,
			`{"type":"string","title":"A","description":"Not after 2026-01-01T00:00:00Z.","format":"date-time"}`, "maximum"},
		{"select", `"type":"select","label":"A","options":["x","y"],"default":"x"`, `{"type":"string","title":"A","enum":["x","y"],"default":"x"}`, ""},
		{"titled", `"type":"select","label":"A","options":[{"value":"x","title":"X"}]`, `{"type":"string","title":"A","oneOf":[{"const":"x","title":"X"}]}`, ""},
		{"multi_select", `"type":"multi_select","label":"A","options":["x","y"],"default":["x"],"validation":{"minItems":1,"maxItems":2}`,
			`{"type":"array","title":"A","items":{"type":"string","enum":["x","y"]},"minItems":1,"maxItems":2,"default":["x"]}`, ""},
		{"titled multi_select", `"type":"multi_select","label":"A","options":[{"value":"x","title":"X"}]`,
			`{"type":"array","title":"A","items":{"anyOf":[{"const":"x","title":"X"}]}}`, ""},
		{"url", `"type":"url","label":"A","validation":{"maxLength":99}`,
			`{"type":"string","title":"A","description":"Must begin with https://. No private or local addresses.","maxLength":99,"format":"uri"}`, "allowedSchemes blockPrivateIPs blockLocalhost"},
		{"any host", `"type":"url","label":"A","validation":{"allowedSchemes":["http","mailto"],"blockPrivateIPs":false,"blockLocalhost":false}`,
			`{"type":"string","title":"A","description":"Must begin with http:// or mailto:.","format":"uri"}`, "allowedSchemes"},
		{"not this machine", `"type":"url","label":"A","validation":{"blockPrivateIPs":false}`,
			`{"type":"string","title":"A","description":"Must begin with https://. No local addresses.","format":"uri"}`, "allowedSchemes blockLocalhost"},
		{"read-only", `"type":"text","label":"A","default":"x","rendering":{"readonly":true}`, `{"type":"string","title":"A","description":"Cannot be changed.","default":"x"}`, "readonly"},
		{"hidden", `"type":"text","label":"A","rendering":{"hidden":true}`, ``, ""},
		{"file", `"type":"file","label":"A","required":true`, ``, "file!"},
		{"secret", `"type":"text","label":"A","default":"hunter2","rendering":{"inputType":"password"}`, `{"type":"string","title":"A"}`, "secret!"},
		{"called like a secret", `"type":"text","label":"Access token","validation":{"pattern":"x"}`, `{"type":"string","title":"Access token","description":"Must match x."}`, "secret! pattern"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			flat := oneField(t, tt.field).Flatten()
			if got := propertyOf(t, flat.Schema, "a"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := losses(flat); got != tt.lost {
				t.Errorf("lost %q, want %q", got, tt.lost)
			}
			checkPrimitive(t, flat.Schema)
			if strings.Contains(string(flat.Schema)+string(flat.Hints), "hunter2") {
				t.Errorf("a secret is told: %s %s", flat.Schema, flat.Hints)
			}
		})
	}
}

// Fields that depend on others become optional, and say in words when they are asked.
func TestFlattenConditions(t *testing.T) {
	about := func(condition, action string) string {
		return `[{"condition":` + condition + `,"action":"` + action + `"}]`
	}
	smtp := `{"operator":"equals","field":"smtp","value":true}`
	level := `{"operator":"not_equals","field":"level","value":"lo"}`
	size := `{"operator":"gte","field":"size","value":10}`
	tests := []struct{ name, members, want string }{
		{"show", `"rendering":{"conditionalDisplay":` + smtp + `}`, "Asked only when Use SMTP is true."},
		{"show a required one", `"required":true,"dependencies":` + about(smtp, "show"), "Needed when Use SMTP is true."},
		{"hide", `"dependencies":` + about(level, "hide"), "Not asked when Level is not Low."},
		{"hide a required one", `"required":true,"dependencies":` + about(level, "hide"), "Needed unless Level is not Low."},
		{"disable", `"dependencies":` + about(size, "disable"), "Not asked when Size is at least 10."},
		{"validate", `"dependencies":` + about(`{"operator":"regex","field":"name","value":"^a"}`, "validate"), "Checked only when Name matches ^a."},
		{"all", `"dependencies":` + about(`{"operator":"and","conditions":[`+smtp+`,`+size+`]}`, "enable"), "Asked only when Use SMTP is true and Size is at least 10."},
		{"nested", `"dependencies":` + about(`{"operator":"or","conditions":[`+smtp+`,{"operator":"and","conditions":[`+level+`,`+size+`]}]}`, "enable"),
			"Asked only when Use SMTP is true or (Level is not Low and Size is at least 10)."},
		{"two", `"description":"Port","dependencies":` + about(smtp, "show") + `,"rendering":{"conditionalDisplay":` + size + `}`,
			"Port. Asked only when Use SMTP is true. Asked only when Size is at least 10."},
		{"needs", `"dependencies":["name","size"]`, "If answered, Name and Size must be too."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse([]byte(`{"id":"f","title":"F","fields":[{"id":"smtp","type":"boolean","label":"Use SMTP","required":true},` +
				`{"id":"level","type":"select","label":"Level","options":[{"value":"lo","title":"Low"},"hi"]},{"id":"size","type":"number","label":"Size"},` +
				`{"id":"name","type":"text","label":"Name"},{"id":"a","type":"text","label":"A",` + tt.members + `}]}`))
			if err != nil {
				t.Fatal(err)
			}
			flat := f.Flatten()
			var property struct{ Description string }
			if err := json.Unmarshal([]byte(propertyOf(t, flat.Schema, "a")), &property); err != nil || property.Description != tt.want {
				t.Errorf("got  %q (%v)\nwant %q", property.Description, err, tt.want)
			}
			if !strings.HasSuffix(string(flat.Schema), `"required":["smtp"]}`) {
				t.Errorf("%s requires more than smtp", flat.Schema)
			}
			if want := map[bool]string{true: "needs", false: "condition"}[tt.name == "needs"]; losses(flat) != want {
				t.Errorf("lost %q, want %q", losses(flat), want)
			}
		})
	}
}

// What may be left out is not called needed. R125
func TestFlattenPartial(t *testing.T) {
	f := parseWith(t, `"id":"f","title":"F","allow_partial":true`, `"id":"a","type":"boolean","label":"A"`,
		`"id":"b","type":"text","label":"B","required":true,"dependencies":[{"condition":{"operator":"equals","field":"a","value":true},"action":"show"}]`)
	if schema := string(f.Flatten().Schema); !strings.Contains(schema, `"Asked only when A is true."`) || strings.Contains(schema, `"required"`) {
		t.Errorf("the schema is %s", schema)
	}
}

// R101: hints reach the client byte for byte, beside what is lost.
func TestHints(t *testing.T) {
	f, err := Parse([]byte(`{"id":"f","title":"F","fields":[` +
		`{"id":"a","type":"text","label":"A","rendering":{"theme": {"dark":1.50,"é":"\u00e9"},"placeholder":"p"},"accessibility":{ "ariaLabel" :"x"}},` +
		`{"id":"b","type":"file","label":"B","dependencies":["a",{"condition":{"operator":"and","conditions":[{"operator":"equals","field":"a","value":"x"}]},"action":"show"}]},` +
		`{"id":"c","type":"text","label":"C"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":1,"formId":"f","fields":{"a":{"rendering":{"theme":{"dark":1.50,"é":"\u00e9"},"placeholder":"p"},"accessibility":{"ariaLabel":"x"}},` +
		`"b":{"dependencies":["a",{"condition":{"operator":"and","conditions":[{"operator":"equals","field":"a","value":"x"}]},"action":"show"}]}},` +
		`"lost":[{"field":"b","what":"file","why":"a flat schema has no files","fatal":true}]}`
	if got := string(f.Flatten().Hints); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// R108: asked again, a form has what was answered well as its defaults.
func TestFlattenWith(t *testing.T) {
	definition := []byte(`{"id":"f","title":"F","fields":[{"id":"text","type":"text","label":"T","default":"old"},{"id":"short","type":"text","label":"S","validation":{"maxLength":1}},` +
		`{"id":"number","type":"number","label":"N"},{"id":"yes","type":"boolean","label":"Y","default":true},` +
		`{"id":"list","type":"multi_select","label":"L","options":["a","b"]},{"id":"fixed","type":"text","label":"F","default":"stays","rendering":{"readonly":true}},` +
		`{"id":"token","type":"text","label":"Token"},{"id":"file","type":"file","label":"File"}]}`)
	f, err := Parse(definition)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Parse(definition)
	if err != nil {
		t.Fatal(err)
	}
	answers := []byte(`{"text":"new \"","short":"too long","number":"1.50","yes":false,"list":["b"],"token":"s3cret","fixed":"changed"}`)
	for _, g := range []*Form{f, other} {
		v, err := f.Read(answers, Draft)
		if err == nil {
			t.Fatal("nothing is wrong with the answers")
		}
		flat := g.FlattenWith(v)
		want := map[string]string{"text": `"new \""`, "short": ``, "number": `1.50`, "yes": `false`, "list": `["b"]`, "fixed": `"stays"`, "token": ``}
		for id, want := range want {
			var got struct{ Default json.RawMessage }
			if err := json.Unmarshal([]byte(propertyOf(t, flat.Schema, id)), &got); err != nil || string(got.Default) != want {
				t.Errorf("the default of %s is %s (%v), want %s", id, got.Default, err, want)
			}
		}
		if strings.Contains(string(flat.Schema), "s3cret") {
			t.Errorf("a secret is repeated: %s", flat.Schema)
		}
	}
	if a, b := f.FlattenWith(Values{}), f.Flatten(); !reflect.DeepEqual(a, b) {
		t.Errorf("without values the form is %s, want %s", a.Schema, b.Schema)
	}
}

// primitive are the members that the schema of revision 2025-11-25 has, by what they
// are members of.
var primitive = map[string][]string{
	"schema":  {"type", "properties", "required"},
	"string":  {"type", "title", "description", "minLength", "maxLength", "format", "default"},
	"number":  {"type", "title", "description", "minimum", "maximum", "default"},
	"integer": {"type", "title", "description", "minimum", "maximum", "default"},
	"boolean": {"type", "title", "description", "default"},
	"enum":    {"type", "title", "description", "enum", "default"},
	"oneOf":   {"type", "title", "description", "oneOf", "default"},
	"array":   {"type", "title", "description", "minItems", "maxItems", "items", "default"},
	"option":  {"const", "title"},
}

// checkPrimitive looks whether a schema is one of the protocol: a flat object, and in
// it nothing but PrimitiveSchemaDefinition.
func checkPrimitive(t failer, schema []byte) {
	t.Helper()
	has := func(kind string, object []byte) map[string]json.RawMessage {
		members, ok := membersOf(object)
		if !ok {
			t.Fatalf("%s is no object", object)
		}
		found := make(map[string]json.RawMessage)
		for _, m := range members {
			if found[m.Name] = m.Value; !slices.Contains(primitive[kind], m.Name) {
				t.Fatalf("%s: a %s has no %s", object, kind, m.Name)
			}
		}
		return found
	}
	options := func(array []byte) {
		elements, ok := elementsOf(array)
		if !ok || len(elements) == 0 {
			t.Fatalf("%s has no choices", array)
		}
		for _, e := range elements {
			if o := has("option", e); len(o) != 2 {
				t.Fatalf("%s: a choice has const and title", e)
			}
		}
	}
	properties, _ := membersOf(has("schema", schema)["properties"])
	for _, p := range properties {
		members, _ := membersOf(p.Value)
		kind := ""
		for _, m := range members {
			switch m.Name {
			case "type":
				if kind == "" {
					kind, _ = unquoted(m.Value)
				}
			case "enum", "oneOf":
				kind = m.Name
			}
		}
		found := has(kind, p.Value)
		switch kind {
		case "string":
			if f, _ := unquoted(found["format"]); !slices.Contains([]string{"", "email", "uri", "date", "date-time"}, f) {
				t.Fatalf("%s: a string has no format %s", p.Value, f)
			}
		case "oneOf":
			options(found["oneOf"])
		case "array":
			items, _ := membersOf(found["items"])
			switch {
			case len(items) == 1 && items[0].Name == "anyOf":
				options(items[0].Value)
			case len(items) == 2 && items[0].Name == "type" && items[1].Name == "enum":
			default:
				t.Fatalf("%s: the items are neither enum nor anyOf", p.Value)
			}
		}
	}
}

// Whatever a form is, its flat schema is one of the protocol, is a form again, and
// loses no field but hidden ones and files. C19
func TestFlattenAnyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDefinition(t)
		f, err := Compile(d)
		if err != nil {
			t.Fatal(err)
		}
		flat := f.Flatten()
		checkPrimitive(t, flat.Schema)
		judge(t, flat.Schema)
		if !json.Valid(flat.Hints) {
			t.Fatalf("the hints are %s", flat.Hints)
		}
		again, err := Lift(flat.Schema)
		if err != nil {
			t.Fatalf("%s\n%v", flat.Schema, err)
		}
		for i := range d.Fields {
			field := &d.Fields[i]
			asked := again.def.field(field.ID) != nil
			if want := field.Type != File && !field.Hints.Hidden; asked != want {
				t.Fatalf("the field %s is asked: %t, want %t", field.ID, asked, want)
			}
			if fatal := slices.ContainsFunc(flat.Lost, func(l Loss) bool { return l.Field == field.ID && l.Fatal }); fatal && asked && !field.sensitive() {
				t.Fatalf("the field %s cannot be asked, and is", field.ID)
			}
		}
		if g := again.Flatten(); string(g.Schema) != string(flat.Schema) {
			t.Fatalf("flattened again, %s is %s", flat.Schema, g.Schema)
		}
	})
}

// drawPrimitive is a property as the protocol has it.
func drawPrimitive(t *rapid.T) string {
	kind := rapid.SampledFrom([]string{"string", "number", "integer", "boolean", "enum", "oneOf", "array", "titled array"}).Draw(t, "kind")
	common := []string{maybe(t, `"title":"Title"`), maybe(t, `"description":"What for."`), maybe(t, `"default":`+drawValue(t)), maybe(t, `"x-own":{"a":[1,{}]}`)}
	options := func(name, more string) string {
		var all []string
		for i, v := range rapid.SliceOfNDistinct(rapid.SampledFrom(drawTexts), 1, 4, rapid.ID[string]).Draw(t, "values") {
			if name == "enum" {
				all = append(all, string(appendQuoted(nil, v)))
			} else {
				all = append(all, fmt.Sprintf(`{"const":%s,"title":"T%d"%s}`, appendQuoted(nil, v), i, more))
			}
		}
		return `"` + name + `":[` + strings.Join(all, ",") + `]`
	}
	switch kind {
	case "string":
		return drawMembers(t, append(common, `"type":"string"`, drawCount(t, "minLength", 0, 3), drawCount(t, "maxLength", 3, 9),
			maybe(t, `"format":"`+rapid.SampledFrom([]string{"email", "uri", "date", "date-time", "own"}).Draw(t, "format")+`"`)))
	case "number", "integer":
		return drawMembers(t, append(common, `"type":"`+kind+`"`, maybe(t, `"minimum":-1.5`), maybe(t, `"maximum":1e2`)))
	case "boolean":
		return drawMembers(t, append(common, `"type":"boolean"`))
	case "enum":
		return drawMembers(t, append(common, `"type":"string"`, options("enum", "")))
	case "oneOf":
		return drawMembers(t, append(common, `"type":"string"`, options("oneOf", rapid.SampledFrom([]string{"", `,"x-more":1`}).Draw(t, "more"))))
	case "array":
		return drawMembers(t, append(common, `"type":"array"`, `"items":{"type":"string",`+options("enum", "")+`}`, drawCount(t, "minItems", 0, 1), drawCount(t, "maxItems", 1, 3)))
	}
	return drawMembers(t, append(common, `"type":"array"`, `"items":{`+options("anyOf", "")+`}`, drawCount(t, "minItems", 0, 1)))
}

// A schema of the protocol that is lifted and flattened says the same as before; what
// is not known in it stays, in its order.
func TestLiftAndFlatten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var properties, required []string
		for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b c", "", "é", "password"}), 0, 4, rapid.ID[string]).Draw(t, "names") {
			properties = append(properties, string(appendQuoted(nil, n))+":"+drawPrimitive(t))
			if rapid.Bool().Draw(t, "required") {
				required = append(required, string(appendQuoted(nil, n)))
			}
		}
		members := []string{maybe(t, `"title":"Form"`), maybe(t, `"x-form":[1.50]`), `"type":"object"`, `"properties":{` + strings.Join(properties, ",") + `}`}
		if len(required) > 0 {
			members = append(members, `"required":[`+strings.Join(required, ",")+`]`)
		}
		schema := []byte(drawMembers(t, members))
		f, err := Lift(schema)
		if err != nil {
			t.Fatalf("%s\n%v", schema, err)
		}
		flat := f.Flatten()
		got, want := decoded(t, flat.Schema), decoded(t, schema)
		if p, ok := want.(map[string]any)["properties"].(map[string]any)["password"].(map[string]any); ok && len(f.Sensitive()) > 0 {
			delete(p, "default") // that of a secret is not told
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nbecame\n%s", schema, flat.Schema)
		}
		for _, l := range flat.Lost {
			if l.What != "secret" {
				t.Fatalf("%s lost %+v", schema, l)
			}
		}
		names := func(schema []byte) string {
			var all strings.Builder
			members, _ := membersOf(schema)
			for _, m := range members {
				if m.Name == "properties" {
					fields, _ := membersOf(m.Value)
					for _, f := range fields {
						all.WriteString(f.Name + "\n")
					}
				}
			}
			return all.String()
		}
		if names(flat.Schema) != names(schema) {
			t.Fatalf("%s has the fields in another order: %s", flat.Schema, schema)
		}
	})
}

// Unknown keywords keep their order and their spelling.
func TestExtraIsKept(t *testing.T) {
	const property = `{"x-b":1.50,"type":"string","x-a":{"b":1,"a":"é"},"title":"T","enum":["a"],"examples":["a"]}`
	f, err := Lift([]byte(`{"type":"object","properties":{"a":` + property + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"string","title":"T","enum":["a"],"x-b":1.50,"x-a":{"b":1,"a":"é"},"examples":["a"]}`
	if got := propertyOf(t, f.Flatten().Schema, "a"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What a lifted form obeys and a flat schema cannot say is lost, as with any form.
func TestFlattenLifted(t *testing.T) {
	tests := []struct{ name, property, want, lost string }{
		{"pattern", `{"type":"string","pattern":"^a"}`, `{"type":"string","description":"Must match ^a."}`, "pattern"},
		{"a pattern that nobody here can check", `{"type":"string","pattern":"^(?=a)"}`, `{"type":"string"}`, "pattern"},
		{"a pattern of a number", `{"type":"number","pattern":"a"}`, `{"type":"number","pattern":"a"}`, ""},
		{"numbers", `{"type":"integer","enum":[1,2]}`, `{"type":"integer","description":"Must be one of 1,2."}`, "enum"},
		{"a constant", `{"type":"boolean","const":true}`, `{"type":"boolean"}`, "const"},
		{"odd integers", `{"type":"integer","multipleOf":2.5}`, `{"type":"integer","description":"Must be a multiple of 5."}`, "multipleOf"},
		{"older names", `{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`, `{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`, ""},
		{"older choice", `{"type":"array","uniqueItems":true,"items":{"oneOf":[{"const":"a","title":"A"}]}}`, `{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Lift([]byte(`{"type":"object","properties":{"a":` + tt.property + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			flat := f.Flatten()
			if got := propertyOf(t, flat.Schema, "a"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := losses(flat); got != tt.lost {
				t.Errorf("lost %q, want %q", got, tt.lost)
			}
		})
	}
}

// The form of the seed, as a client sees it. C19
func TestFlattenSeed(t *testing.T) {
	text, err := os.ReadFile("testdata/eight.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	flat := f.Flatten()
	checkPrimitive(t, flat.Schema)
	if want := "pattern minimum maximum allowedSchemes blockPrivateIPs blockLocalhost file!"; losses(flat) != want {
		t.Errorf("lost %q, want %q", losses(flat), want)
	}
}
