package config

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// field is a key of the configuration, as the tags of a struct field describe
// it; doc.go lists the tags.
type field struct {
	// The key in the file.
	key string

	// The type of the struct field, and where it is in its struct.
	typ   reflect.Type
	index int

	// The value when the key is absent, if hasDefault.
	def        string
	hasDefault bool

	// The words allowed; empty allows any text.
	one []string

	// The bounds, or "".
	min, max string

	// What a text may look like, or "". Of a mapping of texts it is a key.
	sample string

	// The sibling key that this one needs, or "".
	only string

	// The field of the list's members that takes the key of the mapping, or "".
	keyed string
}

// fieldsOf lists the keys that a struct stands for, in the order of the source.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for sf := range t.Fields() {
		f := field{
			key: sf.Tag.Get("key"), typ: sf.Type, index: sf.Index[0],
			min: sf.Tag.Get("min"), max: sf.Tag.Get("max"),
			sample: sf.Tag.Get("example"), only: sf.Tag.Get("only"), keyed: sf.Tag.Get("keyed"),
		}
		f.def, f.hasDefault = sf.Tag.Lookup("default")
		if words, found := sf.Tag.Lookup("one"); found {
			f.one = strings.Split(words, "|")
		}
		if f.key != "-" {
			fields = append(fields, f)
		}
	}
	return fields
}

// shape is how a field is written in the file.
type shape int

// The shapes of a field.
const (
	shapeScalar  shape = iota // a single value
	shapeSection              // a mapping with known keys: a struct
	shapeKeyed                // a mapping of sections under free keys: a list of structs with names
	shapeList                 // a list of sections: a list of structs
	shapeTexts                // a list of texts
	shapePairs                // a mapping of secrets under free keys
)

// shape is how the field is written.
func (f field) shape() shape {
	switch {
	case f.keyed != "":
		return shapeKeyed
	case f.typ == reflect.TypeFor[Secret](), f.typ == reflect.TypeFor[URL]():
		return shapeScalar
	case f.typ.Kind() == reflect.Struct:
		return shapeSection
	case f.typ.Kind() == reflect.Map:
		return shapePairs
	case f.typ == reflect.TypeFor[[]string]():
		return shapeTexts
	case f.typ.Kind() == reflect.Slice:
		return shapeList
	default:
		return shapeScalar
	}
}

// secret reports whether values of the field must not be repeated in faults.
func (f field) secret() bool {
	return f.typ == reflect.TypeFor[Secret]() || f.typ == reflect.TypeFor[URL]() || f.shape() == shapePairs
}

// kind is the kind of node that spells a single value of the field.
func (f field) kind() kind {
	switch f.typ.Kind() {
	case reflect.Bool:
		return kindBool
	case reflect.Int:
		return kindNumber
	default:
		return kindText
	}
}

// amount reports whether the field is a duration or a size, which need a unit.
func (f field) amount() bool {
	return f.typ == reflect.TypeFor[time.Duration]() || f.typ == reflect.TypeFor[Bytes]()
}

// words lists what the field allows, for people.
func (f field) words() string {
	words := make([]string, len(f.one))
	for i, word := range f.one {
		words[i] = word
		if word == "" {
			words[i] = `""`
		}
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// expects says what a value of the field looks like, with an example.
func (f field) expects() string {
	switch f.shape() {
	case shapeSection, shapeKeyed:
		return "a mapping (key: value)"
	case shapePairs:
		return "a mapping of texts, as in {" + f.sample + ": \"...\"}"
	case shapeList:
		return "a list of mappings, as in [{key: value}]"
	case shapeTexts:
		return `a list of texts, as in ["` + f.sample + `"]`
	}
	example := cmp.Or(f.sample, f.def)
	switch {
	case len(f.one) > 0:
		return f.words()
	case f.kind() == kindBool:
		return "true or false"
	case f.kind() == kindNumber:
		return "a whole number such as " + example
	case example == "":
		return "a text"
	default:
		return "a text such as " + strconv.Quote(example)
	}
}

// setDefaults gives every field of a struct its default, sections included.
func setDefaults(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		switch value := v.Field(f.index); {
		case f.shape() == shapeSection:
			setDefaults(value)
		case f.hasDefault:
			if err := setText(value, f, f.def); err != nil {
				panic("config: default of " + f.key + ": " + err.Error())
			}
		}
	}
}
