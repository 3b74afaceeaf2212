package form

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// program is how the answers to a form are checked. It is made once and does not
// change.
type program struct {
	fields      []plan
	conditional bool  // the state of some field depends on answers
	needy       bool  // some field needs others
	limit       int64 // bytes of answers
}

// plan is how the answer to one field is checked.
type plan struct {
	*Field
	name     string // for people: the label, or the id
	secret   bool
	fallback Value // the default; Missing for none
	needs    []int // fields, by their number

	pattern  *regexp.Regexp // of text; nil for none
	matching int            // size of the patterns that look at it: its own, and those of conditions
	format   *format        // of text and date; nil for none
	bounds   []bound        // of number
	multiple *decimal       // of number; nil for any
	from, to *moment        // of date; nil for any
	options  map[string]int // of select and multi_select: their number by value
	schemes  []string       // of url
	blocks   reach          // of url and file: what must not be reached
	maxSize  int64          // of file
}

// bound is one end of what a number may be.
type bound struct {
	constraint string
	words      string // between the name of the field and the limit
	limit      decimal
	text       json.RawMessage
	lower      bool // numbers lie above it
	exclusive  bool // and are not equal to it
}

// holds reports whether d lies on the right side of b.
func (b *bound) holds(d decimal) bool {
	c := d.compare(b.limit)
	if b.lower {
		c = -c
	}
	return c < 0 || c == 0 && !b.exclusive
}

// What answers may be, together, without the contents of files; and a file, unless
// its field says otherwise.
const (
	maxAnswers      = 1 << 20
	defaultFileSize = 10 << 20
)

// prepare makes the program of a form that passed check, and returns what is wrong
// with its rules and defaults: patterns, bounds, a default that is no valid answer.
func (f *Form) prepare() Faults {
	d := &f.def
	p := &f.program
	p.fields = make([]plan, len(d.Fields))
	p.limit = maxAnswers
	p.conditional = len(d.Dependencies) > 0
	secrets := f.Sensitive()
	var faults Faults
	for i := range d.Fields {
		c := &maker{plan: &p.fields[i], path: "$.fields[" + strconv.Itoa(i) + "]", lifted: d.lifted != nil}
		c.Field = &d.Fields[i]
		c.secret = slices.Contains(secrets, c.ID)
		c.make(p, f.index)
		p.conditional = p.conditional || len(c.When) > 0 || c.Hints.ConditionalDisplay != nil
		p.needy = p.needy || len(c.needs) > 0
		faults = append(faults, c.faults...)
	}
	for _, rules := range [][]rule{f.graph.shown, f.graph.bound} {
		for i := range rules {
			p.looks(&rules[i].test)
		}
	}
	if len(faults) > 0 {
		return faults // a default cannot be judged by rules that are wrong
	}
	return f.prepareDefaults()
}

// prepareDefaults reads the defaults. They are strictly valid answers, so that they
// can be put into a JSON Schema.
func (f *Form) prepareDefaults() Faults {
	var faults Faults
	for i := range f.program.fields {
		p := &f.program.fields[i]
		path := "$.fields[" + strconv.Itoa(i) + "]"
		if p.Default == nil {
			if p.Hints.Readonly && p.Required && !f.def.AllowPartial {
				faults = append(faults, Fault{path + ".rendering.readonly", "the field is required and read-only, and has no default: nobody can answer it",
					"give it a default, or leave out readonly or required"})
			}
			continue
		}
		v, e := readDefault(p)
		if e != nil {
			faults = append(faults, Fault{path + ".default", "the default is no valid answer: " + e.Message,
				"write a default that obeys the rules of the field, or none"})
		}
		p.fallback = v
	}
	return faults
}

func readDefault(p *plan) (Value, *Error) {
	if !valid(p.Default) {
		return Value{}, p.fail(CodeMalformed, "", nil, nil, "must have a default in valid JSON")
	}
	r := submission{raw: p.Default, mode: Strict}
	c := cursor{b: p.Default}
	s := c.value()
	if r.raw[s.from] == 'n' {
		return Value{}, p.mistyped(r.raw[s.from:s.to], "null", "left out")
	}
	v, e := r.value(p, s)
	if e == nil {
		p.fallback = v // which a read-only field must equal
		e = p.constrain(&v)
	}
	return v, e
}

// maker makes a plan, and notes what is wrong with the rules that it is made of.
type maker struct {
	*plan
	path   string
	lifted bool // of a schema: what contradicts itself is satisfied by nothing, and no fault
	faults Faults
}

func (m *maker) fault(where, fix, message string, args ...any) {
	m.faults = append(m.faults, Fault{m.path + where, fmt.Sprintf(message, args...), fix})
}

func (m *maker) make(p *program, index map[string]int) {
	m.name = m.Label
	if m.name == "" {
		m.name = m.ID
	}
	for _, id := range m.Needs {
		if i, ok := index[id]; ok {
			m.needs = append(m.needs, i)
		}
	}
	switch m.Type {
	case Text:
		m.makeText()
	case Number:
		m.makeNumber()
	case Date:
		m.makeDate()
	case Select, MultiSelect:
		m.makeChoice()
	case URL:
		m.schemes = m.Rules.AllowedSchemes
		if m.schemes == nil {
			m.schemes = []string{"https"}
		}
	case File:
		m.schemes = []string{"https"} // of a reference
		m.maxSize = defaultFileSize
		if m.Rules.MaxSize != nil {
			m.maxSize = *m.Rules.MaxSize
		}
		p.limit += (min(m.maxSize, 1<<40)/3 + 1) * 4 // base64 takes four bytes for three
	}
	if on := m.Rules.BlockLocalhost; on == nil || *on {
		m.blocks |= local
	}
	if on := m.Rules.BlockPrivateIPs; on == nil || *on {
		m.blocks |= private
	}
}

func (m *maker) makeText() {
	r := &m.Rules
	m.atMost("minLength", r.MinLength, "maxLength", r.MaxLength)
	if r.Pattern != "" {
		m.makePattern()
	}
	if r.Format != "" {
		if m.format = formatOf(r.Format); m.format == nil {
			m.fault(".validation.format", "write email, uri, uuid, ipv4, ipv6, hostname, date or date-time", "there is no format %q", r.Format)
		}
	}
}

// makePattern compiles the pattern. JSON Schema has those of ECMA-262, and RE2 differs
// from it where both can say something: \s has no Unicode spaces and no \v, and the dot
// takes \r and U+2028; \d, \w and \b are of ASCII in both. That of a lifted form is
// taken as long as RE2 does, whatever it costs within those bounds: its author cannot
// be asked to better it.
func (m *maker) makePattern() {
	m.matching += matchingSize(m.Rules.Pattern)
	var fault *Fault
	if m.pattern, fault = compilePattern(m.path+".validation.pattern", m.Rules.Pattern); fault == nil {
		return
	}
	if m.lifted {
		var err error
		if m.pattern, err = regexp.Compile(m.Rules.Pattern); err == nil {
			return
		}
	}
	m.faults = append(m.faults, *fault)
}

// atMost notes that a count is greater than one that it must not exceed.
func (m *maker) atMost(low string, a *int, high string, b *int) {
	if a != nil && b != nil && *a > *b && !m.lifted {
		m.fault(".validation."+low, fmt.Sprintf("write at most %d, or a larger %s", *b, high), "%s is %d and %s %d: no answer is valid", low, *a, high, *b)
	}
}

func (m *maker) makeNumber() {
	r := &m.Rules
	for _, b := range []bound{
		{constraint: "minimum", words: "must be at least", text: r.Minimum, lower: true},
		{constraint: "exclusiveMinimum", words: "must be greater than", text: r.ExclusiveMinimum, lower: true, exclusive: true},
		{constraint: "maximum", words: "must be at most", text: r.Maximum},
		{constraint: "exclusiveMaximum", words: "must be less than", text: r.ExclusiveMaximum, exclusive: true},
	} {
		if b.text == nil {
			continue
		}
		var ok bool
		if b.limit, ok = m.number(b.constraint, b.text); !ok {
			continue
		}
		for _, low := range m.bounds {
			c := low.limit.compare(b.limit)
			if low.lower && !b.lower && (c > 0 || c == 0 && (low.exclusive || b.exclusive)) && !m.lifted {
				m.fault(".validation."+low.constraint, fmt.Sprintf("write a smaller one, or a larger %s", b.constraint),
					"%s is %s and %s %s: no number is valid", low.constraint, low.text, b.constraint, b.text)
			}
		}
		m.bounds = append(m.bounds, b)
	}
	if r.MultipleOf == nil {
		return
	}
	if d, ok := m.number("multipleOf", r.MultipleOf); ok && d.sign() <= 0 {
		m.fault(".validation.multipleOf", "write a number greater than 0, such as 1 for whole numbers", "multipleOf is %s, and must be greater than 0", r.MultipleOf)
	} else if ok {
		m.multiple = &d
	}
}

// number reads a number of the rules.
func (m *maker) number(constraint string, text json.RawMessage) (decimal, bool) {
	d, sizing := parseDecimal(string(text))
	switch sizing {
	case noNumber:
		m.fault(".validation."+constraint, "write a number as in JSON, such as 0.5 or 100", "%s is no number", constraint)
	case hugeNumber:
		m.fault(".validation."+constraint, fmt.Sprintf("write a number of at most %d digits, with an exponent of at most %d", maxNumberDigits, maxNumberExponent),
			"%s is a number beyond all use", constraint)
	}
	return d, sizing == isNumber
}

func (m *maker) makeDate() {
	m.format = formatOf(m.dateFormat())
	if m.format == nil || m.format.name != "date" && m.format.name != "date-time" {
		m.fault(".validation.format", "write date or date-time", "a date cannot have the format %q", m.Rules.Format)
		return
	}
	m.from = m.moment("minimum", m.Rules.Minimum)
	m.to = m.moment("maximum", m.Rules.Maximum)
	if m.from != nil && m.to != nil && m.from.compare(*m.to) > 0 {
		m.fault(".validation.minimum", "write an earlier one, or a later maximum", "minimum is %s and maximum %s: no date is valid", m.Rules.Minimum, m.Rules.Maximum)
	}
}

// moment reads a date of the rules; nil for none.
func (m *maker) moment(constraint string, text json.RawMessage) *moment {
	if text == nil {
		return nil
	}
	var s string
	if json.Unmarshal(text, &s) == nil {
		if at, ok := parseMoment(s); ok {
			return &at
		}
	}
	m.fault(".validation."+constraint, `write a date such as "2026-02-28", or a date and time such as "2026-02-28T15:04:05Z"`, "%s is no date that exists", constraint)
	return nil
}

func (m *maker) makeChoice() {
	m.options = make(map[string]int, len(m.Options))
	for i, o := range m.Options {
		m.options[o.Value] = i
	}
	r := &m.Rules
	m.atMost("minItems", r.MinItems, "maxItems", r.MaxItems)
	if n := len(m.options); r.MinItems != nil && *r.MinItems > n && !m.repeats() && !m.lifted {
		m.fault(".validation.minItems", fmt.Sprintf("write at most %d, or add options", n), "minItems is %d, and there are %d options", *r.MinItems, n)
	}
}
