package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/beckon-mcp/beckon/form"
)

// describe is what the form itself says about a field.
func describe(f *form.Field) []string {
	lines := paragraph(f.Description)
	if f.Hints.HelpText != f.Description {
		lines = append(lines, paragraph(f.Hints.HelpText)...)
	}
	return lines
}

// explain is what the form says about a field, and which answers it takes.
func explain(f *form.Field) []string {
	lines := append(describe(f), expected(f))
	if p := line(f.Hints.Placeholder); p != "" && f.Type != form.Select && f.Type != form.MultiSelect {
		lines = append(lines, "For example: "+p)
	}
	return lines
}

// expected says in a sentence which answers a field takes.
func expected(f *form.Field) string {
	r := &f.Rules
	switch f.Type {
	case form.Number:
		what := "A number"
		if string(r.MultipleOf) == "1" {
			what = "A whole number"
		}
		return sentence(what, numberBounds(r)...)
	case form.Boolean:
		return "Yes or no."
	case form.Select:
		return "One of the choices."
	case form.MultiSelect:
		return sentence("Any of the choices", count(r.MinItems, r.MaxItems, "")...)
	case form.URL:
		schemes := r.AllowedSchemes
		if schemes == nil {
			schemes = []string{"https"}
		}
		return sentence("The address of a page, with "+line(strings.Join(schemes, ", "))+"://", count(nil, r.MaxLength, " characters")...)
	case form.Date:
		what := "A date, such as 2026-12-31"
		if r.Format == "date-time" {
			what = "A date and time, such as 2026-12-31T18:30:00Z"
		}
		return sentence(what, dateBounds(r)...)
	case form.File:
		return sentence("The path of a file", fileRules(r)...)
	}
	return sentence(kindOfText(r), textRules(r)...)
}

// sentence is what with the rules that there are.
func sentence(what string, rules ...string) string {
	rules = slices.DeleteFunc(rules, func(r string) bool { return r == "" })
	return strings.Join(append([]string{what}, rules...), ", ") + "."
}

// count are the rules about how many of something.
func count(least, most *int, of string) []string {
	var rules []string
	if least != nil && *least > 0 {
		rules = append(rules, fmt.Sprintf("at least %d%s", *least, of))
	}
	if most != nil {
		rules = append(rules, fmt.Sprintf("at most %d%s", *most, of))
	}
	return rules
}

// bound is a rule about a limit of a number or a date; "" when there is none.
func bound(words string, limit []byte) string {
	if limit == nil {
		return ""
	}
	return words + " " + line(plainText(limit))
}

func numberBounds(r *form.FieldRules) []string {
	rules := []string{
		bound("at least", r.Minimum), bound("more than", r.ExclusiveMinimum),
		bound("at most", r.Maximum), bound("less than", r.ExclusiveMaximum),
	}
	if string(r.MultipleOf) != "1" {
		rules = append(rules, bound("a multiple of", r.MultipleOf))
	}
	return rules
}

func dateBounds(r *form.FieldRules) []string {
	return []string{bound("not before", r.Minimum), bound("not after", r.Maximum)}
}

func fileRules(r *form.FieldRules) []string {
	rules := []string{"at most " + bytesOf(sizeLimit(r))}
	if r.AllowedExtensions != nil {
		rules = append(rules, "named "+line(strings.Join(r.AllowedExtensions, ", ")))
	}
	if r.AllowedMimeTypes != nil {
		rules = append(rules, "of the type "+line(strings.Join(r.AllowedMimeTypes, ", ")))
	}
	return rules
}

func kindOfText(r *form.FieldRules) string {
	switch r.Format {
	case "email":
		return "An e-mail address"
	case "uri":
		return "An address such as https://example.com"
	case "uuid":
		return "A UUID"
	case "ipv4":
		return "An IPv4 address"
	case "ipv6":
		return "An IPv6 address"
	case "hostname":
		return "The name of a host"
	case "date":
		return "A date, such as 2026-12-31"
	case "date-time":
		return "A date and time, such as 2026-12-31T18:30:00Z"
	}
	return "Text"
}

func textRules(r *form.FieldRules) []string {
	rules := count(r.MinLength, r.MaxLength, " characters")
	if r.Pattern != "" {
		rules = append(rules, "that matches "+line(r.Pattern))
	}
	return rules
}
