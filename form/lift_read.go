package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// lifter reads a schema and collects what is wrong with it.
type lifter struct{ faults Faults }

func (l *lifter) fault(path, fix, message string, args ...any) {
	l.faults = append(l.faults, Fault{Path: path, Message: fmt.Sprintf(message, args...), Fix: fix})
}

// wellFormed reports whether text is one JSON value, with no name twice in an object
// and nothing after it.
func (l *lifter) wellFormed(text []byte) bool {
	const limit = 256 << 10
	if len(text) > limit {
		l.fault("$", "ask less in one form", "the schema has %d bytes, more than %d", len(text), limit)
		return false
	}
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	_, err := dec.ReadValue()
	if err == nil {
		if _, err = dec.ReadToken(); err == io.EOF {
			return true
		} else if err == nil {
			err = fmt.Errorf("there is more after it")
		}
	}
	l.fault("$", "write one JSON object, each name once in each object", "the schema is no valid JSON: %v", err)
	return false
}

// object returns the members of value, which is well-formed JSON, in their order. It
// is a fault when it is no object.
func (l *lifter) object(path string, value []byte) ([]Member, bool) {
	members, ok := membersOf(value)
	if !ok {
		l.fault(path, "write an object", "this must be an object")
	}
	return members, ok
}

// membersOf returns the members of well-formed JSON in their order; not ok for
// anything but an object. The values are parts of value.
func membersOf(value []byte) (members []Member, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	if dec.PeekKind() != '{' {
		return nil, false
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		m := Member{Name: name.String()}
		if m.Value, ok = next(dec, value); !ok {
			return nil, false
		}
		members = append(members, m)
	}
	return members, true
}

// elementsOf returns the elements of well-formed JSON; not ok for anything but an
// array.
func elementsOf(value []byte) (elements []json.RawMessage, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	if dec.PeekKind() != '[' {
		return nil, false
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	for dec.PeekKind() != ']' {
		e, ok := next(dec, value)
		if !ok {
			return nil, false
		}
		elements = append(elements, e)
	}
	return elements, true
}

// next returns the next value of dec as the part of text that it is.
func next(dec *jsontext.Decoder, text []byte) (json.RawMessage, bool) {
	v, err := dec.ReadValue()
	if err != nil {
		return nil, false
	}
	end := dec.InputOffset()
	return json.RawMessage(text[end-int64(len(v)) : end : end]), true
}

// text returns a string; anything else is a fault.
func (l *lifter) text(path string, value []byte) string {
	s, ok := unquoted(value)
	if !ok {
		l.fault(path, "write a string", "this must be a string")
	}
	return s
}

// unquoted returns what a JSON string says; not ok for anything else.
func unquoted(value []byte) (string, bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, value)
	return string(b), err == nil
}

// count returns a whole number of at least zero, in any of its spellings; anything
// else is a fault. What no value is as long as stays that.
func (l *lifter) count(path string, value []byte) *int {
	r, ok := rational(value)
	if !ok || !r.IsInt() || r.Sign() < 0 {
		l.fault(path, "write a whole number of at least 0, such as 3", "this must be a whole number of at least 0")
		return nil
	}
	n := math.MaxInt32
	if r.Num().IsInt64() && r.Num().Int64() < math.MaxInt32 {
		n = int(r.Num().Int64())
	}
	return &n
}

// number returns a number as it is written; anything else is a fault.
func (l *lifter) number(path string, value []byte) json.RawMessage {
	if _, ok := rational(value); !ok {
		l.fault(path, "write a number, such as 10", "this must be a number, of at most %d digits", maxNumberDigits)
		return nil
	}
	return value
}

// boolean returns true or false; anything else is a fault.
func (l *lifter) boolean(path string, value []byte) bool {
	switch string(value) {
	case "true":
		return true
	case "false":
	default:
		l.fault(path, "write true or false", "this must be true or false")
	}
	return false
}
