package formtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/beckon-mcp/beckon/form"
)

// Scenario is one way in which answers to a form are wrong, and the one error with
// which the form refuses them. They are answers as people give them: the mode is
// [form.Coerce].
type Scenario struct {
	Name       string // missing_required_field, too_short_text, …
	Field      string // "" where it is none of the fields
	Code       form.Code
	Constraint string

	wrong func(rng *rand.Rand) (any, bool) // makes the wrong answer; nil where none is the point
}

// Want is the error of the scenario.
func (s Scenario) Want() Want {
	return Want{Field: s.Field, Code: s.Code, Constraint: s.Constraint}
}

func (s Scenario) String() string { return s.Name + " " + s.Field }

// Scenarios are the ways in which answers to f can be wrong, field by field: one for
// each rule that can be broken alone. Of a field that depends on others, they are
// those for which answers were found that bind it.
func Scenarios(f *form.Form) []Scenario {
	var all []Scenario
	d := f.Definition()
	for i := range d.Fields {
		field := &d.Fields[i]
		if field.Hints.Hidden {
			continue
		}
		depends := len(conditions(d, field)) > 0
		for _, s := range ways(f, field) {
			rng := rand.New(rand.NewPCG(7, 8))
			if s.wrong != nil {
				if _, ok := s.wrong(rng); !ok {
					continue
				}
			}
			if depends {
				if _, err := Invalid(f, s, rng); err != nil {
					continue
				}
			}
			all = append(all, s)
		}
	}
	if !d.Open {
		all = append(all, Scenario{Name: "unknown_field", Field: stranger, Code: form.CodeUnknownField, Constraint: "additionalProperties"})
	}
	return all
}

// stranger is a field that no form has.
const stranger = "nobody-asked-for-this.field"

// ways are the ways in which the answer to one field can be wrong.
func ways(f *form.Form, field *form.Field) []Scenario {
	d := f.Definition()
	var all []Scenario
	if field.Required && !d.AllowPartial && len(field.Default) == 0 && !needed(d, field.ID, "") {
		all = append(all, Scenario{Name: "missing_required_field", Code: form.CodeRequired, Constraint: "required"})
	}
	another := any(map[string]any{})
	if field.Type == form.File {
		another = true
	}
	all = append(all, Scenario{Name: "wrong_type", Code: form.CodeType, Constraint: "type", wrong: only(another)})
	if field.Hints.Readonly && len(field.Default) > 0 {
		all = append(all, readonly(field)...)
	} else {
		all = append(all, broken(f, field)...)
	}
	for _, id := range field.Needs {
		if canMiss(d, field, id) {
			all = append(all, Scenario{Name: "missing_dependency", Code: form.CodeDependency, Constraint: "dependencies"})
			break
		}
	}
	for i := range all {
		all[i].Field = field.ID
	}
	return all
}

// broken are the rules of the field, each broken.
func broken(f *form.Form, field *form.Field) []Scenario {
	switch field.Type {
	case form.Text:
		return brokenText(&field.Rules)
	case form.Number:
		return brokenNumber(&field.Rules)
	case form.Boolean:
		return []Scenario{{Name: "invalid_boolean", Code: form.CodeInvalidBoolean, Constraint: "type", wrong: only("perhaps")}}
	case form.Date:
		return brokenDate(&field.Rules)
	case form.Select:
		return []Scenario{unmet("not_an_option", "enum", notAnOption(field))}
	case form.MultiSelect:
		return brokenChoice(field, unique(f, field.ID))
	case form.URL:
		return brokenURL(&field.Rules)
	case form.File:
		return brokenFile(&field.Rules)
	}
	return nil
}

// unmet is a scenario of a rule that is not met.
func unmet(name, constraint string, wrong func(*rand.Rand) (any, bool)) Scenario {
	return Scenario{Name: name, Code: form.CodeConstraint, Constraint: constraint, wrong: wrong}
}

// only makes one wrong answer.
func only(v any) func(*rand.Rand) (any, bool) {
	return func(*rand.Rand) (any, bool) { return v, true }
}

// readonly is another answer than the one that a read-only field has.
func readonly(field *form.Field) []Scenario {
	free := *field
	free.Hints.Readonly = false
	return []Scenario{{Name: "readonly", Code: form.CodeReadonly, Constraint: "readonly", wrong: func(rng *rand.Rand) (any, bool) {
		for range 50 {
			v, ok := answer(rng, &free)
			if b, _ := json.Marshal(v); ok && !sameJSON(b, field.Default) {
				return v, true
			}
		}
		return nil, false
	}}}
}

// sameJSON reports whether two answers are equal, numbers by their value.
func sameJSON(a, b []byte) bool {
	if x, y := rational(a), rational(b); x != nil && y != nil {
		return x.Cmp(y) == 0
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return fmt.Sprintf("%T %v", x, x) == fmt.Sprintf("%T %v", y, y)
}

// conditions are what the state of a field depends on.
func conditions(d *form.Definition, field *form.Field) []form.Condition {
	var all []form.Condition
	for _, dep := range field.When {
		all = append(all, dep.Condition)
	}
	for _, dep := range d.Dependencies {
		if dep.Field == field.ID {
			all = append(all, dep.Condition)
		}
	}
	if c := field.Hints.ConditionalDisplay; c != nil {
		all = append(all, *c)
	}
	return all
}

// canMiss reports whether a field that another needs can be missing, and nothing else
// be wrong with that.
func canMiss(d *form.Definition, field *form.Field, id string) bool {
	other := fieldOf(d, id)
	return !other.Required && len(other.Default) == 0 && len(conditions(d, other)) == 0 && !other.Hints.Hidden && !needed(d, id, field.ID)
}

// needed reports whether a field that is always answered needs the one with the id,
// apart from the field except.
func needed(d *form.Definition, id, except string) bool {
	for i := range d.Fields {
		f := &d.Fields[i]
		for _, n := range f.Needs {
			if n == id && f.ID != except && (f.Required && !d.AllowPartial || len(f.Default) > 0) {
				return true
			}
		}
	}
	return false
}

func fieldOf(d *form.Definition, id string) *form.Field {
	for i := range d.Fields {
		if d.Fields[i].ID == id {
			return &d.Fields[i]
		}
	}
	return &form.Field{Required: true}
}

// unique reports whether the form takes each option of a field once only.
func unique(f *form.Form, id string) bool {
	var schema struct {
		Properties map[string]struct {
			UniqueItems bool `json:"uniqueItems"`
		} `json:"properties"`
	}
	return json.Unmarshal(f.Schema(), &schema) == nil && schema.Properties[id].UniqueItems
}

// Invalid returns a record of answers that f refuses with the error of the scenario
// and no other. All other fields are answered, well; some of them in vain, where the
// form would not ask them. The error tells that no such answers were found, and what
// the form said instead.
func Invalid(f *form.Form, s Scenario, rng *rand.Rand) (form.Response, error) {
	err := fmt.Errorf("the scenario %s cannot be made", s)
	for range 100 {
		sheet := &sheet{form: f, rng: rng}
		if err := sheet.fill(1); err != nil {
			return form.Response{}, err
		}
		sheet.steer(s.Field)
		if bad := sheet.settle(); bad != nil {
			err = bad
			continue
		}
		if !sheet.spoil(s) {
			continue
		}
		answers := sheet.json(false)
		_, got := f.Read(answers, form.Coerce)
		errs, _ := errors.AsType[form.Errors](got)
		if len(errs) == 1 && s.Want().matches(errs[0]) {
			return record(f, answers), nil
		}
		err = fmt.Errorf("the scenario %s: the form answers %s with %v", s, answers, got)
	}
	return form.Response{}, err
}

// spoil makes the answers wrong.
func (s *sheet) spoil(sc Scenario) bool {
	switch sc.Name {
	case "unknown_field":
		s.strange = true
		return true
	case "missing_required_field":
		s.without(sc.Field, "")
		return true
	case "missing_dependency":
		d := s.form.Definition()
		field := fieldOf(d, sc.Field)
		for _, id := range field.Needs {
			if _, answered := s.values[sc.Field]; answered && canMiss(d, field, id) {
				s.without(id, sc.Field)
				return true
			}
		}
		return false
	}
	v, ok := sc.wrong(s.rng)
	s.values[sc.Field] = v
	return ok
}

// without takes away the answer to a field, and those that need it, but for one.
func (s *sheet) without(id, but string) {
	delete(s.values, id)
	d := s.form.Definition()
	for i := range d.Fields {
		f := &d.Fields[i]
		if _, answered := s.values[f.ID]; answered && f.ID != but && slices.Contains(f.Needs, id) {
			s.without(f.ID, but)
		}
	}
}

// steer answers the fields on which a field depends as its conditions compare them,
// now and then: that is what most conditions want.
func (s *sheet) steer(id string) {
	d := s.form.Definition()
	var follow func(c form.Condition)
	follow = func(c form.Condition) {
		for _, one := range c.Conditions {
			follow(one)
		}
		if c.Field == "" {
			return
		}
		if s.rng.IntN(2) == 0 && len(c.Value) > 0 {
			s.values[c.Field] = c.Value
			if f := fieldOf(d, c.Field); f.Type == form.MultiSelect && c.Value[0] == '"' {
				s.values[c.Field] = []json.RawMessage{c.Value}
			}
		}
		for _, other := range conditions(d, fieldOf(d, c.Field)) {
			follow(other)
		}
	}
	for _, c := range conditions(d, fieldOf(d, id)) {
		follow(c)
	}
}
