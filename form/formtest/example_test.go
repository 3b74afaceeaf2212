package formtest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/form/formtest"
)

// A program tests its own form: what people may answer, and what not.
func Example() {
	f, err := form.Parse([]byte(`{"id": "server", "title": "Server", "fields": [
		{"id": "port", "type": "number", "label": "Port", "required": true,
		 "validation": {"minimum": 1024, "maximum": 65535, "multipleOf": 1}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	good, err := formtest.Valid(f, rng)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = f.Read(good.Responses, form.Coerce)
	fmt.Println("good:", err)
	for _, s := range formtest.Scenarios(f) {
		bad, err := formtest.Invalid(f, s, rng)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = f.Read(bad.Responses, form.Coerce)
		errs, _ := errors.AsType[form.Errors](err)
		fmt.Println(s.Name+":", errs[0].Constraint)
	}
	// Output:
	// good: <nil>
	// missing_required_field: required
	// wrong_type: type
	// invalid_number: type
	// below_minimum: minimum
	// above_maximum: maximum
	// not_multiple: multipleOf
	// unknown_field: additionalProperties
}
