//go:build e2e

package e2e

import "encoding/json"

// An endpoint says how to reach a server: by URL or by command. The JSON form
// is read by node/client.mjs.
type endpoint struct {
	URL       string            `json:"url,omitempty"`
	Transport string            `json:"transport,omitempty"` // of URL: "http" (streamable) or "sse"
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`

	// Era, if not empty, pins the era that Beckon speaks with the server behind
	// it: "legacy" or "modern". Nobody else reads it.
	Era string `json:"-"`

	// Validate, if not empty, is what Beckon does with answers that do not fit.
	Validate string `json:"-"`

	// ExitsClean says that the command must exit with code 0 when its stdin is
	// closed. Servers that are not ours need not.
	ExitsClean bool `json:"-"`
}

// A script is what a client does with one connection, as data, so that clients
// in several languages do the same.
type script struct {
	Client string `json:"client"` // name of the client; $client in answers
	Roots  []root `json:"roots,omitempty"`
	Steps  []step `json:"steps"`
}

type root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// A step is done when all its requests have ended and all its notifications
// have come. Steps follow each other; the requests of one step run at once.
type step struct {
	Name     string    `json:"name"`
	Requests []request `json:"requests,omitempty"`
	// Answers are the rules for what the server asks during this step. The
	// first that fits applies; a question that none fits is an error -32603.
	Answers []answer `json:"answers,omitempty"`
	// Hold, if not zero, is the number of questions of this step. Every answer
	// is kept back until all are open; then they are given one after the
	// other, the newest first.
	Hold int `json:"hold,omitempty"`
	// CancelOn cancels the requests once a message with this method came in.
	CancelOn string `json:"cancelOn,omitempty"`
	// Await counts the notifications, by method, that must come in.
	Await map[string]int `json:"await,omitempty"`
}

type request struct {
	Method   string         `json:"method"`
	Params   map[string]any `json:"params,omitempty"`
	Progress bool           `json:"progress,omitempty"` // ask for progress
}

// An answer is a rule. Every string in Result may contain $client, the name of
// the script's client, and $question: the message of an elicitation, or the
// text of the last message to be sampled.
type answer struct {
	Method   string          `json:"method"`
	Contains string          `json:"contains,omitempty"` // must occur in the JSON of the params
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *answerError    `json:"error,omitempty"`
	Never    bool            `json:"never,omitempty"` // leave it open until it is withdrawn
}

type answerError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// call is a step's request for one tool. Without arguments there is no such
// member: servers refuse null.
func call(tool string, arguments map[string]any) request {
	params := map[string]any{"name": tool}
	if arguments != nil {
		params["arguments"] = arguments
	}
	return request{Method: "tools/call", Params: params}
}

// withProgress asks for progress notifications.
func (r request) withProgress() request {
	r.Progress = true
	return r
}
