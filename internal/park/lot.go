package park

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Leg is one request of the client. A *front.Leg is one.
type Leg interface {
	// Request returns the request.
	Request() wire.Message

	// Notify sends a notification before the response. It may block while the
	// client is slow, and must return when the context of the leg has ended. Only
	// the goroutine of the leg calls it.
	Notify(m wire.Message)
}

// Work is what a call does. It runs once, on a goroutine of the lot. ctx ends with
// a cause when the call must stop; the backend must then be told before Work
// returns, and before the questions of the call end. The response may have any
// id.
type Work func(ctx context.Context, c *Call) wire.Message

// Party is who sends a request, to which backend, and what it declares that it
// can be asked.
type Party struct {
	Principal string
	Backend   string // at most 255 bytes
	Caps      wire.ClientCaps
}

// Lot is where calls are parked. It owns them all: those whose client waits, those
// whose client is away, and the results that are kept for clients that come back
// late. Its methods are safe for concurrent use.
type Lot struct {
	o    Options
	keys *keyring
	boot uint64
	log  *slog.Logger

	work   sync.WaitGroup // the goroutines of calls
	tokens atomic.Uint64  // progress tokens given out
	habits habits
	first  time.Duration // how long a question waits of what never asked before: longWindow but in tests

	// mu guards the fields below. It is taken after Call.mu, never before, and
	// never held while anything blocks or is called back.
	mu          sync.Mutex
	closed      bool
	calls       map[callID]*Call // those in progress, and those whose result is kept
	parked      int
	byPrincipal map[string]int // parked; no entry for none
	shelf       shelf
}

// New returns an empty lot. It fails when the keys or the owner are not as
// [Options] wants them.
func New(o Options, log *slog.Logger) (*Lot, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	keys, err := newKeyring(o.Keys)
	if err != nil {
		return nil, err
	}
	var boot [8]byte
	rand.Read(boot[:])
	o.Keys = nil // they are in the keyring now
	return &Lot{
		o:           o,
		keys:        keys,
		first:       longWindow,
		boot:        binary.BigEndian.Uint64(boot[:]),
		log:         log,
		calls:       make(map[callID]*Call),
		byPrincipal: make(map[string]int),
	}, nil
}

// Begin runs work for the first leg of a call, and blocks until the response to
// that leg is known: the one that work returned, an error, or input_required when
// the call asks something and waits for the client to come back. When ctx ends
// before, so does the call.
func (l *Lot) Begin(ctx context.Context, leg Leg, p Party, work Work) wire.Message {
	req := leg.Request()
	if ctx.Err() != nil {
		return failure(req.ID(), reasoned(context.Cause(ctx)))
	}
	if len(p.Backend) > maxName {
		return failure(req.ID(), wire.Errorf(wire.ReasonInternal, "the name of the backend is too long"))
	}
	s := newSeat(leg, p.Caps)
	workCtx, stop := context.WithCancelCause(context.Background())
	c := &Call{
		lot:     l,
		party:   Party{Principal: p.Principal, Backend: p.Backend},
		method:  req.Method(),
		request: req,
		token:   wire.Quote("call-" + strconv.FormatUint(l.tokens.Add(1), 10)),
		stop:    stop,
		endsAt:  time.Now().Add(l.o.MaxAge),
		seats:   []*seat{s},
	}
	rand.Read(c.id[:])
	if !l.enter(c) {
		stop(nil)
		return failure(req.ID(), stopping())
	}
	go func() {
		defer l.work.Done()
		c.finish(work(workCtx, c))
	}()
	return c.wait(ctx, s)
}

// Resume continues a call with a leg that carries its requestState, and blocks as
// [Lot.Begin] does. What is not the state of such a call is refused, reason state,
// and never begins one. When ctx ends before, the call goes on as long as the
// client may still come back.
//
// "servers MUST treat requestState as an attacker-controlled input. [...] and MUST
// reject state that fails verification."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
func (l *Lot) Resume(ctx context.Context, leg Leg, p Party) wire.Message {
	req := leg.Request()
	if ctx.Err() != nil {
		return failure(req.ID(), reasoned(context.Cause(ctx)))
	}
	c, why := l.find(stateOf(req), p, req)
	if why == "" {
		return c.resume(ctx, newSeat(leg, p.Caps))
	}
	return l.refuse(req.ID(), why)
}

// refuse answers a leg whose state is not accepted.
func (l *Lot) refuse(id wire.ID, why Refusal) wire.Message {
	l.o.Observer.Refused(why)
	l.log.Info("a requestState was not accepted", "why", string(why))
	return failure(id, refusal(why))
}

// find returns the call that a state is the handle of, if p may have it for req.
func (l *Lot) find(state string, p Party, req wire.Message) (*Call, Refusal) {
	h, ok := l.keys.openHandle(state)
	if !ok {
		return nil, Invalid
	}
	if why := h.refuse(bind(p, req, time.Time{}), time.Now()); why != "" {
		return nil, why
	}
	switch {
	case h.owner != l.o.Owner:
		return nil, Elsewhere
	case h.boot != l.boot:
		return nil, Restarted
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[h.call]; c != nil {
		return c, ""
	}
	return nil, Ended
}

// Peek tells which backend a requestState is for, so that the retry can be sent
// there; ok is false when it is none of a parked call. It is certain that the
// state is ours, and nothing else: not that it was given to this client, nor for
// this request, nor that it is not too late. [Lot.Resume] looks at all that.
func (l *Lot) Peek(state string) (backend string, ok bool) {
	h, ok := l.keys.openHandle(state)
	return h.backend, ok
}

// Parked returns how many calls wait for their clients.
func (l *Lot) Parked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parked
}

// Close ends every call, reason stopping, and waits until their work has returned.
// From then on nothing begins and nothing can be resumed.
func (l *Lot) Close() {
	l.mu.Lock()
	l.closed = true
	left := make([]*Call, 0, len(l.calls))
	for _, c := range l.calls {
		left = append(left, c)
	}
	l.mu.Unlock()
	for _, c := range left {
		c.mu.Lock()
		c.cancel(stopping())
		l.forget(c)
		c.unlock()
	}
	l.work.Wait()
}

// enter takes a call in, with its goroutine, and starts its clock; false after
// Close.
func (l *Lot) enter(c *Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.calls[c.id] = c
	l.work.Add(1)
	c.timer = time.AfterFunc(l.o.MaxAge, c.alarm)
	return true
}

// reserve counts a call as parked, or tells that too many are.
func (l *Lot) reserve(principal string) *wire.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.parked >= l.o.MaxParked:
		return tooMany("in the gateway", l.o.MaxParked)
	case l.byPrincipal[principal] >= l.o.MaxPerPrincipal:
		return tooMany("of this principal", l.o.MaxPerPrincipal)
	}
	l.parked++
	l.byPrincipal[principal]++
	return nil
}

func tooMany(whose string, limit int) *wire.Error {
	return wire.Errorf(wire.ReasonLimit, "too many calls %s wait for answers", whose).
		With("limit", limit).Hint("answer or cancel one of them, or raise the limit")
}

// release undoes reserve.
func (l *Lot) release(principal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parked--
	if l.byPrincipal[principal]--; l.byPrincipal[principal] == 0 {
		delete(l.byPrincipal, principal)
	}
}

func stopping() *wire.Error {
	return wire.Errorf(wire.ReasonStopping, "the gateway is shutting down")
}
