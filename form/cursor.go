package form

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// valid reports whether b is one JSON value, and nothing else: without duplicate
// names, and in valid UTF-8.
func valid(b []byte) bool { return jsontext.Value(b).IsValid() }

// cursor walks through JSON that is known to be [valid]. It only finds where values
// end, which is cheap beside checking them.
type cursor struct {
	b  []byte
	at int
}

// span is the place of a value; the zero span is that of none.
type span struct{ from, to int }

// next skips white space and returns the byte that follows, 0 at the end.
func (c *cursor) next() byte {
	for c.at < len(c.b) {
		switch b := c.b[c.at]; b {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return b
		}
	}
	return 0
}

// enter goes into the object or array that follows.
func (c *cursor) enter() {
	c.next()
	c.at++
}

// more goes to the next member or element, and reports whether there is one. Behind
// the last, it leaves the object or array.
func (c *cursor) more() bool {
	switch c.next() {
	case '}', ']':
		c.at++
		return false
	case ',':
		c.at++
	case 0:
		return false
	}
	return true
}

// member takes a member.
func (c *cursor) member() (name, value span) {
	name = c.value()
	c.next()
	c.at++ // the colon
	return name, c.value()
}

// value takes a value, or the name of a member.
func (c *cursor) value() span {
	first := c.next()
	from := c.at
	switch first {
	case '"':
		c.skipString()
	case '{', '[':
		c.skipNested()
	default:
		for c.at < len(c.b) && !endsLiteral(c.b[c.at]) {
			c.at++
		}
	}
	return span{from, c.at}
}

func endsLiteral(b byte) bool {
	switch b {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

func (c *cursor) skipString() {
	from := c.at
	for c.at++; ; c.at++ {
		quote := bytes.IndexByte(c.b[c.at:], '"')
		if quote < 0 {
			c.at = len(c.b)
			return
		}
		c.at += quote
		escapes := 0
		for i := c.at - 1; i > from && c.b[i] == '\\'; i-- {
			escapes++
		}
		if escapes%2 == 0 {
			c.at++
			return
		}
	}
}

func (c *cursor) skipNested() {
	depth := 0
	for c.at < len(c.b) {
		switch c.b[c.at] {
		case '"':
			c.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if c.at++; depth == 0 {
			return
		}
	}
}
