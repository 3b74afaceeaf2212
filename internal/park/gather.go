package park

import (
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// gather has a new question wait a moment for others that may go along: each
// round costs the client a request, and maybe a person another look. It also
// learns whose questions would have gone along, had the last ones waited longer.
// c.mu is held.
func (c *Call) gather(now time.Time) {
	switch {
	case c.parked: // asked when the client comes back
		if now.Sub(c.askedAt) <= longWindow {
			c.lot.habits.learn(c.habit())
		}
		return
	case !c.gatherAt.IsZero(): // goes along
		return
	}
	c.askedAt = now
	window := c.lot.o.Gather
	if window <= 0 && c.lot.habits.has(c.habit()) {
		window = longWindow
	}
	c.gatherAt, c.quick = now.Add(window), window <= 0
	if !c.quick {
		c.setTimer()
		return
	}
	for _, s := range c.seats {
		s.ring()
	}
}

// habit is what a call is known by. c.mu is held.
func (c *Call) habit() habit {
	h := habit{backend: c.party.Backend, method: c.method}
	for _, member := range [...]string{"name", "uri"} {
		if v, ok := wire.Text(c.request.Params(), member); ok {
			h.name = v
			break
		}
	}
	return h
}

// habit is a tool, prompt or resource of a backend.
type habit struct{ backend, method, name string }

// maxHabits and maxHabitName bound what is remembered of them: how many, and the
// length of a name in bytes.
const (
	maxHabits    = 1000
	maxHabitName = 256
)

// habits are those that were seen to ask several things at once. The zero habits
// are none.
type habits struct {
	mu  sync.Mutex // guards the field below; taken after Call.mu
	all map[habit]struct{}
}

func (h *habits) has(one habit) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.all[one]
	return ok
}

// learn remembers one, and forgets another when there are too many: which, does
// not matter, because it is learned again the next time.
func (h *habits) learn(one habit) {
	if len(one.name) > maxHabitName {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = make(map[habit]struct{})
	}
	if _, ok := h.all[one]; !ok && len(h.all) >= maxHabits {
		for other := range h.all {
			delete(h.all, other)
			break
		}
	}
	h.all[one] = struct{}{}
}
