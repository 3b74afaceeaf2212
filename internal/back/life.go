package back

import (
	"context"
	"sync"
	"time"
)

// life is whether a connection is open, and what is under way on it.
type life struct {
	ctx context.Context // ends when the connection does; the cause says why
	end context.CancelCauseFunc

	// mu guards shut, so that no work begins behind the back of close.
	mu   sync.Mutex
	shut bool
	work sync.WaitGroup
}

func newLife() *life {
	l := new(life)
	l.ctx, l.end = context.WithCancelCause(context.Background())
	return l
}

// close ends the connection and waits for what is under way.
func (l *life) close(cause error) {
	l.end(cause)
	l.mu.Lock()
	l.shut = true
	l.mu.Unlock()
	l.work.Wait()
}

// enter begins a task for a caller with ctx.
func (l *life) enter(ctx context.Context) (*task, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut || l.ctx.Err() != nil {
		return nil, context.Cause(l.ctx)
	}
	l.work.Add(1)
	t := &task{life: l}
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	t.followed = context.AfterFunc(ctx, func() { t.cancel(context.Cause(ctx)) })
	t.lived = context.AfterFunc(l.ctx, func() { t.cancel(context.Cause(l.ctx)) })
	return t, nil
}

// task is a piece of work on a connection. It may outlive the call that began it.
type task struct {
	life   *life
	ctx    context.Context // ends with the caller's, until release, and with the connection
	cancel context.CancelCauseFunc

	followed, lived func() bool // stop following the caller and the connection
}

// release makes the task go on when the caller's ctx ends. It reports false if
// that has ended already.
func (t *task) release() bool { return t.followed() }

// leave ends the task.
func (t *task) leave() {
	t.followed()
	t.lived()
	t.cancel(nil)
	t.life.work.Done()
}

// sleep waits for d and reports whether ctx lasted that long.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
