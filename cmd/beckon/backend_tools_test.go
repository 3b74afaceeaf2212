//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// tool is one tool of the backend of the scripts. What it returns is the text of
// its result.
type tool struct {
	name, what string
	run        func(s *server, params json.RawMessage) string

	method, params string // of the question of a tool that does nothing but ask
}

// tools are all that there are. Those that ask return the answer as it came.
var tools = []tool{
	{name: "echo", what: "returns the params of its call", run: func(_ *server, params json.RawMessage) string { return string(params) }},
	{name: "caps", what: "returns what the client declared", run: (*server).declared},
	asking("form", "asks a person by form", "elicitation/create", question),
	asking("url", "asks a person by URL", "elicitation/create", `{"mode":"url","message":"%s: log in","url":"https://login.example/?x=1","elicitationId":"e-1"}`),
	asking("password", "asks for a secret by form", "elicitation/create", `{"message":"%s: log in","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}`),
	asking("nested", "asks by a form in a form", "elicitation/create", `{"message":"%s: who?","requestedSchema":{"type":"object","properties":{"a":{"type":"object","properties":{}}}}}`),
	asking("empty", "asks nothing", "elicitation/create", `{"_meta":{"by":"%s"}}`),
	asking("sample", "asks a model", "sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"%s: a rhyme"}}],"maxTokens":1e2,"temperature":0.50}`),
	asking("roots", "asks for folders", "roots/list", `{"_meta":{"by":"%s"}}`),
	asking("guess", "asks in a way that no revision knows", "elicitation/guess", `{"message":"%s: what?"}`),
	defining("define", "asks by a form definition, and waits for its end", slowForm),
	defining("hurry", "does that, with little time", portForm),
	asking("port", "asks for a port by a schema", "elicitation/create", portSchema),
	asking("prompt", "asks by a prompt", "elicitation/create", `{"mode":"inline","prompt":"%s: which city?"}`),
	{name: "regret", what: "asks by form, and cancels its question when the client sends notifications/roots/list_changed", run: (*server).regret},
	{name: "quit", what: "asks by form and exits", run: quit},
	{name: "noise", what: "prints what is no message, and then its result", run: noise},
	{name: "stray", what: "answers requests that nobody sent, and then its call", run: stray},
	{name: "flood", what: "prints a line of 100 MB, and then its result", run: flood},
}

// question is spelled as no library would spell it, to see that it arrives so.
const question = `{"message":"%s: which colour?","x-unknown":{"z":1,"a":[1.50,2e3]},"requestedSchema":` +
	`{"type":"object","required":["colour"],"properties":{"colour":{"type":"string","title":"Col\u006fur"}}}}`

// call runs a tool.
func (s *server) call(m message) {
	var p struct{ Name string }
	insist(json.Unmarshal(m.Params, &p))
	s.counts(p.Name)
	for _, t := range tools {
		if t.name == p.Name {
			s.says(m.ID, t.run(s, m.Params))
			return
		}
	}
	s.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID)
}

// asking makes a tool that asks, and returns the answer.
func asking(name, what, method, params string) tool {
	return tool{name: name, what: what, method: method, params: params, run: func(s *server, _ json.RawMessage) string {
		return string(s.ask(method, fmt.Sprintf(params, s.name)))
	}}
}

// counts notes that a tool runs.
func (s *server) counts(name string) {
	if s.count == "" {
		return
	}
	f, err := os.OpenFile(s.count, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	insist(err)
	_, err = fmt.Fprintln(f, name)
	insist(err)
	insist(f.Close())
}

func (s *server) declared(json.RawMessage) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.caps)
}

func (s *server) regret(json.RawMessage) string {
	s.send(`{"jsonrpc":"2.0","id":"regretted","method":"elicitation/create","params":%s}`, fmt.Sprintf(question, s.name))
	<-s.nudged
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"regretted","reason":"never mind"}}`)
	return "regretted"
}

func quit(s *server, _ json.RawMessage) string {
	s.send(`{"jsonrpc":"2.0","id":"last","method":"elicitation/create","params":%s}`, fmt.Sprintf(question, s.name))
	os.Exit(3)
	return ""
}

func noise(s *server, _ json.RawMessage) string {
	for _, line := range []string{
		"loading model… done",
		`{"jsonrpc":"2.0","id":1,"result":{}} {"and":"more"}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + "\xff" + `"}}`,
		`{"jsonrpc":"2.0","id":1,"res`,
	} {
		s.write([]byte(line))
	}
	return "after the noise"
}

func stray(s *server, _ json.RawMessage) string {
	s.send(`{"jsonrpc":"2.0","id":999,"result":{"content":[]}}`)
	s.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"whose?"}}`)
	return "after the stray"
}

func flood(s *server, _ json.RawMessage) string {
	s.write(bytes.Repeat([]byte("x"), 100<<20))
	return "after the flood"
}
