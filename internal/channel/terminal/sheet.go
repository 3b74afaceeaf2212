package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/beckon-mcp/beckon/form"
)

// sheet is a form that is being filled in. Both ways of asking write on it; one
// goroutine at a time.
type sheet struct {
	form   *form.Form
	fields []form.Field
	secret map[string]bool            // by field id: never shown
	given  map[string]json.RawMessage // by field id, what was answered so far; valid, but for what a later answer changed
	errors form.Errors                // what was found wrong with them as a whole; nil when nobody looked yet, or nothing was

	values form.Values // of given; stale says that they have to be read again
	stale  bool
}

func newSheet(f *form.Form, earlier form.Values, wrong form.Errors) (*sheet, error) {
	s := &sheet{
		form:   f,
		fields: slices.Clone(f.Definition().Fields),
		secret: make(map[string]bool),
		given:  make(map[string]json.RawMessage),
		errors: wrong,
		stale:  true,
	}
	for i := range s.fields { // nothing is to look required that may be left out
		one := &s.fields[i]
		one.Required = one.Required && !f.Definition().AllowPartial && !sometimes(f.Definition(), one)
	}
	for _, id := range f.Sensitive() {
		s.secret[id] = true
	}
	if earlier.Form() == nil {
		return s, nil
	}
	before, err := members(earlier)
	if err != nil {
		return nil, err
	}
	for _, field := range s.fields {
		if raw, ok := before[field.ID]; ok {
			s.given[field.ID] = raw
		}
	}
	return s, nil
}

// sometimes reports whether it depends on other answers if a field is required.
func sometimes(d *form.Definition, f *form.Field) bool {
	own := func(dep form.Dependency) bool { return dep.Action == form.Validate }
	return slices.ContainsFunc(f.When, own) ||
		slices.ContainsFunc(d.Dependencies, func(dep form.Dependency) bool { return dep.Field == f.ID && own(dep) })
}

// members are answers by field, as JSON.
func members(v form.Values) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(v.JSON(), &all); err != nil {
		return nil, fmt.Errorf("reading earlier answers: %w", err)
	}
	return all, nil
}

// set notes a valid answer; nil takes it back.
func (s *sheet) set(id string, raw json.RawMessage) {
	if raw == nil {
		delete(s.given, id)
	} else {
		s.given[id] = raw
	}
	s.stale = true
}

// read reads what was given, with raw in the place of the answer to id.
func (s *sheet) read(mode form.Mode, id string, raw json.RawMessage) (form.Values, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, f := range s.fields {
		answer := s.given[f.ID]
		if f.ID == id {
			answer = raw
		}
		if answer == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(f.ID) // of a string it cannot fail
		b.Write(name)
		b.WriteByte(':')
		b.Write(answer)
	}
	b.WriteByte('}')
	return s.form.Read(b.Bytes(), mode)
}

// visible reports whether a field is to be asked, given the answers so far.
func (s *sheet) visible(id string) bool {
	if s.stale {
		s.values, _ = s.read(form.Draft, "", nil) // what is wrong is told elsewhere
		s.stale = false
	}
	return s.values.Visible(id)
}

// check returns what is wrong with raw, nil for none, as the answer to f. What f
// needs of other fields is not looked at: they may come later.
func (s *sheet) check(f *form.Field, raw json.RawMessage) error {
	_, err := s.read(form.Coerce, f.ID, raw)
	for _, e := range errorsOf(err) {
		if e.Field == f.ID && e.Code != form.CodeDependency {
			return e
		}
	}
	return nil
}

// finish reads the whole. What is wrong is kept in s.errors.
func (s *sheet) finish() (form.Values, bool) {
	values, err := s.read(form.Coerce, "", nil)
	s.errors = errorsOf(err)
	return values, err == nil
}

// wrong returns what the last check of the whole has against a field.
func (s *sheet) wrong(id string) (form.Error, bool) {
	for _, e := range s.errors {
		if e.Field == id {
			return e, true
		}
	}
	return form.Error{}, false
}

// current is the answer that a field has now: the person's, else the default; nil for
// none.
func (s *sheet) current(f *form.Field) json.RawMessage {
	if raw := s.given[f.ID]; raw != nil && !f.Hints.Readonly {
		return raw
	}
	return f.Default
}

// field returns the field of that id.
func (s *sheet) field(id string) *form.Field {
	for i := range s.fields {
		if s.fields[i].ID == id {
			return &s.fields[i]
		}
	}
	return nil
}

// errorsOf is what Read found; anything else it may say concerns the whole.
func errorsOf(err error) form.Errors {
	if err == nil {
		return nil
	}
	if all, ok := errors.AsType[form.Errors](err); ok {
		return all
	}
	return form.Errors{{Message: err.Error(), Path: []string{}}}
}
