package back

import (
	"context"
	"math/rand/v2"
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

// conversation is one call at a modern backend over all its rounds.
type conversation struct {
	req    wire.Message    // as the client sent it
	base   []byte          // its params, without what a round may add
	caps   wire.ClientCaps // of the client
	caller Caller          // whom the questions are put to
}

// goOn answers what resp asks, the response to the first round at l, and makes the call
// again, until the backend asks nothing more.
//
// "When a server needs client input (sampling, elicitation, or roots) to complete a
// request, it answers with an InputRequiredResult and the client retries the request
// with the matching inputResponses." "The JSON-RPC id MUST be different between the
// initial request and the retry".
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
func (c conversation) goOn(ctx context.Context, l *link, resp wire.Message) (wire.Message, error) {
	idle := 0 // rounds in which nobody was asked
	for n := 1; ; n++ {
		switch {
		case resp.Kind() == wire.Failure && n > 1:
			return l.fit(c.req, resp), nil
		case resp.Kind() == wire.Failure || resultType(resp) == complete:
			return resp, nil
		case resultType(resp) != inputRequired:
			return wire.NewFailure(c.req.ID(), l.violation("answers %s with a result of an unknown type", c.req.Method())), nil
		}
		result := resp.Result()
		if err := l.wrongInput(c.req.Method(), result, c.caps); err != nil {
			return wire.NewFailure(c.req.ID(), err), nil
		}
		if n == maxRounds {
			return wire.NewFailure(c.req.ID(), l.violation("asks for input again and again (%d times)", n)), nil
		}
		answers, failed, err := l.gather(ctx, c.caller, wire.Get(result, "inputRequests"))
		switch {
		case err != nil:
			return wire.Message{}, err
		case failed.Kind() == wire.Failure:
			return addressed(failed, c.req.ID()), nil
		case answers == nil && !sleep(ctx, pause(idle)):
			return wire.Message{}, context.Cause(ctx)
		case answers == nil:
			idle++
		}
		s := l.session
		if l, err = s.again(ctx); err != nil {
			return wire.Message{}, err
		}
		resp, err = l.round(ctx, c.req.WithParams(retried(c.base, answers, wire.Get(result, "requestState"))), c.caller)
		if err != nil {
			return wire.Message{}, s.explain(ctx, err) // of a later round: the call is not begun again
		}
	}
}

// Continue goes on with a call of a modern client: resp is what a modern backend
// answered to req, and asks in. The questions go to caller, as those of a legacy client's
// calls do, and the request is made again with the answers, until there is another
// response, which is returned with the id of the request. What req itself answers, and
// its state, were for a round before. A question that has no answer is a response too:
// the error with which it ended, with the code that it has among legacy peers.
func (s *Session) Continue(ctx context.Context, req, resp wire.Message, caller Caller) (wire.Message, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	l, err := s.again(ctx)
	if err != nil {
		return wire.Message{}, err
	}
	c := conversation{
		req: req, caps: wire.ParseMeta(req.Params()).Caps, caller: &rising{Caller: caller},
		base: wire.Drop(wire.Drop(req.Params(), "inputResponses"), "requestState"),
	}
	resp, err = c.goOn(ctx, l, resp)
	if err != nil {
		return wire.Message{}, err
	}
	return resp.WithID(req.ID()), nil
}

// bound returns a context that ends with the session too.
func (s *Session) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
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
