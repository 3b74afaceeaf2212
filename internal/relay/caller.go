package relay

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/park"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// caller is what a backend may talk to: a call of the client, or its session.
type caller struct {
	route *route
	asker front.Asker
	call  wire.Message // the client's request; Invalid for the session
	clock *clock       // of the call; nil when it has no limit
	news  *outbox      // takes what the client is told of its forms during the call; nil where that is nothing

	// mu guards the fields below; held for moments.
	mu   sync.Mutex
	open map[*input.Request]bool // questions of this call; true when it is only inferred that they are
	over bool                    // the call has ended
}

func newCaller(r *route, asker front.Asker, call wire.Message) *caller {
	c := &caller{route: r, asker: asker, call: call}
	if r.session.extended() && call.Kind() == wire.Request {
		c.news = &outbox{to: asker}
	}
	return c
}

// Notify carries a notification of the backend to the client. On the stream of a
// modern client's request, only what belongs to that may go.
func (c *caller) Notify(m wire.Message) {
	ls := c.route.session.listeners
	if ls != nil && !c.route.back.Modern() && ls.take(m) {
		return
	}
	c.asker.Notify(m)
}

// Ask brings a question of the backend to the client, or refuses it.
func (c *caller) Ask(a back.Asked) (withdraw func(*wire.Error)) {
	s := c.route.session
	if s.hello.Modern && !carried(a.Message.Method()) {
		a.Reply(wire.NewFailure(a.Message.ID(), wire.Errorf(wire.ReasonMethod,
			"the client of this call is of an era that cannot be asked %s", a.Message.Method())))
		return nil
	}
	var later *handle // nil where the response to the question is the answer
	if a.Promise != nil && wantsHandle(a.Message) {
		later = &handle{promise: a.Promise}
	}
	c.expect(a.Following)
	r, err := s.relay.opts.Broker.Open(c.question(a.Message), channel{c.asker, c, a.Inferred}, func(r *input.Request, answer input.Answer) {
		c.ended(r)
		c.tellEnd(r)
		if later != nil {
			later.ended(r)
			return
		}
		a.Reply(c.response(a, answer))
	})
	if err != nil {
		a.Reply(wire.NewFailure(a.Message.ID(), c.refusal(a, err)))
		return nil
	}
	if later != nil {
		later.opened(r)
	}
	return func(why *wire.Error) { r.Withdraw(input.Withdrawn, why) }
}

// expect tells the client's call that so many questions come behind the next one, if it
// is one that asks by its result.
func (c *caller) expect(following int) {
	if x, ok := c.asker.(*exchange); ok {
		if call, ok := x.Asker.(*park.Call); ok {
			call.Expect(following)
		}
	}
}

// question is what is known of a question of the backend.
func (c *caller) question(m wire.Message) input.Question {
	s, policy := c.route.session, c.route.policy()
	q := input.Question{
		Message:   m,
		Backend:   c.route.backend.Name,
		Principal: s.principal,
		Session:   s.id,
		Share:     c.share(),
		Call:      label(c.call),
		Caps:      s.caps,
		Tell:      s.catalogue != nil,
		Extended:  s.extended(),
		Validate:  policy.Validate,
		Terms:     policy.Terms,
	}
	if q.Extended {
		q.Watch = func(r *input.Request, e input.Event) { c.tellWarning(r, e) }
	}
	return q
}

// share is whose share of the limit per session a question takes. The session of
// modern clients is that of all who say the same of themselves; there, each call has
// its own, and calls are limited where they are parked.
func (c *caller) share() string {
	s := c.route.session
	if !s.hello.Modern {
		return ""
	}
	return s.id + string(wire.Get(c.call.Params(), "_meta", "progressToken"))
}

// carried reports whether a modern client can be asked a request by the result of
// its call.
//
// "inputRequests values are request objects that MUST be one of ElicitRequest,
// CreateMessageRequest, or ListRootsRequest"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
func carried(method string) bool {
	return method == "sampling/createMessage" || method == "roots/list" || strings.HasPrefix(method, "elicitation/")
}

// response turns the end of a question into what the backend is told. What the
// client said passes as it is.
func (c *caller) response(a back.Asked, answer input.Answer) wire.Message {
	if answer.Response.IsResponse() {
		return answer.Response
	}
	err := *answer.Err
	if code := c.route.session.relay.opts.TimeoutCode; err.Reason == wire.ReasonTimeout && code != 0 {
		err.Code = code
	}
	return wire.NewFailure(a.Message.ID(), c.refusal(a, &err))
}

// refusal is the error with which a question ends, for whom it reaches. That of a modern
// backend ends the call, so that it reaches the client: there, it has a code of the
// client's era, and blames the client for nothing but its answers.
func (c *caller) refusal(a back.Asked, err *wire.Error) *wire.Error {
	if a.Promise != nil || !c.route.session.hello.Modern {
		return err
	}
	modern := err.Modern()
	if err.Reason != wire.ReasonValidation && err.Reason != wire.ReasonAttempts {
		modern.Code = wire.CodeInternal
	}
	return modern
}

// channel is the channel "client" for the questions of one caller, which keeps
// the books of its call and its session before the client sees anything.
type channel struct {
	front.Asker
	caller   *caller
	inferred bool
}

// Offer asks the client r, for the first time or again.
func (ch channel) Offer(r *input.Request) {
	if ch.caller.began(r, ch.inferred) {
		ch.Asker.Offer(r)
		return
	}
	r.Withdraw(input.Withdrawn, callEnded())
}

// Retract takes r back, which may have ended while it was being offered.
func (ch channel) Retract(r *input.Request, why string) {
	ch.caller.ended(r)
	ch.Asker.Retract(r, why)
}

// began notes an open question, which may be noted already; false when the call has
// ended in the meantime.
func (c *caller) began(r *input.Request, inferred bool) bool {
	if token := wire.Get(r.Message.Params(), "_meta", "progressToken"); token != nil {
		s := c.route.session
		s.mu.Lock()
		s.progress[r.ID] = progress{c.route, r, token}
		s.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over && !inferred {
		return false
	}
	if c.open == nil {
		c.open = make(map[*input.Request]bool)
	}
	if _, again := c.open[r]; !again {
		c.open[r] = inferred
		c.clock.hold()
	}
	return true
}

// ended strikes a question off the books, if it is there.
func (c *caller) ended(r *input.Request) {
	s := c.route.session
	s.mu.Lock()
	delete(s.progress, r.ID)
	s.mu.Unlock()
	c.mu.Lock()
	_, counted := c.open[r]
	delete(c.open, r)
	c.mu.Unlock()
	if counted {
		c.clock.release()
	}
}

// finish withdraws what the call left open. A question that is only inferred to
// belong to it stays when the call merely finished, because it may belong to the
// session; when the client cancelled the call, it goes. ctx is that of the client,
// whose end tells when it is the client who is gone.
func (c *caller) finish(ctx context.Context, cancelled bool) {
	outcome, why := input.Withdrawn, callEnded()
	if e, ok := errors.AsType[*wire.Error](context.Cause(ctx)); ok {
		why = e
		switch e.Reason {
		case wire.ReasonClientGone, wire.ReasonSessionExpired, wire.ReasonTimeout:
			outcome = input.Abandoned
		}
	}
	var left []*input.Request
	c.mu.Lock()
	c.over = true
	for r, inferred := range c.open {
		if !inferred || cancelled {
			left = append(left, r)
		}
	}
	c.mu.Unlock()
	for _, r := range left {
		r.Withdraw(outcome, why)
	}
	if c.news != nil {
		c.news.close()
	}
}

func callEnded() *wire.Error {
	return wire.Errorf(wire.ReasonWithdrawn, "the call that asked has ended")
}
