package formtest

import (
	"errors"
	"testing"

	"github.com/beckon-mcp/beckon/form"
)

// Want is an error that answers must be refused with. What is empty may be anything.
type Want struct {
	Field      string
	Constraint string
	Code       form.Code
}

func (w Want) matches(e form.Error) bool {
	return e.Field == w.Field && (w.Constraint == "" || e.Constraint == w.Constraint) && (w.Code == "" || e.Code == w.Code)
}

// AssertValid fails the test unless f takes the answers as a person gives them, and
// returns their values.
func AssertValid(tb testing.TB, f *form.Form, answers []byte) form.Values {
	tb.Helper()
	v, err := f.Read(answers, form.Coerce)
	if err != nil {
		tb.Errorf("the form %s refuses %s: %v", f.Definition().ID, answers, err)
	}
	return v
}

// AssertErrors fails the test unless f refuses the answers with each of the errors
// that are wanted. There may be others.
func AssertErrors(tb testing.TB, f *form.Form, answers []byte, want ...Want) {
	tb.Helper()
	_, err := f.Read(answers, form.Coerce)
	var errs form.Errors
	if err != nil && !errors.As(err, &errs) {
		tb.Errorf("the form %s refuses %s with %T, want form.Errors", f.Definition().ID, answers, err)
		return
	}
	for _, w := range want {
		found := false
		for _, e := range errs {
			found = found || w.matches(e)
		}
		if !found {
			tb.Errorf("the form %s has no error %+v for %s: %v", f.Definition().ID, w, answers, err)
		}
	}
	if len(want) == 0 && err == nil {
		tb.Errorf("the form %s takes %s", f.Definition().ID, answers)
	}
}
