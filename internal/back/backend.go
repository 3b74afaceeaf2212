package back

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Options bound what a [Backend] waits for.
type Options struct {
	// ConnectTimeout bounds dialling and the handshake together, in both eras if it
	// takes two attempts. Zero means 30 seconds: a backend may have to fetch itself
	// first.
	ConnectTimeout time.Duration

	// ProbeTimeout is how long a backend over a pipe that is not known to be modern
	// may take to answer server/discover, before it is taken for a legacy one. Zero
	// means 5 seconds. Over HTTP silence says nothing, and ConnectTimeout counts.
	ProbeTimeout time.Duration

	// Era pins the era in which the backend is spoken to. The zero value means
	// EraAuto.
	Era Era

	// Noise is called for each thing that the backend sends and that is no
	// message. It must not block; nil counts nothing.
	Noise func()
}

// Backend is one configured backend. Sessions connect through it, and it knows
// how the last attempts went: after repeated failures it refuses further ones
// for a while, so that neither a backend in a crash loop nor its clients suffer
// from each other. Its methods are safe for concurrent use.
type Backend struct {
	Name string

	// CallTimeout is how long a call may work, without the time in which people
	// are asked; 0 means without limit. Who calls keeps to it.
	CallTimeout time.Duration

	// Instances is how many sessions one modern client may have with a legacy
	// backend whose transport does not tell which call a question belongs to, and
	// InstanceWait how long a call waits for one of them. Who calls keeps to it; 0
	// means 1, and no wait.
	Instances    int
	InstanceWait time.Duration

	// SealState says that the requestState of this backend is to be sealed for the
	// client that it was given to. Who calls sees to it.
	SealState bool

	dialer  Dialer
	opts    Options
	log     *slog.Logger
	mirrors mirrors // what is known of its tools

	// mu guards the fields below; held for moments.
	mu       sync.Mutex
	failures int       // in a row; a connection that lived for [steady] ends the row
	retryAt  time.Time // no attempt before; zero when the next may be at once
	lastErr  error     // of the last attempt; nil when it succeeded
	eras     eras      // what it speaks
}

const (
	firstBackoff = 250 * time.Millisecond // after the second failure in a row
	maxBackoff   = 30 * time.Second
	steady       = 10 * time.Second // a connection that lives this long is no failure when it ends
	patience     = 2 * time.Second  // how long a caller waits for the next attempt; beyond that it is told at once
)

// New returns a backend that dials with dialer. It connects to nothing yet.
func New(name string, dialer Dialer, opts Options, log *slog.Logger) *Backend {
	if opts.ConnectTimeout == 0 {
		opts.ConnectTimeout = 30 * time.Second
	}
	if opts.ProbeTimeout == 0 {
		opts.ProbeTimeout = 5 * time.Second
	}
	if opts.Noise == nil {
		opts.Noise = func() {}
	}
	return &Backend{
		Name: name, dialer: dialer, opts: opts, log: log.With("backend", name),
		mirrors: mirrors{turn: make(chan struct{}, 1)},
	}
}

// LastErr returns why the last attempt to connect failed, or nil.
func (b *Backend) LastErr() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lastErr
}

// admit waits until the next attempt may be made, or says that this takes too
// long to wait for.
func (b *Backend) admit(ctx context.Context) error {
	b.mu.Lock()
	wait, last := time.Until(b.retryAt), b.lastErr
	b.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	if wait > patience {
		return b.down(last).With("retryInMs", wait.Milliseconds())
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// down is what a client is told of a backend that cannot be reached.
func (b *Backend) down(cause error) *wire.Error {
	why := "it does not answer"
	if e, ok := errors.AsType[*wire.Error](cause); ok {
		why = e.Message // what the operator reads beside it is not for clients
	} else if cause != nil {
		why = cause.Error()
	}
	return wire.Errorf(wire.ReasonBackendDown, "backend %s is not available: %s", b.Name, why).
		With("backend", b.Name).
		Hint("`beckon doctor` shows what is wrong with it; it is tried again by itself")
}

// note takes down how an attempt to connect went.
func (b *Backend) note(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastErr = err
	if err != nil {
		b.failed()
	}
}

// noteEnd takes down that a connection ended by itself after it had lived for a
// while.
func (b *Backend) noteEnd(lived time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if lived >= steady {
		b.failures = 0
	}
	b.failed()
}

// failed counts one failure; b.mu is held. The first costs no wait, because a
// backend that was killed once is best started again at once.
func (b *Backend) failed() {
	b.failures++
	if b.failures < 2 {
		return
	}
	wait := min(firstBackoff<<min(b.failures-2, 16), maxBackoff)
	wait += rand.N(wait/10 + 1) // not all sessions at once
	b.retryAt = time.Now().Add(wait)
}
