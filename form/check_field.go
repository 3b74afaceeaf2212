package form

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// formatsOf are the formats that fields of a type may have.
func formatsOf(t Type) []string {
	switch t {
	case Text:
		return []string{"email", "uri", "uuid", "ipv4", "ipv6", "hostname", "date", "date-time"}
	case Date:
		return []string{"date", "date-time"}
	case URL:
		return []string{"uri"}
	}
	return nil
}

// field checks field i.
func (c *checker) field(i int) {
	f := &c.def.Fields[i]
	path := "$.fields[" + strconv.Itoa(i) + "]"
	c.id(path+".id", "the field", f.ID, maxFieldID, ".")
	c.words(path+".label", "the field", "label", f.Label, maxTitle)
	c.length(path+".description", "the description", f.Description, maxFieldText)
	if !c.known(i) {
		return
	}
	c.standard(path, i)
	f = &c.def.Fields[i]
	c.options(path, f)
	c.rules(path+".validation", f)
	if len(f.Extra) > 0 {
		c.fault(path, "Extra is for lifted schemas", "leave it out")
	}
}

// standard checks the default of a field, as far as it is JSON. A default of "" says
// that nothing is filled in: of a field whose answers are texts, none of them empty, it
// is none.
func (c *checker) standard(path string, i int) {
	f := &c.def.Fields[i]
	if f.Default == nil {
		return
	}
	if f.Type == File {
		c.fault(path+".default", "a file field has no default", "leave it out")
		return
	}
	n := c.readJSON(f.Default, path+".default")
	if n != nil && n.kind == '"' && n.text == "" && !f.takesEmpty() {
		c.edit(i).Default = nil
	}
}

// takesEmpty reports whether "" can be a valid answer, or is one of the wrong type.
func (f *Field) takesEmpty() bool {
	r := &f.Rules
	if f.Type == Number || f.Type == Boolean || f.Type == MultiSelect {
		return true
	}
	if f.Type != Text || r.MinLength != nil && *r.MinLength > 0 || r.Format != "" {
		return false
	}
	if r.Pattern == "" {
		return true
	}
	re, _ := compilePattern("", r.Pattern)
	return re == nil || re.MatchString("")
}

func (c *checker) options(path string, f *Field) {
	path += ".options"
	switch choice := f.Type == Select || f.Type == MultiSelect; {
	case !choice && len(f.Options) > 0:
		c.add(misplaced(path, "options", f.Type, []Type{Select, MultiSelect}))
		return
	case choice && len(f.Options) == 0:
		c.fault(path, fmt.Sprintf("a %s field needs options", f.Type), `write what can be chosen, such as ["small", {"value": "l", "title": "Large"}]`)
	case len(f.Options) > maxOptions:
		c.fault(path, fmt.Sprintf("the field has %d options; %d are possible", len(f.Options), maxOptions), "ask in two steps, or make it a text field")
	}
	first := make(map[string]int, len(f.Options))
	for i, o := range f.Options {
		at := path + "[" + strconv.Itoa(i) + "]"
		other, twice := first[o.Value]
		switch {
		case o.Value == "":
			c.fault(at, "the option needs a value", `write {"value": "none", "title": "None"} for an option that means nothing`)
		case twice:
			c.fault(at, fmt.Sprintf("the value %s is that of option %d too", quoted(o.Value), other), "leave one of them out")
		default:
			first[o.Value] = i
		}
		c.length(at, "the value", o.Value, maxFieldText)
		c.length(at, "the title", o.Title, maxTitle)
	}
}

// rules checks the validation of a field, as far as it concerns names and kinds. What
// the rules say together is looked at when they are prepared.
func (c *checker) rules(path string, f *Field) {
	r := &f.Rules
	for _, rule := range ruleMembers {
		if rule.given != nil && rule.given(r) && !slices.Contains(rule.types, f.Type) {
			c.add(misplaced(path+"."+rule.name, rule.name, f.Type, rule.types))
		}
	}
	if have := formatsOf(f.Type); r.Format != "" && have != nil && !slices.Contains(have, r.Format) {
		fault := noWord(path+".format", r.Format, have)
		if r.Format == "password" {
			fault.Fix = `write "rendering": {"inputType": "password"} for a secret`
		}
		c.add(fault)
	}
	for _, m := range []struct {
		name string
		n    *int
	}{{"minLength", r.MinLength}, {"maxLength", r.MaxLength}, {"minItems", r.MinItems}, {"maxItems", r.MaxItems}} {
		if m.n != nil && (*m.n < 0 || *m.n > maxCount) {
			c.fault(path+"."+m.name, fmt.Sprintf("%d is not possible", *m.n), "write a whole number of at least 0, such as 3")
		}
	}
	if r.MaxSize != nil && (*r.MaxSize < 1 || *r.MaxSize > maxMaxSize) {
		c.fault(path+".maxSize", fmt.Sprintf("%d is not within 1 and %d bytes", *r.MaxSize, maxMaxSize), "write bytes, such as 10485760 for 10 MiB")
	}
	c.bounds(path, f)
	c.each(path+".allowedSchemes", r.AllowedSchemes, schemeForm, "a URL scheme in small letters", `["https"]`)
	c.each(path+".allowedMimeTypes", r.AllowedMimeTypes, mimeForm, "a MIME type without parameters", `["application/json", "image/*"]`)
	c.each(path+".allowedExtensions", r.AllowedExtensions, extensionForm, "an extension with one dot before it", `[".json", ".yaml"]`)
}

// bounds checks that the bounds of numbers are numbers, and those of dates strings.
func (c *checker) bounds(path string, f *Field) {
	r := &f.Rules
	for _, m := range []struct {
		name  string
		value json.RawMessage
	}{{"minimum", r.Minimum}, {"maximum", r.Maximum}, {"exclusiveMinimum", r.ExclusiveMinimum},
		{"exclusiveMaximum", r.ExclusiveMaximum}, {"multipleOf", r.MultipleOf}} {
		if m.value == nil {
			continue
		}
		n := c.readJSON(m.value, path+"."+m.name)
		switch {
		case n == nil:
		case f.Type == Date:
			if _, ok := parseMoment(c.parser.text(n)); n.kind == '"' && !ok {
				c.fault(n.path(), quoted(n.text)+" is no date", `write a day of the calendar, such as "2026-01-31", or a time, such as "2026-01-31T12:00:00Z"`)
			}
		case f.Type == Number:
			c.exact(n, m.name == "multipleOf")
		}
	}
}

// exact checks a number that answers are compared with.
func (c *checker) exact(n *node, positive bool) bool {
	if c.number(n) == nil {
		return false
	}
	v, size := parseDecimal(string(n.raw))
	switch {
	case size != isNumber:
		c.fault(n.path(), "the number is beyond all use", fmt.Sprintf("write at most %d digits, and an exponent within ±%d", maxNumberDigits, maxNumberExponent))
	case positive && v.sign() <= 0:
		c.fault(n.path(), clip(string(n.raw), 40)+" is not greater than zero", "write a number greater than 0, such as 5 or 0.01")
	default:
		return true
	}
	return false
}

// each checks a list of words. An empty one would allow nothing.
func (c *checker) each(path string, words []string, form *regexp.Regexp, what, sample string) {
	switch {
	case words != nil && len(words) == 0:
		c.fault(path, "is empty", "write at least one, such as "+sample+", or leave it out")
	case len(words) > maxWords:
		c.fault(path, fmt.Sprintf("has %d elements; %d are possible", len(words), maxWords), "leave some of them out")
		return
	}
	for i, w := range words {
		at := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case !form.MatchString(w):
			c.fault(at, fmt.Sprintf("%s is not %s", quoted(w), what), "write such as "+sample)
		case slices.Contains(words[:i], w):
			c.fault(at, quoted(w)+" is there twice", "leave one of them out")
		case len(w) > maxTitle:
			c.fault(at, fmt.Sprintf("has %d characters; %d are possible", len(w), maxTitle), "shorten it")
		}
	}
}

// oneOption checks that s is one of the options of f.
func (c *checker) oneOption(n *node, f *Field) bool {
	if slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == n.text }) {
		return true
	}
	values := make([]string, len(f.Options))
	for i, o := range f.Options {
		values[i] = o.Value
	}
	fix := "write the value of one of its options"
	if likely := c.nearest(n.text, values); likely != "" {
		fix = "write " + quoted(likely)
	} else if len(values) <= 10 {
		fix = "write " + choice(values)
	}
	c.fault(n.path(), fmt.Sprintf("the field %s has no option %s", quoted(f.ID), quoted(n.text)), fix)
	return false
}

// nearest is nearest for the first faults: comparing costs time, and whoever has that
// many faults did not slip.
func (c *checker) nearest(word string, known []string) string {
	if len(c.faults) >= maxFaults/5 {
		return ""
	}
	return nearest(word, known)
}

// unknownField tells of the name of a field that is none.
func (c *checker) unknownField(path, id string) {
	var ids []string
	for i := range c.def.Fields {
		ids = append(ids, c.def.Fields[i].ID)
	}
	fix := "write the id of a field of this form"
	if likely := c.nearest(id, ids); likely != "" {
		fix = "write " + quoted(likely)
	} else if len(ids) <= 10 {
		fix += ": " + choice(ids)
	}
	c.fault(path, "there is no field "+quoted(id), fix)
}
