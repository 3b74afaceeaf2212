//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A transcript is what one client saw of one server, in a form that two runs
// can be compared in. Raw members keep their bytes.
type transcript struct {
	Steps []*seenStep `json:"steps"`
}

// A seenStep is one step of the script. The first, "connect", is the
// handshake.
type seenStep struct {
	Name     string      `json:"name"`
	Calls    []*exchange `json:"calls,omitempty"`    // what the client requested
	Asked    []*exchange `json:"asked,omitempty"`    // what the server requested
	Notified []*exchange `json:"notified,omitempty"` // what the server notified
	Failures []string    `json:"failures,omitempty"` // what the SDK told its caller
}

// An exchange is a message with its outcome, if it has come to one.
type exchange struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// unordered are notifications that say that something changed, and nothing
// else. How many of them arrive, and when, is up to the server and its
// transport; a client may only conclude that it should list again.
var unordered = []string{
	"notifications/tools/list_changed",
	"notifications/prompts/list_changed",
	"notifications/resources/list_changed",
}

// newTranscript pairs the messages of a wire log. Steps with several requests
// at once are sorted, as the order of what runs at once means nothing.
func newTranscript(s script, frames []frame) *transcript {
	b := builderOf(s)
	for _, f := range frames {
		b.add(f)
	}
	for i, step := range s.Steps {
		seen := b.transcript.Steps[i+1]
		if step.CancelOn != "" {
			b.transcript.forget(seen)
		}
		if len(step.Requests) > 1 || step.Hold > 1 {
			slices.SortFunc(seen.Calls, compareExchanges)
			slices.SortFunc(seen.Asked, compareExchanges)
			slices.SortFunc(seen.Notified, compareExchanges)
			slices.Sort(seen.Failures)
		}
	}
	return b.transcript
}

// forget drops what came of a step that the script cancelled, and of the
// questions withdrawn with it, which is up to chance: "The sender of the cancellation notification SHOULD ignore any
// response to the request that arrives afterward", and progress is no
// different.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements
func (t *transcript) forget(cancelled *seenStep) {
	var tokens []string
	for _, question := range cancelled.Asked {
		question.Result, question.Error = nil, nil
	}
	for _, call := range cancelled.Calls {
		call.Result, call.Error = nil, nil
		if token := progressToken(call.Params, "_meta"); token != "" {
			tokens = append(tokens, token)
		}
	}
	for _, step := range t.Steps {
		step.Notified = slices.DeleteFunc(step.Notified, func(n *exchange) bool {
			return n.Method == progressed && slices.Contains(tokens, progressToken(n.Params))
		})
	}
}

// progressToken is the raw token in params, below the members of path.
func progressToken(params json.RawMessage, path ...string) string {
	for _, member := range append(path, "progressToken") {
		var object map[string]json.RawMessage
		if json.Unmarshal(params, &object) != nil {
			return ""
		}
		params = object[member]
	}
	return string(params)
}

func compareExchanges(a, b *exchange) int {
	return cmp.Or(strings.Compare(a.Method, b.Method), bytes.Compare(a.Params, b.Params))
}

type transcriptBuilder struct {
	transcript *transcript
	steps      map[string]*seenStep
	calls      map[string]*exchange // by the client's request id
	asked      map[string]*exchange // by the server's request id
}

func builderOf(s script) *transcriptBuilder {
	b := &transcriptBuilder{
		transcript: &transcript{},
		steps:      make(map[string]*seenStep),
		calls:      make(map[string]*exchange),
		asked:      make(map[string]*exchange),
	}
	b.addStep("connect")
	for _, step := range s.Steps {
		b.addStep(step.Name)
	}
	return b
}

func (b *transcriptBuilder) addStep(name string) {
	step := &seenStep{Name: name}
	b.steps[name] = step
	b.transcript.Steps = append(b.transcript.Steps, step)
}

func (b *transcriptBuilder) add(f frame) {
	step := b.steps[f.Step]
	if f.Dir == "failure" {
		step.Failures = append(step.Failures, f.Failure)
		return
	}
	e := f.envelope()
	message := &exchange{Method: e.Method, Params: e.Params}
	switch in := f.Dir == "in"; {
	case e.isResponse() && in:
		step.Calls = finish(b.calls, e, step.Calls)
	case e.isResponse():
		step.Asked = finish(b.asked, e, step.Asked)
	case e.isRequest() && in:
		b.asked[string(e.ID)] = message
		step.Asked = open(message, step.Asked)
	case e.isRequest():
		b.calls[string(e.ID)] = message
		step.Calls = open(message, step.Calls)
	case in && !slices.Contains(unordered, e.Method):
		message.Params = b.nameQuestion(e.Params)
		step.Notified = append(step.Notified, message)
	}
}

// open adds a request to a list. Pings stay out of it: each hop keeps its own
// connection alive.
func open(message *exchange, list []*exchange) []*exchange {
	if message.Method == "ping" {
		return list
	}
	return append(list, message)
}

// finish gives an outcome to the exchange that it answers. What answers
// nothing is added to the list, so that it shows.
func finish(pending map[string]*exchange, e envelope, list []*exchange) []*exchange {
	if ex, ok := pending[string(e.ID)]; ok {
		ex.Result, ex.Error = e.Result, e.Error
		return list
	}
	return append(list, &exchange{Method: "(answers nothing)", Result: e.Result, Error: e.Error})
}

// nameQuestion replaces the params of a cancellation by what it cancels: ids
// differ from hop to hop, and so does the wording of the reason.
func (b *transcriptBuilder) nameQuestion(params json.RawMessage) json.RawMessage {
	var cancelled struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &cancelled) != nil || cancelled.ID == nil {
		return params
	}
	if question, ok := b.asked[string(cancelled.ID)]; ok {
		return json.RawMessage(`"the ` + question.Method + `"`)
	}
	return json.RawMessage(`"nothing that was asked"`)
}

func (t *transcript) step(name string) *seenStep {
	for _, s := range t.Steps {
		if s.Name == name {
			return s
		}
	}
	return &seenStep{Name: name}
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// text is the whole transcript as JSON, one member per line. Random
// identifiers are numbered in the order in which they occur.
func (t *transcript) text(tb testing.TB) string {
	tb.Helper()
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		tb.Fatalf("encoding the transcript: %v", err)
	}
	numbers := make(map[string]string)
	return uuid.ReplaceAllStringFunc(string(data), func(id string) string {
		if numbers[id] == "" {
			numbers[id] = fmt.Sprintf("uuid-%d", len(numbers)+1)
		}
		return numbers[id]
	})
}
