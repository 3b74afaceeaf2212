package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// mark is what is known about a key that some source sets.
type mark struct {
	// The place of the key; zero for a variable.
	pos position

	// The variable that sets it, or "".
	variable string

	// The value is not known: it had a fault, or Import left a ${NAME} in it.
	// Nothing further is said about it.
	unknown bool
}

// reader makes a [Config] out of its sources and collects what is wrong.
type reader struct {
	// The name of the file, for faults.
	file string

	// Looks a variable of the environment up, for ${NAME}.
	lookup func(string) (string, bool)

	// Check references to variables but leave them in place.
	keepReferences bool

	// What is wrong so far.
	faults Faults

	// The keys that are set, by their paths.
	marks map[string]mark

	// The variables that the file refers to.
	referred map[string]bool

	// The paths of the backends, in the order of Config.Backends.
	backends []string

	// What the file calls the mapping of the backends.
	backendsKey string

	// Ends up in Config.Notes.
	notes []string
}

// newReader is a reader for the file called name.
func newReader(name string, lookup func(string) (string, bool)) *reader {
	return &reader{
		file: name, lookup: lookup, backendsKey: "backends",
		marks: map[string]mark{}, referred: map[string]bool{},
	}
}

// fault records what is wrong with a key: at its place, or at the place of the
// nearest key around it.
func (r *reader) fault(path string, c complaint) {
	f := Fault{File: r.file, Key: path, Problem: c.problem, Hint: c.hint}
	for p := path; ; p = p[:max(strings.LastIndexAny(p, ".["), 0)] {
		m, found := r.marks[p]
		if !found && p != "" {
			continue
		}
		if m.variable != "" {
			f.File, f.Key = environment, m.variable
		}
		f.Line, f.Column = m.pos.line, m.pos.column
		break
	}
	r.faults = append(r.faults, f)
}

// faultAt records what is wrong with a key at a place of its own.
func (r *reader) faultAt(pos position, path string, c complaint) {
	r.faults = append(r.faults, Fault{
		File: r.file, Line: pos.line, Column: pos.column, Key: path, Problem: c.problem, Hint: c.hint,
	})
}

// reject records that the value of a key has a fault and is not known.
func (r *reader) reject(path string, c complaint) {
	r.fault(path, c)
	r.forget(path)
}

// forget marks the value of a key as not known.
func (r *reader) forget(path string) {
	m := r.marks[path]
	m.unknown = true
	r.marks[path] = m
}

// known reports whether a key is set, or left to its default, without a fault.
func (r *reader) known(path string) bool { return !r.marks[path].unknown }

// isSet reports whether some source sets a key, be it with a fault.
func (r *reader) isSet(path string) bool {
	_, set := r.marks[path]
	return set
}

// decode gives v, the value of field f, what n holds.
func (r *reader) decode(v reflect.Value, f field, n *node, path string) {
	want := map[shape]kind{
		shapeSection: kindMapping, shapeKeyed: kindMapping, shapePairs: kindMapping,
		shapeList: kindList, shapeTexts: kindList,
	}
	shape := f.shape()
	switch {
	case shape == shapeScalar:
		r.decodeScalar(v, f, n, path)
		return
	case n.kind == kindNull:
		// A heading with everything below it commented out.
		return
	case n.kind != want[shape]:
		r.reject(path, r.mismatch(f, n))
		return
	}
	switch shape {
	case shapeSection:
		r.decodeSection(v, n, path)
	case shapeKeyed:
		r.decodeKeyed(v, f, n, r.backendsKey)
	case shapeList:
		r.decodeList(v, f, n, path)
	case shapeTexts:
		r.decodeTexts(v, f, n, path)
	case shapePairs:
		r.decodePairs(v, n, path)
	}
}

// decodeSection fills a struct from a mapping.
func (r *reader) decodeSection(v reflect.Value, n *node, path string) {
	fields := fieldsOf(v.Type())
	for e := range r.distinct(n, path) {
		at := join(path, e.key)
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == e.key })
		if i < 0 {
			r.faultAt(e.pos, at, complaint{"unknown key", unknownHint(e.key, path, fields)})
			continue
		}
		r.marks[at] = mark{pos: e.pos}
		r.decode(v.Field(fields[i].index), fields[i], e.value, at)
	}
}

// distinct goes through the entries of a mapping and refuses repeated keys.
func (r *reader) distinct(n *node, path string) func(func(entry) bool) {
	return func(yield func(entry) bool) {
		first := map[string]int{}
		for _, e := range n.entries {
			key := cmp.Or(e.was, e.key)
			if line, repeated := first[key]; repeated {
				r.faultAt(e.pos, join(path, key), complain("keep one of them", "the same key stands in line %d", line))
				continue
			}
			first[key] = e.pos.line
			if !yield(e) {
				return
			}
		}
	}
}

// unknownHint guesses what an unknown key was meant to be: one of its section,
// or the same one in another section.
func unknownHint(key, path string, fields []field) string {
	var known []string
	for _, f := range fields {
		known = append(known, f.key)
	}
	if word := nearest(key, known); word != "" {
		return "did you mean " + word + "?"
	}
	for _, l := range leaves() {
		if plainWord(l.path[strings.LastIndexByte(l.path, '.')+1:]) == plainWord(key) && l.path != join(path, key) {
			return "did you mean " + l.path + "?"
		}
	}
	return "the keys here are " + strings.Join(known, ", ")
}

// decodeKeyed fills a list of structs from a mapping, in its order.
func (r *reader) decodeKeyed(v reflect.Value, f field, n *node, path string) {
	for e := range r.distinct(n, path) {
		at := join(path, cmp.Or(e.was, e.key))
		r.marks[at] = mark{pos: e.pos}
		member := reflect.New(f.typ.Elem()).Elem()
		setDefaults(member)
		member.FieldByName(f.keyed).SetString(e.key)
		r.decode(member, field{typ: member.Type()}, e.value, at)
		v.Set(reflect.Append(v, member))
		r.backends = append(r.backends, at)
	}
}

// decodeList fills a list of structs.
func (r *reader) decodeList(v reflect.Value, f field, n *node, path string) {
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.marks[at] = mark{pos: item.pos}
		member := reflect.New(f.typ.Elem()).Elem()
		setDefaults(member)
		r.decode(member, field{typ: member.Type()}, item, at)
		v.Set(reflect.Append(v, member))
	}
}

// decodeTexts fills a list of texts.
func (r *reader) decodeTexts(v reflect.Value, f field, n *node, path string) {
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.marks[at] = mark{pos: item.pos}
		text := reflect.New(v.Type().Elem()).Elem()
		r.decodeScalar(text, field{typ: text.Type(), sample: f.sample}, item, at)
		v.Set(reflect.Append(v, text))
	}
}

// decodePairs fills a mapping of secrets.
func (r *reader) decodePairs(v reflect.Value, n *node, path string) {
	pairs := map[string]Secret{}
	for e := range r.distinct(n, path) {
		at := join(path, e.key)
		r.marks[at] = mark{pos: e.pos}
		var value Secret
		r.decodeScalar(reflect.ValueOf(&value).Elem(), field{typ: reflect.TypeFor[Secret]()}, e.value, at)
		pairs[e.key] = value
	}
	if len(pairs) > 0 {
		v.Set(reflect.ValueOf(pairs))
	}
}

// decodeScalar fills a single value.
func (r *reader) decodeScalar(v reflect.Value, f field, n *node, path string) {
	text, referred, err := r.expand(n)
	if err != nil {
		r.reject(path, err.(complaint))
		return
	}
	if referred && r.keepReferences {
		r.keep(v, text, path)
		return
	}
	// What comes out of a variable is text, whatever it spells.
	if n.kind != f.kind() && !referred && !(n.kind == kindNumber && f.amount()) {
		r.reject(path, r.mismatch(f, n))
		return
	}
	if err := setText(v, f, text); err != nil {
		r.reject(path, err.(complaint))
	}
}

// keep sets a value whose references are to stay: texts as they are, and
// others not at all.
func (r *reader) keep(v reflect.Value, text, path string) {
	r.forget(path)
	switch p := v.Addr().Interface().(type) {
	case *Secret:
		*p = NewSecret(text)
	case *URL:
		*p = NewURL(text)
	case *string:
		*p = text
	default:
		r.fault(path, complaint{"a reference to a variable, which only texts can keep", "write the value itself"})
	}
}

// mismatch says that a value is of the wrong kind, and how to write it.
func (r *reader) mismatch(f field, n *node) complaint {
	found := n.describe()
	if (f.secret() || f.shape() != shapeScalar) && (n.kind == kindText || n.kind == kindNumber) {
		found = n.kind.String()
	}
	c := complain("", "expected %s, found %s", f.expects(), found)
	switch {
	case n.kind == kindNull:
		c.hint = "leave the key out to get the default"
		if f.key == "" {
			c.hint = `an empty text is written ""`
		}
	case f.shape() != shapeScalar:
	case f.kind() == kindText && n.kind != kindList && n.kind != kindMapping:
		c.hint = "put it in double quotes"
	case f.kind() == kindBool && n.kind == kindText:
		c.hint = "yes, no, on and off are texts; write true or false, without quotes"
	case f.kind() == kindNumber && n.kind == kindText:
		c.hint = "write it without quotes"
	}
	return c
}

// join puts a key behind the path of its section. A key that could upset a
// terminal or a log is quoted.
func join(path, key string) string {
	if strings.ContainsFunc(key, func(c rune) bool { return !unicode.IsGraphic(c) }) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
