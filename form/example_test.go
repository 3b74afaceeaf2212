package form_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/beckon-mcp/beckon/form"
)

// A form is read once, and answers as often as they come. They are converted where
// that loses nothing, and everything that is wrong is told at once.
func Example() {
	f, err := form.Parse([]byte(`{
		"id": "server", "title": "Server",
		"fields": [
			{"id": "name", "type": "text", "label": "Name", "required": true, "validation": {"minLength": 3}},
			{"id": "port", "type": "number", "label": "Port", "default": 8080, "validation": {"minimum": 1024}}
		]
	}`))
	if err != nil {
		fmt.Println(err) // form.Faults: each with its place, and what to write instead
		return
	}
	values, err := f.Read([]byte(`{"name": "www", "port": "9000"}`), form.Coerce)
	fmt.Println(string(values.JSON()), err)

	_, err = f.Read([]byte(`{"name": "w", "port": "80"}`), form.Coerce)
	if errs, ok := errors.AsType[form.Errors](err); ok {
		for _, e := range errs {
			fmt.Println(e.Field, e.Constraint, e.Message)
		}
	}
	// Output:
	// {"name":"www","port":9000} <nil>
	// name minLength Name must be at least 3 characters long, and has 1
	// port minimum Port must be at least 1024, and is 80
}

// A program can make a form itself, and add checks that JSON cannot carry.
func ExampleCompile() {
	f, err := form.Compile(form.Definition{
		ID: "stay", Title: "Your stay",
		Fields: []form.Field{
			{ID: "from", Type: form.Date, Label: "From", Required: true},
			{ID: "to", Type: form.Date, Label: "To", Required: true},
		},
		Rules: []form.Rule{func(v form.Values) []form.Error {
			if v.Get("from").Text() <= v.Get("to").Text() {
				return nil
			}
			return []form.Error{{Field: "to", Code: "too_early", Message: "To must not be before From"}}
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = f.Read([]byte(`{"from": "2026-05-02", "to": "2026-05-01"}`), form.Coerce)
	fmt.Println(err)
	// Output:
	// to: To must not be before From
}

// The flat schema of an elicitation becomes a form, so that its answers are checked
// like all others.
func ExampleLift() {
	f, err := form.Lift([]byte(`{"type": "object", "properties": {
		"email": {"type": "string", "format": "email", "title": "Your address"},
		"size": {"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"]}
	}, "required": ["email"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, field := range f.Definition().Fields {
		fmt.Println(field.ID, field.Type, field.Label, field.Options)
	}
	_, err = f.Read([]byte(`{"email": "nobody", "size": "l"}`), form.Strict)
	fmt.Println(err)
	// Output:
	// email text Your address []
	// size select  [{s Small} {m Medium}]
	// email: Your address must be an email address, such as ada@example.org
	// size: size must be one of s, m
}

// A form in the flat schema that every MCP client understands, and what that does
// not say.
func ExampleForm_Flatten() {
	f, err := form.Parse([]byte(`{"id": "key", "title": "Key", "fields": [
		{"id": "region", "type": "text", "label": "Region", "validation": {"pattern": "^[a-z]+$"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	flat := f.Flatten()
	fmt.Println(string(flat.Schema))
	for _, lost := range flat.Lost {
		fmt.Println(lost.Field, lost.What)
	}
	// Output:
	// {"type":"object","properties":{"region":{"type":"string","title":"Region","description":"Must match ^[a-z]+$."}}}
	// region pattern
}

// page shows a form and what was wrong. The template escapes what people wrote.
var page = template.Must(template.New("page").Parse(`<form method="post">
{{- range .Fields}}
<label>{{.Label}} <input name="{{.ID}}" value="{{index $.Answers .ID}}"></label>
{{- with index $.Wrong .ID}} <em>{{.}}</em>{{end}}
{{- end}}
</form>
`))

// A page of the web: what a browser sends are texts, which [form.Coerce] converts. What
// was left empty is left out: "" is a text, and an answer.
func Example_web() {
	f, err := form.Parse([]byte(`{"id": "server", "title": "Server", "fields": [
		{"id": "name", "type": "text", "label": "Name", "required": true},
		{"id": "port", "type": "number", "label": "Port", "default": 8080}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	serve := func(w http.ResponseWriter, r *http.Request) {
		answers := make(map[string]string)
		for _, field := range f.Definition().Fields {
			if text := r.PostFormValue(field.ID); text != "" {
				answers[field.ID] = text
			}
		}
		body, err := json.Marshal(answers)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		values, err := f.Read(body, form.Coerce)
		errs, invalid := errors.AsType[form.Errors](err)
		if !invalid {
			fmt.Fprintln(w, "thank you for", string(values.JSON()))
			return
		}
		wrong := make(map[string]string)
		for _, e := range errs {
			wrong[e.Field] = e.Message // "" is the form as a whole
		}
		w.WriteHeader(http.StatusUnprocessableEntity)
		if err := page.Execute(w, map[string]any{"Fields": f.Definition().Fields, "Answers": answers, "Wrong": wrong}); err != nil {
			fmt.Println(err)
		}
	}
	for _, answers := range []url.Values{{"name": {"www"}, "port": {""}}, {"name": {""}, "port": {"<b>"}}} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(answers.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		serve(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 thank you for {"name":"www","port":8080}
	//
	// 422 <form method="post">
	// <label>Name <input name="name" value=""></label> <em>Name needs an answer</em>
	// <label>Port <input name="port" value="&lt;b&gt;"></label> <em>Port must be a number, such as 8080 or -1.5</em>
	// </form>
}
