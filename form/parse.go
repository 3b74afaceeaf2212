package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxFaults is how many faults are told; whoever has more has enough to do.
const maxFaults = 100

// parser makes a definition of nodes, and notes what is wrong.
type parser struct {
	faults Faults // the first, at most maxFaults
	more   int    // how many there are besides
	moved  []move
}

// move is where something stands in the text that [Form.MarshalJSON] would write
// elsewhere, and where check therefore reports it.
type move struct{ from, to string }

func (p *parser) fault(path, message, fix string) { p.add(Fault{path, message, fix}) }

func (p *parser) add(f Fault) {
	if len(p.faults) >= maxFaults {
		p.more++
		return
	}
	p.faults = append(p.faults, f)
}

// wrong notes that n is not what it should be.
func (p *parser) wrong(n *node, want, fix string) {
	p.fault(n.path(), fmt.Sprintf("is %s, and must be %s", n.what(), want), fix)
}

// parse is [Parse]. Before the definition is checked, adjust may change it, if it is
// not nil.
func parse(definition []byte, adjust func(*Definition)) (*Form, error) {
	var p parser
	d, root := p.read(definition)
	if root == nil || root.kind != '{' {
		return nil, p.faults
	}
	if adjust != nil {
		adjust(&d)
	}
	f := newForm(d)
	faults := p.merge(root, f.check())
	if len(faults) == 0 {
		faults = p.merge(root, f.prepare())
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return f, nil
}

// read reads a definition, and returns it with its nodes, which are nil when the
// text cannot be read.
func (p *parser) read(text []byte) (d Definition, root *node) {
	if len(text) > maxDefinition {
		p.fault("$", fmt.Sprintf("the definition has %d bytes; %d are possible", len(text), maxDefinition), "write a smaller form, or several")
		return d, nil
	}
	root, p.faults = readText(text, "$")
	if root != nil {
		p.definition(root, &d)
	}
	return d, root
}

// object returns the members of n, and notes those that are not known. what is "the
// form", "a field" and so on.
func (p *parser) object(n *node, what string, known []string) []*node {
	if n.kind != '{' {
		p.wrong(n, "an object", "write "+what+" as an object with "+list(known, "and"))
		return nil
	}
	var members []*node
	for _, m := range n.children {
		if slices.Contains(known, m.name) {
			members = append(members, m)
		} else {
			p.unknown(m, what, known)
		}
	}
	return members
}

// unknown notes a member that is not known, with what was likely meant.
func (p *parser) unknown(m *node, what string, known []string) {
	if len(p.faults) >= maxFaults {
		p.more++
		return
	}
	fix := "leave it out; " + what + " may have " + list(known, "and")
	if likely := nearest(m.name, known); likely != "" {
		fix = "write " + likely
	} else if other := elsewhere(m.name, what); other != "" && m.parent.child(other) == nil {
		fix = "write " + other
	} else if place := belongs(m.name, what); place != "" {
		fix = fmt.Sprintf("move it into %s", place)
	} else if what == "the form" {
		fix += "; what only your own programs know can stand in metadata"
	}
	p.fault(m.path(), fmt.Sprintf("%s has no member %s", what, quoted(m.name)), fix)
}

// elsewhere is what a member is called here that has this name in other languages for
// forms.
func elsewhere(name, what string) string {
	switch name = plainWord(name); {
	case what == "an option" && slices.Contains([]string{"label", "name", "text"}, name):
		return "title"
	case what == "an option" && slices.Contains([]string{"id", "key", "const"}, name):
		return "value"
	case what == "a field" && slices.Contains([]string{"name", "key"}, name):
		return "id"
	case what == "a field" && slices.Contains([]string{"title", "question", "prompt"}, name):
		return "label"
	case what == "a field" && slices.Contains([]string{"choices", "values"}, name):
		return "options"
	case what == "the form" && slices.Contains([]string{"questions", "inputs"}, name):
		return "fields"
	}
	return ""
}

// belongs says where a member is known that stands elsewhere.
func belongs(name, what string) string {
	switch {
	case what == "a field" && slices.Contains(ruleNames(), name):
		return "validation"
	case what == "a field" && slices.Contains(hintNames(), name):
		return "rendering"
	case what == "the form" && slices.Contains(termMembers, name):
		return "timeout_config"
	case what == "validation" && slices.Contains(fieldMembers, name):
		return "the field itself"
	case what == "validation" && slices.Contains(hintNames(), name):
		return "rendering"
	}
	return ""
}

func (p *parser) text(n *node) string {
	if n.kind != '"' {
		p.wrong(n, "a string", `write it in quotes, such as "`+sampleText(n)+`"`)
	}
	return n.text
}

// sampleText is what n says, for the fix of one that is no string.
func sampleText(n *node) string {
	if n.kind == '0' || n.kind == 't' {
		return clip(string(n.raw), 40)
	}
	return "text"
}

func (p *parser) boolean(n *node) bool {
	if n.kind != 't' {
		p.wrong(n, "true or false", "write true or false, without quotes")
	}
	return string(n.raw) == "true"
}

// whole reads a whole number within bounds.
func (p *parser) whole(n *node, low, high int64, sample string) (int64, bool) {
	fix := fmt.Sprintf("write a whole number of at least %d, such as %s", low, sample)
	if n.kind != '0' {
		p.wrong(n, "a whole number", fix)
		return 0, false
	}
	v, err := strconv.ParseInt(string(n.raw), 10, 64)
	switch {
	case strings.ContainsAny(string(n.raw), ".eE"):
		p.fault(n.path(), fmt.Sprintf("%s is not written as a whole number", clip(string(n.raw), 40)), fix)
		return 0, false
	case v < low:
		p.fault(n.path(), fmt.Sprintf("%s is less than %d", clip(string(n.raw), 40), low), fix)
		return 0, false
	case err != nil || v > high:
		p.fault(n.path(), fmt.Sprintf("%s is more than %d", clip(string(n.raw), 40), high),
			fmt.Sprintf("write a whole number of at most %d, such as %s", high, sample))
		return 0, false
	}
	return v, true
}

// count reads a whole number that may be zero.
func (p *parser) count(n *node) *int {
	if v, ok := p.whole(n, 0, maxCount, "3"); ok {
		return new(int(v))
	}
	return nil
}

// millis reads a duration within the bounds of [Terms].
func (p *parser) millis(n *node) time.Duration {
	v, _ := p.whole(n, minTerm.Milliseconds(), maxTerm.Milliseconds(), "300000 for five minutes")
	return time.Duration(v) * time.Millisecond
}

// texts reads an array of strings.
func (p *parser) texts(n *node, sample string) []string {
	var texts []string
	for _, c := range p.array(n, sample) {
		texts = append(texts, p.text(c))
	}
	return texts
}

// array returns the elements of n, and notes when there is none.
func (p *parser) array(n *node, sample string) []*node {
	if n.kind != '[' {
		p.wrong(n, "an array", "write an array, such as "+sample)
		return nil
	}
	if len(n.children) == 0 {
		p.fault(n.path(), "is empty", "write at least one element, such as "+sample+", or leave it out")
	}
	return n.children
}

// kept returns the value of n as it is written, which must be an object.
func (p *parser) kept(n *node) json.RawMessage {
	if n.kind != '{' {
		p.wrong(n, "an object", "write an object, or leave it out")
		return nil
	}
	return n.value()
}

// merge returns the faults of reading together with those that check found, with
// the places where they stand in the text, in the order of the text. What was told
// of a value, or of what it lies in, is not told twice.
func (p *parser) merge(root *node, checked Faults) Faults {
	told := make(map[string]bool, len(p.faults))
	for _, f := range p.faults {
		told[f.Path] = true
	}
	all := slices.Clone(p.faults)
	for _, f := range checked {
		f.Path = p.place(f.Path)
		if !within(f.Path, told) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	places := make(map[string]int)
	root.places("$", all, places)
	slices.SortStableFunc(all, func(a, b Fault) int { return offset(a.Path, places) - offset(b.Path, places) })
	return all.bounded(p.more)
}

// bounded is f without those beyond the number that is told. There are more besides.
func (f Faults) bounded(more int) Faults {
	if len(f) > maxFaults {
		more += len(f) - maxFaults
		f = f[:maxFaults:maxFaults]
	}
	if more > 0 {
		f = append(f, Fault{"$", fmt.Sprintf("there are %d more faults", more), "correct these first"})
	}
	return f
}

// place is where something stands in the text that check reports at path.
func (p *parser) place(path string) string {
	for _, m := range p.moved {
		if rest, ok := strings.CutPrefix(path, m.from); ok && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			return m.to + rest
		}
	}
	return path
}

// within reports whether path, or a path that leads to it, is among told.
func within(path string, told map[string]bool) bool {
	for path != "$" && path != "" {
		if told[path] {
			return true
		}
		path = parentPath(path)
	}
	return false
}

// parentPath is path without its last step.
func parentPath(path string) string {
	if i := strings.LastIndexAny(path, ".["); i > 0 {
		return path[:i]
	}
	return ""
}

// places notes where n, which is at path, and the values in it begin in the text, as
// far as they lead to faults.
func (n *node) places(path string, faults Faults, at map[string]int) {
	if !slices.ContainsFunc(faults, func(f Fault) bool { return strings.HasPrefix(f.Path, path) }) {
		return
	}
	at[path] = n.at
	for i, c := range n.children {
		if n.kind == '[' {
			c.places(path+"["+strconv.Itoa(i)+"]", faults, at)
		} else {
			c.places(memberPath(path, c.name), faults, at)
		}
	}
}

// offset is where path, or the nearest that leads to it, begins in the text.
func offset(path string, places map[string]int) int {
	for path != "" {
		if at, ok := places[path]; ok {
			return at
		}
		path = parentPath(path)
	}
	return 0
}

// choice writes values as people do: "a", "b" or "c".
func choice(values []string) string {
	in := make([]string, len(values))
	for i, v := range values {
		in[i] = quoted(v)
	}
	return list(in, "or")
}

// list writes words as people do: a, b and c.
func list(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
