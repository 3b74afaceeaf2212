package relay

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// instances are the sessions of one route with a backend whose transport does not
// tell which call a question belongs to. A call that may ask has one for itself, so
// that there is nothing to tell; calls beyond the limit wait.
//
// The first instance is the route's own. Whatever cannot ask goes there, and calls
// that follow each other do too, so that a tool which remembers something finds it.
//
// A backend may go on with a call that was cancelled, and ask. What it asks then
// would be taken for a question of the next call. So there is no next call in that
// instance: it is closed, unless it is the first, which is left to what cannot ask.
type instances struct {
	route *route
	max   int
	wait  time.Duration // how long a call waits for an instance
	idle  time.Duration // how long an instance beyond the first is kept when nothing needs it

	// mu guards the fields below; held for moments.
	mu      sync.Mutex
	all     []*instance      // in the order in which they were made
	waiting []chan *instance // whose turn it is next comes first; each holds one
	closed  bool
}

// instance is one of them. Its fields are guarded by instances.mu; idle is constant.
type instance struct {
	*back.Session
	leased   bool        // a call has it
	doubtful bool        // it may still be at a call that was cancelled; only of the first
	idle     *time.Timer // closes it; nil for the first
}

func newInstances(r *route) *instances {
	o := r.session.relay.opts
	return &instances{
		route: r, max: max(r.backend.Instances, 1), wait: r.backend.InstanceWait, idle: o.InstanceIdle,
		all: []*instance{{Session: r.back}},
	}
}

// lease returns an instance that no other call has, until release. wait is called
// when there is none at the moment.
func (p *instances) lease(ctx context.Context, wait func()) (*instance, error) {
	in, turn := p.take()
	if in != nil {
		return in, nil
	}
	wait()
	patience := time.NewTimer(p.wait)
	defer patience.Stop()
	select {
	case in := <-turn:
		return in, nil
	case <-patience.C:
		return p.leaveQueue(turn, wire.Errorf(wire.ReasonLimit, "all %d instances of backend %s are busy with calls that may ask", p.max, p.route.backend.Name).
			With("limit", p.max).With("waitedMs", p.wait.Milliseconds()).
			Hint("try again later, or raise `instances` of the backend"))
	case <-ctx.Done():
		return p.leaveQueue(turn, context.Cause(ctx))
	}
}

// take leases a free instance or makes one; else the turn of the caller comes on
// the channel.
func (p *instances) take() (*instance, chan *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.all {
		if in.leased || in.doubtful {
			continue
		}
		in.leased = true
		if in.idle != nil {
			in.idle.Stop()
		}
		return in, nil
	}
	if p.roomLocked() {
		in := p.addLocked()
		in.leased = true
		return in, nil
	}
	turn := make(chan *instance, 1)
	p.waiting = append(p.waiting, turn)
	return nil, turn
}

// roomLocked reports whether there may be another instance. One that is doubtful
// takes no place, or the last could never be replaced.
func (p *instances) roomLocked() bool {
	n := len(p.all)
	if p.all[0].doubtful {
		n--
	}
	return n < p.max
}

func (p *instances) addLocked() *instance {
	r := p.route
	in := &instance{Session: r.backend.NewSession(r.session.hello, newCaller(r, r.session.asker, wire.Message{}))}
	_ = in.Notify(context.Background(), initialized()) // it learns it when it is connected
	in.idle = time.AfterFunc(p.idle, func() { p.retire(in) })
	in.idle.Stop()
	p.all = append(p.all, in)
	return in
}

// leaveQueue gives up waiting, unless the turn has just come.
func (p *instances) leaveQueue(turn chan *instance, why error) (*instance, error) {
	p.mu.Lock()
	p.waiting = slices.DeleteFunc(p.waiting, func(c chan *instance) bool { return c == turn })
	p.mu.Unlock()
	select {
	case in := <-turn:
		return in, nil
	default:
		return nil, why
	}
}

// release gives an instance to the call that has waited longest, or keeps it. The
// backend has answered the call that had it.
func (p *instances) release(in *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.releaseLocked(in)
}

func (p *instances) releaseLocked(in *instance) {
	if len(p.waiting) > 0 {
		p.waiting[0] <- in
		p.waiting = p.waiting[1:]
		return
	}
	in.leased = false
	if in.idle != nil {
		in.idle.Reset(p.idle)
	}
}

// abandon releases an instance whose call was not answered.
func (p *instances) abandon(in *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in.idle == nil {
		in.leased, in.doubtful = false, true
	} else {
		p.removeLocked(in)
	}
	if len(p.waiting) > 0 && p.roomLocked() {
		next := p.addLocked()
		next.leased = true
		p.releaseLocked(next)
	}
}

// retire closes an instance that nothing has needed for a while.
func (p *instances) retire(in *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !in.leased && !p.closed {
		p.removeLocked(in)
	}
}

// removeLocked takes an instance out and closes it, which its session waits for. A
// session that is used, or whose instances are not closed yet, has not waited.
func (p *instances) removeLocked(in *instance) {
	p.all = slices.DeleteFunc(p.all, func(i *instance) bool { return i == in })
	p.route.session.wg.Go(func() {
		p.route.forgetLevel(in.Session)
		in.Close()
	})
}

// close closes all instances. No call must have one any more.
func (p *instances) close() {
	p.mu.Lock()
	p.closed = true
	all := p.all
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, in := range all {
		if in.idle != nil {
			in.idle.Stop()
		}
		closing.Go(in.Close)
	}
	closing.Wait()
}
