package form

import (
	"fmt"
	"slices"
)

// types are the types of fields.
var types = []Type{Text, Number, Boolean, Date, Select, MultiSelect, URL, File}

// ruleMember is a member of the validation of a field.
type ruleMember struct {
	name  string
	types []Type                                  // that have it
	given func(*FieldRules) bool                  // whether a rule is set; nil for what FieldRules does not hold
	read  func(*parser, *node, *FieldRules, Type) // nil likewise
}

// ruleMembers are the members of the validation of a field.
var ruleMembers = []ruleMember{
	{"minLength", []Type{Text}, func(f *FieldRules) bool { return f.MinLength != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.MinLength = p.count(n) }},
	{"maxLength", []Type{Text, URL}, func(f *FieldRules) bool { return f.MaxLength != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.MaxLength = p.count(n) }},
	{"pattern", []Type{Text}, func(f *FieldRules) bool { return f.Pattern != "" },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.Pattern = p.text(n) }},
	{"format", []Type{Text, Date, URL}, func(f *FieldRules) bool { return f.Format != "" },
		func(p *parser, n *node, f *FieldRules, t Type) { f.Format = p.format(n, t) }},
	{"minimum", []Type{Number, Date}, func(f *FieldRules) bool { return f.Minimum != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.Minimum = n.value() }},
	{"maximum", []Type{Number, Date}, func(f *FieldRules) bool { return f.Maximum != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.Maximum = n.value() }},
	{"exclusiveMinimum", []Type{Number}, func(f *FieldRules) bool { return f.ExclusiveMinimum != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.ExclusiveMinimum = n.value() }},
	{"exclusiveMaximum", []Type{Number}, func(f *FieldRules) bool { return f.ExclusiveMaximum != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.ExclusiveMaximum = n.value() }},
	{"multipleOf", []Type{Number}, func(f *FieldRules) bool { return f.MultipleOf != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.MultipleOf = n.value() }},
	{"enum", []Type{Select, MultiSelect}, nil, nil},
	{"minItems", []Type{MultiSelect}, func(f *FieldRules) bool { return f.MinItems != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.MinItems = p.count(n) }},
	{"maxItems", []Type{MultiSelect}, func(f *FieldRules) bool { return f.MaxItems != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.MaxItems = p.count(n) }},
	{"uniqueItems", []Type{MultiSelect}, nil,
		func(p *parser, n *node, _ *FieldRules, _ Type) { p.unique(n) }},
	{"allowedSchemes", []Type{URL}, func(f *FieldRules) bool { return f.AllowedSchemes != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.AllowedSchemes = p.texts(n, `["https"]`) }},
	{"blockPrivateIPs", []Type{URL}, func(f *FieldRules) bool { return f.BlockPrivateIPs != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.BlockPrivateIPs = new(p.boolean(n)) }},
	{"blockLocalhost", []Type{URL}, func(f *FieldRules) bool { return f.BlockLocalhost != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.BlockLocalhost = new(p.boolean(n)) }},
	{"maxSize", []Type{File}, func(f *FieldRules) bool { return f.MaxSize != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { p.size(n, f) }},
	{"allowedMimeTypes", []Type{File}, func(f *FieldRules) bool { return f.AllowedMimeTypes != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) {
			f.AllowedMimeTypes = p.texts(n, `["application/json"]`)
		}},
	{"allowedExtensions", []Type{File}, func(f *FieldRules) bool { return f.AllowedExtensions != nil },
		func(p *parser, n *node, f *FieldRules, _ Type) { f.AllowedExtensions = p.texts(n, `[".json"]`) }},
}

// ruleNames are the names of all rules.
func ruleNames() []string {
	names := make([]string, len(ruleMembers))
	for i := range ruleMembers {
		names[i] = ruleMembers[i].name
	}
	return names
}

func (p *parser) field(n *node, f *Field, index int) {
	if t := n.child("type"); t != nil && t.kind == '"' {
		f.Type = Type(t.text) // the other members depend on it
	}
	for _, m := range p.object(n, "a field", fieldMembers) {
		switch m.name {
		case "id":
			f.ID = p.text(m)
		case "type":
			p.text(m)
		case "label":
			f.Label = p.text(m)
		case "description":
			f.Description = p.text(m)
		case "required":
			f.Required = p.boolean(m)
		case "default":
			p.standard(m, f)
		case "options":
			p.options(m, f)
		case "validation":
			p.rules(m, f)
		case "dependencies":
			p.dependencies(m, f, index)
		case "rendering":
			f.Rendering = p.kept(m)
		case "accessibility":
			f.Accessibility = p.kept(m)
		}
	}
}

// standard reads the default of a field.
func (p *parser) standard(m *node, f *Field) {
	if m.kind == 'n' {
		p.fault(m.path(), "null is no answer, and so no default", "leave default out for none")
		return
	}
	f.Default = m.value()
}

// options reads choices: strings, or objects with value and title.
func (p *parser) options(n *node, f *Field) {
	for _, c := range p.array(n, `["small", {"value": "l", "title": "Large"}]`) {
		if c.kind == '{' {
			f.Options = append(f.Options, p.option(c))
			continue
		}
		if c.kind != '"' {
			p.wrong(c, "a string or an object with value and title", `write it in quotes, such as "`+sampleText(c)+`"`)
		}
		f.Options = append(f.Options, Option{Value: optionText(c)})
	}
}

func (p *parser) option(n *node) Option {
	var o Option
	for _, m := range p.object(n, "an option", optionMembers) {
		switch m.name {
		case "value":
			p.text(m)
			o.Value = optionText(m)
		case "title":
			if o.Title = p.text(m); m.kind == '"' && o.Title == "" {
				p.fault(m.path(), "the title is empty", "write what people shall read, or leave title out")
			}
		}
	}
	return o
}

// optionText is the value of an option; of one that is no string, what would be meant.
func optionText(n *node) string {
	if n.kind == '"' {
		return n.text
	}
	return string(n.raw)
}

// rules reads the validation of a field.
func (p *parser) rules(n *node, f *Field) {
	for _, m := range p.object(n, "validation", ruleNames()) {
		i := slices.IndexFunc(ruleMembers, func(rule ruleMember) bool { return rule.name == m.name })
		rule := ruleMembers[i]
		if slices.Contains(types, f.Type) && !slices.Contains(rule.types, f.Type) {
			p.add(misplaced(m.path(), m.name, f.Type, rule.types))
			continue
		}
		if m.name == "enum" {
			p.enum(m, f)
			continue
		}
		rule.read(p, m, &f.Rules, f.Type)
	}
}

// misplaced tells of a member that fields of that type cannot have.
func misplaced(path, name string, t Type, have []Type) Fault {
	words := make([]string, len(have))
	for i, h := range have {
		words[i] = string(h)
	}
	return Fault{path, fmt.Sprintf("a %s field has no %s", t, name),
		fmt.Sprintf("leave it out, or make it a field of a type that has it: %s", list(words, "or"))}
}

// enum reads the values of the options, which it gives where there are none.
func (p *parser) enum(n *node, f *Field) {
	values := p.texts(n, `["small", "large"]`)
	options := n.parent.parent.child("options")
	if options == nil {
		for _, v := range values {
			f.Options = append(f.Options, Option{Value: v})
		}
		field := n.parent.parent.path()
		p.moved = append(p.moved, move{field + ".options", n.path()})
		return
	}
	var other Field
	new(parser).options(options, &other)
	if !slices.EqualFunc(values, other.Options, func(v string, o Option) bool { return v == o.Value }) {
		p.fault(n.path(), "enum and options do not have the same values in the same order", "leave enum out; options say it all")
	}
}

func (p *parser) format(n *node, t Type) string {
	format := p.text(n)
	if n.kind == '"' && format == "" {
		p.fault(n.path(), "is empty", "write "+choice(formatsOf(t))+", or leave it out")
	}
	return format
}

// unique reads uniqueItems, which is always true.
func (p *parser) unique(n *node) {
	if !p.boolean(n) && n.kind == 't' {
		p.fault(n.path(), "an option can be chosen only once", "leave uniqueItems out: it is always true")
	}
}

func (p *parser) size(n *node, f *FieldRules) {
	if v, ok := p.whole(n, 1, maxMaxSize, "10485760 for 10 MiB"); ok {
		f.MaxSize = &v
	}
}

// dependencies reads what depends on the field, and what it depends on itself.
func (p *parser) dependencies(n *node, f *Field, index int) {
	if n.kind != '[' {
		p.wrong(n, "an array", `write an array of field ids, such as ["other"], or of objects with condition and action`)
		return
	}
	var needs, when []*node
	for _, c := range n.children {
		switch c.kind {
		case '"':
			f.Needs = append(f.Needs, c.text)
			needs = append(needs, c)
		case '{':
			f.When = append(f.When, p.dependency(c, f.ID))
			when = append(when, c)
		default:
			p.wrong(c, "the id of a field, or an object with condition and action", `write "other", or {"condition": {…}, "action": "show"}`)
		}
	}
	for i, c := range append(needs, when...) {
		if i != c.index {
			from := fmt.Sprintf("$.fields[%d].dependencies[%d]", index, i)
			p.moved = append(p.moved, move{from, c.path()})
		}
	}
}
