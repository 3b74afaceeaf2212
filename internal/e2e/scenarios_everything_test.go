//go:build e2e

package e2e

// everythingScenarios are the scenarios of server-everything. Its first step
// waits until the server has fetched the roots, which it does by itself a third
// of a second after the handshake, so that the question is always seen there.
func everythingScenarios() []scenario {
	form := call("trigger-elicitation-request", nil)
	return []scenario{
		{
			step:     step{Name: "settled", Await: map[string]int{"notifications/message": 1}},
			asked:    []string{rootsList},
			notified: map[string]int{"notifications/message": 1},
		},
		lists(),
		{
			step: step{Name: "echo", Requests: []request{call("echo", map[string]any{"message": "no question"})}},
			text: []string{`Echo: no question`},
		},
		{ // R2 R4 R6 R8 R9 R58
			step: step{Name: "form accepted", Requests: []request{form},
				Answers: accept(`{"name":"$client","check":true,"integer":5,"number":2.50,"untitledMultipleSelectEnum":["Drums","Bass"]}`)},
			text:  []string{`User provided the requested information`, `Favorite Integer: 5`},
			asked: []string{elicitationCreate},
		},
		{ // R58
			step:  step{Name: "form declined", Requests: []request{form}, Answers: refuse("decline")},
			text:  []string{`User declined`},
			asked: []string{elicitationCreate},
		},
		{ // R58
			step:  step{Name: "form cancelled", Requests: []request{form}, Answers: refuse("cancel")},
			text:  []string{`User cancelled`},
			asked: []string{elicitationCreate},
		},
		{ // R16 R17
			step: step{Name: "two questions at once", Requests: []request{form, form},
				Answers: accept(`{"name":"$client"}`), Hold: 2},
			text:  []string{`User provided the requested information`},
			asked: []string{elicitationCreate, elicitationCreate},
		},
		{
			step: step{Name: "URL accepted", Requests: []request{call("trigger-url-elicitation", map[string]any{
				"url": "https://example.com/visit?a=1&b=%20", "message": "Please visit.", "elicitationId": "visit-1",
			})}, Answers: acceptURL()},
			text:  []string{`User completed the URL elicitation`, `visit-1`},
			asked: []string{elicitationCreate},
		},
		{
			step: step{Name: "URL needed first", Requests: []request{call("trigger-url-elicitation", map[string]any{
				"url": "https://example.com/gate", "errorPath": true,
			})}},
			code: -32042,
		},
		{
			step: step{Name: "URL needed no more", Requests: []request{call("trigger-url-elicitation", map[string]any{
				"url": "https://example.com/gate", "errorPath": true,
			})}, Answers: refuse("decline")},
			text:  []string{`User declined to open the URL`},
			asked: []string{elicitationCreate},
		},
		{ // R20 R21 R22 R27
			step: step{Name: "sampling", Requests: []request{call("trigger-sampling-request", map[string]any{"prompt": "a poem", "maxTokens": 17})},
				Answers: sampled(`{"role":"assistant","content":{"type":"text","text":"$client completes $question"},"model":"m-1","stopReason":"endTurn"}`)},
			text:  []string{`completes Resource trigger-sampling-request context: a poem`, `m-1`},
			asked: []string{samplingCreate},
		},
		{ // R24
			step: step{Name: "sampling refused", Requests: []request{call("trigger-sampling-request", map[string]any{"prompt": "a poem"})},
				Answers: []answer{{Method: samplingCreate, Error: &answerError{Code: -1, Message: "User rejected sampling request"}}}},
			text:  []string{`User rejected sampling request`, `"isError":true`},
			asked: []string{samplingCreate},
		},
		{
			step: step{Name: "roots", Requests: []request{call("get-roots-list", nil)}},
			text: []string{`file:///srv/projects/alpha`, `file:///srv/projects/beta`},
		},
		{
			step: step{Name: "progress", Requests: []request{
				call("trigger-long-running-operation", map[string]any{"duration": 0.2, "steps": 4}).withProgress(),
			}, Await: map[string]int{progressed: 4}},
			text:     []string{`Long running operation completed`},
			notified: map[string]int{progressed: 4},
		},
		{
			step: step{Name: "call cancelled", Requests: []request{
				call("trigger-long-running-operation", map[string]any{"duration": 1, "steps": 4}).withProgress(),
			}, CancelOn: progressed},
		},
		{
			step: step{Name: "next call", Requests: []request{call("echo", map[string]any{"message": "still here"})}},
			text: []string{`Echo: still here`},
		},
	}
}
