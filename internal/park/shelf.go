package park

import "container/list"

// keptOverhead is what a kept result costs beside its bytes, so that many small
// ones are bounded as well.
const keptOverhead = 1 << 10

// shelf has the calls whose results are kept for clients that come back late,
// oldest first. Lot.mu guards it.
type shelf struct {
	calls list.List // of *Call
	bytes int
}

// keep keeps a call that is over, with its result, and forgets the oldest ones
// that there is no room for. Its own Call.mu is held.
func (l *Lot) keep(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.remove(c)
		return
	}
	c.place = l.shelf.calls.PushBack(c)
	l.shelf.bytes += c.cost()
	for l.shelf.bytes > l.o.MaxKept {
		l.remove(l.shelf.calls.Front().Value.(*Call))
	}
}

// forget lets go of a call that is over. Its own Call.mu is held.
func (l *Lot) forget(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(c)
}

// remove takes a call out, with its result and its clock. l.mu is held.
func (l *Lot) remove(c *Call) {
	c.timer.Stop()
	delete(l.calls, c.id)
	if c.place != nil {
		l.shelf.calls.Remove(c.place)
		l.shelf.bytes -= c.cost()
		c.place = nil
	}
}

// cost is what it takes to keep the result of c, which is not changed any more.
func (c *Call) cost() int { return len(c.final.Raw()) + keptOverhead }
