package wire

import (
	"bytes"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Edit replaces the bytes at a place. An empty span inserts before its start.
type Edit struct {
	At   Span
	With []byte
}

// Splice returns a copy of src with the edits made. They must be in order and
// must not overlap.
func Splice(src []byte, edits ...Edit) []byte {
	n := len(src)
	for _, e := range edits {
		n += len(e.With) - (e.At.End - e.At.Start)
	}
	dst, from := make([]byte, 0, n), 0
	for _, e := range edits {
		dst = append(append(dst, src[from:e.At.Start]...), e.With...)
		from = e.At.End
	}
	return append(dst, src[from:]...)
}

// member is one member of an object: the places of its name and its value.
type member struct{ name, value Span }

// members lists the members of the object obj; of anything else, none.
func members(obj []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		s := scanner{b: obj}
		if !s.open('{') {
			return
		}
		for s.more('}') {
			name, ok := s.value()
			if !ok || obj[name.Start] != '"' || s.next() != ':' {
				return
			}
			s.at++
			value, ok := s.value()
			if !ok || !yield(member{name, value}) {
				return
			}
		}
	}
}

// Members lists the members of the JSON object obj, a part of a parsed message,
// in order. Of anything else it lists nothing.
func Members(obj []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for m := range members(obj) {
			if !yield(string(unescape(m.name.of(obj))), m.value.of(obj)) {
				return
			}
		}
	}
}

// Elements lists the elements of the JSON array arr, a part of a parsed message.
// Of anything else it lists nothing.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		s := scanner{b: arr}
		if !s.open('[') {
			return
		}
		for s.more(']') {
			v, ok := s.value()
			if !ok || !yield(v.of(arr)) {
				return
			}
		}
	}
}

// Locate finds the value at a path of member names in the JSON object obj, a
// part of a parsed message.
func Locate(obj []byte, path ...string) (Span, bool) {
	at := Span{0, len(obj)}
	for _, name := range path {
		m, ok := find(at.of(obj), name)
		if !ok {
			return Span{}, false
		}
		at = Span{at.Start + m.value.Start, at.Start + m.value.End}
	}
	return at, len(obj) > 0
}

func find(obj []byte, name string) (member, bool) {
	for m := range members(obj) {
		if string(unescape(m.name.of(obj))) == name {
			return m, true
		}
	}
	return member{}, false
}

// Get returns the value at a path of member names in obj, or nil.
func Get(obj []byte, path ...string) []byte {
	at, ok := Locate(obj, path...)
	if !ok {
		return nil
	}
	return at.of(obj)
}

// Text returns the string at a path of member names in obj, unescaped. It
// reports false when there is none or it is not a string.
func Text(obj []byte, path ...string) (string, bool) {
	v := Get(obj, path...)
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	return string(unescape(v)), true
}

// Set returns obj with value at a path of member names. A member that is not
// there yet comes last in its object, which is made when it is missing too.
// Whatever is no object on the way, obj itself included (params may be missing
// or null), is replaced by one.
func Set(obj, value []byte, path ...string) []byte {
	if at, ok := Locate(obj, path...); ok {
		return Splice(obj, Edit{at, value})
	}
	name, rest := path[0], path[1:]
	if m, ok := find(obj, name); ok {
		return Splice(obj, Edit{m.value, Set(m.value.of(obj), value, rest...)})
	}
	if len(rest) > 0 {
		value = Set(nil, value, rest...)
	}
	return insert(obj, name, value)
}

// insert puts a member behind the last one of an object, or makes an object
// around it. Behind the last one, and not before the brace, because [Drop] takes
// what is between two members along.
func insert(obj []byte, name string, value []byte) []byte {
	text := slices.Concat(Quote(name), []byte(":"), value)
	if jsontext.Value(obj).Kind() != '{' {
		return slices.Concat([]byte("{"), text, []byte("}"))
	}
	last := Span{End: bytes.IndexByte(obj, '{') + 1}
	for m := range members(obj) {
		last = m.value
	}
	if last.Start > 0 {
		text = slices.Concat([]byte(","), text)
	}
	return Splice(obj, Edit{Span{last.End, last.End}, text})
}

// Drop returns obj without the member at a path of member names, and obj itself
// when there is none.
func Drop(obj []byte, path ...string) []byte {
	last := len(path) - 1
	at, ok := Locate(obj, path[:last]...)
	if !ok {
		return obj
	}
	parent := at.of(obj)
	var before, gone, after *member
	for m := range members(parent) {
		switch {
		case gone != nil:
			after = &m
		case string(unescape(m.name.of(parent))) == path[last]:
			gone = &m
		default:
			before = &m
		}
		if after != nil {
			break
		}
	}
	if gone == nil {
		return obj
	}
	cut := Span{gone.name.Start, gone.value.End}
	switch {
	case before != nil:
		cut.Start = before.value.End // takes the comma before it along
	case after != nil:
		cut.End = after.name.Start // takes the comma behind it along
	}
	return Splice(obj, Edit{Span{at.Start + cut.Start, at.Start + cut.End}, nil})
}

// without returns the object obj without the members whose names, unescaped, are
// unwanted, and how many are left. What stands between two members that stay is
// what stood before the second.
func without(obj []byte, unwanted func(name []byte) bool) (rest []byte, left int) {
	rest = make([]byte, 0, len(obj))
	begin, end := 0, 0 // of what precedes the next member; end of the last
	for m := range members(obj) {
		if end == 0 {
			rest = append(rest, obj[:m.name.Start]...)
			begin = m.name.Start
		}
		if !unwanted(unescape(m.name.of(obj))) {
			if left == 0 {
				begin = m.name.Start
			}
			rest = append(rest, obj[begin:m.value.End]...)
			left++
		}
		begin, end = m.value.End, m.value.End
	}
	return append(rest, obj[end:]...), left
}
