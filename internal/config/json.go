package config

import (
	"encoding/json"
	"strings"
)

// jsonReader reads JSON with the liberties that editors take in the files they
// keep for people: comments, and a comma before a closing bracket. The standard
// decoder has neither these nor exact positions.
type jsonReader struct {
	// The source.
	text string

	// The offset of what is read next.
	at int
}

// isJSON reports whether the first thing in text, comments aside, is a brace.
func isJSON(text string) bool {
	r := &jsonReader{text: text}
	return r.space() == nil && r.peek() == '{'
}

// readJSON reads a document that holds one value.
func readJSON(text string) (*node, error) {
	r := &jsonReader{text: text}
	n, err := r.value(1)
	if err != nil {
		return nil, err
	}
	if err := r.space(); err != nil {
		return nil, err
	}
	if r.at < len(r.text) {
		return nil, r.fail("something follows the end of the document")
	}
	return n, nil
}

// fail says what is wrong at the current place.
func (r *jsonReader) fail(problem string) error {
	if r.at >= len(r.text) {
		problem = "the document ends too early"
	}
	hint := "a file that begins with { is read as JSON"
	return syntaxError{complaint{problem, hint}, positionAt(r.text, r.at)}
}

// peek is the next byte, or 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at >= len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// space goes past white space and comments.
func (r *jsonReader) space() error {
	for {
		rest := strings.TrimLeft(r.text[r.at:], " \t\r\n")
		r.at = len(r.text) - len(rest)
		end, length := "\n", 1
		switch {
		case strings.HasPrefix(rest, "//"):
		case strings.HasPrefix(rest, "/*"):
			end, length = "*/", 2
		default:
			return nil
		}
		stop := strings.Index(rest[length:], end)
		switch {
		case stop >= 0:
			r.at += length + stop + len(end)
		case end == "\n":
			r.at = len(r.text)
		default:
			return r.fail("a comment that does not end")
		}
	}
}

// value reads the next value, which is nested depth levels deep.
func (r *jsonReader) value(depth int) (*node, error) {
	if err := r.space(); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, r.fail(tooDeep)
	}
	n := &node{pos: positionAt(r.text, r.at)}
	var err error
	switch r.peek() {
	case '{':
		n.kind = kindMapping
		err = r.members('}', func() error { return r.member(n, depth) })
	case '[':
		n.kind = kindList
		err = r.members(']', func() error {
			item, err := r.value(depth + 1)
			n.items = append(n.items, item)
			return err
		})
	case '"':
		n.kind = kindText
		n.text, err = r.quoted()
	default:
		n.kind, n.text, err = r.literal()
	}
	return n, err
}

// member reads a key and its value into n.
func (r *jsonReader) member(n *node, depth int) error {
	e := entry{pos: positionAt(r.text, r.at)}
	if r.peek() != '"' {
		return r.fail("expected a key in double quotes")
	}
	var err error
	if e.key, err = r.quoted(); err != nil {
		return err
	}
	if err := r.space(); err != nil {
		return err
	}
	if r.peek() != ':' {
		return r.fail("expected a colon after the key")
	}
	r.at++
	e.value, err = r.value(depth + 1)
	n.entries = append(n.entries, e)
	return err
}

// members reads what is between the bracket at the current place and closing,
// one call of each for every member.
func (r *jsonReader) members(closing byte, each func() error) error {
	r.at++
	for {
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() == closing {
			r.at++
			return nil
		}
		if err := each(); err != nil {
			return err
		}
		if err := r.space(); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.at++
		case closing:
		default:
			return r.fail("expected a comma or " + string(closing))
		}
	}
}

// quoted reads a text in double quotes.
func (r *jsonReader) quoted() (string, error) {
	end := r.at + 1
	for end < len(r.text) && r.text[end] != '"' && r.text[end] != '\n' {
		if r.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(r.text) || r.text[end] != '"' {
		return "", r.fail("a text that does not end on its line")
	}
	var text string
	if json.Unmarshal([]byte(r.text[r.at:end+1]), &text) != nil {
		return "", r.fail("a text with a character or an escape that JSON does not know")
	}
	r.at = end + 1
	return text, nil
}

// literal reads true, false, null or a number.
func (r *jsonReader) literal() (kind, string, error) {
	word := r.text[r.at:]
	if end := strings.IndexAny(word, " \t\r\n,:/]}[{\""); end >= 0 {
		word = word[:end]
	}
	if !json.Valid([]byte(word)) {
		return 0, "", r.fail("expected a value, found " + quoteShort(word))
	}
	r.at += len(word)
	switch word {
	case "true", "false":
		return kindBool, word, nil
	case "null":
		return kindNull, "", nil
	default:
		return kindNumber, word, nil
	}
}
