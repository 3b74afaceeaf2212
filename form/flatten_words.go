package form

import (
	"encoding/json"
	"slices"
	"strings"
)

// description is what the field says of itself, or else the help that would stand
// below it, and what the schema does not say.
func (s *said) description() string {
	about := s.field.Description
	if about == "" {
		about = s.field.Hints.HelpText
	}
	if len(s.sentences) == 0 {
		return about
	}
	rest := strings.Join(s.sentences, " ")
	if about = strings.TrimSpace(about); about == "" {
		return rest
	}
	if !strings.ContainsAny(about[len(about)-1:], ".!?:;") {
		about += "."
	}
	return about + " " + rest
}

func formatSentence(format string) string {
	switch format {
	case "uuid":
		return "Must be a UUID."
	case "ipv4":
		return "Must be an IPv4 address."
	case "ipv6":
		return "Must be an IPv6 address."
	case "hostname":
		return "Must be the name of a host."
	}
	return ""
}

// numberSentence tells what bounds and multiple the schema does not, and which.
func (s *said) numberSentence(multiple json.RawMessage) string {
	r := &s.field.Rules
	var parts []string
	for _, loss := range s.lost {
		if loss.Field != s.field.ID {
			continue
		}
		switch loss.What {
		case "exclusiveMinimum":
			parts = append(parts, "greater than "+string(r.ExclusiveMinimum))
		case "exclusiveMaximum":
			parts = append(parts, "less than "+string(r.ExclusiveMaximum))
		}
	}
	said := ""
	if len(parts) > 0 {
		said = "Must be " + strings.Join(parts, " and ")
	}
	switch {
	case multiple != nil && said != "":
		return said + ", and a multiple of " + string(multiple) + "."
	case multiple != nil:
		return "Must be a multiple of " + string(multiple) + "."
	case said != "":
		return said + "."
	}
	return ""
}

// url tells which addresses are allowed.
func (s *said) url() {
	r := &s.field.Rules
	schemes := r.AllowedSchemes
	if schemes == nil {
		schemes = []string{"https"}
	}
	starts := make([]string, len(schemes))
	for i, scheme := range schemes {
		if starts[i] = scheme + "://"; hostless(scheme) {
			starts[i] = scheme + ":"
		}
	}
	s.unsaid("allowedSchemes", "a flat schema allows every scheme", "Must begin with "+list(starts, "or")+".")
	private := r.BlockPrivateIPs == nil || *r.BlockPrivateIPs
	local := r.BlockLocalhost == nil || *r.BlockLocalhost
	if private {
		s.unsaid("blockPrivateIPs", "a flat schema allows private addresses", "")
	}
	if local {
		s.unsaid("blockLocalhost", "a flat schema allows addresses of the own machine", "")
	}
	switch {
	case private && local:
		s.sentences = append(s.sentences, "No private or local addresses.")
	case private:
		s.sentences = append(s.sentences, "No private addresses.")
	case local:
		s.sentences = append(s.sentences, "No local addresses.")
	}
}

// date tells which days are allowed.
func (s *said) date() {
	r := &s.field.Rules
	first, _ := unquoted(r.Minimum)
	last, _ := unquoted(r.Maximum)
	const why = "a flat schema has no bounds of dates"
	if first != "" {
		s.unsaid("minimum", why, "")
	}
	if last != "" {
		s.unsaid("maximum", why, "")
	}
	switch {
	case first != "" && last != "":
		s.sentences = append(s.sentences, "From "+first+" to "+last+".")
	case first != "":
		s.sentences = append(s.sentences, "Not before "+first+".")
	case last != "":
		s.sentences = append(s.sentences, "Not after "+last+".")
	}
}

// state tells how the field depends on others, and that it cannot be changed.
func (s *said) state() {
	f := s.field
	deps := f.conditions(&s.form.def)
	if len(deps) > 0 {
		s.lose(f, Loss{What: "condition", Why: "a flat schema asks every field; what does not apply is dropped, and what does is checked"})
	}
	for _, d := range deps {
		s.sentences = append(s.sentences, s.conditionSentence(d))
	}
	if len(f.Needs) > 0 {
		labels := make([]string, len(f.Needs))
		for i, id := range f.Needs {
			labels[i] = s.label(id)
		}
		s.unsaid("needs", "a flat schema does not say which fields belong together", "If answered, "+list(labels, "and")+" must be too.")
	}
	if f.Hints.Readonly {
		s.unsaid("readonly", "a flat schema has no read-only fields", "Cannot be changed.")
	}
}

// conditions are all dependencies of a field, wherever they are written.
func (f *Field) conditions(d *Definition) []Dependency {
	deps := slices.Concat(f.When, d.rulesOf(f.ID))
	if c := f.Hints.ConditionalDisplay; c != nil {
		deps = append(deps, Dependency{Field: f.ID, Condition: *c, Action: Show})
	}
	return deps
}

func (s *said) conditionSentence(d Dependency) string {
	when := s.condition(d.Condition, false)
	needed := s.field.Required && !s.form.def.AllowPartial
	switch {
	case (d.Action == Hide || d.Action == Disable) && needed:
		return "Needed unless " + when + "."
	case d.Action == Hide || d.Action == Disable:
		return "Not asked when " + when + "."
	case needed:
		return "Needed when " + when + "."
	case d.Action == Validate:
		return "Checked only when " + when + "."
	}
	return "Asked only when " + when + "."
}

// label is what a person calls a field.
func (s *said) label(id string) string {
	if f := s.form.def.field(id); f != nil && f.Label != "" {
		return f.Label
	}
	return id
}

// condition says a condition; one inside another of more than one part is in brackets.
func (s *said) condition(c Condition, inside bool) string {
	if c.Operator == And || c.Operator == Or {
		parts := make([]string, len(c.Conditions))
		for i, one := range c.Conditions {
			parts[i] = s.condition(one, len(c.Conditions) > 1)
		}
		whole := strings.Join(parts, " "+string(c.Operator)+" ")
		if inside && len(parts) > 1 {
			return "(" + whole + ")"
		}
		return whole
	}
	return s.label(c.Field) + " " + verb(c.Operator) + " " + s.shown(c)
}

func verb(o Operator) string {
	switch o {
	case NotEquals:
		return "is not"
	case Contains:
		return "contains"
	case Gt:
		return "is more than"
	case Lt:
		return "is less than"
	case Gte:
		return "is at least"
	case Lte:
		return "is at most"
	case Regex:
		return "matches"
	}
	return "is"
}

// shown is the value of a condition as a person sees it: an option by its title.
func (s *said) shown(c Condition) string {
	text, ok := unquoted(c.Value)
	if !ok {
		return string(c.Value)
	}
	if f := s.form.def.field(c.Field); f != nil {
		for _, o := range f.Options {
			if o.Value == text && o.Title != "" {
				return o.Title
			}
		}
	}
	return text
}

// hints writes what a client that knows forms better finds beside the schema.
func (fl *flattener) hints() []byte {
	d := &fl.form.def
	j := &jot{}
	j.open('{')
	j.raw("version", []byte("1"))
	j.text("formId", d.ID)
	j.member("fields", '{')
	for i := range d.Fields {
		f := &d.Fields[i]
		deps := slices.Concat(f.When, d.rulesOf(f.ID))
		if f.Hints.Hidden || len(f.Rendering) == 0 && len(f.Accessibility) == 0 && len(f.Needs) == 0 && len(deps) == 0 {
			continue
		}
		j.member(f.ID, '{')
		j.raw("rendering", f.Rendering)
		if member(f.Rendering, "accessibility") == nil {
			j.raw("accessibility", f.Accessibility)
		}
		if len(f.Needs)+len(deps) > 0 {
			j.member("dependencies", '[')
			for _, id := range f.Needs {
				j.quote(id)
			}
			for _, dep := range deps {
				j.dependency(dep)
			}
			j.close(']')
		}
		j.close('}')
	}
	j.close('}')
	j.member("lost", '[')
	for _, loss := range fl.lost {
		j.open('{')
		j.text("field", loss.Field)
		j.text("what", loss.What)
		j.text("why", loss.Why)
		if loss.Fatal {
			j.raw("fatal", []byte("true"))
		}
		j.close('}')
	}
	j.close(']')
	j.close('}')
	return j.b
}
