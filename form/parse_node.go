package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a definition as a text.
const (
	maxDefinition = 256 << 10 // bytes
	maxDepth      = 64        // objects and arrays within each other
)

// node is a value in a JSON text, with its place.
type node struct {
	parent   *node
	base     string // the path, of a node without parent
	name     string // of the member, in an object
	index    int    // in an array
	at       int    // where it begins in the text; of a member, its value
	kind     jsontext.Kind
	text     string // of a string
	raw      []byte // as it is written
	children []*node
}

// path is the JSON path of n.
func (n *node) path() string {
	switch {
	case n.parent == nil:
		return n.base
	case n.parent.kind == '[':
		return n.parent.path() + "[" + strconv.Itoa(n.index) + "]"
	}
	return memberPath(n.parent.path(), n.name)
}

// memberPath is the path of a member of the object at path.
func memberPath(path, name string) string {
	plain := name != ""
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		plain = plain && (letter || i > 0 && '0' <= c && c <= '9')
	}
	if plain {
		return path + "." + name
	}
	name = clip(name, 100)
	if strings.ContainsAny(name, `\'`) {
		name = strings.ReplaceAll(strings.ReplaceAll(name, `\`, `\\`), `'`, `\'`)
	}
	return path + "['" + name + "']"
}

// child returns the member called name, or nil.
func (n *node) child(name string) *node {
	if n.kind == '{' {
		for _, c := range n.children {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

// value returns the bytes of n without white space around tokens. They are not
// those of the text that was read.
func (n *node) value() json.RawMessage {
	v := jsontext.Value(bytes.Clone(n.raw))
	if n.kind == '{' || n.kind == '[' {
		_ = v.Compact() // it has been read: it is valid
	}
	return json.RawMessage(v)
}

// what names the kind of n for a message.
func (n *node) what() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a boolean"
}

// textReader reads a JSON text into nodes.
type textReader struct {
	text   []byte
	dec    *jsontext.Decoder
	twice  []*node // members whose name came before in their object
	failed *Fault  // what ended the reading
}

// readText reads one value that is all of text. The path of the value is base.
// Names that come twice are faults beside the value; every other fault leaves none.
func readText(text []byte, base string) (*node, Faults) {
	r := &textReader{text: text}
	// Names that come twice are looked for here: the decoder would stop at the first.
	r.dec = jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	root := &node{base: base}
	if r.value(root, 0) {
		if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
			r.failed = &Fault{base, "something follows the value, at " + r.place(), "leave out what follows"}
		}
	}
	if r.failed != nil {
		return nil, Faults{*r.failed}
	}
	var faults Faults
	for _, n := range r.twice {
		faults = append(faults, Fault{n.path(), fmt.Sprintf("the member %s is there twice", quoted(n.name)), "leave one of them out"})
	}
	return root, faults
}

// value reads the next value into n.
func (r *textReader) value(n *node, depth int) bool {
	n.kind = r.dec.PeekKind()
	if n.kind != '{' && n.kind != '[' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return r.fail(n, err)
		}
		n.at = int(r.dec.InputOffset()) - len(raw)
		n.raw = r.text[n.at : n.at+len(raw)]
		switch n.kind {
		case '"':
			text, _ := jsontext.AppendUnquote(nil, raw) // it has been read: it is valid
			n.text = string(text)
		case 'f':
			n.kind = 't'
		}
		return true
	}
	if depth == maxDepth {
		r.failed = &Fault{n.path(), fmt.Sprintf("is nested deeper than %d", maxDepth), "write a flatter value"}
		return false
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.fail(n, err)
	}
	n.at = int(r.dec.InputOffset()) - 1
	if !r.children(n, depth) {
		return false
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.fail(n, err)
	}
	n.raw = r.text[n.at:r.dec.InputOffset()]
	return true
}

// children reads what is in the object or array n.
func (r *textReader) children(n *node, depth int) bool {
	var seen map[string]bool
	for r.dec.PeekKind() != n.kind+2 { // as } is to {, and ] to [
		child := &node{parent: n, index: len(n.children)}
		if n.kind == '{' {
			name, err := r.dec.ReadToken()
			if err != nil {
				return r.fail(n, err)
			}
			child.name = name.String()
		}
		if !r.value(child, depth+1) {
			return false
		}
		if n.kind == '{' {
			if len(n.children) == 16 { // of fewer, comparing each is faster
				seen = make(map[string]bool)
				for _, c := range n.children {
					seen[c.name] = true
				}
			}
			if seen[child.name] || seen == nil && n.child(child.name) != nil {
				if len(r.twice) < maxFaults {
					r.twice = append(r.twice, child)
				}
				continue
			}
			if seen != nil {
				seen[child.name] = true
			}
		}
		n.children = append(n.children, child)
	}
	return true
}

// fail notes that the text is no JSON at n.
func (r *textReader) fail(n *node, err error) bool {
	path := n.path()
	fix := "correct the JSON there"
	what := err
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		what = e.Err
	}
	message := strings.TrimPrefix(what.Error(), "jsontext: ")
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		message, fix = "it ends too early", "close what is open: strings, arrays, objects"
	case bytes.HasPrefix(r.text, []byte("\ufeff")):
		message, fix = "it begins with a byte order mark", "save it as UTF-8 without one"
	case bytes.HasPrefix(r.text, []byte{0xff, 0xfe}), bytes.HasPrefix(r.text, []byte{0xfe, 0xff}):
		message, fix = "it is UTF-16", "save it as UTF-8"
	case strings.Contains(message, "UTF-8"):
		fix = "write UTF-8"
	}
	r.failed = &Fault{path, fmt.Sprintf("is no valid JSON: %s, at %s", message, r.placeOf(err)), fix}
	return false
}

func (r *textReader) place() string { return placeIn(r.text, int(r.dec.InputOffset())) }

func (r *textReader) placeOf(err error) string {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return placeIn(r.text, int(e.ByteOffset))
	}
	return placeIn(r.text, len(r.text))
}

// placeIn is line and column of an offset in text, as editors count them.
func placeIn(text []byte, at int) string {
	before := text[:min(at, len(text))]
	line := bytes.Count(before, []byte("\n"))
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("line %d, column %d", line+1, column+1)
}

// member returns a member of a JSON object that was read before, or nil.
func member(object []byte, name string) []byte {
	if !bytes.Contains(object, []byte(name)) {
		return nil
	}
	root, _ := readText(object, "$")
	if root == nil {
		return nil
	}
	if m := root.child(name); m != nil {
		return m.raw
	}
	return nil
}
