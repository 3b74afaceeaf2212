//go:build unix

package main

import (
	"encoding/json"
	"fmt"
)

// portForm is a form that a tool defines, in the words of the form extension.
const portForm = `{"mode":"form","formDefinition":{"id":"ports","title":"%s: which port?","max_attempts":3,"fields":[` +
	`{"id":"port","type":"number","label":"Port","required":true,"validation":{"minimum":1024,"multipleOf":1}},` +
	`{"id":"name","type":"text","label":"Name"}],"timeout_config":{"initial_timeout":2000,"extension_duration":60000,"warn_before":1000}}}`

// portSchema asks for the same in the words of the specification.
const portSchema = `{"message":"%s: which port?","requestedSchema":{"type":"object","required":["port"],` +
	`"properties":{"port":{"type":"integer","minimum":1024},"name":{"type":"string"}}}}`

// slowForm is portForm with the terms of the gateway.
const slowForm = `{"mode":"form","formDefinition":{"id":"ports","title":"%s: which port?","fields":[` +
	`{"id":"port","type":"number","label":"Port","required":true,"validation":{"minimum":1024,"multipleOf":1}},` +
	`{"id":"name","type":"text","label":"Name"}]}}`

// defining makes a tool that asks by a form definition. A legacy backend gets a handle,
// and waits for the notification that the form has ended; the text is both.
func defining(name, what, params string) tool {
	return tool{name: name, what: what, method: "elicitation/create", params: params, run: func(s *server, _ json.RawMessage) string {
		answer := s.ask("elicitation/create", fmt.Sprintf(params, s.name))
		var handle struct {
			Result struct{ ElicitationID string }
		}
		insist(json.Unmarshal(answer, &handle))
		if handle.Result.ElicitationID == "" {
			return string(answer)
		}
		return fmt.Sprintf("handle %s end %s", answer, <-s.ending(handle.Result.ElicitationID))
	}}
}

// ending is where the end of a form is told.
func (s *server) ending(id string) chan []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endings[id] == nil {
		s.endings[id] = make(chan []byte, 10)
	}
	return s.endings[id]
}

// ended takes the notification that a form has ended.
func (s *server) ended(m message) {
	var p struct{ ElicitationID string }
	insist(json.Unmarshal(m.Params, &p))
	s.ending(p.ElicitationID) <- m.Params
}
