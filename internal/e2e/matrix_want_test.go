//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The ways in which a call ends for its client.
const (
	reports  = "report"     // the tool reports its answers
	toolFail = "tool error" // the tool reports that it could not go on
	callFail = "error"      // the call fails
	nothing  = "nothing"    // the client does not get to know
)

// An ending is what a cell comes to.
type ending struct {
	Ends     string   // for the client: one of the above
	Report   string   // what the tool reports, as JSON
	Says     string   // occurs in what an error says
	Asked    []string // the questions that the client was shown, each once, sorted
	Executed executed // what the tool did
}

// want tells what must come out of a cell. Whatever happens, the tool is entered
// once by a legacy call, and once for each round by a modern one.
func (c cell) want() ending {
	v := ending{Ends: reports, Asked: c.asked(), Executed: executed{Entered: []int{1}, Ended: "worked"}}
	if c.backend.era == modern {
		for round := range c.rounds() {
			v.Executed.Entered = append(v.Executed.Entered, round+2)
		}
	}
	switch c.outcome {
	case byError:
		v = c.wantError(v)
	case byTimeout:
		v.Ends, v.Executed.Ended = toolFail, "failed"
		if c.backend.era == modern { // a client without an answer does not retry
			v.Ends, v.Executed = callFail, executed{Entered: []int{1}}
		}
	case byClientGone:
		v.Ends = nothing
		switch {
		case c.holds():
			v.Executed.Ended = "stopped"
		case c.backend.era == modern:
			v.Executed = executed{Entered: []int{1}}
		default:
			v.Executed.Ended = "failed"
		}
	case byBackendGone:
		v.Ends, v.Executed.Ended = callFail, ""
	}
	if v.Ends == reports {
		v.Report = c.report()
	}
	return v
}

// wantError is about a client that has no answer. A legacy one says so; a modern
// one has no words for it and does not come back.
func (c cell) wantError(v ending) ending {
	v.Ends, v.Says = toolFail, clientError
	if c.client.era == modern {
		v.Ends, v.Says = nothing, ""
	}
	v.Executed.Ended = "failed"
	if c.backend.era == modern {
		v.Executed = executed{Entered: []int{1}}
		if c.client.era == legacy {
			v.Ends = callFail
		}
	}
	return v
}

// names are the questions of one round, as eraserver names them.
func (c cell) names(round int) []string {
	var list []string
	for i := range c.atOnce() {
		list = append(list, fmt.Sprintf("q%d%c", round, 'a'+i))
	}
	return list
}

func (c cell) asked() []string {
	var list []string
	for round := range c.rounds() {
		list = append(list, c.names(round+1)...)
	}
	return list
}

// report is what the tool must say, with every answer at its own question.
func (c cell) report() string {
	answers := make(map[string]any)
	for _, name := range c.asked() {
		answers[name] = c.reported(name)
	}
	text, err := json.Marshal(map[string]any{"key": c.key(), "answers": answers})
	if err != nil {
		panic(err) // plain strings always encode
	}
	return string(text)
}

func (c cell) reported(name string) map[string]any {
	if c.outcome == byWithdrawal {
		return map[string]any{"withdrawn": true}
	}
	switch c.kind {
	case "sampling":
		return map[string]any{"role": "assistant", "model": "scripted", "text": c.answerText(name)}
	case "roots":
		return map[string]any{"roots": []string{c.rootURI()}}
	}
	action := c.action(name)
	if c.kind == "form" && action == byAccept {
		return map[string]any{"action": action, "text": c.answerText(name)}
	}
	return map[string]any{"action": action}
}

// key names the call of a cell.
func (c cell) key() string {
	key := strings.ReplaceAll(c.String(), "/", ".")
	if c.direct {
		return "direct." + key
	}
	return key
}

func (c cell) answerText(name string) string { return "the answer to " + c.key() + "/" + name }

func (c cell) rootURI() string { return "file:///" + c.key() }

// action is how the client answers an elicitation. The second of two questions
// by URL is declined, as there is nothing else in such an answer that could get
// mixed up.
func (c cell) action(name string) string {
	switch {
	case c.outcome == byDecline || c.outcome == byCancel:
		return c.outcome
	case c.kind == "url" && strings.HasSuffix(name, "b"):
		return byDecline
	}
	return byAccept
}

// check compares what came out with what must.
func (v ending) check(t *testing.T, got ending) {
	t.Helper()
	if !strings.Contains(got.Says, v.Says) {
		t.Errorf("the error is %q, without %q", got.Says, v.Says)
	}
	got.Says = v.Says
	if diff := cmp.Diff(v, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
