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
	var wait time.Duration
	switch {
	case c.parked: // asked when the client comes back
		if now.Sub(c.askedAt) <= longWindow {
			c.lot.habits.learn(c.habit(), several)
		}
		return
	case c.expected > 0:
		wait, c.held = roundWindow, true
	case c.held: // the last of them
		c.held = false
	case !c.gatherAt.IsZero(): // goes along
		return
	default:
		wait = c.window()
	}
	if c.gatherAt.IsZero() {
		c.askedAt = now
	}
	c.gatherAt = now.Add(wait)
	if !due(c.gatherAt, now) {
		c.setTimer()
		return
	}
	for _, s := range c.seats {
		s.ring()
	}
}

// roundWindow is how long questions are held for others that were announced, and should
// be there in no time.
const roundWindow = time.Second

// Expect announces how many questions are to be offered right behind the next one. They
// go out together, when the last of them is there.
func (c *Call) Expect(more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expected = more
}

// window returns how long a first question waits for others. c.mu is held.
func (c *Call) window() time.Duration {
	if c.lot.o.Gather > 0 {
		return c.lot.o.Gather
	}
	switch c.lot.habits.of(c.habit()) {
	case single:
		return 0
	case several:
		return longWindow
	}
	return c.lot.first
}

// gathered learns from a round that goes out whether its question came alone. c.mu
// is held.
func (c *Call) gathered() {
	if len(c.asks) == 1 {
		c.lot.habits.learn(c.habit(), single)
	} else {
		c.lot.habits.learn(c.habit(), several)
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

// manner is how a habit asks.
type manner uint8

const (
	unasked manner = iota // it has not asked yet, or it is forgotten
	single                // one thing at a time, as far as it was seen
	several               // several things at once, if only one time
)

// habits are how those asked that did. The zero habits are none.
type habits struct {
	mu  sync.Mutex // guards the field below; taken after Call.mu
	all map[habit]manner
}

func (h *habits) of(one habit) manner {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[one]
}

// learn remembers one, and forgets another when there are too many: which, does
// not matter, because it is learned again the next time. What asked several things
// once may do so again.
func (h *habits) learn(one habit, how manner) {
	if len(one.name) > maxHabitName {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = make(map[habit]manner)
	}
	if h.all[one] == unasked && len(h.all) >= maxHabits {
		for other := range h.all {
			delete(h.all, other)
			break
		}
	}
	h.all[one] = max(h.all[one], how)
}
