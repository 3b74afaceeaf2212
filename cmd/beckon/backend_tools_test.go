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
}

// tools are all that there are. Those that ask return the answer as it came.
var tools = []tool{
	{"echo", "returns the params of its call", func(_ *server, params json.RawMessage) string { return string(params) }},
	{"caps", "returns what the client declared", (*server).declared},
	{"form", "asks a person by form", asks("elicitation/create", question)},
	{"url", "asks a person by URL", asks("elicitation/create",
		`{"mode":"url","message":"%s: log in","url":"https://login.example/?x=1","elicitationId":"e-1"}`)},
	{"password", "asks for a secret by form", asks("elicitation/create",
		`{"message":"%s: log in","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}`)},
	{"nested", "asks by a form in a form", asks("elicitation/create",
		`{"message":"%s: who?","requestedSchema":{"type":"object","properties":{"a":{"type":"object","properties":{}}}}}`)},
	{"empty", "asks nothing", asks("elicitation/create", `{"_meta":{"by":"%s"}}`)},
	{"sample", "asks a model", asks("sampling/createMessage",
		`{"messages":[{"role":"user","content":{"type":"text","text":"%s: a rhyme"}}],"maxTokens":1e2,"temperature":0.50}`)},
	{"roots", "asks for folders", asks("roots/list", `{"_meta":{"by":"%s"}}`)},
	{"guess", "asks in a way that no revision knows", asks("elicitation/guess", `{"message":"%s: what?"}`)},
	{"regret", "asks by form, and cancels its question when the client sends notifications/roots/list_changed", (*server).regret},
	{"quit", "asks by form and exits", quit},
	{"noise", "prints what is no message, and then its result", noise},
	{"stray", "answers requests that nobody sent, and then its call", stray},
	{"flood", "prints a line of 100 MB, and then its result", flood},
}

// question is spelled as no library would spell it, to see that it arrives so.
const question = `{"message":"%s: which colour?","x-unknown":{"z":1,"a":[1.50,2e3]},"requestedSchema":` +
	`{"type":"object","required":["colour"],"properties":{"colour":{"type":"string","title":"Col\u006fur"}}}}`

// call runs a tool.
func (s *server) call(m message) {
	var p struct{ Name string }
	insist(json.Unmarshal(m.Params, &p))
	if s.count != "" {
		f, err := os.OpenFile(s.count, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		insist(err)
		_, err = fmt.Fprintln(f, p.Name)
		insist(err)
		insist(f.Close())
	}
	for _, t := range tools {
		if t.name == p.Name {
			s.says(m.ID, t.run(s, m.Params))
			return
		}
	}
	s.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID)
}

// asks makes a tool that asks, and returns the answer.
func asks(method, params string) func(*server, json.RawMessage) string {
	return func(s *server, _ json.RawMessage) string {
		return string(s.ask(method, fmt.Sprintf(params, s.name)))
	}
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
