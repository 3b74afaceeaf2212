package form

import (
	"regexp"
	"slices"
	"strings"
)

// graph is how the fields of a form depend on each other.
type graph struct {
	standard []Value // the defaults that conditions see, by field; nil when there are no conditions
	hidden   []int   // fields that are never shown
	shown    []rule  // what decides whether fields are shown, in the order in which they depend on each other
	bound    []rule  // what decides whether fields are required and constrained
}

// rule is a dependency of a field.
type rule struct {
	field  int
	action Action
	test   test
}

// test is a condition, ready to be evaluated.
type test struct {
	operator Operator
	tests    []test // of and, or
	field    int
	kind     Type           // of the field
	value    Value          // what it is compared with
	at       moment         // the same, of a date
	pattern  *regexp.Regexp // the same, of regex
}

// state is what dependencies make of a field.
type state struct {
	hidden  bool // hidden or disabled: neither asked, checked nor sent
	unbound bool // action validate, and its condition does not hold: neither required nor constrained
}

// states evaluates the conditions over values by field, defaults included, in the
// order in which fields depend on each other. to is returned, one for each field;
// its room is used again. A form in which nothing is ever hidden returns nil.
//
// Where several dependencies concern a field, all of them must let it be shown, and
// all must bind it.
func (f *Form) states(values []Value, to []state) []state {
	g := &f.graph
	if len(g.hidden)+len(g.shown)+len(g.bound) == 0 {
		return nil
	}
	to = slices.Grow(to[:0], len(f.def.Fields))[:len(f.def.Fields)]
	clear(to)
	for _, i := range g.hidden {
		to[i].hidden = true
	}
	for i := range g.shown {
		r := &g.shown[i]
		switch holds := r.test.holds(values, to); r.action {
		case Show, Enable:
			to[r.field].hidden = to[r.field].hidden || !holds
		case Hide, Disable:
			to[r.field].hidden = to[r.field].hidden || holds
		}
	}
	for i := range g.bound {
		r := &g.bound[i]
		if !r.test.holds(values, to) {
			to[r.field].unbound = true
		}
	}
	return to
}

// holds evaluates the condition. A field that is hidden counts as not answered.
func (t *test) holds(values []Value, states []state) bool {
	switch t.operator {
	case And:
		for i := range t.tests {
			if !t.tests[i].holds(values, states) {
				return false
			}
		}
		return true
	case Or:
		for i := range t.tests {
			if t.tests[i].holds(values, states) {
				return true
			}
		}
		return false
	}
	v := &values[t.field]
	if v.kind == Missing || states[t.field].hidden {
		return t.operator == NotEquals
	}
	switch t.operator {
	case Equals:
		return t.equals(v)
	case NotEquals:
		return !t.equals(v)
	case Contains:
		if v.kind == ListKind {
			return slices.Contains(v.list, t.value.text)
		}
		return strings.Contains(v.text, t.value.text)
	case Regex:
		return t.pattern.MatchString(v.text)
	}
	return t.ordered(v)
}

func (t *test) equals(v *Value) bool {
	switch t.kind {
	case Boolean:
		return v.yes == t.value.yes
	case Number, Date:
		order, ok := t.compare(v)
		return ok && order == 0
	case MultiSelect:
		return sameChoice(v.list, t.value.list)
	}
	return v.text == t.value.text
}

// sameChoice reports whether the same options are chosen, in whatever order.
func sameChoice(a, b []string) bool {
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	for _, s := range b {
		if !slices.Contains(a, s) {
			return false
		}
	}
	return true
}

func (t *test) ordered(v *Value) bool {
	order, ok := t.compare(v)
	switch t.operator {
	case Gt:
		return ok && order > 0
	case Lt:
		return ok && order < 0
	case Gte:
		return ok && order >= 0
	}
	return ok && order <= 0
}

// compare compares an answer with the value of the condition: numbers exactly, dates
// chronologically. What is no date has no order.
func (t *test) compare(v *Value) (int, bool) {
	if t.kind == Number {
		return compareNumbers(v.text, t.value.text), v.kind == NumberKind
	}
	m, ok := parseMoment(v.text)
	return m.compare(t.at), ok
}

// visible reports whether field i is shown, given the values. What is not answered
// counts as its default.
func (f *Form) visible(values []Value, i int) bool {
	if f.graph.standard != nil {
		all := make([]Value, len(f.def.Fields))
		copy(all, values)
		for i := range all {
			if all[i].kind == Missing {
				all[i] = f.graph.standard[i]
			}
		}
		values = all
	}
	states := f.states(values, nil)
	return states == nil || !states[i].hidden
}
