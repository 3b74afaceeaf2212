package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// operation is what the document says of one route.
type operation struct {
	id, summary, text string

	request  any // an example of the body, of the type that is decoded; nil for none
	optional bool
	replies  []reply
	problems []int // statuses of refusals that only this route has
}

// reply is one response that is no problem.
type reply struct {
	status  int
	text    string
	kind    string            // of the body; "" for none
	example any               // the body, of the type that is written
	headers map[string]string // name and meaning
}

// object is a JSON object whose members are sorted when it is written.
type object map[string]any

// Document makes the description of the API, in OpenAPI 3.1. It is the same in every
// process.
func Document() []byte {
	s := schemas{}
	paths := object{}
	for _, r := range routes() {
		path, _ := paths[Root+r.path].(object)
		if path == nil {
			path = object{}
			paths[Root+r.path] = path
		}
		path[strings.ToLower(r.method)] = r.describe(s)
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Beckon, questions over REST", "version": "1",
			"description": "Ask people questions, and answer them. Ids cannot be guessed, and whoever may not see a question is told that there is none.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":    []object{{"url": "/"}},
		"paths":      paths,
		"security":   []object{{"bearer": []string{}}, {}},
		"components": object{"schemas": s, "securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer", "description": "A token of the gateway (auth.tokens). Without tokens in the configuration nobody needs one."}}},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		panic("api: the document is not JSON: " + err.Error())
	}
	return b.Bytes()
}

// describe serves the document.
func (a *API) describe(v *visit) *failure {
	v.send(http.StatusOK, typeJSON, a.document())
	return nil
}

// describe is the operation of one route.
func (r route) describe(s schemas) object {
	doc := r.doc()
	responses := object{}
	for _, one := range doc.replies {
		responses[strconv.Itoa(one.status)] = one.describe(s)
	}
	problems := append([]int{401, 403}, doc.problems...)
	if strings.Contains(r.path, "{id}") {
		problems = append(problems, 404)
	}
	if r.method == http.MethodPost {
		problems = append(problems, 400, 408, 413, 415)
	}
	for _, status := range slices.Sorted(slices.Values(problems)) {
		responses[strconv.Itoa(status)] = object{
			"description": meaningOf(status),
			"content":     object{"application/problem+json": object{"schema": s.of(reflect.TypeFor[Problem]())}},
		}
	}
	o := object{"operationId": doc.id, "summary": doc.summary, "description": doc.text, "responses": responses}
	if doc.request != nil {
		o["requestBody"] = object{"required": !doc.optional, "content": object{typeJSON: content(s, doc.request)}}
	}
	if strings.Contains(r.path, "{id}") {
		o["parameters"] = []object{{"name": "id", "in": "path", "required": true, "description": "The id of the question.", "schema": object{"type": "string"}}}
	}
	return o
}

func (r reply) describe(s schemas) object {
	o := object{"description": r.text}
	switch {
	case r.kind == "text/event-stream":
		o["content"] = object{r.kind: object{"schema": object{"type": "string"}}}
	case r.kind != "":
		o["content"] = object{r.kind: content(s, r.example)}
	}
	headers := object{}
	for name, meaning := range r.headers {
		headers[name] = object{"description": meaning, "schema": object{"type": "string"}}
	}
	if len(headers) > 0 {
		o["headers"] = headers
	}
	return o
}

// content is a body: its schema and an example.
func content(s schemas, example any) object {
	return object{"schema": s.of(reflect.TypeOf(example)), "example": example}
}

func meaningOf(status int) string {
	if meaning := map[int]string{
		400: "The body is not what is taken here.",
		401: "A token is needed.",
		403: "Not allowed: from that host or page, by that caller, or at all.",
		404: "There is no such question, or it is somebody else's.",
		408: "The body did not come in time.",
		409: "The question has ended, or cannot be what was wanted.",
		413: "The body is too long.",
		415: "The body is no JSON.",
		422: "The form, or the answers, are not valid: faults or errors tell everything that is wrong.",
		429: "Too many, at once or in a minute: Retry-After tells when to come back.",
		503: "The gateway is shutting down.",
	}[status]; meaning != "" {
		return meaning
	}
	return http.StatusText(status)
}

// schemas are the schemas of the types that bodies are made of, by name.
type schemas map[string]object

// of returns the schema of a type; that of a struct is a reference to where it is
// put.
func (s schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[object]():
		return object{"type": "object"}
	}
	if codes := codesOf(t); codes != nil {
		return codes
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		if s[t.Name()] == nil {
			s[t.Name()] = object{} // for a type that holds itself
			s[t.Name()] = s.structure(t)
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	}
	panic("api: a body of the type " + t.String())
}

// structure is the schema of a struct.
func (s schemas) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for field := range t.Fields() {
		one := maps.Clone(s.of(field.Type))
		if kind := field.Tag.Get("json-type"); kind != "" {
			one["type"] = kind
		}
		if words := enum(field.Tag); words != nil {
			one["enum"] = words
		}
		for _, bound := range []string{"minimum", "maximum", "maxLength"} {
			if n, err := strconv.Atoi(field.Tag.Get(bound)); err == nil {
				one[bound] = n
			}
		}
		if doc := field.Tag.Get("doc"); doc != "" {
			one["description"] = doc
		}
		properties[nameOf(field)] = one
		if !strings.Contains(field.Tag.Get("json"), ",omitempty") {
			required = append(required, nameOf(field))
		}
	}
	o := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	} else {
		o["additionalProperties"] = false // what is only sent to us holds nothing else
	}
	return o
}
