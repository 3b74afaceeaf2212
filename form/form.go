package form

import (
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Form is a checked definition. It does not change.
type Form struct {
	def     Definition
	index   map[string]int // fields by id; filled by check
	graph   graph          // how fields depend on each other; conditions.go
	program program        // how answers are checked; validate.go
	schema  func() []byte
}

// Parse reads a definition in JSON. It is strict: unknown members, members that a
// field of that type cannot have, values of the wrong type or out of range,
// duplicate names and invalid UTF-8 are faults. The error is a [Faults] with all of
// them, each with the place and what to write instead.
func Parse(definition []byte) (*Form, error) { return parse(definition, nil) }

// Compile checks a definition made by a program, as [Parse] does. The definition
// must not be changed afterwards.
func Compile(d Definition) (*Form, error) {
	f := newForm(d)
	faults := f.check()
	if len(faults) == 0 {
		faults = f.prepare()
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return f, nil
}

// compileLifted is Compile of what a schema was lifted to: check leaves its names,
// lengths and numbers alone, whether answers may hold unknown members or not.
func compileLifted(d Definition) (*Form, error) {
	if d.lifted == nil {
		d.lifted = &liftedForm{}
	}
	return Compile(d)
}

func newForm(d Definition) *Form {
	f := &Form{def: d}
	f.schema = sync.OnceValue(f.buildSchema)
	return f
}

// Definition returns what the form was made of. It must not be changed.
func (f *Form) Definition() *Definition { return &f.def }

// MarshalJSON returns the definition in its canonical form: snake_case, members in
// the order of the documentation, no defaults written out. Parse of it gives an
// equal form. What JSON cannot carry (Open, Rules, Extra) is left out.
func (f *Form) MarshalJSON() ([]byte, error) {
	var j jot
	j.definition(&f.def)
	v := jsontext.Value(j.b)
	if err := v.Compact(); err != nil { // only where a program changed what it must not
		return nil, fmt.Errorf("form %s: %w", f.def.ID, err)
	}
	return v, nil
}

// Sensitive returns the ids of the fields that ask for a secret: those marked as one
// (inputType or format password) and those called like one.
func (f *Form) Sensitive() []string {
	var ids []string
	for i := range f.def.Fields {
		if f.def.Fields[i].sensitive() {
			ids = append(ids, f.def.Fields[i].ID)
		}
	}
	return ids
}

// Schema returns the form as JSON Schema 2020-12: $schema, type, properties in the
// order of the fields, required, additionalProperties false. It is made once.
func (f *Form) Schema() []byte { return f.schema() }

// Mode says how answers are read.
type Mode int

// The modes.
const (
	// Coerce converts what says the same in another type: "8080" to a number, "true"
	// to a boolean, a string to a list of one. Fields that were left out get their
	// defaults. It is for people's input.
	Coerce Mode = iota

	// Strict takes each value as it is, and adds no defaults: the verdict is that of
	// the JSON Schema, for which a null is a value of the wrong type.
	Strict

	// Draft is Coerce without any demand that a field is answered, be it by required
	// or by another field. What is there is checked, but not by the rules that a
	// program added. It is for what a person has not finished.
	Draft
)

// Read reads answers, a JSON object by field id, and returns the values. The error
// is an [Errors] with everything that is wrong, at most one for each field; the
// values then are those that are valid. A null is an answer left out, except in
// [Strict].
//
// First each value is brought to its type, then its constraints are looked at, then
// dependencies, then the rules that a program added.
func (f *Form) Read(answers []byte, mode Mode) (Values, error) { return f.read(answers, mode) }

// Flat is a form as an MCP client that knows nothing of this package can show it.
type Flat struct {
	// Schema is the requestedSchema of the specification's 2025-11-25 revision: a
	// flat object of strings, numbers, booleans and choices, and nothing else.
	Schema []byte

	// Hints is the value of _meta["dev.beckon/form"]: rendering, accessibility and
	// conditions by field, as they were written, and what is lost.
	Hints []byte

	Lost []Loss // what Schema does not say; empty when it says everything
}

// Loss is something that a flat schema does not say.
type Loss struct {
	Field string `json:"field"` // id
	What  string `json:"what"`  // pattern, exclusiveMinimum, condition, file, secret, …
	Why   string `json:"why"`   // one sentence

	// Fatal says that the field cannot be asked in that way at all: a file, a secret.
	// Anything else is still checked when the answer comes.
	Fatal bool `json:"fatal,omitempty"`
}

// HintsKey is the member of _meta in which hints reach plain MCP clients.
const HintsKey = "dev.beckon/form"
