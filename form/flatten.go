package form

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// Flatten returns the form in the protocol's own terms. What cannot be said there is
// a [Loss] and, where a person can do something about it, a sentence in the
// description of its field. Fields that depend on others become optional. Hidden
// fields are left out, and so are files. A field that asks for a secret is there,
// without a default, for those who may ask so all the same.
//
// "To simplify client user experience, form mode elicitation schemas are limited to
// flat objects with primitive properties only."
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
func (f *Form) Flatten() Flat { return f.flatten(Values{}) }

// FlattenWith is Flatten with the values as defaults, where they are valid: for
// asking again. Secrets are not repeated, and read-only fields keep their defaults.
func (f *Form) FlattenWith(v Values) Flat {
	if v.form != nil && v.form != f {
		v, _ = f.Read(v.JSON(), Draft) // with an error come those that are valid
	}
	return f.flatten(v)
}

func (f *Form) flatten(v Values) Flat {
	fl := &flattener{form: f, values: v, secret: f.Sensitive()}
	fl.properties()
	return Flat{Schema: fl.out.b, Hints: fl.hints(), Lost: fl.lost}
}

// flattener writes a flat schema and notes what it does not say.
type flattener struct {
	form   *Form
	values Values
	secret []string
	lost   []Loss
	out    jot
}

func (fl *flattener) properties() {
	d := &fl.form.def
	j := &fl.out
	j.open('{')
	if d.lifted != nil { // the message of a question tells what else a form is called
		j.text("title", d.Title)
		j.text("description", d.Description)
	}
	j.members(d.annotations())
	j.text("type", "object")
	j.member("properties", '{')
	asked := make(map[string]bool, len(d.Fields))
	for i := range d.Fields {
		field := &d.Fields[i]
		if field.Hints.Hidden {
			continue
		}
		if field.Type == File {
			fl.lose(field, Loss{What: "file", Why: "a flat schema has no files", Fatal: true})
			continue
		}
		asked[field.ID] = true
		fl.field(field)
	}
	j.close('}')
	j.texts("required", slices.DeleteFunc(d.required(), func(id string) bool { return !asked[id] }))
	j.close('}')
}

func (fl *flattener) lose(field *Field, loss Loss) {
	loss.Field = field.ID
	fl.lost = append(fl.lost, loss)
}

// field writes one property: the keywords that its type has in the specification's
// PrimitiveSchemaDefinition, and no others of JSON Schema.
func (fl *flattener) field(field *Field) {
	secret := slices.Contains(fl.secret, field.ID)
	if secret {
		fl.lose(field, Loss{What: "secret", Why: "a form at a client must not ask for secrets", Fatal: true})
	}
	said := &said{flattener: fl, field: field}
	said.rules()
	said.state()
	extra := said.extra()
	if secret {
		extra = slices.DeleteFunc(extra, isDefault)
	}
	j := &fl.out
	j.member(field.ID, '{')
	j.text("type", said.kind)
	j.text("title", field.Label)
	j.text("description", said.description())
	j.b = append(j.b, said.keywords.b...)
	j.members(extra)
	if !secret && !slices.ContainsFunc(extra, isDefault) {
		j.raw("default", fl.fallback(field))
	}
	j.close('}')
}

// isDefault reports whether a keyword that was kept is a default that the field itself
// refuses.
func isDefault(m Member) bool { return m.Name == "default" }

// fallback is the default of a field: what was answered before, or its own.
func (fl *flattener) fallback(field *Field) []byte {
	if v := fl.value(field); v.Kind() != Missing && !field.Hints.Readonly {
		return appendAnswer(nil, v)
	}
	return field.Default
}

// value is what was answered to a field before, if anything.
func (fl *flattener) value(field *Field) Value {
	if fl.values.form == nil {
		return Value{}
	}
	return fl.values.Get(field.ID)
}

// appendAnswer appends an answer as JSON; a file is none that can be repeated.
func appendAnswer(b []byte, v Value) []byte {
	switch v.Kind() {
	case TextKind:
		return appendQuoted(b, v.Text())
	case NumberKind:
		return append(b, v.Text()...)
	case BoolKind:
		if v.Bool() {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case ListKind:
		j := jot{b: b}
		j.open('[')
		for _, s := range v.List() {
			j.quote(s)
		}
		j.close(']')
		return j.b
	}
	return b
}

// said is a field as far as a flat schema says it.
type said struct {
	*flattener
	field     *Field
	kind      string   // type
	keywords  jot      // what comes between description and default, beginning with a comma
	sentences []string // what the schema does not say, for the person
}

// unsaid notes a loss, and what the person is told instead.
func (s *said) unsaid(what, why, sentence string) {
	s.lose(s.field, Loss{What: what, Why: why})
	if sentence != "" {
		s.sentences = append(s.sentences, sentence)
	}
}

func (s *said) rules() {
	f, r := s.field, &s.field.Rules
	s.keywords.b = append(s.keywords.b, '[') // so that the first keyword gets no comma of its own
	switch f.Type {
	case Text:
		s.text()
	case URL:
		s.kind = "string"
		s.keywords.count("maxLength", r.MaxLength)
		s.keywords.text("format", "uri")
		s.url()
	case Date:
		s.kind = "string"
		s.keywords.text("format", f.dateFormat())
		s.date()
	case Number:
		s.number()
	case Boolean:
		s.kind = "boolean"
	case Select:
		s.kind = "string"
		f.choices(&s.keywords, "oneOf")
	case MultiSelect:
		s.kind = "array"
		f.items(&s.keywords)
		s.keywords.count("minItems", r.MinItems)
		s.keywords.count("maxItems", r.MaxItems)
	}
	if s.keywords.b = s.keywords.b[1:]; len(s.keywords.b) > 0 {
		s.keywords.b = append([]byte{','}, s.keywords.b...)
	}
}

func (s *said) text() {
	r := &s.field.Rules
	s.kind = "string"
	s.keywords.count("minLength", r.MinLength)
	s.keywords.count("maxLength", r.MaxLength)
	if r.Pattern != "" {
		s.unsaid("pattern", "a flat schema has no patterns", "Must match "+r.Pattern+".")
	}
	switch r.Format {
	case "":
	case "email", "uri", "date", "date-time":
		s.keywords.text("format", r.Format)
	default:
		s.unsaid("format", "a flat schema does not know the format "+r.Format, formatSentence(r.Format))
	}
}

// number writes the bounds. An exclusive bound on whole numbers is an inclusive one
// beside it; on others it is written as inclusive, which is nearly right, and told.
func (s *said) number() {
	r := &s.field.Rules
	kind, multiple := s.field.numberKind()
	s.kind = kind
	least, most := r.Minimum, r.Maximum
	if kind == "integer" {
		least = stricter(least, r.ExclusiveMinimum, 1)
		most = stricter(most, r.ExclusiveMaximum, -1)
	} else {
		least = s.inclusive(least, r.ExclusiveMinimum, 1)
		most = s.inclusive(most, r.ExclusiveMaximum, -1)
	}
	s.keywords.raw("minimum", least)
	s.keywords.raw("maximum", most)
	if multiple != nil {
		s.unsaid("multipleOf", "a flat schema has no multiples", "")
	}
	if sentence := s.numberSentence(multiple); sentence != "" {
		s.sentences = append(s.sentences, sentence)
	}
}

// stricter returns the stricter of an inclusive bound on whole numbers and an
// exclusive one; sign is 1 for a lower bound and -1 for an upper one.
func stricter(inclusive, exclusive json.RawMessage, sign int64) json.RawMessage {
	x, ok := rational(exclusive)
	if !ok {
		return inclusive
	}
	// The nearest whole number beyond: floor + 1, or ceiling - 1.
	n := new(big.Int).Div(x.Num(), x.Denom()) // floor, as the denominator is positive
	if sign > 0 || x.IsInt() {
		n.Add(n, big.NewInt(sign))
	}
	if i, ok := rational(inclusive); ok && i.Cmp(new(big.Rat).SetInt(n))*int(sign) >= 0 {
		return inclusive
	}
	return json.RawMessage(n.String())
}

// inclusive returns the stricter bound as an inclusive one, and notes it where the
// exclusive one says more.
func (s *said) inclusive(inclusive, exclusive json.RawMessage, sign int) json.RawMessage {
	x, ok := rational(exclusive)
	if !ok {
		return inclusive
	}
	if i, ok := rational(inclusive); ok && i.Cmp(x)*sign > 0 {
		return inclusive
	}
	what := "exclusiveMinimum"
	if sign < 0 {
		what = "exclusiveMaximum"
	}
	s.unsaid(what, "a flat schema has inclusive bounds only", "")
	return exclusive
}

// extra are the keywords of a lifted field that are not known here. Those that
// restrict it are losses, as everywhere.
func (s *said) extra() []Member {
	var kept []Member
	for _, m := range s.field.Extra {
		switch {
		case !restricts(m.Name, s.field.Type):
			kept = append(kept, m)
		case m.Name == "enum":
			s.unsaid(m.Name, "a flat schema has choices of strings only", "Must be one of "+strings.Trim(string(m.Value), "[]")+".")
		default:
			s.unsaid(m.Name, "a flat schema does not have it", "")
		}
	}
	return kept
}

// restricts reports whether a keyword that was kept says which values a field of that
// type takes.
func restricts(keyword string, t Type) bool {
	switch keyword {
	case "pattern":
		return t == Text
	case "enum", "const", "oneOf", "anyOf":
		return t == Number || t == Boolean
	}
	return false
}
