package form

import (
	"encoding/json"
)

// property is a property of a schema that becomes a field.
type property struct {
	*lifter
	path  string
	field Field
	kind  string // its JSON type, as it says or as its values do
	sets  []set  // what enum, const, oneOf and anyOf allow; a value must be in each
	names []string
	rule  Rule // of a number or boolean that has only some values; nil for none
}

// read reads the keywords, and reports whether they make a field.
func (p *property) read(value []byte) bool {
	before := len(p.faults)
	members, ok := p.object(p.path, value)
	if !ok {
		return false
	}
	for _, m := range members {
		p.keyword(m)
	}
	if len(p.faults) > before {
		return false
	}
	if p.kind == "" && len(p.sets) > 0 {
		p.kind = p.kindOfValues()
	}
	switch p.kind {
	case "string":
		p.words()
	case "number", "integer":
		p.field.Type = Number
		p.some()
	case "boolean":
		p.field.Type = Boolean
		p.some()
	case "array":
		p.list(members)
	default:
		p.fault(memberPath(p.path, "type"), "write string, number, integer, boolean, or array with the choices in items",
			"a field must have a type that a form can ask for")
	}
	p.rest(members)
	return len(p.faults) == before
}

// keyword reads what means the same whatever the type, and the values that are
// allowed.
func (p *property) keyword(m Member) {
	path := memberPath(p.path, m.Name)
	switch m.Name {
	case "type":
		p.kind = p.text(path, m.Value)
	case "title":
		p.field.Label = p.text(path, m.Value)
	case "description":
		p.field.Description = p.text(path, m.Value)
	case "enum", "const", "oneOf", "anyOf":
		p.sets = append(p.sets, p.set(path, m))
	case "enumNames":
		p.names = titles(m.Value)
	default:
		if composes(m.Name) {
			p.fault(path, "say it in the field itself", "a field cannot have %s", m.Name)
		}
	}
}

// words makes a text or a choice of texts.
func (p *property) words() {
	p.field.Type = Text
	if len(p.sets) > 0 {
		p.field.Type = Select
	}
}

// rest reads the keywords that belong to the type; keeps those that do not, or are
// not known; and makes what was read into the field.
func (p *property) rest(members []Member) {
	var fallback json.RawMessage
	for _, m := range members {
		switch m.Name {
		case "type", "title", "description":
		case "default":
			fallback = m.Value
		case "enum", "const", "oneOf", "anyOf", "enumNames":
			// Of a choice, they are its options.
			if p.field.Type != Select || m.Name == "enumNames" && p.names == nil {
				p.keep(m)
			}
		default:
			if !p.own(m) {
				p.keep(m)
			}
		}
	}
	if p.field.Type == Select {
		p.options()
	}
	p.dated()
	if fallback == nil {
		return
	}
	if takes(p.field, p.rule)(fallback) {
		p.field.Default = fallback
	} else {
		p.keep(Member{Name: "default", Value: fallback})
	}
}

// keep keeps what is not checked. Some of it says that the field asks for a secret.
func (p *property) keep(m Member) {
	p.field.Extra = append(p.field.Extra, m)
	if m.Name == "inputType" || m.Name == "format" {
		if s, _ := unquoted(m.Value); s == "password" {
			p.field.Hints.InputType = s
		}
	}
}

// own reads a keyword of the type of the field, and reports whether it was one.
func (p *property) own(m Member) bool {
	switch p.field.Type {
	case Text, Select:
		return p.ofText(m)
	case Number:
		return p.ofNumber(m)
	case MultiSelect:
		return p.ofList(m)
	}
	return false
}

func (p *property) ofText(m Member) bool {
	path, r := memberPath(p.path, m.Name), &p.field.Rules
	switch m.Name {
	case "minLength":
		r.MinLength = p.count(path, m.Value)
	case "maxLength":
		r.MaxLength = p.count(path, m.Value)
	case "pattern":
		expr := p.text(path, m.Value)
		if _, fault := compilePattern(path, expr); fault != nil {
			return false // it cannot be checked here; whoever asks checks it
		}
		r.Pattern = expr
	case "format":
		switch format := p.text(path, m.Value); format {
		case "email", "uri", "uuid", "ipv4", "ipv6", "hostname", "date", "date-time":
			r.Format = format
		default:
			return false
		}
	default:
		return false
	}
	return true
}

func (p *property) ofNumber(m Member) bool {
	path, r := memberPath(p.path, m.Name), &p.field.Rules
	switch m.Name {
	case "minimum":
		r.Minimum = p.number(path, m.Value)
	case "maximum":
		r.Maximum = p.number(path, m.Value)
	case "exclusiveMinimum":
		r.ExclusiveMinimum = p.number(path, m.Value)
	case "exclusiveMaximum":
		r.ExclusiveMaximum = p.number(path, m.Value)
	case "multipleOf":
		if n, ok := rational(m.Value); !ok || n.Sign() <= 0 {
			p.fault(path, "write a number greater than 0, such as 0.01", "this must be a number greater than 0")
		}
		r.MultipleOf = m.Value
	default:
		return false
	}
	return true
}

func (p *property) ofList(m Member) bool {
	path, r := memberPath(p.path, m.Name), &p.field.Rules
	switch m.Name {
	case "items":
	case "minItems":
		r.MinItems = p.count(path, m.Value)
	case "maxItems":
		r.MaxItems = p.count(path, m.Value)
	case "uniqueItems":
		p.field.lifted.repeats = !p.boolean(path, m.Value)
	case "contains", "prefixItems", "additionalItems", "unevaluatedItems":
		p.fault(path, "leave it out", "a choice cannot have %s", m.Name)
	default:
		return false
	}
	return true
}

// dated makes a text that is a day, or a day and time, and no more a date field; and
// a whole number one that takes only whole multiples: those of 1 and of p/q in lowest
// terms are those of p.
func (p *property) dated() {
	f := &p.field
	r := &f.Rules
	switch {
	case f.Type == Text && (r.Format == "date" || r.Format == "date-time") && r.MinLength == nil && r.MaxLength == nil && r.Pattern == "":
		f.Type = Date
	case p.kind == "integer" && r.MultipleOf == nil:
		r.MultipleOf = json.RawMessage("1")
	case p.kind == "integer":
		if m, ok := rational(r.MultipleOf); ok && !m.IsInt() {
			r.MultipleOf = json.RawMessage(m.Num().String())
		}
	}
}

// takes returns a function that reports whether a field takes a value. It asks the
// form of that field alone, so that there is one place that knows.
func takes(field Field, rule Rule) func(value json.RawMessage) bool {
	field.Required, field.Default, field.Needs = true, nil, nil
	d := Definition{Open: true, Fields: []Field{field}, lifted: &liftedForm{}}
	if rule != nil {
		d.Rules = []Rule{rule}
	}
	f, err := compileLifted(d)
	return func(value json.RawMessage) bool {
		if err != nil {
			return false
		}
		j := &jot{}
		j.open('{')
		j.raw(field.ID, value)
		j.close('}')
		_, err := f.Read(j.b, Strict)
		return err == nil
	}
}
