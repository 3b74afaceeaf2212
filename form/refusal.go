package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// fail makes an error of the field. The message continues its name.
func (p *plan) fail(code Code, constraint string, expected, actual any, message string, args ...any) *Error {
	return &Error{
		Field:      p.ID,
		Code:       code,
		Message:    p.name + " " + fmt.Sprintf(message, args...),
		Constraint: constraint,
		Expected:   expected,
		Actual:     actual,
		Path:       []string{p.ID},
	}
}

// unmet is fail for a rule that is not met.
func (p *plan) unmet(constraint string, expected, actual any, message string, args ...any) *Error {
	return p.fail(CodeConstraint, constraint, expected, actual, message, args...)
}

// mistyped is fail for a value of another type.
func (p *plan) mistyped(raw []byte, expected, words string) *Error {
	got := jsonType(raw)
	return p.fail(CodeType, "type", expected, got, "must be %s, and is %s", words, typeWords[got])
}

// jsonType names the type of a JSON value.
func jsonType(raw []byte) string {
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

var typeWords = map[string]string{
	"string": "a text", "object": "an object", "array": "a list", "boolean": "true or false", "null": "null", "number": "a number",
}

// shownLength is how many characters of an answer an error repeats.
const shownLength = 100

// shown is what an error repeats of an answer: nothing of a secret.
func (p *plan) shown(answer string) any {
	if p.secret {
		return nil
	}
	return clip(answer, shownLength)
}

// shownNumber is shown for a number.
func (p *plan) shownNumber(text string) any {
	switch {
	case p.secret:
		return nil
	case len(text) > shownLength:
		return clip(text, shownLength)
	}
	return json.RawMessage(text)
}

// told is a part of the definition in an error: nothing that answers a secret.
func (p *plan) told(raw json.RawMessage) any {
	if p.secret || raw == nil {
		return nil
	}
	return raw
}

// and is the part of a message that repeats an answer, which that of a secret does
// not have.
func (p *plan) and(format, answer string) string {
	if p.secret {
		return ""
	}
	return ", and " + fmt.Sprintf(format, clip(answer, shownLength))
}

// counted is a number of things: 1 character, 2 characters.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func unquotedText(raw json.RawMessage) string {
	b, _ := jsontext.AppendUnquote(nil, raw)
	return string(b)
}

// malformed tells what keeps answers from being read. It repeats nothing of them, as
// it cannot know what is a secret.
func malformed(answers []byte) *Error {
	why := "they are not valid JSON"
	v := jsontext.Value(answers)
	switch {
	case v.IsValid():
		why = "they are something else"
	case v.IsValid(jsontext.AllowDuplicateNames(true)):
		why = "a name is there twice"
	case v.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)):
		why = "they are not valid UTF-8"
	}
	return &Error{Code: CodeMalformed, Message: "The answers must be one JSON object with a member for each field, and " + why, Path: []string{}}
}

func tooLarge(size int) *Error {
	return &Error{Code: CodeTooLarge, Constraint: "maxSize", Expected: maxAnswers, Actual: size, Path: []string{},
		Message: fmt.Sprintf("The answers have %d bytes; %d are possible besides the contents of files", size, maxAnswers)}
}

// unknownField tells of an answer to a field that the form does not have.
func unknownField(id string, f *Form) *Error {
	known := make([]string, len(f.def.Fields))
	for i := range known {
		known[i] = f.def.Fields[i].ID
	}
	id = clip(id, shownLength)
	e := &Error{Field: id, Code: CodeUnknownField, Constraint: "additionalProperties", Expected: false, Path: []string{id},
		Message: fmt.Sprintf("There is no field %s", id)}
	if meant := nearest(id, known); meant != "" {
		e.Message += fmt.Sprintf("; perhaps %s is meant", meant)
	}
	return e
}

func moreUnknown(n int) *Error {
	return &Error{Code: CodeUnknownField, Constraint: "additionalProperties", Expected: false, Actual: n, Path: []string{},
		Message: fmt.Sprintf("There are %d more answers to fields that the form does not have", n)}
}

// tells reports whether an error repeats a value.
func tells(e *Error, v Value) bool {
	var said strings.Builder
	said.WriteString(e.Message + "\x00" + e.Constraint)
	for _, part := range []any{e.Expected, e.Actual} {
		if part == nil {
			continue
		}
		b, err := json.Marshal(part)
		if err != nil {
			return true // nobody can send it, and nobody knows what it says
		}
		said.WriteString("\x00" + string(b) + "\x00" + fmt.Sprint(part))
	}
	return slices.ContainsFunc(v.texts(), func(s string) bool { return s != "" && strings.Contains(said.String(), s) })
}

// texts are the texts in a value.
func (v Value) texts() []string {
	switch v.kind {
	case TextKind, NumberKind:
		return []string{v.text}
	case ListKind:
		return v.list
	case FileKind:
		texts := []string{v.file.Filename, string(v.file.Content)}
		if v.file.Reference != nil {
			texts = append(texts, v.file.Reference.Location)
		}
		return texts
	}
	return nil
}
