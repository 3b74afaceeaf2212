package front

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Transport is how a client is connected.
type Transport string

const (
	TransportStdio Transport = "stdio"
	TransportHTTP  Transport = "http" // streamable HTTP
	TransportSSE   Transport = "sse"  // HTTP+SSE of 2024-11-05
)

// Client is one session of a client of the legacy era. It is an [Asker] by the
// stream of the session: the pipe of stdio, the event stream of HTTP+SSE, and on
// streamable HTTP the stream that a GET opened. Its exported fields are constant.
type Client struct {
	Principal string    // who it is; "local" when nobody has to tell
	Route     string    // the backend that it wants alone; "" means all
	Transport Transport //
	ID        string    // random, for logs and limits; it opens no door

	relay   Relay
	o       *Options
	log     *slog.Logger
	journal journal
	ctx     context.Context // of the session; its cause is a *wire.Error
	cancel  context.CancelCauseFunc
	tasks   sync.WaitGroup // Open, Serve and Notify of the relay

	// mu guards the fields below. Nothing blocks while it is held. It is taken
	// before journal.mu and after sessions.mu.
	mu       sync.Mutex
	state    state
	opening  chan struct{} // closed when Open has returned; nil before initialize
	session  Session       // nil unless Open returned one
	answered bool          // Open has returned
	ended    *wire.Error   // why the session is over; nil before
	revision wire.Revision
	early    [][]byte // notifications that wait for the response to initialize
	listens  bool     // the client has shown that it knows the session is open
	calls    map[wire.ID]*Call
	drained  chan struct{} // closed when there are no calls any more; nil when calls may begin
	notes    notes
	asks     asks
}

// state is where a session stands.
type state uint8

const (
	stateFresh   state = iota // before initialize, or after one that failed
	stateOpening              // initialize is being answered
	stateOpen
	stateClosed
)

func newClient(relay Relay, o *Options, log *slog.Logger, t Transport, principal, route string) *Client {
	c := &Client{
		Principal: principal,
		Route:     route,
		Transport: t,
		ID:        rand.Text(),
		relay:     relay,
		o:         o,
		journal:   journal{maxCount: o.MaxKept, maxBytes: o.MaxKeptBytes},
		calls:     make(map[wire.ID]*Call),
	}
	c.log = log.With("session", c.ID, "transport", string(t), "principal", principal)
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// Revision returns the revision that the handshake agreed on, and "" before.
func (c *Client) Revision() wire.Revision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision
}

// Ended returns why the session is over: reason session_expired when nobody has used it
// for too long. It returns nil before.
func (c *Client) Ended() *wire.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Notify sends a notification that belongs to no request. What is sent before
// the client listens is kept, the newest of it.
func (c *Client) Notify(m wire.Message) {
	c.mu.Lock()
	if c.state == stateOpening {
		if len(c.early) < maxBacklog {
			c.early = append(c.early, m.Raw())
		}
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.journal.session().send(m.Raw())
}

// initialize opens the session, and puts the response on s.
func (c *Client) initialize(m wire.Message, s *stream) *wire.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.state {
	case stateClosed:
		return c.ended
	case stateOpening, stateOpen:
		return again()
	}
	c.state = stateOpening
	c.answered = false
	c.opening = make(chan struct{})
	c.tasks.Go(func() { c.open(m, s) })
	return nil
}

// open lets the relay open the session. What it sends in the meantime follows
// the response.
func (c *Client) open(m wire.Message, s *stream) {
	session, response := c.relay.Open(c.ctx, c, m)
	if !response.IsResponse() || session != nil && response.Kind() != wire.Result {
		c.log.Error("the relay answered initialize with no response")
		response = wire.NewFailure(m.ID(), wire.Errorf(wire.ReasonInternal, "internal error"))
	}
	revision, _ := wire.Text(response.Result(), "protocolVersion")
	c.mu.Lock()
	c.session, c.answered = session, true
	if session != nil {
		c.revision = wire.Revision(revision)
	}
	c.mu.Unlock()
	s.finish(response.Raw())
	for !c.opened() {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arrived()
}

// opened sends what came too early, and then lets the session begin. It reports
// false when more has come meanwhile.
func (c *Client) opened() bool {
	c.mu.Lock()
	early := c.early
	c.early = nil
	if len(early) == 0 {
		if c.state == stateOpening && c.session != nil {
			c.state = stateOpen
		} else if c.state == stateOpening {
			c.state = stateFresh
		}
		close(c.opening)
		c.settleLocked()
	}
	c.mu.Unlock()
	for _, raw := range early {
		c.journal.session().send(raw)
	}
	return len(early) == 0
}

// ready waits until the session is open, and returns the relay's side of it, or
// nil when there is none.
func (c *Client) ready(ctx context.Context) Session {
	c.mu.Lock()
	state, opening, session := c.state, c.opening, c.session
	c.mu.Unlock()
	if state == stateOpen || opening == nil {
		return session
	}
	select {
	case <-opening:
	case <-ctx.Done():
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// accepted reports whether the session is open, or may yet be.
func (c *Client) accepted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != nil || !c.answered
}

// busy reports whether a call is in progress.
func (c *Client) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls) > 0
}

// drain admits no calls any more. The channel is closed when none is in progress.
func (c *Client) drain() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drained == nil {
		c.drained = make(chan struct{})
		c.settleLocked()
	}
	return c.drained
}

// settleLocked tells who drains the session that nothing is in progress.
func (c *Client) settleLocked() {
	if c.drained == nil || len(c.calls) > 0 || c.state == stateOpening {
		return
	}
	select {
	case <-c.drained:
	default:
		close(c.drained)
	}
}

// shut begins the end of the session: no question can be answered any more, and
// the context of every call ends. why is what calls and backends are told.
func (c *Client) shut(why *wire.Error) {
	c.mu.Lock()
	if c.state == stateClosed {
		c.mu.Unlock()
		return
	}
	c.state, c.ended = stateClosed, why
	c.mu.Unlock()
	c.journal.hurry()
	c.deafen(why)
	c.cancel(why)
}

// wait ends the session that was shut, and returns when the relay is done with it.
func (c *Client) wait() {
	c.tasks.Wait()
	c.journal.end()
	if c.session != nil { // nobody else is left who could change it
		c.session.Close()
	}
}

func again() *wire.Error {
	return invalid("this session was initialized before").
		Hint("one session has one initialize; open another session")
}

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.ReasonInvalid, format, args...)
}
