package form

import (
	"strconv"
	"time"
)

// yes writes a member, if it is true.
func (j *jot) yes(name string, v bool) {
	if v {
		j.flag(name, &v)
	}
}

// flag writes a member, unless it is nil.
func (j *jot) flag(name string, v *bool) {
	if v != nil {
		j.name(name)
		j.b = strconv.AppendBool(j.b, *v)
	}
}

// whole writes a member, unless it is zero.
func (j *jot) whole(name string, n int64) {
	if n != 0 {
		j.name(name)
		j.b = strconv.AppendInt(j.b, n, 10)
	}
}

// millis writes a duration in milliseconds, unless it is zero.
func (j *jot) millis(name string, d time.Duration) { j.whole(name, d.Milliseconds()) }

// object writes an object whose members fill writes, unless there are none.
func (j *jot) object(name string, fill func()) {
	before := len(j.b)
	j.member(name, '{')
	empty := len(j.b)
	if fill(); len(j.b) == empty {
		j.b = j.b[:before]
		return
	}
	j.close('}')
}

// must writes a member that may be empty.
func (j *jot) must(name, value string) {
	j.name(name)
	j.quote(value)
}

// definition writes d in its canonical form.
func (j *jot) definition(d *Definition) {
	j.open('{')
	j.must("id", d.ID)
	j.must("title", d.Title)
	j.text("description", d.Description)
	j.member("fields", '[')
	for i := range d.Fields {
		j.field(&d.Fields[i])
	}
	j.close(']')
	j.object("validation", func() {
		j.object("dependencies", func() { j.formDependencies(d.Dependencies) })
	})
	j.raw("metadata", d.Metadata)
	j.yes("allow_partial", d.AllowPartial)
	j.terms(d.Terms)
	j.close('}')
}

func (j *jot) terms(t Terms) {
	j.millis("timeout", t.Timeout)
	j.object("timeout_config", func() {
		j.flag("extension_allowed", t.ExtensionAllowed)
		j.millis("extension_duration", t.Extension)
		j.count("max_extensions", t.MaxExtensions)
		j.millis("warn_before", t.WarnBefore)
	})
	j.whole("max_attempts", int64(t.MaxAttempts))
}

// formDependencies writes form-level dependencies, those of one field together.
func (j *jot) formDependencies(all []Dependency) {
	for start := 0; start < len(all); {
		end := start + 1
		for end < len(all) && all[end].Field == all[start].Field {
			end++
		}
		j.name(all[start].Field)
		if end-start == 1 {
			j.dependency(all[start])
		} else {
			j.open('[')
			for _, d := range all[start:end] {
				j.dependency(d)
			}
			j.close(']')
		}
		start = end
	}
}

func (j *jot) field(f *Field) {
	j.open('{')
	j.must("id", f.ID)
	j.must("type", string(f.Type))
	j.must("label", f.Label)
	j.text("description", f.Description)
	j.yes("required", f.Required)
	j.raw("default", f.Default)
	j.options(f.Options)
	j.object("validation", func() { j.rules(&f.Rules) })
	j.fieldDependencies(f)
	j.raw("rendering", f.Rendering)
	if member(f.Rendering, "accessibility") == nil {
		j.raw("accessibility", f.Accessibility)
	}
	j.close('}')
}

func (j *jot) options(options []Option) {
	if len(options) == 0 {
		return
	}
	j.member("options", '[')
	for _, o := range options {
		if o.Title == "" {
			j.quote(o.Value)
			continue
		}
		j.open('{')
		j.must("value", o.Value)
		j.must("title", o.Title)
		j.close('}')
	}
	j.close(']')
}

func (j *jot) rules(r *FieldRules) {
	j.count("minLength", r.MinLength)
	j.count("maxLength", r.MaxLength)
	j.text("pattern", r.Pattern)
	j.text("format", r.Format)
	j.raw("minimum", r.Minimum)
	j.raw("maximum", r.Maximum)
	j.raw("exclusiveMinimum", r.ExclusiveMinimum)
	j.raw("exclusiveMaximum", r.ExclusiveMaximum)
	j.raw("multipleOf", r.MultipleOf)
	j.count("minItems", r.MinItems)
	j.count("maxItems", r.MaxItems)
	j.texts("allowedSchemes", r.AllowedSchemes)
	j.flag("blockPrivateIPs", r.BlockPrivateIPs)
	j.flag("blockLocalhost", r.BlockLocalhost)
	if r.MaxSize != nil {
		j.name("maxSize")
		j.b = strconv.AppendInt(j.b, *r.MaxSize, 10)
	}
	j.texts("allowedMimeTypes", r.AllowedMimeTypes)
	j.texts("allowedExtensions", r.AllowedExtensions)
}

// fieldDependencies writes the needs of a field, and then its conditions.
func (j *jot) fieldDependencies(f *Field) {
	if len(f.Needs)+len(f.When) == 0 {
		return
	}
	j.member("dependencies", '[')
	for _, id := range f.Needs {
		j.quote(id)
	}
	for _, d := range f.When {
		j.dependency(d)
	}
	j.close(']')
}

func (j *jot) dependency(d Dependency) {
	j.open('{')
	j.name("condition")
	j.condition(&d.Condition)
	j.must("action", string(d.Action))
	j.close('}')
}

func (j *jot) condition(c *Condition) {
	j.open('{')
	j.must("operator", string(c.Operator))
	j.text("field", c.Field)
	j.raw("value", c.Value)
	if len(c.Conditions) > 0 {
		j.member("conditions", '[')
		for i := range c.Conditions {
			j.condition(&c.Conditions[i])
		}
		j.close(']')
	}
	j.close('}')
}

// hints writes the known hints as a rendering object.
func (j *jot) hints(h *Hints) {
	j.open('{')
	j.text("placeholder", h.Placeholder)
	j.text("helpText", h.HelpText)
	j.text("displayStyle", h.DisplayStyle)
	j.text("inputType", h.InputType)
	j.text("autocomplete", h.Autocomplete)
	j.yes("readonly", h.Readonly)
	j.yes("hidden", h.Hidden)
	if h.ConditionalDisplay != nil {
		j.name("conditionalDisplay")
		j.condition(h.ConditionalDisplay)
	}
	j.whole("rows", int64(h.Rows))
	j.raw("step", h.Step)
	j.yes("enableTime", h.EnableTime)
	j.close('}')
}
