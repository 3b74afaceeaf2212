package formtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/beckon-mcp/beckon/form"
)

// Valid returns a record of answers that f takes, another one for each state of rng.
// Fields that are not required are answered mostly; what is hidden, given the other
// answers, is not. The error tells which field could not be answered: not every rule
// can be obeyed, and not every pattern or rule of a program is understood.
func Valid(f *form.Form, rng *rand.Rand) (form.Response, error) {
	answers, err := Answers(f, rng)
	if err != nil {
		return form.Response{}, err
	}
	return record(f, answers), nil
}

// record makes a record of answers.
func record(f *form.Form, answers json.RawMessage) form.Response {
	return form.Response{
		FormID:    f.Definition().ID,
		Responses: answers,
		Metadata:  form.ResponseMetadata{SubmittedAt: time.Now().UnixMilli(), UserAgent: "formtest"},
	}
}

// Answers is [Valid] without the record: a JSON object by field id.
func Answers(f *form.Form, rng *rand.Rand) (json.RawMessage, error) {
	var err error
	for range 50 {
		s := &sheet{form: f, rng: rng}
		if err := s.fill(0.8); err != nil {
			return nil, err
		}
		if err = s.settle(); err == nil {
			return s.json(true), nil
		}
	}
	return nil, err
}

// sheet is a form that is being filled in.
type sheet struct {
	form   *form.Form
	rng    *rand.Rand
	values map[string]any  // by field
	hidden map[string]bool // what cannot be answered, given the values

	strange bool // there is an answer to a field that is not there
}

// fill answers every field that must be, and of the others a part.
func (s *sheet) fill(part float64) error {
	d := s.form.Definition()
	s.values = make(map[string]any, len(d.Fields))
	s.hidden = make(map[string]bool)
	for i := range d.Fields {
		f := &d.Fields[i]
		if f.Hints.Hidden {
			s.hidden[f.ID] = true
			continue
		}
		if !f.Required && s.rng.Float64() >= part {
			continue
		}
		v, ok := answer(s.rng, f)
		switch {
		case ok:
			s.values[f.ID] = v
		case f.Required && !d.AllowPartial:
			return fmt.Errorf("found no valid answer to the field %q", f.ID)
		}
	}
	return nil
}

// settle answers again what the form refuses, until it refuses nothing.
func (s *sheet) settle() error {
	var errs form.Errors
	for range 30 {
		v, err := s.form.Read(s.json(false), form.Strict)
		s.look(v)
		if err == nil {
			return nil
		}
		if !errors.As(err, &errs) {
			return err
		}
		for _, e := range errs {
			s.again(e)
		}
	}
	return fmt.Errorf("found no valid answers: %w", errs)
}

// again answers one field again; one that needs others answers those, or nothing.
func (s *sheet) again(e form.Error) {
	f := s.field(e.Field)
	if f == nil {
		return
	}
	if e.Code == form.CodeDependency && (!f.Required || s.form.Definition().AllowPartial) && s.rng.IntN(3) == 0 {
		delete(s.values, f.ID)
		return
	}
	if e.Code == form.CodeDependency {
		for _, id := range f.Needs {
			if other := s.field(id); other != nil && s.values[id] == nil {
				s.retry(other)
			}
		}
		return
	}
	s.retry(f)
}

func (s *sheet) retry(f *form.Field) {
	if v, ok := answer(s.rng, f); ok {
		s.values[f.ID] = v
	} else {
		delete(s.values, f.ID)
	}
}

func (s *sheet) field(id string) *form.Field {
	d := s.form.Definition()
	for i := range d.Fields {
		if d.Fields[i].ID == id {
			return &d.Fields[i]
		}
	}
	return nil
}

// look notes what is hidden, given the values.
func (s *sheet) look(v form.Values) {
	d := s.form.Definition()
	for i := range d.Fields {
		s.hidden[d.Fields[i].ID] = !v.Visible(d.Fields[i].ID)
	}
}

// json returns the answers in the order of the fields; only those that are visible, if
// so wanted.
func (s *sheet) json(visible bool) json.RawMessage {
	b := []byte{'{'}
	d := s.form.Definition()
	for i := range d.Fields {
		id := d.Fields[i].ID
		v, ok := s.values[id]
		if !ok || visible && s.hidden[id] {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(id)
		value, _ := json.Marshal(v)
		b = append(append(append(b, name...), ':'), value...)
	}
	if s.strange {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, `"`+stranger+`":1`...)
	}
	return append(b, '}')
}
