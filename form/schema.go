package form

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strconv"
)

// dialect is the $schema of [Form.Schema].
const dialect = "https://json-schema.org/draft/2020-12/schema"

// buildSchema writes the form as JSON Schema. Conditions cannot be said there without
// repeating the form for each of them, so that fields which depend on one are
// described as if it held, and are not required.
func (f *Form) buildSchema() []byte {
	d := &f.def
	j := &jot{b: make([]byte, 0, 256*(len(d.Fields)+1))}
	j.open('{')
	j.text("$schema", dialect)
	j.text("title", d.Title)
	j.text("description", d.Description)
	j.members(d.annotations())
	j.text("type", "object")
	j.member("properties", '{')
	for i := range d.Fields {
		j.member(d.Fields[i].ID, '{')
		d.Fields[i].schema(j)
		j.close('}')
	}
	j.close('}')
	j.texts("required", d.required())
	d.needs(j)
	if !d.Open {
		j.raw("additionalProperties", []byte("false"))
	}
	j.close('}')
	return j.b
}

// required are the fields that every answer must have.
func (d *Definition) required() []string {
	if d.AllowPartial {
		return nil
	}
	var ids []string
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Required && !f.Hints.Hidden && !d.conditional(f) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// conditional reports whether the state of field depends on other answers.
func (d *Definition) conditional(field *Field) bool {
	return len(field.When) > 0 || field.Hints.ConditionalDisplay != nil || len(d.rulesOf(field.ID)) > 0
}

// rulesOf returns the form-level dependencies of a field.
func (d *Definition) rulesOf(id string) []Dependency {
	var own []Dependency
	for _, dep := range d.Dependencies {
		if dep.Field == id {
			own = append(own, dep)
		}
	}
	return own
}

// needs writes which fields must come together. A field that may be hidden is left
// out on both sides: hidden, it neither needs anything nor can be there.
func (d *Definition) needs(j *jot) {
	steady := make(map[string]bool, len(d.Fields))
	any := false
	for i := range d.Fields {
		f := &d.Fields[i]
		steady[f.ID] = !f.Hints.Hidden && !d.conditional(f)
		any = any || len(f.Needs) > 0
	}
	if !any {
		return
	}
	before := len(j.b)
	j.member("dependentRequired", '{')
	empty := len(j.b)
	for i := range d.Fields {
		f := &d.Fields[i]
		if !steady[f.ID] {
			continue
		}
		var ids []string
		for _, id := range f.Needs {
			if steady[id] {
				ids = append(ids, id)
			}
		}
		j.texts(f.ID, ids)
	}
	if len(j.b) == empty {
		j.b = j.b[:before]
		return
	}
	j.close('}')
}

// schema writes the keywords of one field.
func (f *Field) schema(j *jot) {
	j.text("title", f.Label)
	j.text("description", f.Description)
	if f.Hints.Hidden {
		return // whatever is answered to it is dropped
	}
	r := &f.Rules
	switch f.Type {
	case Text:
		j.text("type", "string")
		j.count("minLength", r.MinLength)
		j.count("maxLength", r.MaxLength)
		j.text("pattern", r.Pattern)
		j.text("format", r.Format)
	case URL:
		j.text("type", "string")
		j.count("maxLength", r.MaxLength)
		j.text("format", "uri")
	case Date:
		j.text("type", "string")
		j.text("format", f.dateFormat())
	case Number:
		f.numberSchema(j)
	case Boolean:
		j.text("type", "boolean")
	case Select:
		j.text("type", "string")
		f.choices(j, "oneOf")
	case MultiSelect:
		f.listSchema(j)
	case File:
		f.fileSchema(j)
	}
	j.members(f.Extra)
	j.raw("default", f.Default)
	if f.Hints.Readonly && len(f.Default) > 0 {
		j.raw("const", f.Default)
		j.raw("readOnly", []byte("true"))
	}
}

// dateFormat is the format of a date field: a calendar day unless it says otherwise.
func (f *Field) dateFormat() string {
	if f.Rules.Format != "" {
		return f.Rules.Format
	}
	return "date"
}

func (f *Field) numberSchema(j *jot) {
	r := &f.Rules
	kind, multiple := f.numberKind()
	j.text("type", kind)
	j.raw("minimum", r.Minimum)
	j.raw("maximum", r.Maximum)
	j.raw("exclusiveMinimum", r.ExclusiveMinimum)
	j.raw("exclusiveMaximum", r.ExclusiveMaximum)
	j.raw("multipleOf", multiple)
}

// numberKind tells whether a number field takes whole numbers only, and of what they
// must be multiples beyond that.
func (f *Field) numberKind() (kind string, multiple json.RawMessage) {
	m, ok := rational(f.Rules.MultipleOf)
	switch {
	case !ok || !m.IsInt():
		return "number", f.Rules.MultipleOf
	case m.Cmp(big.NewRat(1, 1)) == 0:
		return "integer", nil
	}
	return "integer", f.Rules.MultipleOf
}

// rational returns a JSON number exactly; not ok for one that is beyond the bounds of
// numbers here, or none.
func rational(number []byte) (*big.Rat, bool) {
	if _, size := parseDecimal(string(number)); size != isNumber {
		return nil, false
	}
	return new(big.Rat).SetString(string(number))
}

// choices writes the options: enum, or constants with titles under the keyword where
// any option has one.
func (f *Field) choices(j *jot, titled string) {
	if !f.titled() {
		j.member("enum", '[')
		for _, o := range f.Options {
			j.quote(o.Value)
		}
		j.close(']')
		return
	}
	j.member(titled, '[')
	for _, o := range f.Options {
		j.open('{')
		j.name("const")
		j.b = appendQuoted(j.b, o.Value)
		j.name("title")
		j.b = appendQuoted(j.b, cmp.Or(o.Title, o.Value))
		if f.lifted != nil {
			j.members(f.lifted.options[o.Value])
		}
		j.close('}')
	}
	j.close(']')
}

// titled reports whether an option says more than its value.
func (f *Field) titled() bool {
	for _, o := range f.Options {
		if o.Title != "" || f.lifted != nil && len(f.lifted.options[o.Value]) > 0 {
			return true
		}
	}
	return false
}

func (f *Field) listSchema(j *jot) {
	j.text("type", "array")
	f.items(j)
	if !f.repeats() {
		j.raw("uniqueItems", []byte("true"))
	}
	j.count("minItems", f.Rules.MinItems)
	j.count("maxItems", f.Rules.MaxItems)
}

// items writes what the items of a multi_select are.
func (f *Field) items(j *jot) {
	j.member("items", '{')
	if !f.titled() {
		j.text("type", "string")
	}
	f.choices(j, "anyOf")
	if f.lifted != nil {
		j.members(f.lifted.items)
	}
	j.close('}')
}

// fileSchema writes the members of an [Upload]. What a file holds is not for a
// schema to say.
func (f *Field) fileSchema(j *jot) {
	size := int64(10 << 20)
	if f.Rules.MaxSize != nil {
		size = *f.Rules.MaxSize
	}
	j.text("type", "object")
	j.raw("properties", []byte(`{"filename":{"type":"string","minLength":1,"maxLength":255},"content_type":{"type":"string","minLength":1},`+
		`"size":{"type":"integer","minimum":0,"maximum":`+strconv.FormatInt(size, 10)+`},`+
		`"content":{"oneOf":[{"type":"string","contentEncoding":"base64"},`+
		`{"type":"object","properties":{"type":{"enum":["url","s3","local"]},"location":{"type":"string","minLength":1}},`+
		`"required":["type","location"],"additionalProperties":false}]}}`))
	j.raw("required", []byte(`["filename","content_type","size","content"]`))
	j.raw("additionalProperties", []byte("false"))
}
