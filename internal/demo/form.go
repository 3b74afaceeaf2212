package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Form is a form as the terminal asks it: one field after the other.
type Form []Field

// Field is one question of a form.
type Field struct {
	Name     string
	Title    string   `json:"title"`
	Type     string   `json:"type"`
	Enum     []string `json:"enum"`
	Default  any      `json:"default"`
	Minimum  *float64 `json:"minimum"`
	Maximum  *float64 `json:"maximum"`
	Required bool
}

// ParseForm reads a requestedSchema. The SDK hands schemas on as a map, so that
// the fields come in the order of their names.
func ParseForm(schema any) (Form, error) {
	b, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	var parsed struct {
		Properties map[string]Field `json:"properties"`
		Required   []string         `json:"required"`
	}
	if err := json.Unmarshal(b, &parsed); err != nil {
		return nil, fmt.Errorf("decoding the schema: %w", err)
	}
	var form Form
	for name, f := range parsed.Properties {
		f.Name, f.Required = name, slices.Contains(parsed.Required, name)
		form = append(form, f)
	}
	slices.SortFunc(form, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return form, nil
}

// Label is how the field is asked at a terminal.
func (f Field) Label() string {
	label := f.Title
	if label == "" {
		label = f.Name
	}
	switch {
	case len(f.Enum) > 0:
		label += " (" + strings.Join(f.Enum, ", ") + ")"
	case f.Type == "boolean":
		label += " (yes, no)"
	case f.Minimum != nil && f.Maximum != nil:
		label += fmt.Sprintf(" (%v to %v)", *f.Minimum, *f.Maximum)
	}
	if f.Default != nil {
		label += fmt.Sprintf(" [%v]", f.Default)
	}
	return label
}

// Parse reads what was typed; nothing typed is the default. A nil value leaves
// the field out.
func (f Field) Parse(typed string) (any, error) {
	if typed == "" {
		if f.Default == nil && f.Required {
			return nil, errors.New("this is needed")
		}
		return f.Default, nil
	}
	switch f.Type {
	case "boolean":
		switch strings.ToLower(typed) {
		case "y", "yes", "true":
			return true, nil
		case "n", "no", "false":
			return false, nil
		}
		return nil, errors.New("yes or no")
	case "integer", "number":
		return f.number(typed)
	}
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, typed) {
		return nil, fmt.Errorf("one of %s", strings.Join(f.Enum, ", "))
	}
	return typed, nil
}

func (f Field) number(typed string) (any, error) {
	n, err := strconv.ParseFloat(typed, 64)
	switch {
	case err != nil, f.Type == "integer" && n != float64(int64(n)):
		return nil, fmt.Errorf("a whole number, such as 3")
	case f.Minimum != nil && n < *f.Minimum:
		return nil, fmt.Errorf("at least %v", *f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return nil, fmt.Errorf("at most %v", *f.Maximum)
	}
	return n, nil
}

// Show prints content in the order of the form.
func (form Form) Show(content map[string]any) string {
	if len(content) == 0 {
		return ""
	}
	var parts []string
	for _, f := range form {
		if v, ok := content[f.Name]; ok {
			parts = append(parts, fmt.Sprintf("%s: %v", f.Name, v))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
