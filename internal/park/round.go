package park

import (
	"context"
	"slices"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// park ends a round: every leg that waits takes the open questions to its client,
// which comes back with the answers in another leg. c.mu is held.
func (c *Call) park(now time.Time) {
	if !c.gatherAt.IsZero() {
		c.gathered()
	}
	c.gatherAt, c.held = time.Time{}, false
	if !c.parked {
		if err := c.lot.reserve(c.party.Principal); err != nil {
			c.reject(err)
			return
		}
	}
	c.parked, c.parkedAt = true, now
	if c.shown = c.last; c.news {
		c.news = false
		c.round++
	}
	c.leaveAt = earlier(c.endsAt, now.Add(c.lot.o.TTL))
	state := c.state()
	var lacks *wire.Error
	for _, s := range c.seats {
		if lacks = c.lacks(s.caps); lacks != nil {
			s.reply(failure(s.id, lacks), false)
			continue
		}
		c.bond.expires = c.leaveAt
		s.reply(wire.NewResult(s.id, inputRequired(c.asks, state)), true)
	}
	c.seats = nil
	if c.bond.expires.IsZero() { // nobody can ever come back
		c.cancel(lacks)
		return
	}
	questions := len(c.asks)
	c.later(func() { c.lot.o.Observer.Parked(questions) })
}

// state seals a state that is good until the client is given up. c.mu is held.
func (c *Call) state() string {
	if c.bond.request == (digest{}) {
		c.bond = bind(c.party, c.request, time.Time{})
	}
	h := handle{bond: c.bond, call: c.id, round: c.round, boot: c.lot.boot, owner: c.lot.o.Owner}
	h.expires = c.leaveAt
	return c.lot.keys.seal(calls, h.append(nil))
}

// reject ends the open questions, because the call cannot be parked. It goes on
// without answers. c.mu is held.
func (c *Call) reject(why *wire.Error) {
	left := c.asks
	c.asks = nil
	for _, a := range left {
		c.later(func() { a.unseen(why) })
	}
}

// resume takes a further leg of the call: first the answers that it brings, each
// of which counts if it is the first to its question, and then the leg itself,
// which gets the response as all others that wait do. What is still open is asked
// again at once.
//
// "If the client fails to send all the information requested in a previous
// InputRequests, [...] the server SHOULD respond with a new InputRequiredResult
// requesting the missing information again, rather than returning an error."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#error-handling
func (c *Call) resume(ctx context.Context, s *seat) wire.Message {
	answers, err := c.attach(s)
	if err != nil {
		return failure(s.id, err)
	}
	for _, a := range answers {
		// One that ended a moment ago stays as it ended.
		a.ask.request.Settle(wire.NewResult(a.ask.request.Message.ID(), a.value))
	}
	return c.wait(ctx, s)
}

func (c *Call) attach(s *seat) ([]answer, *wire.Error) {
	c.mu.Lock()
	defer c.unlock()
	if c.over {
		if c.final.Kind() == wire.Invalid {
			c.later(func() { c.lot.o.Observer.Refused(Ended) })
			return nil, refusal(Ended)
		}
		s.reply(c.final.WithID(s.id), false)
		return nil, nil
	}
	answers, err := c.answers(s.leg.Request())
	if err != nil {
		return nil, err
	}
	c.strike(func(a *ask) bool {
		return slices.ContainsFunc(answers, func(given answer) bool { return given.ask == a })
	})
	for _, m := range c.missed.take() {
		s.note(m)
	}
	now := time.Now()
	c.seats = append(c.seats, s)
	c.leaveAt = time.Time{}
	if c.parked && (len(answers) > 0 || len(c.asks) == 0) {
		took := now.Sub(c.parkedAt)
		c.later(func() { c.lot.o.Observer.Resumed(took) })
	}
	if len(c.asks) > 0 && (c.parked || due(c.gatherAt, now)) {
		c.park(now)
	} else {
		c.unpark()
	}
	c.setTimer()
	return answers, nil
}
