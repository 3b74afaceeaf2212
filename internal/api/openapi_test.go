package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/beckon-mcp/beckon/form"
)

var update = flag.Bool("update", false, "rewrite docs/openapi.json")

const documentFile = "../../docs/openapi.json"

// What is published is what is served.
func TestDocumentIsPublished(t *testing.T) {
	if *update {
		if err := os.WriteFile(documentFile, Document(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if diff := cmp.Diff(string(want), string(Document())); diff != "" {
		t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", documentFile, diff)
	}
}

// parsed is the document as its readers see it.
func parsed(t *testing.T) map[string]any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Document()))
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

// walk calls f for every object in v, with the place.
func walk(v any, at string, f func(at string, o map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(at, v)
		for name, member := range v {
			walk(member, at+"/"+strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"), f)
		}
	case []any:
		for i, element := range v {
			walk(element, fmt.Sprintf("%s/%d", at, i), f)
		}
	}
}

// resolve follows a reference within the document.
func resolve(doc map[string]any, ref string) any {
	var v any = doc
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	for name := range strings.SplitSeq(path, "/") {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

func TestDocumentReferencesResolve(t *testing.T) {
	doc, refs := parsed(t), 0
	walk(doc, "#", func(at string, o map[string]any) {
		ref, ok := o["$ref"].(string)
		if !ok {
			return
		}
		refs++
		if resolve(doc, ref) == nil {
			t.Errorf("%s refers to %s, which is not there", at, ref)
		}
	})
	if refs < 10 {
		t.Errorf("%d references", refs)
	}
}

// The document has every route, and no others.
func TestDocumentHasEveryRoute(t *testing.T) {
	paths := parsed(t)["paths"].(map[string]any)
	told := map[string]bool{}
	for path, item := range paths {
		for method := range item.(map[string]any) {
			told[strings.ToUpper(method)+" "+path] = true
		}
	}
	ids := map[string]bool{}
	for _, r := range routes() {
		name := r.method + " " + Root + r.path
		if !told[name] {
			t.Errorf("the document lacks %s", name)
		}
		delete(told, name)
		doc := r.doc()
		if doc.id == "" || doc.summary == "" || ids[doc.id] {
			t.Errorf("%s: id %q, summary %q", name, doc.id, doc.summary)
		}
		ids[doc.id] = true
		if got := parameters(paths, r); got != strings.Count(r.path, "{") {
			t.Errorf("%s: %d parameters", name, got)
		}
	}
	for name := range told {
		t.Errorf("the document has %s, and no route is called so", name)
	}
}

func parameters(paths map[string]any, r route) int {
	operation := paths[Root+r.path].(map[string]any)[strings.ToLower(r.method)].(map[string]any)
	list, _ := operation["parameters"].([]any)
	return len(list)
}

// The examples are what their schemas say, and the schemas say something.
func TestDocumentExamplesAreValid(t *testing.T) {
	doc := parsed(t)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	examples := 0
	walk(doc["paths"], "#/paths", func(at string, o map[string]any) {
		example, ok := o["example"]
		if !ok {
			return
		}
		examples++
		schema, err := c.Compile("openapi.json" + at + "/schema")
		if err != nil {
			t.Errorf("%s: %v", at, err)
			return
		}
		if err := schema.Validate(example); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if members, ok := example.(map[string]any); ok && !strings.Contains(at, "openapi") {
			if members["no such member"] = []any{}; strings.Contains(at, "requestBody") && schema.Validate(members) == nil {
				t.Errorf("%s takes any member", at)
			}
			delete(members, "no such member")
		}
	})
	if examples < 8 {
		t.Errorf("%d examples", examples)
	}
	for name := range doc["components"].(map[string]any)["schemas"].(map[string]any) {
		if _, err := c.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The form of the examples is one.
func TestDocumentExampleForm(t *testing.T) {
	if _, err := form.Parse([]byte(exampleForm)); err != nil {
		t.Error(err)
	}
}

// What is decoded is what the document says can be sent: the same tags say both, but
// only of the kinds of fields that both know.
func TestDocumentKnowsWhatIsDecoded(t *testing.T) {
	for _, r := range routes() {
		doc := r.doc()
		if r.method != http.MethodPost {
			if doc.request != nil {
				t.Errorf("%s has a body", doc.id)
			}
			continue
		}
		v := reflect.New(reflect.TypeOf(doc.request))
		text, err := json.Marshal(doc.request)
		if err != nil {
			t.Fatal(err)
		}
		if f := fill(v.Elem(), text, ""); f != nil {
			t.Errorf("%s: the example is refused: %v", doc.id, f.err)
		}
		if diff := cmp.Diff(doc.request, v.Elem().Interface()); diff != "" {
			t.Errorf("%s: the example is read as something else (-want +got):\n%s", doc.id, diff)
		}
	}
}
