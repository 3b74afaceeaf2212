//go:build e2e

package e2e

import (
	"encoding/json"
	"slices"
)

// askScenarios are the scenarios of askserver. It remembers keys for all its
// sessions; each run has a server of its own, so that fixed keys do.
func askScenarios() []scenario {
	return slices.Concat([]scenario{
		lists(),
		{
			step: step{Name: "echo", Requests: []request{call("echo", map[string]any{"text": "no question"})}},
			text: []string{`no question`},
		},
	}, askForms(), askURLs(), askModels(), askCancels())
}

func askForms() []scenario {
	const content = `{"zeta":"$client answers $question","alpha":7,"mid":2.50,"beta":"later"}`
	color := call("ask_form", map[string]any{"message": "Which colour?"})
	return []scenario{
		{ // R2 R4 R6 R8 R9 R58
			step:  step{Name: "form accepted", Requests: []request{color}, Answers: accept(content)},
			text:  []string{`answers Which colour?`, `\"action\":\"accept\"`},
			asked: []string{elicitationCreate},
		},
		{ // R10: less than the form asked for
			step:  step{Name: "form accepted in part", Requests: []request{color}, Answers: accept(`{"zeta":"only this"}`)},
			text:  []string{`only this`},
			asked: []string{elicitationCreate},
		},
		{ // R58 R13
			step:  step{Name: "form declined", Requests: []request{color}, Answers: refuse("decline")},
			text:  []string{`\"action\":\"decline\"`},
			asked: []string{elicitationCreate},
		},
		{ // R58 R13
			step:  step{Name: "form cancelled", Requests: []request{color}, Answers: refuse("cancel")},
			text:  []string{`\"action\":\"cancel\"`},
			asked: []string{elicitationCreate},
		},
		{ // D7: the client's own error ends the question at once
			step: step{Name: "form fails in the client", Requests: []request{color}, Answers: []answer{
				{Method: elicitationCreate, Error: &answerError{Code: -32603, Message: "the window is gone"}},
			}},
			text:  []string{`the window is gone`, `"isError":true`},
			asked: []string{elicitationCreate},
		},
		{ // one call, a question after the other
			step: step{
				Name:     "two rounds",
				Requests: []request{call("ask_rounds", map[string]any{"messages": []string{"First round?", "Second round?"}})},
				Answers:  accept(content),
			},
			text:  []string{`answers First round?`, `answers Second round?`},
			asked: []string{elicitationCreate, elicitationCreate},
		},
		{ // R16 R17: one call, two questions, the second answered first
			step: step{
				Name:     "two questions at once",
				Requests: []request{call("ask_twice", map[string]any{"first": "First?", "second": "Second?"})},
				Answers:  accept(content),
				Hold:     2,
			},
			text:  []string{`answers First?`, `answers Second?`},
			asked: []string{elicitationCreate, elicitationCreate},
		},
		{ // R17 R59: three calls, each its question
			step: step{
				Name: "three calls that ask at once",
				Requests: []request{
					call("ask_form", map[string]any{"message": "One?"}),
					call("ask_form", map[string]any{"message": "Two?"}),
					call("ask_form", map[string]any{"message": "Three?"}),
				},
				Answers: accept(content),
				Hold:    3,
			},
			text:  []string{`answers One?`, `answers Two?`, `answers Three?`},
			asked: []string{elicitationCreate, elicitationCreate, elicitationCreate},
		},
		{ // R56: in a prompt
			step: step{Name: "question in a prompt", Requests: []request{
				{Method: "prompts/get", Params: map[string]any{"name": "ask_prompt", "arguments": map[string]any{"message": "What about?"}}},
			}, Answers: accept(content)},
			text:  []string{`answers What about?`},
			asked: []string{elicitationCreate},
		},
		{ // R56: in a resource
			step: step{Name: "question in a resource", Requests: []request{
				{Method: "resources/read", Params: map[string]any{"uri": "ask://resource"}},
			}, Answers: accept(content)},
			text:  []string{`answers Reading ask://resource`},
			asked: []string{elicitationCreate},
		},
	}
}

func askURLs() []scenario {
	page := map[string]any{"url": "https://example.com/visit?a=1&b=%20", "id": "visit-1"}
	gate := map[string]any{"url": "https://example.com/gate", "id": "gate-1"}
	return []scenario{
		{
			step: step{
				Name: "URL accepted", Requests: []request{call("ask_url", page)}, Answers: acceptURL(),
				Await: map[string]int{elicitationComplete: 1},
			},
			text:     []string{`\"action\":\"accept\"`},
			asked:    []string{elicitationCreate},
			notified: map[string]int{elicitationComplete: 1},
		},
		{
			step:     step{Name: "URL declined", Requests: []request{call("ask_url", page)}, Answers: refuse("decline")},
			text:     []string{`\"action\":\"decline\"`},
			asked:    []string{elicitationCreate},
			notified: map[string]int{elicitationComplete: 0},
		},
		{
			step: step{Name: "URL needed first", Requests: []request{call("need_url", gate)}},
			code: -32042,
		},
		{
			step: step{
				Name: "URL visited", Requests: []request{call("visit_url", map[string]any{"id": "gate-1"})},
				Await: map[string]int{elicitationComplete: 1},
			},
			text:     []string{`gate-1`},
			notified: map[string]int{elicitationComplete: 1},
		},
		{
			step: step{Name: "URL needed no more", Requests: []request{call("need_url", gate)}},
			text: []string{`gate-1`},
		},
	}
}

func askModels() []scenario {
	poem := call("sample", map[string]any{"prompt": "a poem"})
	return []scenario{
		{ // R20 R21 R22 R26 R27
			step: step{Name: "sampling", Requests: []request{poem}, Answers: sampled(
				`{"role":"assistant","content":{"type":"text","text":"$client completes $question"},"model":"m-1","stopReason":"endTurn"}`)},
			text:  []string{`completes a poem`, `m-1`, `endTurn`},
			asked: []string{samplingCreate},
		},
		{ // R28: without stopReason
			step: step{Name: "sampling in part", Requests: []request{poem}, Answers: sampled(
				`{"role":"assistant","content":{"type":"text","text":"short"},"model":"m-2"}`)},
			text:  []string{`short`, `m-2`},
			asked: []string{samplingCreate},
		},
		{ // R24
			step: step{Name: "sampling refused", Requests: []request{poem}, Answers: []answer{
				{Method: samplingCreate, Error: &answerError{Code: -1, Message: "User rejected sampling request"}},
			}},
			text:  []string{`User rejected sampling request`, `"isError":true`},
			asked: []string{samplingCreate},
		},
		{ // R20 R26
			step: step{Name: "sampling with tools", Requests: []request{call("sample_tools", map[string]any{"prompt": "the weather"})},
				Answers: sampled(`{"role":"assistant","model":"m-3","stopReason":"toolUse","content":[` +
					`{"type":"tool_use","id":"use-1","name":"weather","input":{"town":"Oslo"}},` +
					`{"type":"tool_use","id":"use-2","name":"weather","input":{"town":"Rome"}}]}`)},
			text:  []string{`use-1`, `use-2`, `Rome`, `toolUse`},
			asked: []string{samplingCreate},
		},
		{
			step:  step{Name: "roots", Requests: []request{call("roots", nil)}},
			text:  []string{`file:///srv/projects/alpha`, `file:///srv/projects/beta`},
			asked: []string{rootsList},
		},
	}
}

func askCancels() []scenario {
	return []scenario{
		{
			step: step{Name: "progress", Requests: []request{call("progress", map[string]any{"steps": 3}).withProgress()},
				Await: map[string]int{progressed: 3}},
			text:     []string{`\"steps\":3`},
			notified: map[string]int{progressed: 3},
		},
		{
			step: step{Name: "call cancelled", Requests: []request{call("block", map[string]any{"key": "k-1"}).withProgress()},
				CancelOn: progressed},
		},
		{
			step: step{Name: "call was cancelled", Requests: []request{call("how_ended", map[string]any{"key": "k-1"})}},
			text: []string{`k-1`, `\"ended\":\"cancelled\"`},
		},
		{ // R11 D3: the open question is withdrawn
			step: step{
				Name: "call cancelled while it asks", Requests: []request{call("block_asking", map[string]any{"key": "k-2"})},
				Answers:  []answer{{Method: elicitationCreate, Never: true}},
				CancelOn: elicitationCreate,
				Await:    map[string]int{cancelled: 1},
			},
			asked:    []string{elicitationCreate},
			notified: map[string]int{cancelled: 1},
		},
		{
			step: step{Name: "asking call was cancelled", Requests: []request{call("how_ended", map[string]any{"key": "k-2"})}},
			text: []string{`k-2`, `\"ended\":\"cancelled\"`},
		},
		{ // D1 R30: nothing of it reaches the next question
			step: step{Name: "next question", Requests: []request{call("ask_form", map[string]any{"message": "Still there?"})},
				Answers: []answer{{Method: elicitationCreate, Result: json.RawMessage(`{"action":"accept","content":{"zeta":"still here"}}`)}}},
			text:  []string{`still here`},
			asked: []string{elicitationCreate},
		},
	}
}
