package config

import (
	"strings"
	"unicode/utf8"
)

const (
	// MaxFileBytes is the length of the longest source that is read.
	MaxFileBytes = 1 << 20

	// maxDepth is how deep a source may be nested. A configuration needs five.
	maxDepth = 32
)

// position is a place in a source, counted from 1, columns in characters. The
// zero value is no place.
type position struct {
	// The line and the column.
	line, column int
}

// kind is what a node is, in the words of both notations.
type kind int

// The kinds of a node.
const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindText
	kindList
	kindMapping
)

// String names the kind for a fault.
func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "a text", "a list", "a mapping"}[k]
}

// node is one value of a source, whichever notation it was written in.
type node struct {
	// What it is.
	kind kind

	// Where it begins.
	pos position

	// A single value as it is written, for a text without its quotes.
	text string

	// The members of a list.
	items []*node

	// The members of a mapping, in the order of the source; keys may repeat.
	entries []entry
}

// entry is a member of a mapping.
type entry struct {
	// The key, and where it stands.
	key string
	pos position

	// The value.
	value *node

	// The key in a client's file, when this entry was made from it under
	// another name. Otherwise empty.
	was string
}

// get is the value under key, or nil; of a repeated key the first.
func (n *node) get(key string) *node {
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// describe names the node for a fault, in a few words. It quotes the value, so
// it is not for secrets.
func (n *node) describe() string {
	switch n.kind {
	case kindBool, kindNumber:
		return n.text
	case kindText:
		return "the text " + quoteShort(n.text)
	default:
		return n.kind.String()
	}
}

// readTree reads a source into nodes. A source that begins with a brace is
// JSON, any other is YAML. An empty source is an empty mapping. The error is a
// [syntaxError].
func readTree(data []byte) (*node, error) {
	if len(data) > MaxFileBytes {
		return nil, syntaxError{complaint: complain("", "longer than %v", Bytes(MaxFileBytes))}
	}
	text := strings.TrimPrefix(string(data), "\uFEFF")
	if err := checkCharacters(text); err != nil {
		return nil, err
	}
	if isJSON(text) {
		return readJSON(text)
	}
	return readYAML(text)
}

// syntaxError says that a source cannot be read at all.
type syntaxError struct {
	// What is wrong, and what to do about it.
	complaint

	// Where.
	pos position
}

// checkCharacters refuses what neither notation allows: text that is not
// UTF-8, and control characters. Two readers could take those differently.
func checkCharacters(text string) error {
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			return syntaxError{complaint{"not UTF-8", "save the file as UTF-8"}, positionAt(text, i)}
		case r == '\t' || r == '\n' || r == '\r':
		case r < ' ' || 0x7F <= r && r < 0xA0:
			return syntaxError{complain(`write it as an escape in a quoted text, as in "\u0007"`,
				"control character U+%04X", r), positionAt(text, i)}
		}
	}
	return nil
}

// positionAt turns an offset in text into line and column.
func positionAt(text string, offset int) position {
	before := text[:offset]
	lineStart := strings.LastIndexByte(before, '\n') + 1
	return position{
		line:   strings.Count(before, "\n") + 1,
		column: utf8.RuneCountInString(before[lineStart:]) + 1,
	}
}
