package relay

import (
	"sync"
	"time"
)

// clock measures the working time of one call and expires when it is used up.
// It stands still while a question of the call is open: the time in which a
// person thinks is not the tool's. The nil clock never expires.
type clock struct {
	expire func()

	// mu guards the fields below; held for moments.
	mu      sync.Mutex
	left    time.Duration // when it last stood still
	open    int           // questions that hold it
	started time.Time     // when it last began to run
	timer   *time.Timer
}

// newClock starts a clock that calls expire after limit of working time; 0 means
// never.
func newClock(limit time.Duration, expire func()) *clock {
	if limit == 0 {
		return nil
	}
	return &clock{expire: expire, left: limit, started: time.Now(), timer: time.AfterFunc(limit, expire)}
}

// hold stops the clock until as many calls of release.
func (c *clock) hold() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open++; c.open == 1 && c.timer.Stop() {
		c.left -= time.Since(c.started)
	}
}

// release lets the clock run on, once nothing holds it.
func (c *clock) release() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open == 0 {
		c.started = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

// stop ends the clock; it does not expire afterwards.
func (c *clock) stop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++ // so that no release starts it again
	c.timer.Stop()
}
