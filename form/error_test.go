package form

import (
	"errors"
	"fmt"
	"testing"
)

// Callers look for one error, or for all, through whatever was wrapped around them.
func TestErrorsAreFound(t *testing.T) {
	f := parseFields(t, `"id":"a","type":"text","label":"A","required":true`)
	_, err := f.Read([]byte(`{"b":1}`), Coerce)
	err = fmt.Errorf("reading: %w", err)
	if one, ok := errors.AsType[Error](err); !ok || one.Field != "a" || one.Code != CodeRequired {
		t.Errorf("the first of %v is %v", err, one)
	}
	if all, ok := errors.AsType[Errors](err); !ok || len(all) != 2 {
		t.Errorf("all of %v are %v", err, all)
	}
	_, err = Parse([]byte(`{}`))
	if one, ok := errors.AsType[Fault](err); !ok || one.Path == "" {
		t.Errorf("the first of %v is %v", err, one)
	}
}
