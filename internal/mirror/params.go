package mirror

import (
	"fmt"
	"math/big"
	"net/http"
	"strings"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// ParamPrefix begins the headers that mirror arguments of a tool.
const ParamPrefix = "Mcp-Param-"

// Param is an argument of a tool that a header mirrors.
type Param struct {
	Header string   // canonical
	Path   []string // to the argument
	Type   string   // string, integer or boolean
}

// Params are all arguments of one tool that headers mirror.
type Params []Param

// ParseParams reads the annotations of a tool's inputSchema. The error says why
// the tool is invalid, so that clients must not offer it.
//
// "An x-mcp-header annotation anywhere else makes the annotation — and thus the
// tool definition — invalid."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension
func ParseParams(inputSchema []byte) (Params, error) {
	var ps Params
	if err := ps.collect(inputSchema, nil, true); err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for _, p := range ps {
		if seen[p.Header] {
			return nil, fmt.Errorf("two parameters have the same x-mcp-header %s", p.Header)
		}
		seen[p.Header] = true
	}
	return ps, nil
}

// annotation is the keyword that asks for a header.
const annotation = "x-mcp-header"

// collect walks through a schema. reachable says that only "properties" led here.
func (ps *Params) collect(schema []byte, path []string, reachable bool) error {
	if name := wire.Get(schema, annotation); name != nil {
		if !reachable || len(path) == 0 {
			return fmt.Errorf("%s stands where no property can be reached by names alone", annotation)
		}
		if err := ps.add(schema, path); err != nil {
			return err
		}
	}
	for keyword, value := range wire.Members(schema) {
		switch keyword {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			for name, sub := range wire.Members(value) {
				next := append(path[:len(path):len(path)], name)
				if err := ps.collect(sub, next, reachable && keyword == "properties"); err != nil {
					return err
				}
			}
		case "allOf", "anyOf", "oneOf", "prefixItems":
			for sub := range wire.Elements(value) {
				if err := ps.collect(sub, path, false); err != nil {
					return err
				}
			}
		case "items", "contains", "not", "if", "then", "else", "additionalProperties",
			"unevaluatedItems", "unevaluatedProperties", "propertyNames":
			if err := ps.collect(value, path, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// add takes one annotated property.
func (ps *Params) add(schema []byte, path []string) error {
	name, ok := wire.Text(schema, annotation)
	if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return !tchar(r) }) {
		return fmt.Errorf("the %s of %s is no name of a header", annotation, strings.Join(path, "."))
	}
	kind, _ := wire.Text(schema, "type")
	switch kind {
	case "string", "integer", "boolean":
	default:
		return fmt.Errorf("%s is mirrored and is neither string, integer nor boolean", strings.Join(path, "."))
	}
	*ps = append(*ps, Param{Header: http.CanonicalHeaderKey(ParamPrefix + name), Path: path, Type: kind})
	return nil
}

// tchar reports whether r may stand in a field name.
// https://www.rfc-editor.org/rfc/rfc9110#name-tokens
func tchar(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// Set sets the headers for the arguments of a call, and removes those of
// arguments that are not there.
func (ps Params) Set(h http.Header, arguments []byte) {
	for _, p := range ps {
		h.Del(p.Header)
		if value, ok := p.value(arguments); ok {
			h.Set(p.Header, Encode(value))
		}
	}
}

// Check refuses a call whose headers do not say what its arguments say. Headers
// that no annotation names are nobody's business here.
//
// "Parameter value is null | Client MUST omit the header | Server MUST NOT expect the
// header" "Client omits header but value is in body | Non-conforming client | Server
// MUST reject the request"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-behavior-for-custom-headers
func (ps Params) Check(h http.Header, arguments []byte) *wire.Error {
	for _, p := range ps {
		want, present := p.value(arguments)
		if !present {
			if len(h.Values(p.Header)) > 0 {
				return mismatch("the header %s mirrors an argument that is not there", p.Header)
			}
			continue
		}
		if p.Type == "integer" && sameNumber(h, p.Header, want) {
			continue
		}
		if err := check(h, p.Header, want, true); err != nil {
			return err
		}
	}
	return nil
}

// value returns an argument as the header has it; false when there is none.
//
// "integer: Convert to decimal string representation (e.g., 42, -7)", and a boolean is
// "true" or "false", as JSON has it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
func (p Param) value(arguments []byte) (string, bool) {
	v := wire.Get(arguments, p.Path...)
	switch {
	case v == nil || string(v) == "null":
		return "", false
	case v[0] == '"':
		return wire.Text(arguments, p.Path...)
	}
	if n, ok := number(string(v)); ok && n.IsInt() {
		return n.Num().String(), true
	}
	return string(v), true
}

// sameNumber compares an integer with a header.
//
// "When validating integer parameter values, servers SHOULD compare the header
// value and the body value numerically rather than as strings (e.g., 42.0 and 42
// are considered equal)."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
func sameNumber(h http.Header, name, want string) bool {
	values := h.Values(name)
	if len(values) != 1 {
		return false
	}
	text, err := Decode(values[0])
	if err != nil {
		return false
	}
	got, ok := number(text)
	w, alsoOK := number(want)
	return ok && alsoOK && got.Cmp(w) == 0
}

// number reads a JSON number. It takes no exponent that would make it huge.
func number(s string) (*big.Rat, bool) {
	const longest = 40 // digits; a header of this kind is within 2^53
	if len(s) == 0 || len(s) > longest || strings.ContainsFunc(s, func(r rune) bool {
		return !('0' <= r && r <= '9') && !strings.ContainsRune("+-.eE", r)
	}) {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(strings.TrimLeft(s[i+1:], "+-0")) > 2 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}
