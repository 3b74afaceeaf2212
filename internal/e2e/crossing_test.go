//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// crossingCalls is how many calls each client makes at once to each backend.
const crossingCalls = 40

// A line is one connection of one client: what it reaches, and which backends
// it calls there, by the name of their tool that asks.
type line struct {
	client client
	name   string // of the client, in every question and answer of its own
	to     endpoint
	tools  map[string]string // backend name to tool name
}

// TestNothingCrossesDirect proves the measure itself: four connections, each to
// a server of its own or shared, no Beckon.
func TestNothingCrossesDirect(t *testing.T) {
	left, right := startAsk(t, "left"), startAsk(t, "right")
	var lines []line
	for i, c := range crossingClients() {
		for name, url := range map[string]string{"left": left, "right": right} {
			lines = append(lines, line{
				client: c,
				name:   fmt.Sprintf("client-%d-%s", i, name),
				to:     endpoint{URL: url + "/mcp", Transport: "http"},
				tools:  map[string]string{name: "ask_form"},
			})
		}
	}
	cross(t, lines)
}

// TestNothingCrossesThrough has several clients share one URL with two backends
// behind it. All of them are fresh: clients and backends number their requests
// from the same start, so that every id is in use many times at once.
// R16 R17 R18 R59 R75 D6
func TestNothingCrossesThrough(t *testing.T) {
	behind := map[string]func(t *testing.T, name string) endpoint{
		"http": func(t *testing.T, name string) endpoint {
			return endpoint{URL: startAsk(t, name) + "/mcp", Transport: "http"}
		},
		"stdio": askCommand,
	}
	for transport, start := range behind {
		t.Run(transport, func(t *testing.T) {
			baseURL := startBeckon(t, map[string]backend{
				"left":  backendOf(start(t, "left")),
				"right": backendOf(start(t, "right")),
			})
			to := endpoint{URL: baseURL + "/mcp", Transport: "http"}
			tools := map[string]string{"left": prefixedTool(t, to, "left"), "right": prefixedTool(t, to, "right")}
			var lines []line
			for i, c := range crossingClients() {
				lines = append(lines, line{client: c, name: fmt.Sprintf("client-%d", i), to: to, tools: tools})
			}
			cross(t, lines)
		})
	}
}

// crossingClients are two of each kind.
func crossingClients() []client { return append(clients(), clients()...) }

// prefixedTool finds the name under which Beckon lists ask_form of a backend.
func prefixedTool(t *testing.T, to endpoint, backend string) string {
	t.Helper()
	script := script{Client: "lister", Steps: []step{{Name: "list", Requests: []request{{Method: "tools/list"}}}}}
	seen := newTranscript(script, clients()[0].run(t, to, script)).step("list")
	var list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(seen.Calls[0].Result, &list); err != nil {
		t.Fatalf("reading the list of tools: %v", err)
	}
	for _, tool := range list.Tools {
		if strings.HasPrefix(tool.Name, backend) && strings.HasSuffix(tool.Name, "ask_form") {
			return tool.Name
		}
	}
	t.Fatalf("no tool of %s asks: %s", backend, seen.Calls[0].Result)
	return ""
}

// cross makes all calls of all lines at once, and checks each line by itself.
func cross(t *testing.T, lines []line) {
	t.Helper()
	var playing sync.WaitGroup
	seen := make([]*seenStep, len(lines))
	for i, l := range lines {
		// Clients fail the test by FailNow, which is for the goroutine of a test.
		playing.Go(func() {
			t.Run(l.name, func(t *testing.T) {
				script := l.script()
				seen[i] = newTranscript(script, l.client.run(t, l.to, script)).step("cross")
			})
		})
	}
	playing.Wait()
	for i, l := range lines {
		if seen[i] != nil {
			l.check(t, seen[i])
		}
	}
}

// script calls every tool many times at once. No answer is given before all
// questions are open.
func (l line) script() script {
	s := step{
		Name:    "cross",
		Answers: accept(`{"zeta":"$client answers $question"}`),
		Hold:    crossingCalls * len(l.tools),
	}
	for backend, tool := range l.tools {
		for i := range crossingCalls {
			s.Requests = append(s.Requests, call(tool, map[string]any{"message": l.question(backend, i)}))
		}
	}
	return script{Client: l.name, Steps: []step{s}}
}

func (l line) question(backend string, i int) string {
	return fmt.Sprintf("%s asks %s #%d", l.name, backend, i)
}

// check wants each call answered by its own client, by its own backend, with the
// answer to its own question, and nobody asked anything else.
func (l line) check(t *testing.T, seen *seenStep) {
	t.Helper()
	if got, want := len(seen.Asked), crossingCalls*len(l.tools); got != want {
		t.Errorf("%s was asked %d questions, want %d", l.name, got, want)
	}
	for _, q := range seen.Asked {
		if !strings.Contains(string(q.Params), l.name+" asks ") {
			t.Errorf("%s was asked the question of another: %s", l.name, q.Params)
		}
	}
	for _, c := range seen.Calls {
		backend, question := l.origin(c)
		want := fmt.Sprintf(`\"zeta\":\"%s answers %s\"},\"message\":\"%s\",\"server\":\"%s\"`, l.name, question, question, backend)
		if !strings.Contains(string(c.Result), want) {
			t.Errorf("%s asked %q and got %s%s", l.name, question, c.Result, c.Error)
		}
	}
}

// origin tells from a call's own params where it went.
func (l line) origin(c *exchange) (backend, question string) {
	var params struct {
		Name      string `json:"name"`
		Arguments struct {
			Message string `json:"message"`
		} `json:"arguments"`
	}
	if err := json.Unmarshal(c.Params, &params); err != nil {
		return "", ""
	}
	for name, tool := range l.tools {
		if tool == params.Name {
			backend = name
		}
	}
	return backend, params.Arguments.Message
}
