package back

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// link is one connection of a [Session], from its handshake to its end, with the
// requests in progress in both directions. It is the Receiver of its Conn.
type link struct {
	session *Session
	modern  bool // the era in which the backend is addressed
	conn    Conn
	http    mirroring     // conn, if each modern request is a POST of its own; nil over a pipe and in the legacy era
	ready   chan struct{} // closed when conn is set
	since   time.Time
	ids     atomic.Uint64  // of our requests
	done    chan struct{}  // closed by end
	posts   sync.WaitGroup // messages on their way that nobody waits for, and the listens; added to under mu

	// Of a modern link; see modern.go.
	meta         []byte          // what every request says in its _meta for the client; constant
	capabilities []byte          // of the backend, raw; constant once the session uses the link
	listener     *listener       // nil in the legacy era
	ctx          context.Context // ends with the link; nil in the legacy era
	stop         context.CancelCauseFunc

	// mu guards the fields below; held for moments.
	mu     sync.Mutex
	cause  error                // why done is closed
	calls  map[wire.ID]*call    // our requests by our id
	tokens map[string]*call     // the same by their progress token, raw
	asked  map[wire.ID]*pending // the backend's requests by its id

	promises map[*pending]struct{} // those that were answered with a promise, until it is kept; nil before the first
	insists  int                   // messages of promises that the backend has not taken yet
}

// call is one request of the client at the backend.
type call struct {
	method   string
	token    string // progress token, raw; "" when the client wants no progress
	caller   Caller
	response chan wire.Message // capacity 1

	*modernCall // nil in the legacy era
}

// pending is one request of the backend that has not been answered.
type pending struct {
	withdraw func(*wire.Error) // nil until Caller.Ask has returned
	gone     *wire.Error       // set instead when the backend withdrew before that
}

func newLink(s *Session, modern bool) *link {
	l := &link{
		session: s,
		modern:  modern,
		ready:   make(chan struct{}),
		since:   time.Now(),
		done:    make(chan struct{}),
		calls:   make(map[wire.ID]*call),
		tokens:  make(map[string]*call),
		asked:   make(map[wire.ID]*pending),
	}
	if modern {
		l.meta = modernMeta(s.hello)
		l.ctx, l.stop = context.WithCancelCause(context.Background())
		l.listener = newListener(l)
	}
	return l
}

// attach gives the link its connection. What arrived before waits for that.
func (l *link) attach(conn Conn) {
	l.conn = conn
	if l.modern {
		l.http, _ = conn.(mirroring)
	}
	close(l.ready)
}

// legacyOnly reports whether the transport has no modern era.
func (l *link) legacyOnly() bool {
	c, ok := l.conn.(interface{ legacyOnly() bool })
	return ok && c.legacyOnly()
}

func (l *link) dead() bool {
	select {
	case <-l.done:
		return true
	case <-l.conn.Done():
		return true
	default:
		return false
	}
}

// ErrorText returns the message of an error response, for a person.
func ErrorText(failure wire.Message) string {
	if text, ok := wire.Text(failure.Error(), "message"); ok {
		return text
	}
	return "no reason given"
}

func (l *link) newID() wire.ID { return wire.IntID(l.ids.Add(1)) }

// exchange sends m, a request with our id, as the call c, and waits for the
// response. What nobody waits for any more is not begun.
func (l *link) exchange(ctx context.Context, id wire.ID, c *call, m wire.Message) (wire.Message, error) {
	if ctx.Err() != nil {
		return wire.Message{}, context.Cause(ctx)
	}
	if err := l.begin(id, c); err != nil {
		return wire.Message{}, err
	}
	defer l.finish(id, c)
	if err := l.send(ctx, c, m); err != nil {
		return l.sendFailed(ctx, id, c, err)
	}
	select {
	case m := <-c.response:
		return m, nil
	case <-ctx.Done():
		l.cancel(ctx, id, c)
		return wire.Message{}, context.Cause(ctx)
	case <-l.done:
		return c.last(l.endCause())
	case <-l.conn.Done(): // nothing but this tells in the handshake: watch comes after it
		return c.last(l.conn.Err())
	}
}

// last returns the response that came just before the connection ended, or else
// why it ended.
func (c *call) last(cause error) (wire.Message, error) {
	select {
	case m := <-c.response:
		return m, nil
	default:
		return wire.Message{}, cause
	}
}

// sendFailed decides what a failed Send means: the response may have come all
// the same, and the connection may be what failed.
func (l *link) sendFailed(ctx context.Context, id wire.ID, c *call, err error) (wire.Message, error) {
	select {
	case m := <-c.response:
		return m, nil
	default:
	}
	if ctx.Err() != nil {
		l.cancel(ctx, id, c)
		return wire.Message{}, context.Cause(ctx)
	}
	if errors.Is(err, errLeaving) {
		select { // the end of a process knows more than the write that failed before it
		case <-l.conn.Done():
		case <-time.After(outputGrace):
		}
	}
	select {
	case <-l.done:
		return wire.Message{}, l.endCause()
	case <-l.conn.Done():
		return wire.Message{}, l.conn.Err()
	default:
		return wire.Message{}, err
	}
}

func (l *link) begin(id wire.ID, c *call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return l.cause
	}
	l.calls[id] = c
	if c.token != "" {
		l.tokens[c.token] = c
	}
	return nil
}

func (l *link) finish(id wire.ID, c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, id)
	if l.tokens[c.token] == c {
		delete(l.tokens, c.token)
	}
}

// canceller is the cause of a context that ends because the client sent
// notifications/cancelled.
type canceller interface{ CancelNotification() wire.Message }

// cancel tells the backend that nobody waits for the response to id any more, in
// the client's own words where there are any. It returns when that is said: what
// is said afterwards of the questions of the call must not come before, or a tool
// may take their end for an answer and act on it.
//
// Over HTTP the modern era has no such message: "Closing the SSE response stream is
// the cancellation signal."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#transport-specific-cancellation
func (l *link) cancel(ctx context.Context, id wire.ID, c *call) {
	if l.http != nil || l.modern && c.probe {
		return
	}
	params := fmt.Appendf(nil, `{"requestId":%s}`, id)
	m := wire.NewNotification("notifications/cancelled", params)
	if c, ok := context.Cause(ctx).(canceller); ok {
		m = c.CancelNotification()
		m = m.WithParams(wire.Set(m.Params(), []byte(id), "requestId"))
	}
	l.say(context.WithoutCancel(ctx), m)
}

// linger bounds how long a message may take that nobody waits for: replies and
// cancellations.
const linger = 5 * time.Second

// say sends such a message.
func (l *link) say(ctx context.Context, m wire.Message) {
	ctx, cancel := context.WithTimeoutCause(ctx, linger, errors.New("the backend does not take it"))
	defer cancel()
	if err := l.conn.Send(ctx, m); err != nil && !l.dead() {
		l.session.backend.log.Debug("message not taken", "err", err)
	}
}

// post says m without waiting, unless the connection has ended.
func (l *link) post(m wire.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return
	}
	l.posts.Go(func() { l.say(context.Background(), m) })
}

// end fails everything in progress, once. It leaves the Conn open.
func (l *link) end(cause error) {
	gone := wire.Errorf(wire.ReasonBackendGone, "the backend %s has left", l.session.backend.Name)
	l.mu.Lock()
	if l.cause != nil {
		l.mu.Unlock()
		return
	}
	l.cause = cause
	var withdraw []func(*wire.Error)
	left := slices.Collect(maps.Values(l.asked))
	for _, p := range slices.AppendSeq(left, maps.Keys(l.promises)) {
		p.gone = gone
		if p.withdraw != nil {
			withdraw = append(withdraw, p.withdraw)
		}
	}
	l.asked, l.promises = nil, nil
	l.mu.Unlock()
	close(l.done)
	if l.modern {
		l.stop(cause)
	}
	for _, f := range withdraw {
		f(gone)
	}
}

// close closes the Conn of a link that has ended, after a moment for what is
// still on its way: a backend that asks should learn why nobody answers.
func (l *link) close() {
	sent := make(chan struct{})
	go func() { // ends soon after the Conn does
		l.posts.Wait()
		close(sent)
	}()
	moment := time.NewTimer(time.Second)
	defer moment.Stop()
	select {
	case <-sent:
	case <-moment.C:
	case <-l.conn.Done():
	}
	l.conn.Close()
	<-sent
}

func (l *link) endCause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// watch waits for the end of the link, by whichever side, and clears up after it.
func (l *link) watch() {
	select {
	case <-l.conn.Done():
		err := l.conn.Err()
		l.end(err)
		if l.session.ctx.Err() == nil {
			l.session.backend.noteEnd(time.Since(l.since))
			l.session.backend.log.Warn("backend connection ended", "err", err)
		}
	case <-l.done:
	}
	l.close()
}
