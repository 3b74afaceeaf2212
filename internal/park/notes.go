package park

import (
	"slices"
	"strconv"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Notify takes a notification of the backend to the legs that wait, each in its
// own terms. While there is none, the latest progress and a few others wait for
// the next. It never blocks.
func (c *Call) Notify(m wire.Message) {
	if m.Method() == "notifications/elicitation/complete" {
		return // the modern era has no such thing, nor the id in it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if len(c.seats) == 0 {
		c.missed.add(m)
		return
	}
	for _, s := range c.seats {
		s.note(m)
	}
}

// missed is what waits for the next leg: the latest progress, and a few others.
type missed struct {
	progress wire.Message
	others   backlog
}

// So many other notifications wait, of so many bytes; and progress of as many.
const (
	maxMissed      = 16
	maxMissedBytes = 16 << 10
)

func (w *missed) add(m wire.Message) {
	if m.Method() != progressMethod {
		w.others.max, w.others.maxBytes = maxMissed, maxMissedBytes
		w.others.add(m)
	} else if len(m.Raw()) <= maxMissedBytes {
		w.progress = m
	}
}

// take returns what waits, and empties it.
func (w *missed) take() []wire.Message {
	all := w.others.take()
	if w.progress.Kind() != wire.Invalid {
		all = append(all, w.progress)
	}
	*w = missed{}
	return all
}

// note puts a notification into the terms of a leg, and queues it if it is for
// that leg. Call.mu is held.
func (s *seat) note(m wire.Message) {
	switch m.Method() {
	case progressMethod:
		if s.token == nil || !s.progress.rises(wire.Get(m.Params(), "progress")) {
			return
		}
		m = m.WithParams(wire.Set(m.Params(), s.token, "progressToken"))
	case "notifications/message":
		// "The server MUST NOT emit notifications/message for a request that does
		// not include this field."
		// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#per-request-log-level
		level, _ := wire.Text(m.Params(), "level")
		if s.level < 0 || wire.Severity(level) < s.level {
			return
		}
	}
	s.notes.add(m)
	s.ring()
}

const progressMethod = "notifications/progress"

// progress is how far a leg was told that its call is.
type progress struct {
	told bool
	at   float64
}

// rises reports whether v is more progress than was told, and notes it.
//
// "The progress value MUST increase with each notification"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#progress-flow
func (p *progress) rises(v []byte) bool {
	at, err := strconv.ParseFloat(string(v), 64)
	if err != nil || p.told && at <= p.at {
		return false
	}
	p.told, p.at = true, at
	return true
}

// backlog is a bounded queue of notifications, which loses the oldest. The zero
// backlog holds none.
type backlog struct {
	max, maxBytes int
	queue         []wire.Message
	bytes         int
}

func (b *backlog) add(m wire.Message) {
	if len(m.Raw()) > b.maxBytes {
		return
	}
	b.queue = append(b.queue, m)
	b.bytes += len(m.Raw())
	for len(b.queue) > b.max || b.bytes > b.maxBytes {
		b.bytes -= len(b.queue[0].Raw())
		b.queue = slices.Delete(b.queue, 0, 1)
	}
}

// take returns what is queued, and empties the queue.
func (b *backlog) take() []wire.Message {
	queue := b.queue
	b.queue, b.bytes = nil, 0
	return queue
}
