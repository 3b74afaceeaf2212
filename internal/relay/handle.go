package relay

import (
	"strings"
	"sync"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// wantsHandle reports whether a question of a legacy backend is one that is answered at
// once, with a handle, and later by a notification: a form definition, and nothing that
// the specification knows. With a requestedSchema beside it, it is a question of the
// specification, whose response is the answer.
func wantsHandle(m wire.Message) bool {
	p := m.Params()
	if !strings.HasPrefix(m.Method(), "elicitation/") || !isObject(wire.Get(p, "formDefinition")) ||
		wire.Get(p, "requestedSchema") != nil || wire.Get(p, "schema") != nil {
		return false
	}
	mode, _ := wire.Text(p, "mode")
	return mode == "form" || wire.Get(p, "mode") == nil
}

// handle is the answer that a backend was promised, from the time that its question is
// asked. The question may end before the promise is made.
type handle struct {
	promise func(response wire.Message) (keep func(wire.Message))

	mu   sync.Mutex // guards the fields below; held for moments
	keep func(wire.Message)
	end  wire.Message // the answer, as long as it has come before the promise
}

// opened promises the answer. It is called once.
func (h *handle) opened(r *input.Request) {
	keep := h.promise(wire.NewResult(r.Message.ID(), handleOf(r)))
	h.mu.Lock()
	h.keep = keep
	end := h.end
	h.mu.Unlock()
	if end.Kind() != wire.Invalid {
		keep(end)
	}
}

// ended keeps the promise, when it is made. It is called once, and does not block.
func (h *handle) ended(r *input.Request) {
	end := wire.NewNotification(formComplete, answered(r))
	h.mu.Lock()
	keep := h.keep
	h.end = end
	h.mu.Unlock()
	if keep != nil {
		keep(end)
	}
}

// answered tells the backend what became of its form: the answers, secrets included if
// the operator lets it ask for them, or the error that its client answered with.
func answered(r *input.Request) []byte {
	now := r.Status()
	p := ended(r, now)
	switch {
	case now.State == input.Completed:
		p = wire.Set(p, now.Values.JSON(), "result")
	case now.Answer.Outcome == input.Failed:
		p = wire.Set(p, now.Answer.Response.Error(), "error")
	}
	return p
}
