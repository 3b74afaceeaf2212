package form

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// actions and operators are the words of dependencies.
var (
	actions   = []string{string(Show), string(Hide), string(Enable), string(Disable), string(Validate)}
	operators = []string{string(Equals), string(NotEquals), string(Contains), string(Gt), string(Lt), string(Gte), string(Lte),
		string(Regex), string(And), string(Or)}
)

// operatorsOf are the operators that can look at a field of a type.
func operatorsOf(t Type) []string {
	switch t {
	case Text, URL:
		return []string{string(Equals), string(NotEquals), string(Contains), string(Regex)}
	case Select:
		return []string{string(Equals), string(NotEquals), string(Regex)}
	case MultiSelect:
		return []string{string(Contains), string(Equals), string(NotEquals)}
	case Number, Date:
		return []string{string(Equals), string(NotEquals), string(Gt), string(Lt), string(Gte), string(Lte)}
	case Boolean:
		return []string{string(Equals), string(NotEquals)}
	}
	return nil
}

// placed is a rule with its place.
type placed struct {
	rule
	path string
}

// dependencies checks what depends on what, and fills in the graph.
func (c *checker) dependencies() {
	c.gather()
	var all []placed
	count := 0
	for i := range c.def.Fields {
		f := &c.def.Fields[i]
		path := "$.fields[" + strconv.Itoa(i) + "]"
		c.needs(path, f)
		if f.Hints.Hidden {
			c.form.graph.hidden = append(c.form.graph.hidden, i)
		}
		if f.Hints.ConditionalDisplay != nil {
			at := path + ".rendering.conditionalDisplay"
			all = append(all, placed{rule{i, Show, c.condition(at, f.Hints.ConditionalDisplay, 1, &count)}, at})
		}
		for k := range f.When {
			at := path + ".dependencies[" + strconv.Itoa(len(f.Needs)+k) + "]"
			if f.When[k].Field != f.ID {
				c.fault(at, fmt.Sprintf("the dependency concerns the field %s", quoted(f.When[k].Field)), "move it to that field")
			}
			all = append(all, c.dependency(at, &f.When[k], i, &count))
		}
	}
	for k := range c.def.Dependencies {
		d := &c.def.Dependencies[k]
		at := formDependencyPath(c.def.Dependencies, k)
		i, ok := c.form.index[d.Field]
		if !ok {
			c.unknownField(at, d.Field)
			i = -1
		}
		all = append(all, c.dependency(at, d, i, &count))
	}
	if count > maxConditions {
		c.fault("$", fmt.Sprintf("the form has %d conditions; %d are possible", count, maxConditions), "split it into several forms")
	}
	c.order(all)
}

// gather fills in the fields of dependencies that a program left out where they
// are clear, and puts the form-level ones of each field together, as JSON has them.
func (c *checker) gather() {
	for i := range c.def.Fields {
		f := &c.def.Fields[i]
		if slices.ContainsFunc(f.When, func(d Dependency) bool { return d.Field == "" }) {
			f = c.edit(i)
			f.When = slices.Clone(f.When)
			for k := range f.When {
				if f.When[k].Field == "" {
					f.When[k].Field = f.ID
				}
			}
		}
	}
	first := make(map[string]int)
	for i, d := range c.def.Dependencies {
		if _, ok := first[d.Field]; !ok {
			first[d.Field] = i
		}
	}
	byFirst := func(a, b Dependency) int { return first[a.Field] - first[b.Field] }
	if !slices.IsSortedFunc(c.def.Dependencies, byFirst) {
		c.def.Dependencies = slices.Clone(c.def.Dependencies)
		slices.SortStableFunc(c.def.Dependencies, byFirst)
	}
}

// formDependencyPath is where a form-level dependency stands.
func formDependencyPath(all []Dependency, k int) string {
	same := func(i int) bool { return i >= 0 && i < len(all) && all[i].Field == all[k].Field }
	path := memberPath("$.validation.dependencies", all[k].Field)
	if !same(k-1) && !same(k+1) {
		return path
	}
	index := 0
	for same(k - 1 - index) {
		index++
	}
	return path + "[" + strconv.Itoa(index) + "]"
}

// needs checks the ids of the fields that must be answered with this one.
func (c *checker) needs(path string, f *Field) {
	for k, id := range f.Needs {
		at := path + ".dependencies[" + strconv.Itoa(k) + "]"
		switch _, ok := c.form.index[id]; {
		case id == f.ID:
			c.fault(at, "the field needs itself", "leave it out; required says that a field must be answered")
		case !ok:
			c.unknownField(at, id)
		case slices.Contains(f.Needs[:k], id):
			c.fault(at, quoted(id)+" is there twice", "leave one of them out")
		}
	}
}

// dependency checks one dependency of field i.
func (c *checker) dependency(at string, d *Dependency, i int, count *int) placed {
	ready := test{field: -1}
	if cond := &d.Condition; cond.Operator == "" && cond.Field == "" && cond.Value == nil && cond.Conditions == nil {
		c.fault(at+".condition", "the dependency needs a condition", `write such as {"operator": "equals", "field": "reason", "value": "other"}`)
	} else {
		ready = c.condition(at+".condition", cond, 1, count)
	}
	switch {
	case d.Action == "":
		c.fault(at+".action", "the dependency needs an action", "write "+choice(actions))
	case !slices.Contains(actions, string(d.Action)):
		c.add(noWord(at+".action", string(d.Action), actions))
	}
	return placed{rule{i, d.Action, ready}, at}
}

// condition checks a condition that is nested so deep.
func (c *checker) condition(path string, cond *Condition, depth int, count *int) test {
	t := test{operator: cond.Operator, field: -1}
	if *count++; *count > maxConditions {
		return t
	}
	switch op := string(cond.Operator); {
	case op == "":
		c.fault(path+".operator", "the condition needs an operator", "write "+choice(operators))
	case !slices.Contains(operators, op):
		c.operator(path+".operator", op)
	case cond.Operator == And || cond.Operator == Or:
		c.members(path, cond, &t, depth, count)
	default:
		c.comparison(path, cond, &t)
	}
	return t
}

// operator tells of an operator that is none.
func (c *checker) operator(path, op string) {
	fault := noWord(path, op, operators)
	for i, sign := range []string{"==", "!=", "in", ">", "<", ">=", "<=", "matches", "&&", "||"} {
		if op == sign {
			fault.Fix = "write " + quoted(operators[i])
		}
	}
	if op == "not" {
		fault.Fix = `write "not_equals", or give the dependency the opposite action: hide for show, disable for enable`
	}
	c.add(fault)
}

// members checks a condition that is made of others.
func (c *checker) members(path string, cond *Condition, t *test, depth int, count *int) {
	if cond.Field != "" {
		c.fault(path+".field", fmt.Sprintf("%s has no field", cond.Operator), "name fields in its conditions alone")
	}
	if cond.Value != nil {
		c.fault(path+".value", fmt.Sprintf("%s has no value", cond.Operator), "name values in its conditions alone")
	}
	switch n := len(cond.Conditions); {
	case n == 0:
		c.fault(path+".conditions", fmt.Sprintf("%s needs conditions", cond.Operator), `write such as [{"operator": "equals", "field": "reason", "value": "other"}]`)
	case n > maxMembers:
		c.fault(path+".conditions", fmt.Sprintf("%s has %d conditions; %d are possible", cond.Operator, n, maxMembers), "put some of them into a condition of their own")
		return
	case depth >= maxNesting:
		c.fault(path+".conditions", fmt.Sprintf("conditions are nested deeper than %d", maxNesting), "write a flatter condition")
		return
	}
	for i := range cond.Conditions {
		t.tests = append(t.tests, c.condition(path+".conditions["+strconv.Itoa(i)+"]", &cond.Conditions[i], depth+1, count))
	}
}

// comparison checks a condition that looks at a field.
func (c *checker) comparison(path string, cond *Condition, t *test) {
	if len(cond.Conditions) > 0 {
		c.fault(path+".conditions", fmt.Sprintf("%s compares a field, and has no conditions", cond.Operator), `use "and" or "or" around it`)
	}
	i, ok := c.form.index[cond.Field]
	if cond.Field == "" {
		c.fault(path+".field", "the condition needs a field", "write the id of the field that it looks at")
		return
	}
	if !ok {
		c.unknownField(path+".field", cond.Field)
		return
	}
	f := &c.def.Fields[i]
	t.field, t.kind = i, f.Type
	have := operatorsOf(f.Type)
	if !slices.Contains(types, f.Type) {
		return // the field has a fault of its own
	}
	if have == nil {
		c.fault(path+".field", fmt.Sprintf("no condition can look at %s, which is a %s field", quoted(f.ID), f.Type), "look at another field")
		return
	}
	if !slices.Contains(have, string(cond.Operator)) {
		c.fault(path+".operator", fmt.Sprintf("%s does not go with %s, which is a %s field", cond.Operator, quoted(f.ID), f.Type), "write "+choice(have))
		return
	}
	if cond.Value == nil {
		c.fault(path+".value", "the condition needs a value", "write what the answer is compared with")
		return
	}
	if n := c.readJSON(cond.Value, path+".value"); n != nil {
		c.operand(n, f, t)
	}
}

// operand checks what field f is compared with.
func (c *checker) operand(n *node, f *Field, t *test) {
	switch {
	case n.kind == 'n':
		c.fault(n.path(), "null is no answer", "leave the condition out, or compare with an answer: a field without answer is not_equals to each")
	case t.operator == Regex:
		if c.ofKind(n, '"', f, `"^a"`) {
			if c.patterns += sizeOfPattern(n.text); c.patterns > maxPatternSizes {
				return
			}
			re, fault := compilePattern(n.path(), n.text)
			if fault != nil {
				c.add(*fault)
			}
			t.pattern = re
		}
	case f.Type == Number:
		if c.ofKind(n, '0', f, "10") && c.exact(n, false) {
			t.value = Value{kind: NumberKind, text: string(n.raw)}
		}
	case f.Type == Boolean:
		if c.ofKind(n, 't', f, "true") {
			t.value = Value{kind: BoolKind, yes: string(n.raw) == "true"}
		}
	case f.Type == MultiSelect && t.operator != Contains:
		if c.ofKind(n, '[', f, `["a", "b"]`) {
			t.value = Value{kind: ListKind, list: c.choice(n, f)}
		}
	case c.ofKind(n, '"', f, sampleOf(f.Type)):
		t.value = Value{kind: TextKind, text: n.text}
		switch f.Type {
		case Select, MultiSelect:
			c.oneOption(n, f)
		case Date:
			var ok bool
			if t.at, ok = parseMoment(n.text); !ok {
				c.fault(n.path(), quoted(n.text)+" is no date", `write a day of the calendar, such as "2026-01-31"`)
			}
		}
	}
}

// choice reads options of f.
func (c *checker) choice(n *node, f *Field) []string {
	if len(n.children) > len(f.Options) {
		c.fault(n.path(), fmt.Sprintf("names %d options, and the field %s has %d", len(n.children), quoted(f.ID), len(f.Options)), "name each at most once")
		return nil
	}
	var values []string
	for _, each := range n.children {
		if c.ofKind(each, '"', f, `"a"`) && c.oneOption(each, f) {
			values = append(values, each.text)
		}
	}
	return values
}

// ofKind checks that n is such a value as answers to f are.
func (c *checker) ofKind(n *node, kind byte, f *Field, sample string) bool {
	if byte(n.kind) == kind {
		return true
	}
	c.fault(n.path(), fmt.Sprintf("the value is %s, and %s is a %s field", n.what(), quoted(f.ID), f.Type), "write such as "+sample)
	return false
}

func sampleOf(t Type) string {
	if t == Date {
		return `"2026-01-31"`
	}
	return `"other"`
}

// order brings the rules into the order in which fields depend on each other, and
// notes a circle. Nothing depends on whether a field is required and constrained, so
// that rules about that come last and make none.
func (c *checker) order(all []placed) {
	if len(all) == 0 {
		return
	}
	g := &c.form.graph
	of := make(map[int][]placed) // rules by field
	for _, p := range all {
		if p.action == Validate {
			g.bound = append(g.bound, p.rule)
			continue
		}
		of[p.field] = append(of[p.field], p)
	}
	o := &ordering{checker: c, of: of, done: make(map[int]bool)}
	for i := range c.def.Fields {
		o.visit(i)
	}
	g.standard = make([]Value, len(c.def.Fields))
	for i := range c.def.Fields {
		g.standard[i] = literal(&c.def.Fields[i])
	}
}

// ordering walks from fields to those that they depend on.
type ordering struct {
	*checker
	of   map[int][]placed
	done map[int]bool
	way  []int // the fields between the first and the one where the walk is
}

func (o *ordering) visit(i int) {
	if o.done[i] {
		return
	}
	o.way = append(o.way, i)
	for _, p := range o.of[i] {
		p.test.fields(func(other int) {
			if at := slices.Index(o.way, other); at >= 0 {
				o.circle(p.path, o.way[at:])
				return
			}
			o.visit(other)
		})
		o.form.graph.shown = append(o.form.graph.shown, p.rule)
	}
	o.way = o.way[:len(o.way)-1]
	o.done[i] = true
}

// circle tells of fields each of which depends on the next, and the last on the
// first.
func (o *ordering) circle(path string, way []int) {
	if len(way) == 1 {
		o.fault(path, fmt.Sprintf("whether %s is shown depends on itself", quoted(o.def.Fields[way[0]].ID)), "look at another field")
		return
	}
	var ids []string
	for _, i := range append(slices.Clone(way), way[0]) {
		ids = append(ids, o.def.Fields[i].ID)
	}
	o.fault(path, "the conditions go round in a circle: "+clip(strings.Join(ids, " depends on "), 300), "take one of these conditions out")
}

// fields calls f for each field that the condition looks at.
func (t *test) fields(f func(int)) {
	if t.field >= 0 && t.operator != And && t.operator != Or {
		f(t.field)
	}
	for i := range t.tests {
		t.tests[i].fields(f)
	}
}

// literal is the default of a field as a value; Missing when there is none, or none
// that could be one.
func literal(f *Field) Value {
	n, _ := readText(f.Default, "$")
	switch {
	case n == nil:
	case f.Type == Number && n.kind == '0':
		return Value{kind: NumberKind, text: string(n.raw)}
	case f.Type == Boolean && n.kind == 't':
		return Value{kind: BoolKind, yes: string(n.raw) == "true"}
	case f.Type == MultiSelect && n.kind == '[':
		v := Value{kind: ListKind}
		for _, each := range n.children {
			v.list = append(v.list, each.text)
		}
		return v
	case f.Type != Number && f.Type != Boolean && f.Type != File && n.kind == '"':
		return Value{kind: TextKind, text: n.text}
	}
	return Value{}
}
