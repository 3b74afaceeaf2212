package input

import (
	"cmp"
	"crypto/rand"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Limits bound what may be open, and for how long.
type Limits struct {
	Off        map[Kind]bool // kinds that are refused with reason "disabled"
	Timeout    time.Duration // how long a request stays open; must be positive
	Total      int           // open requests in the process
	PerSession int           // open requests of one client session
	Rules      Rules         // what a form must obey
}

// Observer is told what happens to requests, for the audit and for metrics. It
// must not block and must not call back.
type Observer interface {
	// Opened tells of a request that was admitted.
	Opened(r *Request)

	// Ended tells how a request ended, and how long it was open.
	Ended(r *Request, a Answer, took time.Duration)

	// Refused tells of a question that was not admitted, and why.
	Refused(q Question, err *wire.Error)
}

// Broker owns the open input requests of a process: it admits them, bounds them
// and sees to it that each ends exactly once. Its methods are safe for
// concurrent use.
type Broker struct {
	limits   Limits
	observer Observer

	// mu guards the fields below, and Request.ended. It is never held while
	// anything blocks or is called back.
	mu        sync.Mutex
	open      map[*Request]struct{}
	bySession map[string]int // open requests, by their share; no entry for none
	closed    bool
}

// NewBroker returns a broker with nothing open.
func NewBroker(limits Limits, observer Observer) *Broker {
	return &Broker{
		limits:    limits,
		observer:  observer,
		open:      make(map[*Request]struct{}),
		bySession: make(map[string]int),
	}
}

// Open admits q and offers it on ch, or refuses it. done is called exactly once
// for an admitted request, and never for a refused one; it may be called before
// Open returns, and must not block.
func (b *Broker) Open(q Question, ch Channel, done func(*Request, Answer)) (*Request, *wire.Error) {
	r, err := b.admit(q, ch, done)
	if err != nil {
		b.observer.Refused(q, err)
		return nil, err
	}
	b.observer.Opened(r)
	ch.Offer(r)
	return r, nil
}

// Judge returns why q would be refused, however little is open; nil if it would not
// be. It is for a question that reaches its client without being opened here.
func (b *Broker) Judge(q Question) *wire.Error {
	_, _, err := b.judge(q)
	if err != nil {
		b.observer.Refused(q, err)
	}
	return err
}

func (b *Broker) judge(q Question) (ask wire.Message, kind Kind, err *wire.Error) {
	ask, kind, err = classify(q.Message)
	if err != nil {
		return ask, kind, err
	}
	if b.limits.Off[kind] {
		return ask, kind, wire.Errorf(wire.ReasonDisabled, "%s is disabled in this gateway", featureOf(kind)).
			Hint("switch it on under input in the configuration of the gateway")
	}
	if err := capable(q.Caps, kind, ask); err != nil {
		return ask, kind, err
	}
	return ask, kind, b.limits.Rules.check(kind, ask)
}

func (b *Broker) admit(q Question, ch Channel, done func(*Request, Answer)) (*Request, *wire.Error) {
	ask, kind, err := b.judge(q)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	r := &Request{
		Question: q,
		ID:       "in_" + rand.Text(), // 26 characters of base32, 130 bits
		Kind:     kind,
		OpenedAt: now,
		Deadline: now.Add(b.limits.Timeout),
		broker:   b,
		channel:  ch,
		done:     done,
	}
	r.Ask = r.address(ask)
	if err := b.register(r); err != nil {
		return nil, err
	}
	return r, nil
}

// register counts r in, and starts its clock.
func (b *Broker) register(r *Request) *wire.Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return wire.Errorf(wire.ReasonStopping, "the gateway is shutting down")
	case len(b.open) >= b.limits.Total:
		return tooMany("in the gateway", b.limits.Total)
	case b.bySession[r.share()] >= b.limits.PerSession:
		return tooMany("in this session", b.limits.PerSession)
	}
	b.open[r] = struct{}{}
	b.bySession[r.share()]++
	r.timer = time.AfterFunc(b.limits.Timeout, func() { r.expire() })
	return nil
}

// share is what the per-session limit counts r under.
func (q Question) share() string { return cmp.Or(q.Share, q.Session) }

func tooMany(where string, limit int) *wire.Error {
	return wire.Errorf(wire.ReasonLimit, "too many input requests are open %s", where).
		With("limit", limit).Hint("answer or cancel one of them, or raise the limit")
}

// expire ends r at its deadline.
func (r *Request) expire() {
	timeout := r.broker.limits.Timeout
	r.Withdraw(Timeout, wire.Errorf(wire.ReasonTimeout, "%s timeout: nobody answered within %v", featureOf(r.Kind), timeout).
		With("timeoutMs", timeout.Milliseconds()).
		With("elapsedMs", time.Since(r.OpenedAt).Milliseconds()))
}

// end is the one door through which a request ends. A why tells the channel to
// take the request back; with an answer from the channel there is none.
func (b *Broker) end(r *Request, a Answer, why string) bool {
	b.mu.Lock()
	first := !r.ended
	if first {
		r.ended = true
		delete(b.open, r)
		if b.bySession[r.share()]--; b.bySession[r.share()] == 0 {
			delete(b.bySession, r.share())
		}
	}
	b.mu.Unlock()
	if !first {
		return false
	}
	r.timer.Stop()
	if why != "" {
		r.channel.Retract(r, why)
	}
	b.observer.Ended(r, a, time.Since(r.OpenedAt))
	r.done(r, a)
	return true
}

// Len returns how many requests are open.
func (b *Broker) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open)
}

// Close refuses new requests and withdraws those that are open.
func (b *Broker) Close() {
	b.mu.Lock()
	b.closed = true
	left := make([]*Request, 0, len(b.open))
	for r := range b.open {
		left = append(left, r)
	}
	b.mu.Unlock()
	for _, r := range left {
		r.Withdraw(Withdrawn, wire.Errorf(wire.ReasonStopping, "the gateway is shutting down"))
	}
}
