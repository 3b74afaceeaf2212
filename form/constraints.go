package form

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// constrain looks whether a value, which is of the type of the field, obeys its rules.
// It returns the first that it does not.
func (p *plan) constrain(v *Value) *Error {
	switch p.Type {
	case Text:
		return p.constrainText(v.text)
	case Number:
		return p.constrainNumber(v.text)
	case Date:
		return p.constrainDate(v.text)
	case Select:
		if _, ok := p.options[v.text]; !ok {
			return p.notAnOption(v.text)
		}
	case MultiSelect:
		return p.constrainList(v.list)
	case URL:
		return p.constrainURL(v.text)
	case File:
		return p.constrainFile(v.file)
	}
	return nil
}

// constrainReadonly looks whether a read-only field is left as it is. Without a default
// it is left out.
func (p *plan) constrainReadonly(v *Value) *Error {
	if p.Hints.Readonly && !p.fallback.equal(*v) {
		return p.fail(CodeReadonly, "readonly", p.told(p.Default), nil, "cannot be changed")
	}
	return nil
}

// constrainUnbound looks at a value whose constraints do not apply now. What is left
// is the type: of an URL, that it is one.
func (p *plan) constrainUnbound(v *Value) *Error {
	if p.Type == URL && !isURI(v.text) {
		return p.badURL(v.text, formatOf("uri").what)
	}
	return nil
}

// equal reports whether two values are the same answer, however numbers are spelled.
func (v Value) equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case TextKind:
		return v.text == w.text
	case NumberKind:
		return compareNumbers(v.text, w.text) == 0
	case BoolKind:
		return v.yes == w.yes
	case ListKind:
		return slices.Equal(v.list, w.list)
	case FileKind:
		return v.file == w.file
	}
	return true
}

func (p *plan) constrainText(s string) *Error {
	r := &p.Rules
	if r.MinLength != nil || r.MaxLength != nil {
		if e := p.constrainLength(utf8.RuneCountInString(s)); e != nil {
			return e
		}
	}
	if p.pattern != nil && !p.pattern.MatchString(s) {
		return p.unmet("pattern", r.Pattern, p.shown(s), "must match the pattern %s", r.Pattern)
	}
	if p.format != nil && !p.format.valid(s) {
		return p.unmet("format", p.format.name, p.shown(s), "must be %s", p.format.what)
	}
	return nil
}

// constrainLength looks at a length in characters. Of a secret it is told as well:
// who pasted half of one can see that.
func (p *plan) constrainLength(n int) *Error {
	r := &p.Rules
	switch {
	case r.MinLength != nil && n < *r.MinLength:
		return p.unmet("minLength", *r.MinLength, n, "must be at least %s long, and has %d", counted(*r.MinLength, "character"), n)
	case r.MaxLength != nil && n > *r.MaxLength:
		return p.unmet("maxLength", *r.MaxLength, n, "must be at most %s long, and has %d", counted(*r.MaxLength, "character"), n)
	}
	return nil
}

func (p *plan) constrainNumber(s string) *Error {
	if len(p.bounds) == 0 && p.multiple == nil {
		return nil
	}
	d, _ := parseDecimal(s)
	for i := range p.bounds {
		if b := &p.bounds[i]; !b.holds(d) {
			return p.unmet(b.constraint, b.text, p.shownNumber(s), "%s %s%s", b.words, b.text, p.and("is %s", s))
		}
	}
	switch m := p.multiple; {
	case m == nil || d.multipleOf(*m):
		return nil
	case m.digits == "1" && m.low == 0:
		return p.unmet("multipleOf", p.Rules.MultipleOf, p.shownNumber(s), "must be a whole number%s", p.and("is %s", s))
	}
	return p.unmet("multipleOf", p.Rules.MultipleOf, p.shownNumber(s), "must be a multiple of %s%s", p.Rules.MultipleOf, p.and("is %s", s))
}

func (p *plan) constrainDate(s string) *Error {
	if p.from == nil && p.to == nil {
		return nil
	}
	at, _ := parseMoment(s)
	switch {
	case p.from != nil && at.compare(*p.from) < 0:
		return p.unmet("minimum", p.Rules.Minimum, p.shown(s), "must not be before %s", unquotedText(p.Rules.Minimum))
	case p.to != nil && at.compare(*p.to) > 0:
		return p.unmet("maximum", p.Rules.Maximum, p.shown(s), "must not be after %s", unquotedText(p.Rules.Maximum))
	}
	return nil
}

func (p *plan) constrainList(list []string) *Error {
	var room [64]bool
	chosen := room[:0]
	if !p.repeats() {
		chosen = append(chosen, make([]bool, len(p.Options))...)
	}
	for _, s := range list {
		i, ok := p.options[s]
		switch {
		case !ok:
			return p.notAnOption(s)
		case len(chosen) > 0 && chosen[i]:
			return p.unmet("uniqueItems", true, p.shown(s), "must have each choice once%s", p.and("has %q twice", s))
		case len(chosen) > 0:
			chosen[i] = true
		}
	}
	r, n := &p.Rules, len(list)
	switch {
	case r.MinItems != nil && n < *r.MinItems:
		return p.unmet("minItems", *r.MinItems, n, "needs at least %s, and has %d", counted(*r.MinItems, "choice"), n)
	case r.MaxItems != nil && n > *r.MaxItems:
		return p.unmet("maxItems", *r.MaxItems, n, "can have at most %s, and has %d", counted(*r.MaxItems, "choice"), n)
	}
	return nil
}

// listedOptions is how many options a message names, and expectedOptions how many an error.
const (
	listedOptions   = 10
	expectedOptions = 100
)

func (p *plan) notAnOption(s string) *Error {
	values := make([]string, len(p.Options))
	for i, o := range p.Options {
		values[i] = o.Value
	}
	named := strings.Join(values[:min(len(values), listedOptions)], ", ")
	if more := len(values) - listedOptions; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	values = values[:min(len(values), expectedOptions)]
	if p.Type == MultiSelect {
		return p.unmet("enum", values, p.shown(s), "can only have choices from %s", named)
	}
	return p.unmet("enum", values, p.shown(s), "must be one of %s", named)
}
