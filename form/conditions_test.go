package form

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// values makes values by field out of JSON by id; what is not there gets its default.
func values(t testing.TB, f *Form, answers string) []Value {
	t.Helper()
	var byID map[string]json.RawMessage
	if err := json.Unmarshal([]byte(answers), &byID); err != nil {
		t.Fatal(err)
	}
	all := make([]Value, len(f.def.Fields))
	for i, field := range f.def.Fields {
		if answer, ok := byID[field.ID]; ok {
			field.Default = answer
		}
		all[i] = literal(&field)
	}
	return all
}

// R97: the operators, by the type of what they look at.
func TestOperators(t *testing.T) {
	for _, c := range []struct {
		field, operator, value string
		holds, not             []string // answers
	}{
		{"text", "equals", `"a"`, []string{`"a"`}, []string{`"A"`, `""`, `null`, `"aa"`}},
		{"text", "not_equals", `"a"`, []string{`"A"`, `""`, `null`}, []string{`"a"`}},
		{"text", "equals", `""`, []string{`""`}, []string{`"a"`, `null`}},
		{"text", "contains", `"b"`, []string{`"abc"`, `"b"`}, []string{`"B"`, `""`, `null`}},
		{"text", "contains", `""`, []string{`"abc"`, `""`}, []string{`null`}},
		{"text", "regex", `"^a+$"`, []string{`"a"`, `"aaa"`}, []string{`"ab"`, `""`, `null`}},
		{"text", "regex", `"b"`, []string{`"abc"`}, []string{`"a"`}},
		{"url", "regex", `"^https://example\\."`, []string{`"https://example.com"`}, []string{`"http://example.com"`, `null`}},
		{"url", "contains", `"example"`, []string{`"https://example.com"`}, []string{`"https://a.org"`}},
		{"select", "equals", `"a"`, []string{`"a"`}, []string{`"b"`, `null`}},
		{"select", "regex", `"[a]"`, []string{`"a"`}, []string{`"b"`, `null`}},
		{"multi", "contains", `"a"`, []string{`["a"]`, `["b","a"]`}, []string{`["b"]`, `[]`, `null`}},
		{"multi", "equals", `["a","b"]`, []string{`["a","b"]`, `["b","a"]`}, []string{`["a"]`, `[]`, `null`}},
		{"multi", "equals", `[]`, []string{`[]`}, []string{`["a"]`, `null`}},
		{"multi", "not_equals", `["a"]`, []string{`[]`, `null`, `["a","b"]`}, []string{`["a"]`}},
		{"boolean", "equals", `true`, []string{`true`}, []string{`false`, `null`}},
		{"boolean", "equals", `false`, []string{`false`}, []string{`true`, `null`}},
		{"boolean", "not_equals", `true`, []string{`false`, `null`}, []string{`true`}},
		{"number", "equals", `1`, []string{`1`, `1.0`, `10e-1`}, []string{`1.0000000000000000000001`, `-1`, `null`}},
		{"number", "not_equals", `0.1`, []string{`0.10000000000000000001`, `null`}, []string{`0.1`, `1e-1`}},
		{"number", "gt", `9007199254740992`, []string{`9007199254740993`}, []string{`9007199254740992`, `9007199254740991`, `null`}},
		{"number", "gte", `-1.5`, []string{`-1.5`, `-1.50`, `0`}, []string{`-1.51`, `null`}},
		{"number", "lt", `1e2`, []string{`99.9`}, []string{`100`, `1e3`, `null`}},
		{"number", "lte", `1e2`, []string{`100`, `-1e9`}, []string{`100.1`, `null`}},
		{"date", "equals", `"2026-02-01"`, []string{`"2026-02-01"`}, []string{`"2026-02-02"`, `null`}},
		{"date", "equals", `"2026-02-01T12:00:00Z"`, []string{`"2026-02-01T13:00:00+01:00"`, `"2026-02-01T12:00:00.000Z"`}, []string{`"2026-02-01T12:00:00+01:00"`, `null`}},
		{"date", "gt", `"2026-02-01"`, []string{`"2026-02-02"`, `"2027-01-01T00:00:00Z"`}, []string{`"2026-02-01"`, `"2025-12-31"`, `null`}},
		{"date", "lt", `"2026-02-01T00:00:00Z"`, []string{`"2026-01-31T23:59:59Z"`, `"2026-02-01T00:30:00+01:00"`}, []string{`"2026-02-01T00:00:00Z"`, `null`}},
		{"date", "gte", `"2026-02-01"`, []string{`"2026-02-01"`}, []string{`"2026-01-31"`, `null`}},
		{"date", "lte", `"2026-02-01"`, []string{`"2026-02-01"`}, []string{`"2026-02-02"`, `null`}},
	} {
		f, err := Parse([]byte(when(fmt.Sprintf(`{"operator":%q,"field":%q,"value":%s}`, c.operator, c.field, c.value))))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []bool{true, false} {
			for _, answer := range map[bool][]string{true: c.holds, false: c.not}[want] {
				states := f.states(values(t, f, fmt.Sprintf(`{%q:%s}`, c.field, answer)), nil)
				if got := !states[0].hidden; got != want {
					t.Errorf("%s %s %s with %s: %v, want %v", c.field, c.operator, c.value, answer, got, want)
				}
			}
		}
	}
}

// R97: what the actions do, alone and together.
func TestActions(t *testing.T) {
	yes := `{"operator":"equals","field":"boolean","value":true}`
	one := `{"operator":"equals","field":"number","value":1}`
	rule := func(action, condition string) string {
		return `{"action":"` + action + `","condition":` + condition + `}`
	}
	for _, c := range []struct {
		rules   string // of the first field
		answers string
		want    state
	}{
		{rule("show", yes), `{"boolean":true}`, state{}},
		{rule("show", yes), `{"boolean":false}`, state{hidden: true}},
		{rule("show", yes), `{}`, state{hidden: true}},
		{rule("hide", yes), `{"boolean":true}`, state{hidden: true}},
		{rule("hide", yes), `{}`, state{}},
		{rule("enable", yes), `{"boolean":true}`, state{}},
		{rule("enable", yes), `{}`, state{hidden: true}},
		{rule("disable", yes), `{"boolean":true}`, state{hidden: true}},
		{rule("disable", yes), `{"boolean":false}`, state{}},
		{rule("validate", yes), `{"boolean":true}`, state{}},
		{rule("validate", yes), `{"boolean":false}`, state{unbound: true}},
		{rule("show", yes) + "," + rule("show", one), `{"boolean":true,"number":1}`, state{}},
		{rule("show", yes) + "," + rule("show", one), `{"boolean":true,"number":2}`, state{hidden: true}},
		{rule("show", yes) + "," + rule("disable", one), `{"boolean":true,"number":1}`, state{hidden: true}},
		{rule("validate", yes) + "," + rule("validate", one), `{"boolean":true,"number":2}`, state{unbound: true}},
		{rule("show", yes) + "," + rule("validate", one), `{}`, state{hidden: true, unbound: true}},
		{rule("show", `{"operator":"and","conditions":[`+yes+`,`+one+`]}`), `{"boolean":true,"number":1}`, state{}},
		{rule("show", `{"operator":"and","conditions":[`+yes+`,`+one+`]}`), `{"boolean":true,"number":2}`, state{hidden: true}},
		{rule("show", `{"operator":"or","conditions":[`+yes+`,`+one+`]}`), `{"boolean":false,"number":1}`, state{}},
		{rule("show", `{"operator":"or","conditions":[`+yes+`,`+one+`]}`), `{"boolean":false,"number":2}`, state{hidden: true}},
	} {
		f, err := Parse([]byte(fieldWith("text", `"dependencies":[`+c.rules+`]`)))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.states(values(t, f, c.answers), nil)[0]; got != c.want {
			t.Errorf("%s with %s: %+v, want %+v", c.rules, c.answers, got, c.want)
		}
	}
}

// linked is a form in which each field but the first is shown while the one before it
// has an answer; it stands in the order of the permutation.
func linked(order []int, first string) string {
	fields := make([]string, len(order))
	for at, i := range order {
		if i == 0 {
			fields[at] = first
			continue
		}
		fields[at] = shownBy(fmt.Sprintf("f%d", i), fmt.Sprintf("f%d", i-1))
	}
	return `{"id":"f","title":"F","fields":[` + strings.Join(fields, ",") + `]}`
}

// R97: a field that is hidden counts as not answered, and so all that depend on it
// are hidden too, in whatever order the fields stand.
func TestHiddenFieldsAreNotAnswered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "fields")
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		cut := rapid.IntRange(0, n).Draw(t, "unanswered")
		f, err := Parse([]byte(linked(order, `{"id":"f0","type":"text","label":"L"}`)))
		if err != nil {
			t.Fatal(err)
		}
		all := make([]Value, n)
		for at, i := range order {
			if i != cut {
				all[at] = Value{kind: TextKind, text: "x"}
			}
		}
		states := f.states(all, nil)
		for at, i := range order {
			if want := i > cut; states[at].hidden != want {
				t.Fatalf("order %v, f%d unanswered: f%d hidden is %v, want %v", order, cut, i, states[at].hidden, want)
			}
		}
	})
}

// R101: a field that is never shown counts as not answered, even if it has a default.
func TestHiddenHint(t *testing.T) {
	f, err := Parse([]byte(linked([]int{2, 1, 0}, `{"id":"f0","type":"text","label":"L","default":"d","rendering":{"hidden":true}}`)))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.states(values(t, f, `{"f1":"x","f2":"x"}`), nil); slices.Contains(got, state{}) {
		t.Errorf("%+v, want all hidden", got)
	}
}

// R101: conditionalDisplay is a dependency with the action show.
func TestConditionalDisplay(t *testing.T) {
	text, err := os.ReadFile("testdata/seed-fields.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for answers, want := range map[string]map[string]bool{
		`{}`:                                  {"smtp_port": false, "other_reason": false, "username": true},
		`{"use_smtp":true,"reason":"price"}`:  {"smtp_port": true, "other_reason": false},
		`{"use_smtp":false,"reason":"other"}`: {"smtp_port": false, "other_reason": true},
	} {
		v := Values{form: f, values: values(t, f, answers)}
		for id, visible := range want {
			if got := v.Visible(id); got != visible {
				t.Errorf("%s: %s visible is %v, want %v", answers, id, got, visible)
			}
		}
	}
}

// A condition sees the default of a field that is not answered.
func TestVisibleSeesDefaults(t *testing.T) {
	f, err := Parse([]byte(linked([]int{0, 1}, `{"id":"f0","type":"text","label":"L","default":"d"}`)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values Values
		id     string
		want   bool
	}{
		{Values{}, "f1", false},
		{Values{form: f}, "f1", true},
		{Values{form: f}, "f0", true},
		{Values{form: f}, "f2", false},
		{Values{form: f, values: []Value{{kind: TextKind}, {}}}, "f1", false},
	} {
		if got := c.values.Visible(c.id); got != c.want {
			t.Errorf("%s visible is %v, want %v", c.id, got, c.want)
		}
	}
}

// A form in which nothing depends on anything costs nothing, and one in which
// something does costs no memory beyond the states.
func TestStatesAllocate(t *testing.T) {
	plain, err := Parse([]byte(around(`"metadata":{}`)))
	if err != nil {
		t.Fatal(err)
	}
	if got := plain.states(make([]Value, 1), make([]state, 1)); got != nil {
		t.Errorf("%v, want nil", got)
	}
	text, err := os.ReadFile("testdata/oauth.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	all := values(t, f, `{"client_name":"server one","client_type":"confidential","expires":"2026-02-01","token_lifetime":1e2,"scopes":["openid"]}`)
	room := make([]state, 0, len(all))
	if n := testing.AllocsPerRun(100, func() { room = f.states(all, room) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// What was true of the answers before is forgotten, though the room is the same.
func TestStatesForget(t *testing.T) {
	f, err := Parse([]byte(when(`{"operator":"equals","field":"boolean","value":true}`)))
	if err != nil {
		t.Fatal(err)
	}
	var room []state
	for _, c := range []struct {
		answers string
		hidden  bool
	}{{`{"boolean":false}`, true}, {`{"boolean":true}`, false}, {`{}`, true}, {`{"boolean":true}`, false}} {
		if room = f.states(values(t, f, c.answers), room); room[0].hidden != c.hidden {
			t.Errorf("%s: hidden is %v, want %v", c.answers, room[0].hidden, c.hidden)
		}
	}
}

// Whatever is answered, states are those that a plain reading of the conditions gives,
// repeated until nothing changes any more.
func TestStatesAgainstRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := Compile(genDefinition(t))
		if err != nil {
			t.Fatal(err)
		}
		all := make([]Value, len(f.def.Fields))
		for i := range f.def.Fields {
			if rapid.Bool().Draw(t, "answered") {
				field := f.def.Fields[i]
				field.Default = json.RawMessage(genOperandOf(t, &field))
				all[i] = literal(&field)
			}
		}
		got := f.states(all, nil)
		want := slowStates(t, f, all)
		for i := range want {
			g := state{}
			if got != nil {
				g = got[i]
			}
			if g != want[i] {
				text, _ := f.MarshalJSON()
				t.Fatalf("%s\n%+v\nfield %d: %+v, want %+v", text, all, i, g, want[i])
			}
		}
	})
}

// genOperandOf draws an answer to a field, valid or not.
func genOperandOf(t *rapid.T, f *Field) string {
	if f.Type == File {
		return "null"
	}
	return genOperand(t, f, Equals)
}

// slowStates evaluates all conditions again and again.
func slowStates(t *rapid.T, f *Form, all []Value) []state {
	rules := slices.Clone(f.def.Dependencies)
	for _, field := range f.def.Fields {
		rules = append(rules, field.When...)
		if c := field.Hints.ConditionalDisplay; c != nil {
			rules = append(rules, Dependency{field.ID, *c, Show})
		}
	}
	index := func(id string) int {
		return slices.IndexFunc(f.def.Fields, func(field Field) bool { return field.ID == id })
	}
	states := make([]state, len(all))
	for range len(all) + 2 {
		next := make([]state, len(all))
		for i := range next {
			next[i].hidden = f.def.Fields[i].Hints.Hidden
		}
		for _, r := range rules {
			to := &next[index(r.Field)]
			switch holds := slowHolds(t, f, &r.Condition, all, states, index); r.Action {
			case Show, Enable:
				to.hidden = to.hidden || !holds
			case Hide, Disable:
				to.hidden = to.hidden || holds
			default:
				to.unbound = to.unbound || !holds
			}
		}
		states = next
	}
	return states
}

func slowHolds(t *rapid.T, f *Form, c *Condition, all []Value, states []state, index func(string) int) bool {
	if c.Operator == And || c.Operator == Or {
		for i := range c.Conditions {
			if slowHolds(t, f, &c.Conditions[i], all, states, index) == (c.Operator == Or) {
				return c.Operator == Or
			}
		}
		return c.Operator == And
	}
	i := index(c.Field)
	v := all[i]
	if states[i].hidden || v.kind == Missing {
		return c.Operator == NotEquals
	}
	// One comparison alone is what TestOperators is about.
	checker := &checker{form: f, def: &f.def}
	one := test{operator: c.Operator}
	checker.comparison("$", c, &one)
	if len(checker.faults) > 0 {
		t.Fatal(checker.faults)
	}
	return one.holds(all, make([]state, len(all)))
}
