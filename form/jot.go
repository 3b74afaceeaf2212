package form

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// jot is JSON in the making: members and elements are written in the order in which
// they are to stand. What is empty is left out by most methods.
type jot struct{ b []byte }

// comma parts what comes from what came before. A string cannot end like that, as
// its last byte is a quote.
func (j *jot) comma() {
	if n := len(j.b); n > 0 {
		switch j.b[n-1] {
		case '{', '[', ':':
		default:
			j.b = append(j.b, ',')
		}
	}
}

// name begins a member.
func (j *jot) name(name string) {
	j.comma()
	j.b = append(appendQuoted(j.b, name), ':')
}

// open begins an object or array: the value of a member that was named, or an
// element.
func (j *jot) open(bracket byte) {
	j.comma()
	j.b = append(j.b, bracket)
}

// member begins a member that is an object or array.
func (j *jot) member(name string, bracket byte) {
	j.name(name)
	j.open(bracket)
}

func (j *jot) close(bracket byte) { j.b = append(j.b, bracket) }

// quote writes a string as an element.
func (j *jot) quote(s string) {
	j.comma()
	j.b = appendQuoted(j.b, s)
}

// text writes a member, unless it is empty.
func (j *jot) text(name, value string) {
	if value != "" {
		j.name(name)
		j.b = appendQuoted(j.b, value)
	}
}

// raw writes a member that is JSON already, unless there is none.
func (j *jot) raw(name string, value []byte) {
	if len(value) > 0 {
		j.name(name)
		j.b = append(j.b, value...)
	}
}

// count writes a member, unless it is nil.
func (j *jot) count(name string, value *int) {
	if value != nil {
		j.name(name)
		j.b = strconv.AppendInt(j.b, int64(*value), 10)
	}
}

// texts writes an array of strings as a member, unless it is empty.
func (j *jot) texts(name string, values []string) {
	if len(values) > 0 {
		j.member(name, '[')
		for _, v := range values {
			j.quote(v)
		}
		j.close(']')
	}
}

// members writes members as they are.
func (j *jot) members(members []Member) {
	for _, m := range members {
		j.raw(m.Name, m.Value)
	}
}

// appendQuoted appends s as a JSON string. Definitions are valid UTF-8, so that
// nothing is lost by the replacement of what is not.
func appendQuoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
