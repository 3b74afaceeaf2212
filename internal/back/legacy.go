package back

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Caller is on whose behalf a backend works, and so whom it may talk to: the
// client's call, or its session where the transport does not tell the call.
type Caller interface {
	// Notify takes a notification of the backend, in order of arrival. It may
	// block while the client is slow.
	Notify(m wire.Message)

	// Ask takes a request of the backend and returns at once. The returned
	// function, which may be nil, takes the request back because the backend no
	// longer wants to know or is gone; it is called at most once.
	Ask(a Asked) (withdraw func(*wire.Error))
}

// Asked is a request that a backend sent to its client.
type Asked struct {
	Message wire.Message

	// Inferred says that the transport does not tell which call caused the
	// request, and that the Caller is the only one that can have.
	Inferred bool

	// Reply sends the response, whatever its id, and returns at once. Only the
	// first call has an effect.
	Reply func(response wire.Message)
}

// Session is one client's session with one legacy backend. It outlives its
// connections: when the backend exits or loses the session, the calls in progress
// fail, and the next one connects and shakes hands again. Its methods are safe
// for concurrent use.
type Session struct {
	backend *Backend
	params  []byte // of initialize
	caller  Caller // for what belongs to no call

	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // watchers of links

	dialing chan struct{} // held, by the token in it, while connecting

	// mu guards the fields below; held for moments.
	mu          sync.Mutex
	link        *link                   // nil before the first connection; may be dead
	result      []byte                  // of the last initialize; nil before the first
	initialized wire.Message            // the client's notification, once it came
	level       wire.Message            // the last logging/setLevel; for the next connection
	subscribed  map[string]wire.Message // resources/subscribe by URI; likewise
}

// NewSession returns a session that is not connected yet. params are those of
// initialize, as the backend is to see them.
func (b *Backend) NewSession(params []byte, caller Caller) *Session {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Session{
		backend: b, params: params, caller: caller, ctx: ctx, stop: stop,
		dialing:    make(chan struct{}, 1),
		subscribed: make(map[string]wire.Message),
	}
}

// Connect shakes hands with the backend if that has not happened, and returns
// the InitializeResult as the backend wrote it.
func (s *Session) Connect(ctx context.Context) (result []byte, err error) {
	if _, err := s.connected(ctx); err != nil {
		return nil, err
	}
	return s.Result(), nil
}

// Result returns the InitializeResult of the last handshake; nil before the
// first.
func (s *Session) Result() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.result
}

// Call sends a request of the client and returns the backend's response, with
// the id of the request. What the backend sends meanwhile goes to caller. When
// ctx ends, the backend is told that the request is cancelled; a *wire.Error
// says why there is no response in every other case.
func (s *Session) Call(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	l, err := s.connected(ctx)
	if err != nil {
		return wire.Message{}, err
	}
	resp, err := l.call(ctx, req, caller)
	if errors.Is(err, ErrSessionLost) {
		// The backend did not process the request, so that it may be sent again.
		l.end(err)
		if l, err = s.connected(ctx); err != nil {
			return wire.Message{}, err
		}
		resp, err = l.call(ctx, req, caller)
	}
	if err != nil {
		return wire.Message{}, s.explain(ctx, err)
	}
	s.remember(req, resp)
	return resp.WithID(req.ID()), nil
}

// explain makes an error fit for the client; a context keeps its cause.
func (s *Session) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	return wire.Errorf(wire.ReasonBackendGone, "backend %s failed during the call: %v", s.backend.Name, err).
		With("backend", s.backend.Name)
}

// remember keeps what the client set at the backend, for the next connection.
func (s *Session) remember(req, resp wire.Message) {
	if resp.Kind() != wire.Result {
		return
	}
	uri, _ := wire.Text(req.Params(), "uri")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch req.Method() {
	case "logging/setLevel":
		s.level = req
	case "resources/subscribe":
		s.subscribed[uri] = req
	case "resources/unsubscribe":
		delete(s.subscribed, uri)
	}
}

// Notify sends a notification of the client, unless there is no connection: a
// backend that comes later learns what it needs by its own handshake.
func (s *Session) Notify(ctx context.Context, m wire.Message) error {
	s.mu.Lock()
	l := s.link
	if m.Method() == "notifications/initialized" {
		s.initialized = m
	}
	s.mu.Unlock()
	if l == nil || l.dead() {
		return nil
	}
	if err := l.conn.Send(ctx, m); err != nil {
		return fmt.Errorf("sending %s to backend %s: %w", m.Method(), s.backend.Name, err)
	}
	return nil
}

// Close ends the session and returns when nothing of it is left.
func (s *Session) Close() {
	s.stop(wire.Errorf(wire.ReasonClientGone, "the session has ended"))
	s.dialing <- struct{}{} // waits for a connection in the making, and allows no other
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l != nil {
		l.end(context.Cause(s.ctx))
	}
	s.wg.Wait()
}

// connected returns a live connection, making one if there is none.
func (s *Session) connected(ctx context.Context) (*link, error) {
	if l := s.live(); l != nil {
		return l, nil
	}
	select {
	case s.dialing <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.ctx.Done():
		return nil, context.Cause(s.ctx)
	}
	defer func() { <-s.dialing }()
	if l := s.live(); l != nil {
		return l, nil
	}
	if err := s.backend.admit(ctx); err != nil {
		return nil, err
	}
	l, err := s.connect(ctx)
	if ctx.Err() != nil && s.ctx.Err() == nil && err != nil {
		return nil, context.Cause(ctx) // the caller gave up, which says nothing of the backend
	}
	s.backend.note(err)
	if err != nil {
		return nil, s.backend.down(err)
	}
	return l, nil
}

func (s *Session) live() *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == nil || s.link.dead() {
		return nil
	}
	return s.link
}

// connect dials, shakes hands and brings the backend to where the client left
// the last connection.
func (s *Session) connect(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.backend.opts.ConnectTimeout,
		fmt.Errorf("it did not answer initialize within %v", s.backend.opts.ConnectTimeout))
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	l := newLink(s)
	conn, err := s.backend.dialer.Dial(ctx, l)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	close(l.ready)
	result, err := l.shakeHands(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		l.end(err)
		l.close()
		return nil, err
	}
	s.mu.Lock()
	again := s.result != nil
	s.link, s.result = l, result
	hello := s.initialized
	s.mu.Unlock()
	s.wg.Go(l.watch)
	if hello.Kind() != wire.Invalid {
		if err := conn.Send(ctx, hello); err != nil {
			l.end(err)
			return nil, fmt.Errorf("it did not take the initialized notification: %w", err)
		}
	}
	if again {
		s.restore(ctx, l)
	}
	return l, nil
}

// restore repeats on a new connection what the client had set on the old one.
// What the backend refuses now is logged and left.
func (s *Session) restore(ctx context.Context, l *link) {
	s.mu.Lock()
	repeat := make([]wire.Message, 0, 1+len(s.subscribed))
	if s.level.Kind() != wire.Invalid {
		repeat = append(repeat, s.level)
	}
	for _, m := range s.subscribed {
		repeat = append(repeat, m)
	}
	s.mu.Unlock()
	for _, m := range repeat {
		if _, err := l.call(ctx, m, s.caller); err != nil {
			s.backend.log.Warn("state of the client not restored", "method", m.Method(), "err", err)
		}
	}
}
