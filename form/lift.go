package form

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Lift makes a form of a requestedSchema, of any server: with enum, const, oneOf,
// anyOf, enumNames, formats, defaults. Keywords that are not known are kept and not
// checked; so is a pattern that RE2 cannot express. A default that the schema itself
// refuses is kept, and is the default of nothing. A schema that is no flat object of
// primitives and choices, or says more of them than this package can hold an answer
// to, is a fault. The verdict of the form on answers is that of the schema, with its
// formats asserted.
func Lift(requestedSchema []byte) (*Form, error) {
	l := &lifter{}
	if !l.wellFormed(requestedSchema) {
		return nil, l.faults.bounded(0)
	}
	d := l.schema(requestedSchema)
	if len(l.faults) > 0 {
		return nil, l.faults.bounded(0)
	}
	f, err := compileLifted(d)
	if err != nil {
		return nil, inSchema(err, d.Fields)
	}
	return f, nil
}

// schema reads the object that has the fields as its properties.
func (l *lifter) schema(text []byte) Definition {
	d := Definition{Open: true, lifted: &liftedForm{}}
	members, ok := l.object("$", text)
	if !ok {
		return d
	}
	kind, required, dependent := "", []byte(nil), []byte(nil)
	for _, m := range members {
		path := memberPath("$", m.Name)
		switch m.Name {
		case "$schema":
			l.text(path, m.Value)
		case "type":
			kind, _ = unquoted(m.Value)
		case "title":
			d.Title = l.text(path, m.Value)
		case "description":
			d.Description = l.text(path, m.Value)
		case "properties":
			l.properties(&d, m.Value)
		case "required":
			required = m.Value
		case "dependentRequired":
			dependent = m.Value
		case "additionalProperties":
			d.Open = l.open(path, m.Value)
		default:
			if ofObjects(m.Name) {
				l.fault(path, "leave it out", "a form cannot have %s", m.Name)
			}
			d.lifted.annotations = append(d.lifted.annotations, m)
		}
	}
	if kind != "object" {
		l.fault("$.type", `write "type": "object"`, "a form is an object")
	}
	byName := make(map[string]*Field, len(d.Fields))
	for i := range d.Fields {
		byName[d.Fields[i].ID] = &d.Fields[i]
	}
	l.required(byName, required)
	l.dependent(byName, dependent)
	return d
}

// ofObjects reports whether a keyword, of this or an earlier draft, says something of
// an object that a flat form cannot.
func ofObjects(keyword string) bool {
	switch keyword {
	case "patternProperties", "propertyNames", "minProperties", "maxProperties", "dependentSchemas", "dependencies",
		"unevaluatedProperties", "enum", "const", "oneOf", "anyOf":
		return true
	}
	return composes(keyword)
}

// composes reports whether a keyword applies another schema to the same value.
func composes(keyword string) bool {
	switch keyword {
	case "allOf", "not", "if", "$ref", "$dynamicRef", "$recursiveRef":
		return true
	}
	return false
}

// open reads additionalProperties: whether there may be members that are no field.
func (l *lifter) open(path string, value []byte) bool {
	if members, ok := membersOf(value); ok {
		if len(members) > 0 {
			l.fault(path, "write true or false", "a form cannot say what other members must be")
		}
		return true
	}
	return l.boolean(path, value)
}

func (l *lifter) properties(d *Definition, value []byte) {
	members, _ := l.object("$.properties", value)
	for _, m := range members {
		p := &property{lifter: l, path: memberPath("$.properties", m.Name), field: Field{ID: m.Name}}
		if p.read(m.Value) {
			d.Fields = append(d.Fields, p.field)
			if p.rule != nil {
				d.Rules = append(d.Rules, p.rule)
			}
		}
	}
}

// required notes which fields are. One that is not there cannot be demanded: nobody
// could ask for it.
func (l *lifter) required(byName map[string]*Field, value []byte) {
	if value == nil {
		return
	}
	for _, f := range l.fields(byName, "$.required", value) {
		f.Required = true
	}
}

func (l *lifter) dependent(byName map[string]*Field, value []byte) {
	if value == nil {
		return
	}
	const path = "$.dependentRequired"
	members, _ := l.object(path, value)
	for _, m := range members {
		f := byName[m.Name]
		if f == nil {
			l.noField(memberPath(path, m.Name), m.Name)
			continue
		}
		for _, needed := range l.fields(byName, memberPath(path, m.Name), m.Value) {
			if needed != f && !slices.Contains(f.Needs, needed.ID) {
				f.Needs = append(f.Needs, needed.ID)
			}
		}
	}
}

// fields returns those that an array of strings names.
func (l *lifter) fields(byName map[string]*Field, path string, value []byte) []*Field {
	elements, ok := elementsOf(value)
	if !ok {
		l.fault(path, "write an array of names", "this must be an array of names")
	}
	var named []*Field
	for i, e := range elements {
		at := fmt.Sprintf("%s[%d]", path, i)
		name, ok := unquoted(e)
		if !ok {
			l.fault(at, "write a name", "this must be a string")
			continue
		}
		if f := byName[name]; f != nil {
			named = append(named, f)
		} else if len(l.faults) == 0 { // else it may be one that could not be read
			l.noField(at, name)
		}
	}
	return named
}

func (l *lifter) noField(path, name string) {
	l.fault(path, "name one of the properties", "there is no property %q", name)
}

// field returns the field with an id, or nil.
func (d *Definition) field(id string) *Field {
	for i := range d.Fields {
		if d.Fields[i].ID == id {
			return &d.Fields[i]
		}
	}
	return nil
}

// inSchema makes the paths of faults in a definition those of the schema that it was
// lifted from.
func inSchema(err error, fields []Field) error {
	faults, ok := err.(Faults)
	if !ok {
		return err
	}
	moved := make(Faults, len(faults))
	for i, f := range faults {
		moved[i] = f
		rest, ok := strings.CutPrefix(f.Path, "$.fields[")
		number, rest, cut := strings.Cut(rest, "]")
		n, err := strconv.Atoi(number)
		if ok && cut && err == nil && n < len(fields) {
			rest = strings.TrimPrefix(rest, ".validation")
			moved[i].Path = memberPath("$.properties", fields[n].ID) + rest
		}
	}
	return moved
}
