package back

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Values of resultType. A result without one is complete.
const (
	complete      = "complete"
	inputRequired = "input_required"
)

const (
	maxRounds    = 10                     // requests that one call of a legacy client may become
	maxQuestions = 100                    // that one round may ask
	firstPause   = 250 * time.Millisecond // before a round that nobody was asked for
	maxPause     = 4 * time.Second        // longest such pause, without the jitter of a tenth
)

func resultType(resp wire.Message) string {
	v := wire.Get(resp.Result(), "resultType")
	if v == nil {
		return complete
	}
	text, _ := wire.Text(v)
	return text
}

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
//
// "When a server needs client input (sampling, elicitation, or roots) to complete a
// request, it answers with an InputRequiredResult and the client retries the request
// with the matching inputResponses." "The JSON-RPC id MUST be different between the
// initial request and the retry".
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
func (l *link) converse(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	s := l.session
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	base := l.base(req)
	caps := wire.ParseClientCaps(wire.Get(s.hello.Params, "capabilities"))
	caller = &rising{Caller: caller}
	idle := 0 // rounds in which nobody was asked
	for n, params := 1, base; ; n++ {
		resp, err := l.round(ctx, req.WithParams(params), caller)
		switch {
		case err != nil && n > 1:
			return wire.Message{}, s.explain(ctx, err) // of a later round: the call is not begun again
		case err != nil:
			return wire.Message{}, err
		case resp.Kind() == wire.Failure && n > 1:
			return l.forLegacy(req, resp), nil
		case resp.Kind() == wire.Failure || resultType(resp) == complete:
			return resp, nil
		case resultType(resp) != inputRequired:
			return wire.NewFailure(req.ID(), l.violation("answers %s with a result of an unknown type", req.Method())), nil
		}
		result := resp.Result()
		if err := l.wrongInput(req.Method(), result, caps); err != nil {
			return wire.NewFailure(req.ID(), err), nil
		}
		if n == maxRounds {
			return wire.NewFailure(req.ID(), l.violation("asks for input again and again (%d times)", n)), nil
		}
		answers, failed, err := l.gather(ctx, caller, wire.Get(result, "inputRequests"))
		switch {
		case err != nil:
			return wire.Message{}, err
		case failed.Kind() == wire.Failure:
			return addressed(failed, req.ID()), nil
		case answers == nil && !sleep(ctx, pause(idle)):
			return wire.Message{}, context.Cause(ctx)
		case answers == nil:
			idle++
		}
		params = retried(base, answers, wire.Get(result, "requestState"))
		if l, err = s.again(ctx); err != nil {
			return wire.Message{}, err
		}
	}
}

// again returns the connection for the next round, which may be another one: each
// round stands for itself.
func (s *Session) again(ctx context.Context) (*link, error) {
	l, err := s.connected(ctx)
	if err == nil && !l.modern {
		err = wire.Errorf(wire.ReasonBackendGone, "the backend %s has changed during the call", s.backend.Name).
			With("backend", s.backend.Name)
	}
	return l, err
}

// pause is how long to wait before a round that nobody was asked for: the backend
// wants the call again, later. idle such rounds came before.
func pause(idle int) time.Duration {
	wait := min(firstPause<<min(idle, 16), maxPause)
	return wait + rand.N(wait/10+1)
}

// retried adds to the params of a call the answers of the last round, unless they
// are nil, and the state that came with the questions, if there was one.
//
// "If an InputRequiredResult contains the requestState field, the client MUST echo
// back the exact value of that field when retrying the original request. […] If the
// InputRequiredResult does not contain a requestState field, the client MUST NOT
// include one in the retry."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow
func retried(base, answers, state []byte) []byte {
	params := base
	if answers != nil {
		params = wire.Set(params, answers, "inputResponses")
	}
	if state != nil {
		params = wire.Set(params, state, "requestState")
	}
	return params
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
