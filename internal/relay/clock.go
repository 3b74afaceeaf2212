package relay

import (
	"sync"
	"time"
)

// clock measures the working time of one call, and expires when it is used up. It
// stands still while a question of the call is open: the time in which a person
// thinks is not the tool's. That is measured too. The nil clock, of what is no
// call, measures nothing.
type clock struct {
	expire func()

	// mu guards the fields below; held for moments.
	mu    sync.Mutex
	left  time.Duration // of the limit, when it last stood still
	human time.Duration // for which it has stood still, until it last began to run
	open  int           // questions that hold it
	since time.Time     // when it last began to run, or to stand still
	timer *time.Timer   // nil without a limit
}

// newClock starts a clock that calls expire after limit of working time; 0 means
// never.
func newClock(limit time.Duration, expire func()) *clock {
	c := &clock{expire: expire, left: limit, since: time.Now()}
	if limit > 0 {
		c.timer = time.AfterFunc(limit, expire)
	}
	return c
}

// hold stops the clock until as many calls of release.
func (c *clock) hold() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open++; c.open > 1 {
		return
	}
	if c.timer != nil && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	c.since = time.Now()
}

// release lets the clock run on, once nothing holds it.
func (c *clock) release() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open > 0 {
		return
	}
	c.human += time.Since(c.since)
	c.since = time.Now()
	if c.timer != nil {
		c.timer.Reset(max(c.left, 0))
	}
}

// stop ends the clock, which does not expire afterwards, and returns for how long
// it has stood still.
func (c *clock) stop() (human time.Duration) {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	human = c.human
	if c.open > 0 {
		human += time.Since(c.since)
	}
	c.open++ // so that no release starts it again
	if c.timer != nil {
		c.timer.Stop()
	}
	return human
}
