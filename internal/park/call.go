package park

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Call is one call of a client at a backend, over all its legs. It is the
// input.Channel of the questions that the backend asks meanwhile.
type Call struct {
	lot    *Lot
	id     callID
	party  Party // of the first leg, without capabilities: each leg has its own
	method string
	token  []byte
	stop   context.CancelCauseFunc // ends the context of the work
	endsAt time.Time
	timer  *time.Timer   // the one clock of the call: rings for whatever is next
	place  *list.Element // guarded by Lot.mu; nil unless the result is kept

	// mu guards the fields below. It is held for moments, and released by unlock
	// where something may be left to do.
	mu    sync.Mutex
	after []func() // what waits for mu to be released

	request wire.Message // of the first leg; let go when the call is over
	seats   []*seat      // legs that wait for the call
	asks    []*ask       // open questions, in the order in which they came
	last    int          // number of the newest question
	missed  missed       // what the backend said while no leg was there
	parked  bool         // the client is away with a state, and expected back
	known   bool         // a client has been told a state
	over    bool         // nothing can come any more but the stored result

	bond     bond      // of its states; the expiry is that of the newest, zero as long as there is none
	round    uint32    // of the newest state
	news     bool      // the open questions are not those of the newest state
	shown    int       // number of the newest question that the client has been shown
	parkedAt time.Time // when the client went away last
	askedAt  time.Time // when the oldest question came that is, or was last, gathered
	gatherAt time.Time // when the gathered questions go out; zero when there are none
	expected int       // questions that were announced behind the newest
	held     bool      // those gathered wait for announced ones
	leaveAt  time.Time // when the client is given up; zero while it is there

	final wire.Message // what the work returned; kept only when a state is out
	why   *wire.Error  // why the call was ended; nil when it ended by itself
}

// Request returns the request of the first leg.
func (c *Call) Request() wire.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.request
}

// Token returns the progress token under which the backend is to report progress
// on the call, raw. [Call.Notify] puts the token of each leg in its place.
func (c *Call) Token() []byte { return c.token }

// later has f called when c.mu is released. c.mu is held.
func (c *Call) later(f func()) { c.after = append(c.after, f) }

// unlock releases c.mu, and does what waited for that.
func (c *Call) unlock() {
	after := c.after
	c.after = nil
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}

// finish takes what the work returned. When the call was ended before, it is too
// late. Questions that the work left open end with it.
func (c *Call) finish(response wire.Message) {
	c.mu.Lock()
	defer c.stop(nil)
	defer c.unlock()
	outcome, why := input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "the call that asked has ended")
	if c.over {
		outcome, why = outcomeOf(c.why), c.why
	} else {
		c.end()
		c.final = response
		if !response.IsResponse() || response.ID() == "" {
			c.lot.log.Error("a call ended without a response", "method", c.method)
			c.final = failure(c.request.ID(), wire.Errorf(wire.ReasonInternal, "internal error"))
		}
		for _, s := range c.seats {
			s.reply(c.final.WithID(s.id), false)
		}
		c.seats = nil
		c.store()
	}
	left := c.asks
	c.asks = nil
	for _, a := range left {
		c.later(func() { a.request.Withdraw(outcome, why) })
	}
}

// store keeps the result for a client that has a state and may come back with it,
// as long as that is good for anything. c.mu is held.
func (c *Call) store() {
	if c.bond.expires.IsZero() {
		c.lot.forget(c)
		return
	}
	c.request = wire.Message{}
	c.setTimer()
	c.lot.keep(c)
}

// cancel ends the call from outside. Its legs are answered at once; its questions
// end when the work has returned, so that the backend hears first that nobody
// wants the result any more. c.mu is held.
func (c *Call) cancel(cause error) {
	if c.over {
		return
	}
	c.end()
	c.why = reasoned(cause)
	for _, s := range c.seats {
		s.reply(failure(s.id, c.why), false)
	}
	c.seats = nil
	c.lot.forget(c)
	c.later(func() { c.stop(cause) })
}

// end marks the call as over, and as waiting for nobody. c.mu is held.
func (c *Call) end() {
	c.over = true
	c.unpark()
	c.gatherAt = time.Time{}
	c.missed = missed{}
}

// unpark notes that the client is there again, or is not waited for any more. c.mu
// is held.
func (c *Call) unpark() {
	c.leaveAt = time.Time{}
	if c.parked {
		c.parked = false
		c.lot.release(c.party.Principal)
	}
}

// alarm does what is due. It may ring late, or for what is not due any more: the
// state of the call decides.
func (c *Call) alarm() {
	c.mu.Lock()
	defer c.unlock()
	now := time.Now()
	switch {
	case c.over && c.final.Kind() == wire.Invalid: // ended from outside
		return
	case c.over:
		if !now.Before(c.bond.expires) {
			c.lot.forget(c)
			return
		}
	case !now.Before(c.endsAt):
		c.cancel(overage(c.lot.o.MaxAge))
		return
	case due(c.leaveAt, now):
		c.give(now)
		return
	case due(c.gatherAt, now) && len(c.seats) > 0:
		c.park(now)
	}
	c.setTimer()
}

// give gives the client up. c.mu is held.
func (c *Call) give(now time.Time) {
	if !c.parked {
		c.cancel(wire.Errorf(wire.ReasonClientGone, "the client left the call"))
		return
	}
	took := now.Sub(c.parkedAt)
	c.later(func() { c.lot.o.Observer.Expired(took) })
	c.cancel(wire.Errorf(wire.ReasonTimeout, "the client did not come back with answers within %v", c.lot.o.TTL).
		With("timeoutMs", c.lot.o.TTL.Milliseconds()))
}

func overage(limit time.Duration) *wire.Error {
	return wire.Errorf(wire.ReasonTimeout, "the call took more than %v from its first request on", limit).
		With("timeoutMs", limit.Milliseconds())
}

// due reports whether the instant at is set, and has come.
func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// setTimer has the clock of the call ring for what comes next. c.mu is held.
func (c *Call) setTimer() {
	next := c.endsAt
	switch {
	case c.over:
		next = c.bond.expires
	case !c.gatherAt.IsZero() && len(c.seats) > 0:
		next = earlier(next, c.gatherAt)
	}
	if !c.over && !c.leaveAt.IsZero() {
		next = earlier(next, c.leaveAt)
	}
	c.timer.Reset(time.Until(next))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// reasoned returns the *wire.Error that cause is, or one that says that the client
// cancelled: the causes of the front are either.
func reasoned(cause error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](cause); ok {
		return e
	}
	return wire.Errorf(wire.ReasonCancelled, "the client cancelled the call")
}

// outcomeOf is the outcome of the questions of a call that was ended.
func outcomeOf(why *wire.Error) input.Outcome {
	switch why.Reason {
	case wire.ReasonClientGone, wire.ReasonTimeout, wire.ReasonCancelled:
		return input.Abandoned
	}
	return input.Withdrawn
}

// failure answers a leg with an error, in the words of its era.
func failure(id wire.ID, err *wire.Error) wire.Message { return wire.NewFailure(id, err.Modern()) }
