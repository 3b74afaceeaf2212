package form

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// displayStyles and inputTypes are the values of these hints.
var (
	displayStyles = []string{"dropdown", "radio", "checkbox", "toggle", "segmented", "multiselect_dropdown", "chips", "slider",
		"text", "password", "email", "tel"}
	inputTypes = []string{"text", "password", "email", "tel", "url", "number", "date", "time", "datetime_local", "datetime-local"}
	triggers   = []string{"on_change", "on_blur", "on_submit"}
)

// hint is a rendering or accessibility hint that is known.
type hint struct {
	name string
	read func(*parser, *node, *Hints) // checks the value, and keeps what is of use here
}

// renderingHints are the hints in rendering.
var renderingHints = []hint{
	{"placeholder", func(p *parser, n *node, h *Hints) { h.Placeholder = p.text(n) }},
	{"helpText", func(p *parser, n *node, h *Hints) { h.HelpText = p.text(n) }},
	{"displayStyle", func(p *parser, n *node, h *Hints) { h.DisplayStyle = p.word(n, displayStyles) }},
	{"inputType", func(p *parser, n *node, h *Hints) { h.InputType = p.word(n, inputTypes) }},
	{"autocomplete", func(p *parser, n *node, h *Hints) { h.Autocomplete = p.text(n) }},
	{"readonly", func(p *parser, n *node, h *Hints) { h.Readonly = p.boolean(n) }},
	{"hidden", func(p *parser, n *node, h *Hints) { h.Hidden = p.boolean(n) }},
	{"conditionalDisplay", func(p *parser, n *node, h *Hints) { h.ConditionalDisplay = new(p.condition(n)) }},
	{"rows", func(p *parser, n *node, h *Hints) { h.Rows = p.positive(n) }},
	{"step", func(p *parser, n *node, h *Hints) { h.Step = p.number(n) }},
	{"enableTime", func(p *parser, n *node, h *Hints) { h.EnableTime = p.boolean(n) }},
	{"gridColumn", func(p *parser, n *node, _ *Hints) { p.positive(n) }},
	{"gridRow", func(p *parser, n *node, _ *Hints) { p.positive(n) }},
	{"breakAfter", func(p *parser, n *node, _ *Hints) { p.boolean(n) }},
	{"validationTrigger", func(p *parser, n *node, _ *Hints) { p.word(n, triggers) }},
	{"debounceMs", func(p *parser, n *node, _ *Hints) { p.positive(n) }},
	{"searchable", func(p *parser, n *node, _ *Hints) { p.boolean(n) }},
	{"testButton", func(p *parser, n *node, _ *Hints) { p.boolean(n) }},
	{"acceptAttribute", func(p *parser, n *node, _ *Hints) { p.text(n) }},
	{"dragAndDrop", func(p *parser, n *node, _ *Hints) { p.boolean(n) }},
	{"preview", func(p *parser, n *node, _ *Hints) { p.boolean(n) }},
	{"displayFormat", func(p *parser, n *node, _ *Hints) { p.text(n) }},
	{"accessibility", func(p *parser, n *node, _ *Hints) { p.hints(n, accessibilityHints, nil) }},
}

// accessibilityHints are the hints in accessibility.
var accessibilityHints = []hint{
	{"ariaLabel", func(p *parser, n *node, _ *Hints) { p.text(n) }},
	{"ariaDescribedBy", func(p *parser, n *node, _ *Hints) { p.text(n) }},
	{"tabIndex", func(p *parser, n *node, _ *Hints) { p.whole(n, -1, maxCount, "0") }},
	{"required", func(p *parser, n *node, _ *Hints) { p.boolean(n) }},
	{"invalid", func(p *parser, n *node, _ *Hints) { p.boolean(n) }},
}

// hintNames are the names of the known rendering hints.
func hintNames() []string {
	return []string{"placeholder", "helpText", "displayStyle", "inputType", "autocomplete", "readonly", "hidden", "conditionalDisplay",
		"rows", "step", "enableTime", "gridColumn", "gridRow", "breakAfter", "validationTrigger", "debounceMs", "searchable",
		"testButton", "acceptAttribute", "dragAndDrop", "preview", "displayFormat"}
}

// hints reads the known among the members of n. The others are kept as they are, but
// one that differs from a known one in its spelling alone is a mistake, and one that
// would show a secret.
func (p *parser) hints(n *node, known []hint, to *Hints) {
	if n.kind != '{' {
		p.wrong(n, "an object", "write an object, or leave it out")
		return
	}
	for _, m := range n.children {
		i := slices.IndexFunc(known, func(k hint) bool { return k.name == m.name })
		if i >= 0 {
			known[i].read(p, m, to)
			continue
		}
		plain := plainWord(m.name)
		for _, k := range known {
			if plain == plainWord(k.name) {
				p.fault(m.path(), fmt.Sprintf("%s is spelled otherwise", quoted(m.name)), "write "+k.name)
			}
		}
	}
}

// word reads one of some words.
func (p *parser) word(n *node, words []string) string {
	s := p.text(n)
	if n.kind == '"' && !slices.Contains(words, s) {
		p.add(noWord(n.path(), s, words))
	}
	return s
}

// noWord tells of a word that is none of those possible.
func noWord(path, s string, words []string) Fault {
	fix := "write " + choice(words)
	if likely := nearest(s, words); likely != "" {
		fix = "write " + quoted(likely)
	}
	return Fault{path, fmt.Sprintf("%s is not known here", quoted(s)), fix}
}

func (p *parser) positive(n *node) int {
	v, _ := p.whole(n, 1, maxCount, "3")
	return int(v)
}

func (p *parser) number(n *node) json.RawMessage {
	if n.kind != '0' {
		p.wrong(n, "a number", "write a number without quotes, such as 0.5")
		return nil
	}
	return n.value()
}

// hintsOf brings the hints of a field together: Hints is read from Rendering, or
// Rendering written from Hints where a program gave these alone.
func (c *checker) hintsOf(i int) {
	f := &c.def.Fields[i]
	path := "$.fields[" + strconv.Itoa(i) + "]"
	if f.Rendering == nil && !reflect.ValueOf(f.Hints).IsZero() {
		f = c.edit(i)
		f.Rendering, f.Hints = f.Hints.json(), Hints{}
	}
	var inner *node
	if f.Rendering != nil {
		if n := c.readObject(f.Rendering, path+".rendering"); n != nil {
			inner = c.rendering(i, n)
		}
	}
	f = &c.def.Fields[i]
	if f.Accessibility != nil && inner == nil {
		if n := c.readObject(f.Accessibility, path+".accessibility"); n != nil {
			c.hints(n, accessibilityHints, nil)
		}
	}
}

// json is h as a rendering object.
func (h *Hints) json() []byte {
	var j jot
	j.hints(h)
	return j.b
}

// rendering reads the hints of field i, and returns the accessibility within them.
func (c *checker) rendering(i int, n *node) *node {
	var read Hints
	before := len(c.faults)
	c.hints(n, renderingHints, &read)
	f := &c.def.Fields[i]
	if reflect.ValueOf(f.Hints).IsZero() {
		if !reflect.ValueOf(read).IsZero() {
			c.edit(i).Hints = read
		}
	} else if len(c.faults) == before && !sameJSON(f.Hints.json(), read.json()) {
		c.fault(n.path(), "Rendering and Hints do not say the same", "set one of them alone")
	}
	inner := n.child("accessibility")
	switch {
	case inner == nil:
	case f.Accessibility == nil:
		c.edit(i).Accessibility = inner.value()
	case !sameJSON(f.Accessibility, inner.raw):
		c.fault(n.path(), "accessibility stands in rendering and beside it, and not the same", "write it beside rendering alone")
	}
	return inner
}

// sameJSON reports whether two values are the same but for white space.
func sameJSON(a, b []byte) bool {
	left, _ := readText(a, "$")
	right, _ := readText(b, "$")
	return left != nil && right != nil && string(left.value()) == string(right.value())
}
