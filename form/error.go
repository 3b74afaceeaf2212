package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Fault is one thing that is wrong with a definition.
type Fault struct {
	Path    string `json:"path"`    // where, as a JSON path: $.fields[2].validation.pattern
	Message string `json:"message"` // what is wrong
	Fix     string `json:"fix"`     // what to write instead
}

func (f Fault) Error() string { return f.Path + ": " + f.Message + "; " + f.Fix }

// Faults are all that is wrong with a definition. It is the error of [Parse],
// [Compile] and [Lift].
type Faults []Fault

func (f Faults) Error() string { return linesOf(f) }

// Unwrap returns each [Fault].
func (f Faults) Unwrap() []error { return errorsOf(f) }

// Code is why an answer is refused. Where a constraint is not met it is that of
// the MCP error that tells of it, [CodeConstraint], and a number in JSON; where the
// answer could not even be read, it is a word.
type Code string

// The codes.
const (
	CodeConstraint     Code = "-32007" // a constraint is not met
	CodeRequired       Code = "required_missing"
	CodeType           Code = "type_mismatch"
	CodeInvalidNumber  Code = "invalid_number"
	CodeInvalidBoolean Code = "invalid_boolean"
	CodeInvalidDate    Code = "invalid_date_format"
	CodeInvalidURL     Code = "invalid_url"
	CodeInvalidFile    Code = "invalid_file"
	CodeUnknownField   Code = "unknown_field"
	CodeTooLarge       Code = "too_large"  // the answers as a whole, a number beyond all use, or a text for its pattern
	CodeRule           Code = "rule"       // of a [Rule] that names no other
	CodeMalformed      Code = "malformed"  // the answers are no JSON object, or have a name twice
	CodeReadonly       Code = "readonly"   // another answer than the default of a read-only field
	CodeDependency     Code = "dependency" // answered without a field that it needs
)

// MarshalJSON writes a number where the code is one.
func (c Code) MarshalJSON() ([]byte, error) {
	if c == CodeConstraint {
		return []byte(c), nil
	}
	return json.Marshal(string(c))
}

// UnmarshalJSON reads both.
func (c *Code) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] != '"' {
		*c = Code(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(c))
}

// Error is what is wrong with the answer to one field. A form has at most one for
// each field, the first that was found, and all fields are looked at. In JSON all
// members are there, empty or null where there is nothing to say.
type Error struct {
	Field      string   `json:"field"`      // id; "" for what concerns the whole form
	Code       Code     `json:"code"`       //
	Message    string   `json:"message"`    // one sentence for a person, without what a secret field was answered
	Constraint string   `json:"constraint"` // the rule that is not met: minLength, required, type, blockPrivateIPs, …
	Expected   any      `json:"expected"`   // of the constraint: 32, "integer", a list of options
	Actual     any      `json:"actual"`     // what was there, or how long it was; of a secret field only how long
	Path       []string `json:"path"`       // to the field in the answers; never nil
}

func (e Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return fmt.Sprintf("%s: %s", e.Field, e.Message)
}

// Errors are all errors of a submission, in the order of the fields. It is the error of
// [Form.Read].
type Errors []Error

func (e Errors) Error() string { return linesOf(e) }

// Unwrap returns each [Error], so that [errors.As] finds the first.
func (e Errors) Unwrap() []error { return errorsOf(e) }

// linesOf are the texts of errors, each on a line.
func linesOf[E error](list []E) string {
	lines := make([]string, len(list))
	for i, one := range list {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// errorsOf are the same errors, as errors.
func errorsOf[E error](list []E) []error {
	all := make([]error, len(list))
	for i, one := range list {
		all[i] = one
	}
	return all
}
