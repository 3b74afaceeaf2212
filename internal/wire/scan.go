package wire

import "bytes"

// scanner walks through JSON that was read strictly before. It finds where values
// end without looking at them again, which for long strings is many times faster
// than the tokenizer. On bytes that are no JSON it stops early; what it returns
// always lies within them.
type scanner struct {
	b  []byte
	at int
}

// next skips white space and returns the byte that follows, or 0 at the end.
func (s *scanner) next() byte {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// open takes the delimiter that begins an object or array.
func (s *scanner) open(delimiter byte) bool {
	if s.next() != delimiter {
		return false
	}
	s.at++
	return true
}

// more reports whether another member or element follows, and takes the comma
// before it.
func (s *scanner) more(end byte) bool {
	switch s.next() {
	case 0, end:
		return false
	case ',':
		s.at++
		return s.next() != 0
	}
	return true
}

// value takes one value, or the name of a member, and returns its place.
func (s *scanner) value() (Span, bool) {
	c := s.next()
	start := s.at
	switch c {
	case 0, ',', ':', '}', ']':
		return Span{}, false
	case '"':
		if !s.text() {
			return Span{}, false
		}
	case '{', '[':
		if !s.nested() {
			return Span{}, false
		}
	default:
		if i := bytes.IndexAny(s.b[s.at:], ",:}] \t\r\n"); i >= 0 {
			s.at += i
		} else {
			s.at = len(s.b)
		}
	}
	return Span{start, s.at}, true
}

// text takes a string, from quote to quote.
func (s *scanner) text() bool {
	for i := s.at + 1; ; i++ {
		quote := bytes.IndexByte(s.b[min(i, len(s.b)):], '"')
		if quote < 0 {
			return false
		}
		i += quote
		escapes := 0
		for s.b[i-1-escapes] == '\\' && i-1-escapes > s.at {
			escapes++
		}
		if escapes%2 == 0 {
			s.at = i + 1
			return true
		}
	}
}

// nested takes an object or array with all that is in it.
func (s *scanner) nested() bool {
	for depth := 0; s.at < len(s.b); {
		switch s.b[s.at] {
		case '"':
			if !s.text() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if s.at++; depth == 0 {
			return true
		}
	}
	return false
}
