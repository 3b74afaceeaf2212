//go:build e2e

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A scenario is a step with what must happen in it. The wants are about this
// server and this client alone; that Beckon changes nothing is shown by
// comparing transcripts.
type scenario struct {
	step
	text     []string // each must occur in the result of some request
	code     int64    // the error that every request must end with; zero: none
	asked    []string // methods of the questions, in order
	notified map[string]int
}

// Methods that occur in many scenarios.
const (
	elicitationCreate   = "elicitation/create"
	elicitationComplete = "notifications/elicitation/complete"
	samplingCreate      = "sampling/createMessage"
	rootsList           = "roots/list"
	progressed          = "notifications/progress"
	cancelled           = "notifications/cancelled"
)

// newScript makes one session of many scenarios.
func newScript(clientName string, scenarios []scenario) script {
	s := script{Client: clientName, Roots: []root{
		{URI: "file:///srv/projects/alpha", Name: "alpha"},
		{URI: "file:///srv/projects/beta", Name: "beta"},
	}}
	for _, sc := range scenarios {
		s.Steps = append(s.Steps, sc.step)
	}
	return s
}

// check fails the test where what was seen is not what this scenario wants.
func (sc scenario) check(t *testing.T, seen *seenStep) {
	t.Helper()
	var results strings.Builder
	for _, call := range seen.Calls {
		results.Write(call.Result)
		if sc.CancelOn == "" {
			sc.checkCode(t, call)
		}
	}
	for _, want := range sc.text {
		if !strings.Contains(results.String(), want) {
			t.Errorf("no result contains %q:\n%s", want, results.String())
		}
	}
	if got, want := methods(seen.Asked), sc.asked; !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
	got := methods(seen.Notified)
	for method, want := range sc.notified {
		n := 0
		for _, m := range got {
			if m == method {
				n++
			}
		}
		if n != want {
			t.Errorf("notified %s %d times, want %d", method, n, want)
		}
	}
}

func (sc scenario) checkCode(t *testing.T, call *exchange) {
	t.Helper()
	if call.Error == nil {
		if sc.code != 0 {
			t.Errorf("%s %s: result %s, want error %d", call.Method, call.Params, call.Result, sc.code)
		}
		return
	}
	var got struct {
		Code int64 `json:"code"`
	}
	if err := json.Unmarshal(call.Error, &got); err != nil || got.Code != sc.code {
		t.Errorf("%s %s: error %s, want code %d", call.Method, call.Params, call.Error, sc.code)
	}
}

func methods(exchanges []*exchange) []string {
	var list []string
	for _, e := range exchanges {
		list = append(list, e.Method)
	}
	return list
}

// lists asks for everything that a server offers.
func lists() scenario {
	return scenario{step: step{Name: "lists", Requests: []request{
		{Method: "tools/list"}, {Method: "prompts/list"}, {Method: "resources/list"}, {Method: "resources/templates/list"},
	}}}
}

// accept, decline and cancel are the three outcomes that a person has.
func accept(content string) []answer {
	return []answer{{Method: elicitationCreate, Result: json.RawMessage(`{"action":"accept","content":` + content + `}`)}}
}

func acceptURL() []answer {
	return []answer{{Method: elicitationCreate, Result: json.RawMessage(`{"action":"accept"}`)}}
}

func refuse(action string) []answer {
	return []answer{{Method: elicitationCreate, Result: json.RawMessage(`{"action":"` + action + `"}`)}}
}

func sampled(result string) []answer {
	return []answer{{Method: samplingCreate, Result: json.RawMessage(result)}}
}
