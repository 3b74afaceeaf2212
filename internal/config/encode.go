package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// YAML writes the whole configuration, defaults included, in the form that
// [Parse] reads. Secrets are written as "[redacted]", which Parse refuses.
func (c Config) YAML() []byte {
	return writeYAML(encoder{}.section(reflect.ValueOf(c)))
}

// JSON writes the same as YAML does, as JSON.
func (c Config) JSON() []byte {
	return writeJSON(encoder{}.section(reflect.ValueOf(c)))
}

// YAML writes the backends in the form of beckon.yaml, secrets included and
// without what is the default anyway.
func (i Imported) YAML() []byte {
	e := encoder{reveal: true, sparse: true, references: true}
	return writeYAML(e.section(reflect.ValueOf(struct {
		Backends []Backend `key:"backends" keyed:"Name"`
	}{i.Backends})))
}

// encoder turns values into nodes; the zero value hides secrets.
type encoder struct {
	// Write secrets.
	reveal bool

	// Leave out values that are the default, and sections without members.
	sparse bool

	// A ${ is a reference, not text to be escaped.
	references bool
}

// section encodes a struct.
func (e encoder) section(v reflect.Value) *node {
	n := &node{kind: kindMapping}
	fields := fieldsOf(v.Type())
	set := map[string]bool{}
	for _, f := range fields {
		set[f.key] = !v.Field(f.index).IsZero()
	}
	for _, f := range fields {
		leads := slices.ContainsFunc(fields, func(g field) bool { return g.only == f.key })
		if f.only != "" && !set[f.only] || (leads || f.only != "") && !set[f.key] && !f.hasDefault {
			// One of two kinds, of which the other one is there.
			continue
		}
		value := e.value(v.Field(f.index), f)
		if e.sparse && (isEmpty(value) || f.hasDefault && isDefault(v.Field(f.index), f)) {
			continue
		}
		n.entries = append(n.entries, entry{key: f.key, value: value})
	}
	return n
}

// isDefault reports whether a value is the default of its field.
func isDefault(v reflect.Value, f field) bool {
	def := reflect.New(v.Type()).Elem()
	return setText(def, f, f.def) == nil && def.Equal(v)
}

// value encodes what a field holds.
func (e encoder) value(v reflect.Value, f field) *node {
	switch f.shape() {
	case shapeSection:
		return e.section(v)
	case shapeKeyed:
		n := &node{kind: kindMapping}
		for i := range v.Len() {
			n.entries = append(n.entries, entry{key: v.Index(i).FieldByName(f.keyed).String(), value: e.section(v.Index(i))})
		}
		return n
	case shapeList:
		n := &node{kind: kindList}
		for i := range v.Len() {
			n.items = append(n.items, e.section(v.Index(i)))
		}
		return n
	case shapeTexts:
		n := &node{kind: kindList}
		for _, text := range v.Interface().([]string) {
			n.items = append(n.items, e.text(text))
		}
		return n
	case shapePairs:
		n := &node{kind: kindMapping}
		pairs := v.Interface().(map[string]Secret)
		for _, key := range slices.Sorted(maps.Keys(pairs)) {
			n.entries = append(n.entries, entry{key: key, value: e.scalar(reflect.ValueOf(pairs[key]))})
		}
		return n
	}
	return e.scalar(v)
}

// scalar encodes a single value.
func (e encoder) scalar(v reflect.Value) *node {
	switch x := v.Interface().(type) {
	case bool:
		return &node{kind: kindBool, text: getText(v)}
	case int:
		return &node{kind: kindNumber, text: getText(v)}
	case Secret:
		if !e.reveal && x.Reveal() != "" { // that there is none is no secret
			return e.text(x.String())
		}
	case URL:
		if !e.reveal {
			return e.text(x.String())
		}
	}
	return e.text(getText(v))
}

// text encodes a text.
func (e encoder) text(text string) *node {
	if !e.references {
		text = strings.ReplaceAll(text, "${", "$${")
	}
	return &node{kind: kindText, text: text}
}
