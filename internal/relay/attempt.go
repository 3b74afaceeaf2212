package relay

import (
	"context"
	"errors"
	"time"
)

// retryWait is how long a list waits for a backend that could not be reached
// before: long enough for one that is there again.
const retryWait = time.Second

// attempt is a connection to a backend in the making. It belongs to the session,
// so that it goes on when a list does not wait for it any more.
type attempt struct {
	over  chan struct{} // closed when it has succeeded or failed
	err   error         // set before over is closed
	until time.Time     // how long lists wait for it
}

// connect begins to connect r, unless that is under way. Lists wait for it for
// the given time; if it succeeds after the session has been opened, the client is
// told that there is more.
func (c *catalogue) connect(r *route, wait time.Duration) *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.attempt != nil && !closed(r.attempt.over) {
		return r.attempt
	}
	a := &attempt{over: make(chan struct{}), until: time.Now().Add(wait)}
	r.attempt = a
	s := c.session
	s.wg.Go(func() {
		_, a.err = r.back.Connect(s.ctx)
		late := closed(c.opened) // else open describes it; to be asked before open goes on
		close(a.over)
		switch {
		case a.err != nil:
			s.log.Warn("session without a backend", "backend", r.backend.Name, "err", a.err)
		case late:
			c.join(r)
		}
	})
	return a
}

// reach waits until it is known what the backend is, and reports whether it
// declares the capability. It does not wait for long: a backend that never answers
// must not hold up the lists of the others, each time anew.
func (c *catalogue) reach(ctx context.Context, r *route, capability string) (bool, error) {
	if r.back.Result() != nil {
		return r.has(capability), nil
	}
	a := c.connect(r, retryWait)
	patience := time.NewTimer(time.Until(a.until))
	defer patience.Stop()
	select {
	case <-a.over:
		return r.has(capability), a.err
	case <-patience.C:
		return false, errors.New("it is still being connected")
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
