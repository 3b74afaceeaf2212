package back

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const listenMethod = "subscriptions/listen"

const (
	ackTimeout       = 10 * time.Second // how long a backend may take to acknowledge a listen
	maxSubscriptions = 1000             // resources that one session may watch at a modern backend
)

// listener keeps a subscriptions/listen open at a modern backend, with what a legacy
// client has subscribed to and, once it is initialized, the changes of lists. A
// stream cannot be changed: for another filter another one is opened, and the old
// one closed when that is acknowledged, so that nothing is lost between them.
type listener struct {
	link *link
	turn chan struct{} // held, by the token in it, while the stream is being changed

	// mu guards the fields below; held for moments.
	mu       sync.Mutex
	open     *subscription  // the last that was acknowledged; nil when there is none
	old      *subscription  // the one before, while it has not ended; else nil
	both     map[string]int // what came on open and old since then: how much more often on old
	failures int            // in a row
	insists  bool           // somebody sees to it that the stream is opened; see insist
}

// subscription is one subscriptions/listen.
type subscription struct {
	listener *listener
	filter   []byte // what it is for
	since    time.Time
	cancel   context.CancelCauseFunc
	acked    chan struct{} // closed by the acknowledgement
	over     chan struct{} // closed when it has ended

	honoured []byte       // what the backend agreed to; set before acked is closed
	response wire.Message // Invalid if there was none; set before over is closed
	err      error        // why there was none; likewise
	given    bool         // up before it was acknowledged; guarded by the listener's mu
}

func newListener(l *link) *listener {
	return &listener{link: l, turn: make(chan struct{}, 1)}
}

// noted takes a notification of the client. A modern backend takes none: a
// cancellation is the end of a context, and roots are asked for when they matter.
func (l *link) noted(m wire.Message) {
	if m.Method() == "notifications/initialized" {
		l.listener.pursue()
	}
}

// filter returns what the client wants to hear of; nil if that is nothing.
func (r *listener) filter() []byte {
	s := r.link.session
	s.mu.Lock()
	uris := slices.Sorted(maps.Keys(s.subscribed))
	initialized := s.initialized.Kind() != wire.Invalid && !s.hello.Modern // a modern client listens itself
	s.mu.Unlock()
	var f []byte
	for _, list := range []string{"tools", "prompts", "resources"} {
		if initialized && string(wire.Get(r.link.capabilities, list, "listChanged")) == "true" {
			f = wire.Set(f, []byte("true"), list+"ListChanged")
		}
	}
	if len(uris) > 0 {
		text, err := json.Marshal(uris)
		if err != nil {
			panic("back: strings are not JSON: " + err.Error())
		}
		f = wire.Set(f, text, "resourceSubscriptions")
	}
	return f
}

// refused is the response of a backend that does not open a listen.
type refused struct{ response wire.Message }

func (r *refused) Error() string {
	return "the backend refuses to be listened to: " + ErrorText(r.response)
}

// refresh opens the stream that the client wants now, waits for its
// acknowledgement, and closes the one before. Who calls it holds the turn. An error
// leaves the old stream open.
func (r *listener) refresh(ctx context.Context) (honoured []byte, err error) {
	filter := r.filter()
	if filter == nil {
		r.drop()
		return nil, nil
	}
	if open := r.current(); open != nil && bytes.Equal(open.filter, filter) {
		return open.honoured, nil
	}
	sub, err := r.start(filter)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(ackTimeout)
	defer timer.Stop()
	select {
	case <-sub.acked:
	case <-sub.over:
		select {
		case <-sub.acked: // and ended again
		default:
			return nil, sub.failure()
		}
	case <-timer.C:
		err = wire.Errorf(wire.ReasonTimeout, "backend %s did not acknowledge a subscription within %v",
			r.link.session.backend.Name, ackTimeout)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil && r.giveUp(sub) {
		sub.cancel(err)
		return nil, err
	}
	r.mu.Lock()
	old := r.old
	r.mu.Unlock()
	if old != nil {
		old.cancel(errors.New("another subscription has taken its place"))
	}
	return sub.honoured, nil
}

func (r *listener) current() *subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// giveUp makes sure that sub is not acknowledged any more; false if it was.
func (r *listener) giveUp(sub *subscription) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	sub.given = r.open != sub
	return sub.given
}

// drop closes the stream, if there is one.
func (r *listener) drop() {
	r.mu.Lock()
	sub := r.open
	r.open = nil
	r.mu.Unlock()
	if sub != nil {
		sub.cancel(errors.New("nothing is subscribed to any more"))
	}
}

// failure says why a subscription ended before it was acknowledged.
func (sub *subscription) failure() error {
	switch {
	case sub.response.Kind() == wire.Failure:
		return &refused{sub.response}
	case sub.err != nil:
		return sub.err
	}
	return errors.New("the backend ended a subscription at once")
}

// start sends a subscriptions/listen, which then runs beside everything else.
func (r *listener) start(filter []byte) (*subscription, error) {
	l := r.link
	params := wire.Set(nil, l.meta, "_meta")
	params = wire.Set(params, filter, "notifications")
	sub := &subscription{listener: r, filter: filter, since: time.Now(), acked: make(chan struct{}), over: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(l.ctx)
	sub.cancel = cancel
	err := l.work(func() {
		defer cancel(nil)
		sub.response, sub.err = l.dispatch(ctx, wire.NewRequest(wire.IntID(0), listenMethod, params), nil, sub)
		close(sub.over)
		r.ended(ctx, sub)
	})
	if err != nil {
		cancel(nil)
	}
	return sub, err
}

// work runs f for the link, which waits for it, unless the link has ended.
func (l *link) work(f func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return l.cause
	}
	l.posts.Go(f)
	return nil
}

// Ask is never called: a modern backend asks in its results.
func (sub *subscription) Ask(Asked) (withdraw func(*wire.Error)) { return nil }

// Notify takes what comes on the subscription.
//
// "The server MUST send notifications/subscriptions/acknowledged as the first message
// carrying the subscription's ID […] The notifications field in the acknowledgment
// reflects the subset the server agreed to honor."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
func (sub *subscription) Notify(m wire.Message) {
	r := sub.listener
	switch m.Method() {
	case "notifications/subscriptions/acknowledged":
		r.acknowledged(sub, wire.Get(m.Params(), "notifications"))
	case "notifications/cancelled": // the response follows
	default:
		params := wire.Drop(m.Params(), "_meta", wire.MetaSubscription)
		if string(wire.Get(params, "_meta")) == "{}" {
			params = wire.Drop(params, "_meta")
		}
		if params != nil {
			m = m.WithParams(params)
		}
		if r.isNew(sub, m) {
			r.link.session.caller.Notify(m)
		}
	}
}

// acknowledged puts sub in the place of the subscription before it.
func (r *listener) acknowledged(sub *subscription, honoured []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sub.given || r.open == sub {
		return
	}
	if r.open != nil {
		r.old, r.both = r.open, make(map[string]int)
	}
	r.open, sub.honoured = sub, honoured
	close(sub.acked)
}

// isNew reports whether m, which came on sub, has not come on the other
// subscription before, while there are two.
func (r *listener) isNew(sub *subscription, m wire.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case sub != r.open && sub != r.old:
		return false
	case r.old == nil:
		return true
	}
	key, more := m.Method()+" "+string(m.Params()), 1
	if sub != r.old {
		more = -1
	}
	ahead := r.both[key] * more // how much more often it came here than there
	r.both[key] += more
	return ahead >= 0
}

// ended clears up after a subscription. One that the client still wants is opened
// again.
//
// "a transport that closes without it indicates an unexpected disconnect, which the
// client MAY treat as a trigger to reconnect."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#graceful-closure
func (r *listener) ended(ctx context.Context, sub *subscription) {
	r.mu.Lock()
	lost := r.open == sub
	if lost {
		r.open = nil
		r.failures++
		if time.Since(sub.since) >= steady {
			r.failures = 1
		}
	}
	if lost || r.old == sub {
		r.old, r.both = nil, nil
	}
	r.mu.Unlock()
	if lost && ctx.Err() == nil {
		r.link.session.backend.log.Debug("subscription ended; it is opened again", "err", sub.err)
		r.insist()
	}
}

// pursue opens what the client wants, if it is not, beside everything else.
func (r *listener) pursue() {
	if r.settled() {
		return
	}
	_ = r.link.work(r.insist) // a link that has ended wants nothing
}

// insist tries to open what the client wants until that is open or refused, unless
// somebody does that already. It waits longer after each failure.
func (r *listener) insist() {
	for r.claim(true) {
		err := r.attempt()
		r.claim(false)
		if err != nil || r.settled() {
			return
		}
	}
}

// claim makes the caller the one who insists, or stops that; false if another does.
func (r *listener) claim(begin bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if begin && r.insists {
		return false
	}
	r.insists = begin
	return true
}

// settled reports whether the stream is what the client wants.
func (r *listener) settled() bool {
	open, filter := r.current(), r.filter()
	return filter == nil || open != nil && bytes.Equal(open.filter, filter)
}

// attempt tries until the stream is open once. An error says that there is no use in
// trying again.
func (r *listener) attempt() error {
	l := r.link
	for {
		r.mu.Lock()
		failures := r.failures
		r.mu.Unlock()
		if failures > 0 && !sleep(l.ctx, backoff(failures)) || !r.begin(l.ctx) {
			return context.Cause(l.ctx)
		}
		_, err := r.refresh(l.ctx)
		r.finish()
		if err == nil || l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		if _, no := errors.AsType[*refused](err); no {
			l.session.backend.log.Warn("the backend is not listened to", "err", err)
			return err
		}
		l.session.backend.log.Debug("listening failed", "err", err)
		r.mu.Lock()
		r.failures++
		r.mu.Unlock()
	}
}

// backoff is how long to wait after that many failures in a row.
func backoff(failures int) time.Duration {
	wait := min(firstBackoff<<min(failures-1, 16), maxBackoff)
	return wait + rand.N(wait/10+1) // not all sessions at once
}

// begin takes the turn; false if ctx ended before.
func (r *listener) begin(ctx context.Context) bool {
	select {
	case r.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// finish gives the turn to the next.
func (r *listener) finish() { <-r.turn }

// subscribe answers resources/subscribe of a legacy client, when the backend has
// acknowledged what it means.
func (r *listener) subscribe(ctx context.Context, req wire.Message) (wire.Message, error) {
	s := r.link.session
	uri, ok := wire.Text(req.Params(), "uri")
	if !ok {
		return wire.NewFailure(req.ID(), wire.Errorf(wire.ReasonParams, "resources/subscribe needs a uri, a string")), nil
	}
	if !r.begin(ctx) {
		return wire.Message{}, context.Cause(ctx)
	}
	defer r.finish()
	s.mu.Lock()
	_, already := s.subscribed[uri]
	full := len(s.subscribed) >= maxSubscriptions
	if !full {
		s.subscribed[uri] = req
	}
	s.mu.Unlock()
	if full && !already {
		return wire.NewFailure(req.ID(), wire.Errorf(wire.ReasonLimit,
			"a session can subscribe to %d resources", maxSubscriptions)), nil
	}
	honoured, err := r.refresh(ctx)
	if err == nil && !has(wire.Get(honoured, "resourceSubscriptions"), uri) {
		err = wire.Errorf(wire.ReasonUnknown, "backend %s does not tell of changes of this resource", s.backend.Name).
			With("backend", s.backend.Name)
	}
	if err == nil {
		return wire.NewResult(req.ID(), []byte("{}")), nil
	}
	if !already {
		s.mu.Lock()
		delete(s.subscribed, uri)
		s.mu.Unlock()
	}
	if no, ok := errors.AsType[*refused](err); ok {
		return addressed(no.response, req.ID()), nil
	}
	return wire.Message{}, fmt.Errorf("subscribing: %w", err)
}

// unsubscribe answers resources/unsubscribe of a legacy client.
func (r *listener) unsubscribe(ctx context.Context, req wire.Message) (wire.Message, error) {
	s := r.link.session
	uri, _ := wire.Text(req.Params(), "uri")
	if !r.begin(ctx) {
		return wire.Message{}, context.Cause(ctx)
	}
	defer r.finish()
	s.mu.Lock()
	_, there := s.subscribed[uri]
	delete(s.subscribed, uri)
	s.mu.Unlock()
	if there {
		if _, err := r.refresh(ctx); err != nil {
			s.backend.log.Warn("the backend goes on telling of a resource", "err", err)
		}
	}
	return wire.NewResult(req.ID(), []byte("{}")), nil
}

// has reports whether an array of strings has text.
func has(array []byte, text string) bool {
	for v := range wire.Elements(array) {
		if got, ok := wire.Text(v); ok && got == text {
			return true
		}
	}
	return false
}
