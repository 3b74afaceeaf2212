package relay

import (
	"context"
	"sync"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// caller is what a backend may talk to: a call of the client, or its session.
type caller struct {
	route *route
	asker front.Asker
	call  wire.Message // the client's request; Invalid for the session
	clock *clock       // of the call; nil when it has no limit

	// mu guards the fields below; held for moments.
	mu   sync.Mutex
	open map[*input.Request]bool // questions of this call; true when it is only inferred that they are
	over bool                    // the call has ended
}

func newCaller(r *route, asker front.Asker, call wire.Message) *caller {
	return &caller{route: r, asker: asker, call: call}
}

// Notify carries a notification of the backend to the client.
func (c *caller) Notify(m wire.Message) { c.asker.Notify(m) }

// Ask brings a question of the backend to the client, or refuses it.
func (c *caller) Ask(a back.Asked) (withdraw func(*wire.Error)) {
	s := c.route.session
	r, err := s.relay.opts.Broker.Open(input.Question{
		Message:   a.Message,
		Backend:   c.route.backend.Name,
		Principal: s.principal,
		Session:   s.id,
		Call:      label(c.call),
		Caps:      s.caps,
		Tell:      s.catalogue != nil,
	}, channel{c.asker, c, a.Inferred}, func(r *input.Request, answer input.Answer) {
		c.ended(r)
		a.Reply(s.relay.response(a.Message.ID(), answer))
	})
	if err != nil {
		a.Reply(wire.NewFailure(a.Message.ID(), err))
		return nil
	}
	return func(why *wire.Error) { r.Withdraw(input.Withdrawn, why) }
}

// response turns the end of a question into what the backend is told. What the
// client said passes as it is.
func (r *Relay) response(id wire.ID, a input.Answer) wire.Message {
	if a.Response.IsResponse() {
		return a.Response
	}
	err := *a.Err
	if err.Reason == wire.ReasonTimeout && r.opts.TimeoutCode != 0 {
		err.Code = r.opts.TimeoutCode
	}
	return wire.NewFailure(id, &err)
}

// channel is the channel "client" for the questions of one caller, which keeps
// the books of its call and its session before the client sees anything.
type channel struct {
	front.Asker
	caller   *caller
	inferred bool
}

func (ch channel) Offer(r *input.Request) {
	if ch.caller.began(r, ch.inferred) {
		ch.Asker.Offer(r)
		return
	}
	r.Withdraw(input.Withdrawn, callEnded())
}

// began notes an open question; false when the call has ended in the meantime.
func (c *caller) began(r *input.Request, inferred bool) bool {
	if token := wire.Get(r.Message.Params(), "_meta", "progressToken"); token != nil {
		s := c.route.session
		s.mu.Lock()
		s.progress[r.ID] = progress{c.route, token}
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
	c.open[r] = inferred
	c.clock.hold()
	return true
}

// ended strikes a question off the books.
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
// session; when the client cancelled the call, it goes.
func (c *caller) finish(ctx context.Context) {
	var left []*input.Request
	c.mu.Lock()
	c.over = true
	for r, inferred := range c.open {
		if !inferred || ctx.Err() != nil {
			left = append(left, r)
		}
	}
	c.mu.Unlock()
	for _, r := range left {
		r.Withdraw(input.Withdrawn, callEnded())
	}
}

func callEnded() *wire.Error {
	return wire.Errorf(wire.ReasonWithdrawn, "the call that asked has ended")
}
