//go:build unix

package main

import (
	"encoding/json"
	"fmt"
)

// takeModern takes one message of the modern era. Nothing is remembered from one to
// the next: what a call asks ends it, and the retry brings all that is needed.
func (s *server) takeModern(m message) {
	switch m.Method {
	case "server/discover":
		s.result(m.ID, fmt.Sprintf(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete",`+
			`"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":%q,"version":"1"}}}`, s.name))
	case "tools/list":
		s.result(m.ID, toolList())
	case "tools/call":
		s.callModern(m)
	default:
		if m.ID != nil {
			s.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"this is a server of 2026-07-28","data":{"supported":["2026-07-28"]}}}`, m.ID)
		}
	}
}

func (s *server) callModern(m message) {
	var p struct {
		Name           string
		InputResponses map[string]json.RawMessage
		RequestState   string
	}
	insist(json.Unmarshal(m.Params, &p))
	for _, t := range tools {
		switch {
		case t.name != p.Name:
			continue
		case t.method == "":
			s.counts(t.name)
			s.says(m.ID, t.run(s, m.Params))
		case p.RequestState == "":
			s.result(m.ID, fmt.Sprintf(`{"resultType":"input_required","inputRequests":{"q":{"method":%q,"params":%s}},"requestState":"of %s"}`,
				t.method, fmt.Sprintf(t.params, s.name), t.name))
		default:
			s.counts(t.name)
			s.says(m.ID, fmt.Sprintf("%s: %s", p.RequestState, p.InputResponses["q"]))
		}
		return
	}
	s.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID)
}
