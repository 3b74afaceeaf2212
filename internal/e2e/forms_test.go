//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A corrected answer: what the person says first does not fit the form in a way
// that no client notices, and what they say when they are asked again does.
const (
	wrongAddress = "ada at example dot com"
	rightAddress = "ada@example.com"
)

// formClients are clients that know nothing of Beckon, of both SDKs and both eras.
func formClients() []client {
	return []client{
		{"go-sdk-legacy", playGo("2025-11-25")},
		{"go-sdk-modern", playGo(modernRevision)},
		{"typescript-legacy", playNode("client.mjs")},
		{"typescript-modern", playNode("modern.mjs", modernRevision)},
	}
}

// A formLane is who knows what a valid answer is: the schema of the backend, or a
// definition that only Beckon understands.
type formLane struct {
	name       string
	validate   string // of the backend
	definition map[string]any
	says       string // what the person is told, once they were wrong
}

func formLanes() []formLane {
	return []formLane{
		{name: "relayed", validate: "reprompt", says: "zeta"},
		{name: "defined", says: "Address", definition: map[string]any{
			"id": "contact", "title": "Who is it?",
			"fields": []any{map[string]any{
				"id": "zeta", "type": "text", "label": "Address", "required": true,
				"validation": map[string]any{"format": "email", "pattern": "@example\\.com$"},
			}},
		}},
	}
}

// An answer that does not fit is asked again, of every client, and the backend gets
// the one that does. The tool runs once.
//
// R104 R108 C9
func TestFormsThrough(t *testing.T) {
	ledger := ledgerFolder(t.TempDir())
	for _, b := range sides() {
		behind := ledger.server(t, b)
		for _, lane := range formLanes() {
			if lane.definition != nil && b.transport != "stdio" {
				continue // the go-sdk has no place for a definition, and only its pipe can be helped
			}
			behind.Validate = lane.validate
			for _, r := range through() {
				if r.name != "serve-one" && r.name != "run-config" {
					continue
				}
				if r.name == "run-config" && b.transport == "stdio" && lane.definition == nil {
					continue // a process behind a process takes its time, and is there in the other lane
				}
				way := r.open(t, behind)
				for _, c := range formClients() {
					t.Run(fmt.Sprintf("%s/%s/%s/%s", c.name, b, lane.name, r.name), func(t *testing.T) {
						key := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())
						correct(t, c, way, lane, key)
						checkRunOnce(t, ledger, key)
					})
				}
			}
		}
	}
}

// correct plays one call whose form is answered wrongly, and then rightly.
func correct(t *testing.T, c client, way endpoint, lane formLane, key string) {
	t.Helper()
	arguments := map[string]any{"key": key, "kind": "form", "rounds": 1, "atOnce": 1, "schema": map[string]any{
		"type":       "object",
		"properties": map[string]any{"zeta": map[string]any{"type": "string", "format": "email"}},
		"required":   []string{"zeta"},
	}}
	if lane.definition != nil {
		arguments["definition"] = lane.definition
	}
	right, wrong := accept(`{"zeta":"` + rightAddress + `"}`)[0], accept(`{"zeta":"` + wrongAddress + `"}`)[0]
	right.Contains = "Please correct"
	frames := c.run(t, way, newScript(c.name, []scenario{{step: step{
		Name: "corrected", Requests: []request{call("ask", arguments)}, Answers: []answer{right, wrong},
	}}}))
	var said, got bool
	for _, f := range frames {
		text := string(f.Message)
		if f.Dir == "in" {
			said = said || strings.Contains(text, "Please correct") && strings.Contains(text, lane.says)
			got = got || strings.Contains(text, rightAddress)
		}
		if f.Dir == "failure" {
			t.Errorf("the call failed: %s", f.Failure)
		}
	}
	if !said || !got {
		t.Errorf("told to correct: %t, answer arrived: %t; want both", said, got)
		for _, f := range frames {
			t.Logf("%s %s %s", f.Step, f.Dir, f.Message)
		}
	}
}

// checkRunOnce wants the tool to have done its work once, with one entry in the
// legacy era and one for each round in the modern one.
func checkRunOnce(t *testing.T, ledger ledgerFolder, key string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(string(ledger), key))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "worked"); n != 1 {
		t.Errorf("the tool worked %d times, want 1:\n%s", n, data)
	}
	if n := strings.Count(string(data), "entered 1"); n != 1 {
		t.Errorf("the call was begun %d times, want 1:\n%s", n, data)
	}
}
