package park

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// seat is a leg that waits for its call, on the goroutine that brought it.
type seat struct {
	leg   Leg
	id    wire.ID
	caps  wire.ClientCaps
	level int           // severity of the least log message that it wants; -1 for none
	token []byte        // of its progress, raw; nil when it wants none
	wake  chan struct{} // holds one: there is something to look at

	// Call.mu guards the fields below.
	notes    backlog
	progress progress
	response wire.Message // Invalid as long as it waits
	handle   bool         // the response has a state in it
}

// A slow leg misses the oldest notifications beyond these bounds; nobody waits for
// it.
const (
	maxQueued      = 64
	maxQueuedBytes = 256 << 10
)

func newSeat(leg Leg, caps wire.ClientCaps) *seat {
	req := leg.Request()
	meta := wire.ParseMeta(req.Params())
	return &seat{
		leg:   leg,
		id:    req.ID(),
		caps:  caps,
		level: wire.Severity(meta.LogLevel),
		token: meta.Progress,
		wake:  make(chan struct{}, 1),
		notes: backlog{max: maxQueued, maxBytes: maxQueuedBytes},
	}
}

// ring wakes the leg up.
func (s *seat) ring() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// reply sets the response of the leg. Call.mu is held.
func (s *seat) reply(m wire.Message, handle bool) {
	s.response, s.handle = m, handle
	s.ring()
}

// wait sends the leg what is for it, and returns its response. When the leg ends
// before, what is returned is of no use to anybody.
func (c *Call) wait(ctx context.Context, s *seat) wire.Message {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			c.leave(s, context.Cause(ctx))
			return failure(s.id, reasoned(context.Cause(ctx)))
		}
		notes, response := c.take(ctx, s)
		for _, m := range notes {
			s.leg.Notify(m)
		}
		if response.IsResponse() {
			return response
		}
	}
}

// take returns what there is for a leg: notifications, or else its response.
// Questions whose window is over go out with it: on the goroutine of the leg, because
// that of the backend stays, with a stack as large as the most that it ever did.
func (c *Call) take(ctx context.Context, s *seat) ([]wire.Message, wire.Message) {
	c.mu.Lock()
	defer c.unlock()
	if now := time.Now(); due(c.gatherAt, now) && slices.Contains(c.seats, s) {
		c.park(now)
		c.setTimer()
	}
	if notes := s.notes.take(); notes != nil {
		s.ring()
		return notes, wire.Message{}
	}
	if s.handle {
		c.tell(ctx)
	}
	return nil, s.response
}

// tell notes that the state is on its way to the client. When nobody is there any
// more to whom it can be told, nobody can come back with it, unless somebody was
// told one before. c.mu is held.
func (c *Call) tell(ctx context.Context) {
	if ctx.Err() == nil {
		c.known = true
	} else if !c.known {
		c.cancel(context.Cause(ctx))
	}
}

// leave takes out a leg that has ended without a response. The last one takes the
// call along, unless the client can come back: a connection may break, but a call
// that was cancelled, or of which the client knows no state, is wanted by nobody.
//
// "Streamable HTTP: Closing the SSE response stream is the cancellation signal.
// The server MUST treat a client disconnect as cancellation of that request."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#transport-specific-cancellation
func (c *Call) leave(s *seat, cause error) {
	c.mu.Lock()
	defer c.unlock()
	at := slices.Index(c.seats, s)
	if at < 0 { // it was answered a moment ago
		if s.handle && !c.known {
			c.cancel(cause)
		}
		return
	}
	c.seats = slices.Delete(c.seats, at, at+1)
	if len(c.seats) > 0 {
		return
	}
	lost, ok := errors.AsType[*wire.Error](cause)
	if !c.known || !ok || lost.Reason != wire.ReasonClientGone || c.lot.o.Grace == 0 {
		c.cancel(cause)
		return
	}
	c.leaveAt = time.Now().Add(c.lot.o.Grace)
	c.setTimer()
}
