package back

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// bridge answers a request of a legacy client at a modern backend.
func (l *link) bridge(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	switch req.Method() {
	case "ping":
		return wire.NewResult(req.ID(), []byte("{}")), nil
	case "logging/setLevel":
		return l.session.setLevel(req), nil
	case "resources/subscribe":
		return l.listener.subscribe(ctx, req)
	case "resources/unsubscribe":
		return l.listener.unsubscribe(ctx, req)
	}
	return l.converse(ctx, req, caller)
}

// setLevel keeps the log level, which from now on goes with each request.
func (s *Session) setLevel(req wire.Message) wire.Message {
	level, _ := wire.Text(req.Params(), "level")
	if wire.Severity(level) < 0 {
		return wire.NewFailure(req.ID(), wire.Errorf(wire.ReasonParams, "there is no log level %q", level))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = req
	return wire.NewResult(req.ID(), []byte("{}"))
}

// base returns the params of a legacy client's request as a modern backend is to see
// them, without the answers that a round may add.
func (l *link) base(req wire.Message) []byte {
	s := l.session
	s.mu.Lock()
	level, leveled := wire.Text(s.level.Params(), "level")
	s.mu.Unlock()
	params := wire.Drop(wire.Drop(req.Params(), "inputResponses"), "requestState")
	if req.Method() == "tools/call" {
		params = wire.Drop(params, "task")
	}
	meta := wire.Get(params, "_meta")
	if isObject(meta) {
		for name, value := range wire.Members(l.meta) {
			meta = wire.Set(meta, value, name)
		}
	} else {
		meta = l.meta
	}
	if leveled {
		meta = wire.Set(meta, wire.Quote(level), wire.MetaLogLevel)
	}
	return wire.Set(params, meta, "_meta")
}

// converse makes one call of a legacy client, whose questions it puts to caller, as
// often as the backend wants to be called.
func (l *link) converse(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	ctx, cancel := l.session.bound(ctx)
	defer cancel()
	c := conversation{
		req: req, base: l.base(req), caller: &rising{Caller: caller},
		caps: wire.ParseClientCaps(wire.Get(l.session.hello.Params, "capabilities")),
	}
	resp, err := l.round(ctx, req.WithParams(c.base), c.caller)
	if err != nil {
		return wire.Message{}, err
	}
	return c.goOn(ctx, l, resp)
}

// rising is a Caller whose progress only grows: a backend that is called again
// begins from the start.
//
// "The progress value MUST increase with each notification".
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#progress-flow
type rising struct {
	Caller

	// mu guards the fields below; held for moments.
	mu    sync.Mutex
	begun bool
	last  float64 // the greatest progress yet; once begun
}

func (r *rising) Notify(m wire.Message) {
	if m.Method() != "notifications/progress" || r.rises(m) {
		r.Caller.Notify(m)
	}
}

func (r *rising) rises(m wire.Message) bool {
	value, err := strconv.ParseFloat(string(wire.Get(m.Params(), "progress")), 64)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || r.begun && value <= r.last {
		return false
	}
	r.begun, r.last = true, value
	return true
}

// violation is the error of a backend that does what the modern era does not allow.
func (l *link) violation(format string, args ...any) *wire.Error {
	name := l.session.backend.Name
	return internal(wire.ReasonInvalid, "backend %s %s", name, fmt.Sprintf(format, args...)).With("backend", name)
}
