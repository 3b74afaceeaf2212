package input

import (
	"cmp"
	"crypto/rand"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Limits bound what may be open, and for how long.
type Limits struct {
	Off        map[Kind]bool // kinds that are refused with reason "disabled"
	Timeout    time.Duration // how long a request stays open; must be positive
	Total      int           // open requests in the process
	PerSession int           // open requests of one client session
	Rules      Rules         // what a form must obey
	Forms      Forms         // the form lane
}

// Observer is told what happens to requests, for the audit and for metrics. It
// must not block and must not call back.
type Observer interface {
	// Opened tells of a request that was admitted.
	Opened(r *Request)

	// Ended tells how a request ended, and how long it was open.
	Ended(r *Request, a Answer, took time.Duration)

	// Changed tells of something that happened to an open request.
	Changed(r *Request, e Event)

	// Refused tells of a question that was not admitted, and why.
	Refused(q Question, err *wire.Error)
}

// Broker owns the open input requests of a process: it admits them, bounds them
// and sees to it that each ends exactly once. Its methods are safe for
// concurrent use.
type Broker struct {
	limits   Limits
	observer Observer
	cache    func() *form.Cache // made when the first form comes
	vault    func() vault       // likewise

	// mu guards the fields below, and those of Request and sheet that say so. It is
	// never held while anything blocks or is called back.
	mu        sync.Mutex
	open      map[*Request]struct{}
	bySession map[string]int // open requests, by their share; no entry for none
	forms     forms
	closed    bool
}

// NewBroker returns a broker with nothing open.
func NewBroker(limits Limits, observer Observer) *Broker {
	return &Broker{
		limits:    limits,
		observer:  observer,
		cache:     sync.OnceValue(limits.Forms.cache),
		vault:     sync.OnceValue(newVault),
		open:      make(map[*Request]struct{}),
		bySession: make(map[string]int),
		forms:     newForms(limits.Forms),
	}
}

// Open admits q and offers it on ch, or refuses it. done is called exactly once
// for an admitted request, and never for a refused one; it may be called before
// Open returns, and must not block. A managed question is offered to nobody, and ch
// may be nil.
func (b *Broker) Open(q Question, ch Channel, done func(*Request, Answer)) (*Request, *wire.Error) {
	r, err := b.admit(&q, ch, done)
	if err != nil {
		b.observer.Refused(q, err)
		return nil, err
	}
	if r.sheet != nil {
		r.perform()
		return r, nil
	}
	b.observer.Opened(r)
	ch.Offer(r)
	b.mu.Lock()
	ending := r.ending
	b.mu.Unlock()
	switch ending {
	case "", Accept, Decline, Cancel, Answered, Failed:
	default: // it ended while it was offered, perhaps before the channel knew it
		ch.Retract(r, "the question has ended")
	}
	return r, nil
}

// Judge returns why q would be refused, however little is open; nil if it would not
// be. It is for a question that reaches its client without being opened here.
func (b *Broker) Judge(q Question) *wire.Error {
	_, err := b.judge(&q)
	if err != nil {
		b.observer.Refused(q, err)
	}
	return err
}

func (b *Broker) judge(q *Question) (d draft, err *wire.Error) {
	d.ask, d.kind, err = classify(q.Message)
	if err != nil {
		return d, err
	}
	if b.limits.Off[d.kind] {
		return d, wire.Errorf(wire.ReasonDisabled, "%s is disabled in this gateway", featureOf(d.kind)).
			Hint("switch it on under input in the configuration of the gateway")
	}
	if q.Managed {
		return b.managed(d)
	}
	if err := capable(q.Caps, d.kind, d.ask); err != nil {
		return d, err
	}
	if d.kind == Form {
		if definition := definitionIn(d.ask); definition != nil {
			return b.defined(d, definition, q.Extended)
		}
		d.ask = inline(d.ask)
	}
	return d, b.limits.Rules.check(d.kind, d.ask)
}

func (b *Broker) admit(q *Question, ch Channel, done func(*Request, Answer)) (*Request, *wire.Error) {
	d, err := b.judge(q)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	r := &Request{
		Question: *q,
		Kind:     d.kind,
		OpenedAt: now,
		broker:   b,
		channel:  ch,
		done:     done,
	}
	b.lend(r, d)
	r.ID = r.prefix() + rand.Text() // 26 characters of base32, 130 bits
	r.Deadline = now.Add(r.Terms().Timeout)
	if !r.Lane() {
		r.ask = r.address(d.ask)
	}
	if err := b.register(r, now); err != nil {
		if r.Lane() {
			err = err.With("type", "system") // of the families of errors that the form API has
		}
		return nil, err
	}
	return r, nil
}

// register counts r in, and starts its clock.
func (b *Broker) register(r *Request, now time.Time) *wire.Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return wire.Errorf(wire.ReasonStopping, "the gateway is shutting down")
	}
	if r.Lane() {
		if err := b.forms.rate(r.Question, now); err != nil {
			return err
		}
	}
	switch {
	case len(b.open) >= b.limits.Total:
		return tooMany("in the gateway", b.limits.Total)
	case b.bySession[r.share()] >= b.limits.PerSession:
		return tooMany("in this session", b.limits.PerSession)
	}
	if r.Lane() {
		if err := b.forms.add(r); err != nil {
			return err
		}
	}
	b.open[r] = struct{}{}
	b.bySession[r.share()]++
	if r.sheet == nil {
		r.timer = time.AfterFunc(b.limits.Timeout, r.expire)
		return nil
	}
	r.timer = time.AfterFunc(r.sheet.next().Sub(now), r.ring)
	r.then(func() { b.observer.Opened(r) })
	r.then(r.offer)
	return nil
}

// share is what the per-session limit counts r under.
func (q *Question) share() string { return cmp.Or(q.Share, q.Session) }

func tooMany(where string, limit int) *wire.Error {
	return wire.Errorf(wire.ReasonLimit, "too many input requests are open %s", where).
		With("limit", limit).Hint("answer or cancel one of them, or raise the limit")
}

// expire ends r at its deadline.
func (r *Request) expire() {
	open := r.Terms().Timeout
	if r.sheet != nil {
		open = r.Status().TimeoutAt.Sub(r.OpenedAt)
	}
	elapsed := time.Since(r.OpenedAt).Milliseconds()
	r.Withdraw(Timeout, wire.Errorf(wire.ReasonTimeout, "%s timeout: nobody answered within %v", featureOf(r.Kind), open).
		With("timeoutMs", open.Milliseconds()).With("elapsedMs", elapsed).
		With("type", "timeout").With("timeout_ms", open.Milliseconds()).With("elapsed_ms", elapsed))
}

// end is the one door through which a request ends. A why tells the channel to
// take the request back; with an answer from the channel there is none.
func (b *Broker) end(r *Request, a Answer, why string) bool {
	b.mu.Lock()
	if r.ending != "" {
		b.mu.Unlock()
		return false
	}
	last := b.conclude(r, a, why)
	b.mu.Unlock()
	if r.sheet != nil {
		r.perform()
		return true
	}
	last.tell()
	return true
}

// farewell is what is left to do for a request that has just ended.
type farewell struct {
	request *Request
	channel Channel
	done    func(*Request, Answer)
	answer  Answer
	why     string
}

// conclude makes the end of r, which is open, and returns who is to be told of it.
// For a request with a form that is its next step. mu is held.
func (b *Broker) conclude(r *Request, a Answer, why string) farewell {
	last := farewell{r, r.channel, r.done, a, why}
	r.ending = a.Outcome
	r.channel, r.done = nil, nil
	r.timer.Stop()
	delete(b.open, r)
	if b.bySession[r.share()]--; b.bySession[r.share()] == 0 {
		delete(b.bySession, r.share())
	}
	if r.sheet != nil {
		b.shut(r, last)
	}
	return last
}

// tell tells of the end: the channel, the observer and last whoever asked, who waits
// and is told even if one of the others panics.
func (f farewell) tell() {
	r := f.request
	defer f.done(r, f.answer)
	defer func() { r.broker.observer.Ended(r, f.answer, time.Since(r.OpenedAt)) }()
	if f.why != "" && !r.Managed {
		f.channel.Retract(r, f.why)
	}
}

// Len returns how many requests are open.
func (b *Broker) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open)
}

// Close refuses new requests, withdraws those that are open, and forgets those that
// have ended.
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
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forms.forgetAll()
}
