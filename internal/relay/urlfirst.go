package relay

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// maxURLRounds is how often one call may be refused for URLs that must be visited
// first.
const maxURLRounds = 5

// urlsFirst handles the refusal of a call that needs somebody to visit URLs first:
// it asks for that, as if the backend had, and makes the call again. The modern era
// has no such error; there, the call itself asks.
//
// "When a request cannot be processed until an elicitation is completed, the server
// MAY return a URLElicitationRequiredError (code -32042) to indicate to the client
// that a URL mode elicitation is required."
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
func (r *route) urlsFirst(ctx context.Context, c *caller, resp wire.Message, call func() (wire.Message, error)) (wire.Message, error) {
	for range maxURLRounds {
		if string(wire.Get(resp.Error(), "code")) != strconv.Itoa(wire.CodeURLRequired) {
			return resp, nil
		}
		if !r.session.caps.URL {
			return wire.Message{}, missingCapability(`{"elicitation":{"url":{}}}`, "the call needs somebody to visit a URL first")
		}
		visited := r.session.visits.expect(resp)
		err := visit(ctx, c, resp)
		if err == nil {
			visited.wait(ctx)
		}
		visited.forget()
		if err != nil {
			return wire.Message{}, err
		}
		if resp, err = call(); err != nil {
			return wire.Message{}, err
		}
	}
	return wire.Message{}, wire.Errorf(wire.ReasonLimit, "backend %s wants more URLs visited after %d rounds", r.backend.Name, maxURLRounds).
		With("limit", maxURLRounds)
}

// visit asks for each URL of the refusal, all at the same time, and returns nil
// when somebody agreed to all.
func visit(ctx context.Context, c *caller, refusal wire.Message) error {
	replies := make(chan wire.Message, 16)
	asked := 0
	for e := range wire.Elements(wire.Get(refusal.Error(), "data", "elicitations")) {
		if asked == cap(replies) || len(e) == 0 || e[0] != '{' {
			break
		}
		asked++
		c.Ask(back.Asked{
			Message: wire.NewRequest(wire.IntID(uint64(asked)), "elicitation/create", wire.Set(e, []byte(`"url"`), "mode")),
			Reply:   func(m wire.Message) { replies <- m },
		})
	}
	if asked == 0 {
		err := wire.Errorf(wire.ReasonInvalid, "the backend wants a URL visited and names none")
		err.Code = wire.CodeInternal // it is not the client's request that is wrong
		return err
	}
	for range asked {
		select {
		case m := <-replies:
			action, _ := wire.Text(m.Result(), "action")
			if m.Kind() == wire.Failure {
				text, _ := wire.Text(m.Error(), "message")
				return wire.Errorf(wire.ReasonCancelled, "the URL that the call needs first could not be shown: %s", text)
			}
			if action != "accept" {
				return wire.Errorf(wire.ReasonCancelled, "the call needs a URL visited first, and that was not agreed to").With("action", action)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// missingCapability is the error for a request that its client would have to be
// capable of more for. required is a ClientCapabilities object.
//
// "the server MUST return a MissingRequiredClientCapabilityError (-32021) whose
// data.requiredCapabilities lists the missing capabilities."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
func missingCapability(required, what string) *wire.Error {
	e := wire.Errorf(wire.ReasonCapability, "%s, and the client did not declare that it can be asked", what).
		With("requiredCapabilities", rawJSON(required))
	e.Code = wire.CodeMissingCapability
	return e
}

// rawJSON is JSON as it is.
type rawJSON string

// MarshalJSON returns the JSON itself.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// visitWait is how long a call waits, once somebody has agreed to visit a URL, for
// the backend to say that this has happened. Backends need not say it.
const visitWait = 5 * time.Second

// visits are the URLs that calls of one session wait to be visited, by
// elicitationId. The zero visits are none.
type visits struct {
	mu   sync.Mutex
	open map[string]chan struct{} // guarded by mu; closed when the backend says that it was visited
}

// expected are the visits that one call waits for.
type expected struct {
	visits *visits
	open   map[string]chan struct{}
}

// expect begins to wait for what a refusal names. What comes before wait counts.
func (v *visits) expect(refusal wire.Message) expected {
	e := expected{v, make(map[string]chan struct{})}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open == nil {
		v.open = make(map[string]chan struct{})
	}
	for item := range wire.Elements(wire.Get(refusal.Error(), "data", "elicitations")) {
		if id, ok := wire.Text(item, "elicitationId"); ok && v.open[id] == nil {
			e.open[id] = make(chan struct{})
			v.open[id] = e.open[id]
		}
	}
	return e
}

// wait returns when all were visited, or after visitWait.
//
// "Clients: […] MAY wait for this notification to automatically retry requests that
// received a URLElicitationRequiredError"
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation
func (e expected) wait(ctx context.Context) {
	patience := time.NewTimer(visitWait)
	defer patience.Stop()
	for _, done := range e.open {
		select {
		case <-done:
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (e expected) forget() {
	e.visits.mu.Lock()
	defer e.visits.mu.Unlock()
	for id, done := range e.open {
		if e.visits.open[id] == done {
			delete(e.visits.open, id)
		}
	}
}

// done takes the word of a backend that a URL was visited.
func (v *visits) done(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if done := v.open[id]; done != nil {
		close(done)
		delete(v.open, id)
	}
}
