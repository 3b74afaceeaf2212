package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// What both raw servers say. They cost as little as possible, so that what is
// measured is what is before them.
const (
	whoSchema = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`
	askForm   = `{"mode":"form","message":"who?","requestedSchema":` + whoSchema + `}`
	adaAnswer = `{"action":"accept","content":{"name":"Ada","age":36}}`
	rawTools  = `"tools":[{"name":"ask","inputSchema":{"type":"object"}},{"name":"form","inputSchema":{"type":"object"}},{"name":"hold","inputSchema":{"type":"object"}}]`
	accepted  = `"content":[{"type":"text","text":"accept"}]`
	rawServer = `{"name":"bench","version":"1"}`
)

// rpc is what the raw peers look at in a message.
type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Revision       string          `json:"protocolVersion"`
		Name           string          `json:"name"`
		InputResponses json.RawMessage `json:"inputResponses"`
		RequestID      json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func readRPC(r io.Reader) (rpc, error) {
	var m rpc
	body, err := io.ReadAll(r)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

func reply(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, format, args...)
}

// A rawLegacy is a server of whatever legacy revision its client speaks.
// Every call pushes one question and waits for its answer, or to be cancelled.
type rawLegacy struct {
	mu       sync.Mutex
	sessions int                        // guarded by mu
	open     map[heldCall]chan struct{} // guarded by mu; closed by the answer or the cancellation
}

// A heldCall is a call that waits. Every session numbers its own.
type heldCall struct{ session, id string }

// serveLegacy is the role "legacy".
func serveLegacy() error { return listen(newRawLegacy()) }

func newRawLegacy() *rawLegacy { return &rawLegacy{open: make(map[heldCall]chan struct{})} }

func (s *rawLegacy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/open":
		fmt.Fprint(w, s.count())
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	m, err := readRPC(r.Body)
	session := r.Header.Get("Mcp-Session-Id")
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", s.newSession())
		reply(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":`+rawServer+`}}`, m.ID, m.Params.Revision)
	case m.Method == "tools/list":
		reply(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{`+rawTools+`}}`, m.ID)
	case m.Method == "tools/call":
		question := askForm
		if m.Params.Name == "form" {
			question = askDefinition
		}
		s.call(w, r, heldCall{session, string(m.ID)}, question)
	case m.Method == "ping":
		reply(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	case m.Method == "" && (m.Result != nil || m.Error != nil): // the answer to a question has the id of its call
		s.end(heldCall{session, string(bytes.TrimSuffix(bytes.TrimPrefix(m.ID, []byte(`"q`)), []byte(`"`)))})
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "notifications/cancelled":
		s.end(heldCall{session, string(m.Params.RequestID)})
		w.WriteHeader(http.StatusAccepted)
	case strings.HasPrefix(m.Method, "notifications/"):
		w.WriteHeader(http.StatusAccepted)
	default:
		reply(w, 400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`, m.ID)
	}
}

// call asks on the stream of the call. Ids of calls are numbers here; a client
// that has others is none of the bench.
func (s *rawLegacy) call(w http.ResponseWriter, r *http.Request, c heldCall, question string) {
	ended := make(chan struct{})
	s.mu.Lock()
	s.open[c] = ended
	s.mu.Unlock()
	defer s.end(c)
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: "+`{"jsonrpc":"2.0","id":"q%s","method":"elicitation/create","params":`+"%s}\n\n", c.id, question)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-ended:
		fmt.Fprintf(w, "data: "+`{"jsonrpc":"2.0","id":%s,"result":{`+accepted+"}}\n\n", c.id)
	case <-r.Context().Done():
	}
}

func (s *rawLegacy) newSession() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	return fmt.Sprintf("bench-%d", s.sessions)
}

func (s *rawLegacy) end(c heldCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ended, ok := s.open[c]; ok {
		delete(s.open, c)
		close(ended)
	}
}

// count is how many calls are open.
func (s *rawLegacy) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}
