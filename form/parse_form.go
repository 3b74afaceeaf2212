package form

import (
	"fmt"
	"slices"
)

// The members of the objects of a definition, in the order in which they are
// written.
var (
	formMembers = []string{"id", "title", "description", "fields", "validation", "metadata", "allow_partial", "allowPartial",
		"timeout", "timeout_config", "max_attempts"}
	termMembers       = []string{"initial_timeout", "extension_allowed", "extension_duration", "max_extensions", "warn_before"}
	validationMembers = []string{"dependencies"}
	fieldMembers      = []string{"id", "type", "label", "description", "required", "default", "options", "validation",
		"dependencies", "rendering", "accessibility"}
	optionMembers     = []string{"value", "title"}
	dependencyMembers = []string{"condition", "action"}
	conditionMembers  = []string{"operator", "field", "value", "conditions"}
)

func (p *parser) definition(n *node, d *Definition) {
	for _, m := range p.object(n, "the form", formMembers) {
		switch m.name {
		case "id":
			d.ID = p.text(m)
		case "title":
			d.Title = p.text(m)
		case "description":
			d.Description = p.text(m)
		case "fields":
			p.fields(m, d)
		case "validation":
			p.formRules(m, d)
		case "metadata":
			d.Metadata = p.kept(m)
		case "allow_partial", "allowPartial":
			p.partial(m, d)
		case "timeout":
			d.Terms.Timeout = p.millis(m)
		case "timeout_config":
			p.terms(m, &d.Terms, n.child("timeout"))
		case "max_attempts":
			v, _ := p.whole(m, 1, maxAttempts, "3")
			d.Terms.MaxAttempts = int(v)
		}
	}
}

// partial reads both spellings, which must agree.
func (p *parser) partial(m *node, d *Definition) {
	v := p.boolean(m)
	if m.name == "allowPartial" {
		if other := m.parent.child("allow_partial"); other != nil && other.kind == 't' && m.kind == 't' && string(other.raw) != string(m.raw) {
			p.fault(m.path(), "allowPartial and allow_partial say the opposite of each other", "write allow_partial alone")
		}
	}
	d.AllowPartial = d.AllowPartial || v
}

// terms reads timeout_config. timeout is the member of the form beside it, or nil.
func (p *parser) terms(n *node, t *Terms, timeout *node) {
	for _, m := range p.object(n, "timeout_config", termMembers) {
		switch m.name {
		case "initial_timeout":
			v := p.millis(m)
			switch {
			case timeout == nil:
				t.Timeout = v
				p.moved = append(p.moved, move{"$.timeout", m.path()})
			case v != 0 && timeout.kind == '0' && string(timeout.raw) != string(m.raw):
				p.fault(m.path(), fmt.Sprintf("initial_timeout is %s, and timeout is %s", m.raw, clip(string(timeout.raw), 40)), "leave one of them out")
			}
		case "extension_allowed":
			t.ExtensionAllowed = new(p.boolean(m))
		case "extension_duration":
			t.Extension = p.millis(m)
		case "max_extensions":
			if v, ok := p.whole(m, 0, maxExtensions, "10"); ok {
				t.MaxExtensions = new(int(v))
			}
		case "warn_before":
			t.WarnBefore = p.millis(m)
		}
	}
}

// formRules reads the validation of the form.
func (p *parser) formRules(n *node, d *Definition) {
	if custom := n.child("custom_validators"); custom != nil {
		p.fault(custom.path(), "functions cannot travel in JSON",
			"leave it out; a Go program adds its checks as Definition.Rules, and dependencies say what depends on other fields")
	}
	known := validationMembers
	if n.child("custom_validators") != nil {
		known = append(slices.Clone(known), "custom_validators")
	}
	for _, m := range p.object(n, "the validation of a form", known) {
		if m.name != "dependencies" {
			continue
		}
		if m.kind != '{' {
			p.wrong(m, "an object", `write an object by field, such as {"other_reason": {"condition": {…}, "action": "show"}}`)
			continue
		}
		for _, of := range m.children {
			p.formDependencies(of, d)
		}
	}
}

// formDependencies reads what a field depends on: one dependency, or several.
func (p *parser) formDependencies(n *node, d *Definition) {
	if n.kind != '[' {
		d.Dependencies = append(d.Dependencies, p.dependency(n, n.name))
		return
	}
	if len(p.array(n, `[{"condition": {…}, "action": "show"}]`)) == 1 {
		p.moved = append(p.moved, move{n.path(), n.children[0].path()})
	}
	for _, c := range n.children {
		d.Dependencies = append(d.Dependencies, p.dependency(c, n.name))
	}
}

// dependency reads a condition and what it does to field.
func (p *parser) dependency(n *node, field string) Dependency {
	d := Dependency{Field: field}
	for _, m := range p.object(n, "a dependency", dependencyMembers) {
		switch m.name {
		case "condition":
			d.Condition = p.condition(m)
		case "action":
			d.Action = Action(p.text(m))
		}
	}
	return d
}

func (p *parser) condition(n *node) Condition {
	var c Condition
	for _, m := range p.object(n, "a condition", conditionMembers) {
		switch m.name {
		case "operator":
			c.Operator = Operator(p.text(m))
		case "field":
			c.Field = p.text(m)
		case "value":
			c.Value = m.value()
		case "conditions":
			for _, each := range p.array(m, `[{"operator": "equals", "field": "reason", "value": "other"}]`) {
				c.Conditions = append(c.Conditions, p.condition(each))
			}
		}
	}
	return c
}

func (p *parser) fields(n *node, d *Definition) {
	all := p.array(n, `[{"id": "name", "type": "text", "label": "Name"}]`)
	d.Fields = make([]Field, len(all))
	for i, c := range all {
		p.field(c, &d.Fields[i], i)
	}
}
