package input

import (
	"slices"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Rules say what the relay admits. They only admit or refuse; they never change
// a request. The zero Rules admit everything that can be delivered.
type Rules struct {
	Check     bool // refuse requests that break the specification's rules for forms
	Primitive bool // refuse multiple choice too, as revision 2025-06-18 does
	Secrets   bool // refuse forms that ask for a secret
}

func (rules Rules) check(kind Kind, ask wire.Message) *wire.Error {
	p := ask.Params()
	switch kind {
	case Roots, Other:
		return nil
	case Sampling:
		if v := wire.Get(p, "messages"); rules.Check && (len(v) == 0 || v[0] != '[') {
			return badParams("sampling/createMessage needs messages, an array")
		}
		return nil
	}
	if _, ok := wire.Text(p, "message"); rules.Check && !ok {
		return badParams("elicitation/create needs message, a string")
	}
	if kind == URL {
		if _, ok := wire.Text(p, "url"); rules.Check && !ok {
			return badParams("elicitation by URL needs url, a string")
		}
		return nil
	}
	schema := wire.Get(p, "requestedSchema")
	if rules.Check {
		if err := rules.form(schema); err != nil {
			return err
		}
	}
	if rules.Secrets {
		return secrets(schema)
	}
	return nil
}

func badParams(what string) *wire.Error { return wire.Errorf(wire.ReasonParams, "%s", what) }

func badSchema(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.ReasonSchema, "requestedSchema "+format, args...).
		Hint("a form is a flat object of strings, numbers, booleans and choices")
}

// form checks the shape of a form.
//
// "To simplify client user experience, form mode elicitation schemas are limited
// to flat objects with primitive properties only."
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
func (rules Rules) form(schema []byte) *wire.Error {
	if schema == nil {
		return badParams("elicitation by form needs requestedSchema, an object")
	}
	if schema[0] != '{' {
		return badSchema("must be an object")
	}
	if t, _ := wire.Text(schema, "type"); t != "object" {
		return badSchema(`must have type "object"`)
	}
	properties := wire.Get(schema, "properties")
	if len(properties) == 0 || properties[0] != '{' {
		return badSchema("must have properties, an object")
	}
	for name, property := range wire.Members(properties) {
		if err := rules.property(name, property); err != nil {
			return err.With("field", name)
		}
	}
	return nil
}

func (rules Rules) property(name string, property []byte) *wire.Error {
	if property[0] != '{' {
		return badSchema("field %q must be an object", name)
	}
	kind, _ := wire.Text(property, "type")
	nested := slices.ContainsFunc([]string{"properties", "items"}, func(k string) bool { return wire.Get(property, k) != nil })
	switch kind {
	case "string", "number", "integer", "boolean":
		if nested {
			return badSchema("field %q is a %s and cannot have properties or items", name, kind)
		}
		return nil
	case "array":
		if !rules.Primitive && choices(wire.Get(property, "items")) {
			return nil
		}
		return badSchema("field %q: an array must be a choice of given strings", name)
	}
	if kind == "" && (wire.Get(property, "enum") != nil || wire.Get(property, "oneOf") != nil) && !nested {
		return nil // a choice whose author left the type out; clients show it
	}
	if kind == "" && !rules.Primitive && !nested && optional(property) {
		return nil
	}
	return badSchema("field %q has the type %q; string, number, integer and boolean are possible", name, kind)
}

// optional reports whether a property is a primitive or null, as servers write it whose
// SDK makes the schema of a type with optional fields: those of the Python SDK before
// its second version do, and clients that know them show it.
func optional(property []byte) bool {
	primitive := false
	kinds := wire.Elements(wire.Get(property, "type"))
	if wire.Get(property, "type") == nil {
		kinds = wire.Elements(wire.Get(property, "anyOf"))
	}
	for k := range kinds {
		if k[0] == '{' {
			k = wire.Get(k, "type")
		}
		switch string(k) {
		case `"string"`, `"number"`, `"integer"`, `"boolean"`:
			primitive = true
		case `"null"`:
		default:
			return false
		}
	}
	return primitive
}

// choices reports whether the items of an array are given strings: enum, or
// titled constants under anyOf (the specification) or oneOf (older servers).
func choices(items []byte) bool {
	for _, k := range []string{"enum", "anyOf", "oneOf"} {
		if v := wire.Get(items, k); len(v) > 0 && v[0] == '[' {
			return true
		}
	}
	return false
}

// secrets refuses a form that asks for a secret.
//
// "Servers MUST NOT use form mode elicitation to request sensitive information."
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#safe-url-handling
func secrets(schema []byte) *wire.Error {
	names := Secrets(schema)
	if len(names) == 0 {
		return nil
	}
	return asksSecret(names[0])
}

func asksSecret(field string) *wire.Error {
	return wire.Errorf(wire.ReasonSensitive, "the form asks for a secret in field %q, which must not pass through the client", field).
		With("field", field).
		Hint(`ask by URL (mode "url"), or set input.sensitive to allow for servers that you trust`)
}

// Secrets returns the names of the fields in which a form asks for a secret: those
// that are marked as one, and those that are called like one.
func Secrets(schema []byte) []string {
	var names []string
	for name, property := range wire.Members(wire.Get(schema, "properties")) {
		title, _ := wire.Text(property, "title")
		format, _ := wire.Text(property, "format")
		inputType, _ := wire.Text(property, "inputType")
		if format == "password" || inputType == "password" || form.SecretName(name) || form.SecretName(title) {
			names = append(names, name)
		}
	}
	return names
}
