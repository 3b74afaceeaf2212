package form

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// submission reads one submission.
type submission struct {
	form   *Form
	mode   Mode
	raw    []byte
	whole  string // raw, to take texts from without copying each; "" when that would keep too much in memory
	values []Value
	states []state // by field; nil when nothing depends on answers
	fails  []failure
	extra  []Member

	matching int // steps that patterns take, so far
}

// failure is an error, and the number of its field: that of the fields for what is
// none of them.
type failure struct {
	field int
	err   *Error
}

// sharedText is how long answers may be whose texts share the memory of the whole.
const sharedText = 4096

// maxStrangers is how many names that are no field are reported one by one.
const maxStrangers = 20

// read is [Form.Read].
func (f *Form) read(answers []byte, mode Mode) (Values, error) {
	p := &f.program
	n := len(p.fields)
	r := submission{form: f, mode: mode, raw: answers, values: make([]Value, n)}
	if int64(len(answers)) > p.limit {
		return r.refuse(tooLarge(len(answers)))
	}
	c := cursor{b: answers}
	if !valid(answers) || c.next() != '{' {
		return r.refuse(malformed(answers))
	}
	if len(answers) <= sharedText {
		r.whole = string(answers)
	}
	if len(answers) > maxAnswers {
		if rest := len(answers) - r.contents(c); rest > maxAnswers {
			return r.refuse(tooLarge(rest))
		}
	}
	r.members(c)
	r.fallBack()
	r.depend()
	r.check()
	if p.needy && mode != Draft {
		r.meetNeeds()
	}
	return r.finish()
}

// lenient reports whether values are converted, and defaults filled in.
func (r *submission) lenient() bool { return r.mode != Strict }

// refuse ends the reading of answers that cannot be read at all.
func (r *submission) refuse(e *Error) (Values, error) {
	return Values{form: r.form, values: r.values}, Errors{*e}
}

// members brings the answers to the types of their fields.
func (r *submission) members(c cursor) {
	p := &r.form.program
	next, strangers := 0, 0
	for c.enter(); c.more(); {
		name, value := c.member()
		i, ok := r.field(name, next)
		switch {
		case ok:
			next = i + 1
			r.convert(i, value)
		case r.form.def.Open:
			r.extra = append(r.extra, Member{r.text(name), slices.Clone(r.raw[value.from:value.to])})
		default:
			if strangers++; strangers <= maxStrangers {
				r.fail(len(p.fields), unknownField(r.text(name), r.form))
			}
		}
	}
	if strangers > maxStrangers {
		r.fail(len(p.fields), moreUnknown(strangers-maxStrangers))
	}
}

// field returns the number of the field that a member answers. People's programs
// mostly send them in the order of the fields, so that the next is tried first.
func (r *submission) field(name span, next int) (int, bool) {
	p := &r.form.program
	id := r.raw[name.from+1 : name.to-1]
	if bytes.IndexByte(id, '\\') >= 0 {
		id, _ = jsontext.AppendUnquote(nil, r.raw[name.from:name.to])
	}
	if next < len(p.fields) && string(id) == p.fields[next].ID {
		return next, true
	}
	i, ok := r.form.index[string(id)]
	return i, ok
}

// contents is how many bytes of the answers are contents of files.
func (r *submission) contents(c cursor) int {
	n := 0
	for c.enter(); c.more(); {
		name, s := c.member()
		i, ok := r.field(name, 0)
		if !ok || r.form.program.fields[i].Type != File || r.raw[s.from] != '{' {
			continue
		}
		file := cursor{b: r.raw[:s.to], at: s.from}
		for file.enter(); file.more(); {
			name, value := file.member()
			if string(r.raw[name.from:name.to]) == `"content"` {
				n += value.to - value.from
			}
		}
	}
	return n
}

func (r *submission) fail(field int, e *Error) {
	r.fails = append(r.fails, failure{field, e})
}

// failed reports whether a field has an error already.
func (r *submission) failed(field int) bool {
	return slices.ContainsFunc(r.fails, func(f failure) bool { return f.field == field })
}

// text returns the text of a string.
func (r *submission) text(s span) string {
	raw := r.raw[s.from+1 : s.to-1]
	switch {
	case bytes.IndexByte(raw, '\\') >= 0:
		b, _ := jsontext.AppendUnquote(nil, r.raw[s.from:s.to])
		return string(b)
	case r.whole != "":
		return r.whole[s.from+1 : s.to-1]
	}
	return string(raw)
}

// convert brings an answer to the type of its field.
func (r *submission) convert(i int, s span) {
	p := &r.form.program.fields[i]
	if p.Hints.Hidden {
		return
	}
	v, e := r.value(p, s)
	if e != nil {
		r.fail(i, e)
		return
	}
	r.values[i] = v
}

// fallBack gives fields that are not answered their defaults. A required field that
// was left out takes its default, too: whoever shows the form shows the default, and
// whoever leaves it stand has answered with it. A JSON Schema knows only what was
// sent: so in Strict it is missing.
func (r *submission) fallBack() {
	if !r.lenient() {
		return
	}
	p := &r.form.program
	for i := range p.fields {
		if r.values[i].kind == Missing && !p.fields[i].Hints.Hidden && !r.failed(i) {
			r.values[i] = p.fields[i].fallback
		}
	}
}

// depend finds out which fields are hidden, and takes their answers away.
func (r *submission) depend() {
	p := &r.form.program
	if !p.conditional {
		return
	}
	seen := r.values
	if !r.lenient() { // conditions see defaults all the same
		seen = slices.Clone(r.values)
		for i := range seen {
			if seen[i].kind == Missing && !p.fields[i].Hints.Hidden && !r.failed(i) {
				seen[i] = p.fields[i].fallback
			}
		}
	}
	r.states = r.form.states(seen, nil)
	for i := range r.states {
		if r.states[i].hidden {
			r.values[i] = Value{}
		}
	}
	r.fails = slices.DeleteFunc(r.fails, func(f failure) bool { return f.field < len(p.fields) && r.hidden(f.field) })
}

func (r *submission) hidden(i int) bool {
	return r.form.program.fields[i].Hints.Hidden || r.states != nil && r.states[i].hidden
}

func (r *submission) unbound(i int) bool { return r.states != nil && r.states[i].unbound }

// check looks at the constraints of every field whose answer could be read.
func (r *submission) check() {
	p := &r.form.program
	demanding := r.mode != Draft && !r.form.def.AllowPartial
	before := len(r.fails)
	for i := range p.fields {
		f := &p.fields[i]
		v := &r.values[i]
		var e *Error
		switch {
		case r.hidden(i):
			continue
		case v.kind != Missing && r.unbound(i):
			if e = f.constrainReadonly(v); e == nil {
				e = f.constrainUnbound(v)
			}
		case v.kind != Missing:
			if e = f.constrainReadonly(v); e == nil {
				e = f.constrain(v)
			}
		case demanding && f.Required && !r.unbound(i) && (before == 0 || !r.failed(i)):
			e = f.fail(CodeRequired, "required", true, nil, "needs an answer")
		}
		if e != nil {
			r.fail(i, e)
		}
	}
}

// meetNeeds looks whether those fields are answered that others need.
func (r *submission) meetNeeds() {
	p := &r.form.program
	for i := range p.fields {
		f := &p.fields[i]
		if len(f.needs) == 0 || r.values[i].kind == Missing || r.unbound(i) || r.failed(i) {
			continue
		}
		var missing, names []string
		for _, n := range f.needs {
			if r.values[n].kind == Missing && !r.hidden(n) && !r.unbound(n) && !r.failed(n) {
				missing = append(missing, p.fields[n].ID)
				names = append(names, p.fields[n].name)
			}
		}
		if missing != nil {
			r.fail(i, f.fail(CodeDependency, "dependencies", missing, nil, "is answered, and so %s must be, too", strings.Join(names, " and ")))
		}
	}
}

// finish takes out the values that are not valid, lets the rules of the program look
// at answers that all are, and sorts what is wrong.
func (r *submission) finish() (Values, error) {
	v := Values{form: r.form, values: r.values, extra: r.extra}
	// A draft is not finished, and a rule of a program cannot know that.
	if len(r.fails) == 0 && len(r.form.def.Rules) > 0 && r.mode != Draft {
		r.applyRules(v)
	}
	if len(r.fails) == 0 {
		return v, nil
	}
	slices.SortStableFunc(r.fails, func(a, b failure) int { return a.field - b.field })
	errs := make(Errors, len(r.fails))
	for i, f := range r.fails {
		errs[i] = *f.err
		if f.field < len(r.values) {
			r.values[f.field] = Value{}
		}
	}
	return v, errs
}

// applyRules runs the checks that a program added. Of what they find, each field has
// the first.
func (r *submission) applyRules(v Values) {
	p := &r.form.program
	for _, rule := range r.form.def.Rules {
		for _, e := range rule(v) {
			i, ok := r.form.index[e.Field]
			if !ok {
				i = len(p.fields)
			} else if r.failed(i) {
				continue
			}
			r.discreet(&e, i)
			r.fail(i, &e)
		}
	}
}

// discreet completes an error that a rule made, and takes out of it what a secret
// field was answered, whichever field it is about.
func (r *submission) discreet(e *Error, field int) {
	p := &r.form.program
	name := "The form"
	path := []string{}
	if field < len(p.fields) {
		name, path = p.fields[field].name, []string{e.Field}
		if p.fields[field].secret {
			e.Expected, e.Actual = nil, nil
		}
	}
	if e.Code == "" {
		e.Code = CodeRule
	}
	if e.Path == nil {
		e.Path = path
	}
	if e.Message == "" {
		e.Message = name + " is not valid"
	}
	for i := range p.fields {
		if p.fields[i].secret && tells(e, r.values[i]) {
			*e = Error{Field: e.Field, Code: e.Code, Message: name + " is not valid", Constraint: e.Constraint, Path: path}
			return
		}
	}
}
