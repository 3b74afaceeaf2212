package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// set is the values that one keyword allows, in their order.
type set []allowed

// allowed is one value that a keyword allows, and what it says of it.
type allowed struct {
	key   string // equal for equal values: of a number, however it is written
	kind  string // string, number, boolean; "" for what no field can have
	text  string // of a string
	raw   json.RawMessage
	title string
	extra []Member // annotations
}

// set reads the values that enum, const, oneOf or anyOf allow.
func (p *property) set(path string, m Member) set {
	if m.Name == "const" {
		return set{value(m.Value)}
	}
	elements, ok := elementsOf(m.Value)
	if !ok {
		p.fault(path, "write an array of choices", "this must be an array")
	}
	var s set
	for i, e := range elements {
		if m.Name == "enum" {
			s = append(s, value(e))
			continue
		}
		at := fmt.Sprintf("%s[%d]", path, i)
		if a, ok := p.constant(at, e); ok {
			s = append(s, a)
		}
	}
	if m.Name == "oneOf" {
		// "validates successfully against exactly one schema": a constant that is
		// there twice matches two.
		times := make(map[string]int, len(s))
		for _, a := range s {
			times[a.key]++
		}
		s = slices.DeleteFunc(s, func(a allowed) bool { return times[a.key] > 1 })
	}
	return s
}

// byKey returns the values by their keys, the first where there are several.
func (s set) byKey() map[string]*allowed {
	m := make(map[string]*allowed, len(s))
	for i := range s {
		if m[s[i].key] == nil {
			m[s[i].key] = &s[i]
		}
	}
	return m
}

// value tells what a JSON value is.
func value(raw json.RawMessage) allowed {
	a := allowed{raw: raw, key: string(raw)}
	switch raw[0] {
	case '"':
		a.kind = "string"
		a.text, _ = unquoted(raw)
		a.key = `"` + a.text
	case 't', 'f':
		a.kind = "boolean"
	case 'n', '{', '[':
	default:
		if n, ok := rational(raw); ok {
			a.kind = "number"
			a.key = n.RatString()
		}
	}
	return a
}

// constant reads one choice of oneOf or anyOf.
func (p *property) constant(path string, element []byte) (allowed, bool) {
	members, _ := membersOf(element)
	var a allowed
	var title, kind string
	var extra []Member
	for _, m := range members {
		at := memberPath(path, m.Name)
		switch m.Name {
		case "const":
			a = value(m.Value)
		case "title":
			title = p.text(at, m.Value)
		case "type":
			kind = p.text(at, m.Value)
		default:
			if !describes(m.Name) {
				p.fault(at, "write const and title", "a choice cannot have %s", m.Name)
			}
			extra = append(extra, m)
		}
	}
	if a.raw == nil || kind != "" && kind != a.kind {
		p.fault(path, `write {"const": …, "title": …}`, "a choice must be a constant")
		return a, false
	}
	a.title, a.extra = title, extra
	return a, true
}

// describes reports whether a keyword leaves the verdict as it is, as do all that are
// not known.
func describes(keyword string) bool {
	switch keyword {
	case "enum", "oneOf", "anyOf", "minLength", "maxLength", "pattern", "format",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return false
	}
	return !composes(keyword)
}

// titles reads enumNames; nil for what is no array of strings.
func titles(value []byte) []string {
	elements, _ := elementsOf(value)
	var names []string
	for _, e := range elements {
		s, ok := unquoted(e)
		if !ok {
			return nil
		}
		names = append(names, s)
	}
	return names
}

// kindOfValues tells of which type all values are that a property without type
// allows; "" when they differ, or are of none that a field can have.
func (p *property) kindOfValues() string {
	kind := ""
	for _, s := range p.sets {
		for _, a := range s {
			if a.kind == "" || kind != "" && a.kind != kind {
				return ""
			}
			kind = a.kind
		}
	}
	return kind
}

// common returns the values that all keywords allow, of the type of the property,
// each once; with the first title that one of them has.
func (p *property) common() set {
	var all set
	kind := p.kind
	if kind == "integer" {
		kind = "number"
	}
	others := make([]map[string]*allowed, len(p.sets)-1)
	for i := range others {
		others[i] = p.sets[i+1].byKey()
	}
	seen := make(map[string]bool, len(p.sets[0]))
	for i, a := range p.sets[0] {
		if a.kind != kind || seen[a.key] {
			continue
		}
		seen[a.key] = true
		everywhere := true
		for _, values := range others {
			other := values[a.key]
			if other == nil {
				everywhere = false
				break
			}
			if a.title == "" {
				a.title = other.title
			}
			a.extra = append(slices.Clone(a.extra), other.extra...)
		}
		if a.title == "" && i < len(p.names) {
			a.title = p.names[i]
		}
		if everywhere {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		p.fault(p.path, "allow at least one value", "no value of type %s is allowed", p.kind)
	}
	return all
}

// options makes the values the options of the field: those that obey its other rules,
// which are of no more use then.
func (p *property) options() {
	f := &p.field
	all := p.common()
	obeys := takes(Field{ID: f.ID, Type: Text, Rules: f.Rules}, nil)
	f.Rules = FieldRules{}
	for _, a := range all {
		if !obeys(a.raw) {
			continue
		}
		f.Options = append(f.Options, Option{Value: a.text, Title: a.title})
		if len(a.extra) > 0 {
			f.annotations().options[a.text] = a.extra
		}
	}
	if len(all) > 0 && len(f.Options) == 0 {
		p.fault(p.path, "allow at least one value", "none of the values obeys the other rules")
	}
}

// annotations returns what a schema says of the field beyond it, to be added to.
func (f *Field) annotations() *liftedField {
	if f.lifted == nil {
		f.lifted = &liftedField{}
	}
	if f.lifted.options == nil {
		f.lifted.options = make(map[string][]Member)
	}
	return f.lifted
}

// some makes a rule of the values that a number or boolean may have. The keywords
// stay with the field, as nothing else says which they are.
func (p *property) some() {
	if len(p.sets) == 0 {
		return
	}
	all := p.common()
	known := all.byKey()
	id, label := p.field.ID, p.field.Label
	if label == "" {
		label = id
	}
	expected, said := make([]json.RawMessage, len(all)), make([]string, len(all))
	for i, a := range all {
		expected[i], said[i] = a.raw, string(a.raw)
	}
	message := fmt.Sprintf("%s must be one of %s", label, strings.Join(said, ", "))
	p.rule = func(v Values) []Error {
		if got, ok := keyOf(v.Get(id)); !ok || known[got] != nil {
			return nil
		}
		return []Error{{Field: id, Code: CodeConstraint, Message: message,
			Constraint: "enum", Expected: expected, Path: []string{id}}}
	}
}

// keyOf returns what equal values have in common, as [value] does; not ok for one that
// was not answered.
func keyOf(v Value) (string, bool) {
	switch v.Kind() {
	case NumberKind:
		n, ok := rational([]byte(v.Text()))
		if !ok {
			return "", false
		}
		return n.RatString(), true
	case BoolKind:
		return fmt.Sprint(v.Bool()), true
	}
	return "", false
}

// list makes a multiple choice: an array whose items are given strings.
func (p *property) list(members []Member) {
	f := &p.field
	f.Type = MultiSelect
	f.annotations().repeats = true
	if len(p.sets) > 0 {
		p.fault(p.path, "say in items which values there are", "an array must be a choice of given strings")
	}
	item := &property{lifter: p.lifter, path: memberPath(p.path, "items"), field: Field{ID: f.ID}}
	for _, m := range members {
		if m.Name != "items" {
			continue
		}
		if !item.read(m.Value) {
			return
		}
		inner, _ := membersOf(m.Value)
		f.lifted.items = item.annotations(inner)
	}
	if item.field.Type != Select {
		p.fault(item.path, `write {"type": "string", "enum": ["a", "b"]}`, "an array must be a choice of given strings")
		return
	}
	f.Options = item.field.Options
	if item.field.lifted != nil {
		f.lifted.options = item.field.lifted.options
	}
}

// annotations returns what the schema of the items of an array says beyond its values.
func (p *property) annotations(members []Member) []Member {
	var kept []Member
	for _, m := range members {
		switch m.Name {
		case "title", "description", "default":
			kept = append(kept, m)
		}
	}
	return slices.Concat(kept, slices.DeleteFunc(slices.Clone(p.field.Extra), func(m Member) bool { return m.Name == "default" }))
}
