package back

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Hello is what a session says to its backend about the client behind it.
type Hello struct {
	// Params are those of initialize, as a legacy backend is to see them:
	// protocolVersion, capabilities, clientInfo.
	Params []byte

	// Modern says that the client is of the modern era: a backend that speaks both
	// is spoken to in it. Otherwise that backend is spoken to in the legacy era.
	Modern bool
}

// Session is one client's session with one backend, of whichever era, or that of all
// modern clients which may share one; the caller knows. It outlives
// its connections: when the backend exits or loses the session, the calls in
// progress fail, and the next one connects and shakes hands again. Its methods are
// safe for concurrent use.
type Session struct {
	backend *Backend
	hello   Hello
	caller  Caller // for what belongs to no call

	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // watchers of links

	closing sync.Once
	dialing chan struct{} // held, by the token in it, while connecting

	// mu guards the fields below; held for moments.
	mu          sync.Mutex
	link        *link                   // nil before the first connection; may be dead
	result      []byte                  // what [Session.Result] returns; nil before the first connection
	initialized wire.Message            // the client's notification, once it came
	level       wire.Message            // the last logging/setLevel; for the next connection, and for every modern request
	subscribed  map[string]wire.Message // resources/subscribe by URI; likewise, and for the modern listen
}

// NewSession returns a session that is not connected yet. What the backend sends
// and that belongs to no call goes to caller.
func (b *Backend) NewSession(h Hello, caller Caller) *Session {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Session{
		backend: b, hello: h, caller: caller, ctx: ctx, stop: stop,
		dialing:    make(chan struct{}, 1),
		subscribed: make(map[string]wire.Message),
	}
}

// Connect finds out what the backend speaks if that is not known, shakes hands
// with it if that has not happened, and returns [Session.Result].
func (s *Session) Connect(ctx context.Context) (result []byte, err error) {
	if _, err := s.connected(ctx); err != nil {
		return nil, err
	}
	return s.Result(), nil
}

// Result returns what the backend says of itself; nil before the first
// connection. A legacy backend says it in an InitializeResult, as it wrote it. A
// modern one says it in a DiscoverResult: a modern client gets that as it was
// written, a legacy one an InitializeResult made of it.
func (s *Session) Result() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.result
}

// Modern reports whether the backend is spoken to in the modern era. It is
// meaningful once Connect has returned.
func (s *Session) Modern() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link != nil && s.link.modern
}

// Attributes reports whether it is known to which call a question of the backend
// belongs, and not only inferred. It is meaningful once Connect has returned.
func (s *Session) Attributes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link != nil && (s.link.modern || s.link.conn.Attributes())
}

// Call sends a request of the client and returns the response, with the id of the
// request. What the backend sends meanwhile goes to caller. When ctx ends, the
// backend is told that the request is cancelled; a *wire.Error says why there is
// no response in every other case.
//
// A request of a modern client that goes to a modern backend is one exchange,
// input_required and all. For a legacy client the questions of a modern backend go
// to caller, and the request is repeated with the answers.
func (s *Session) Call(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	l, err := s.connected(ctx)
	if err != nil {
		return wire.Message{}, err
	}
	resp, err := l.serve(ctx, req, caller)
	if l.lost(ctx, resp, err) {
		// The backend did not process the request, so that it may be sent again.
		modern := l.modern
		if l, err = s.connected(ctx); err != nil {
			return wire.Message{}, err
		}
		if l.modern != modern && wire.IsModern(req) {
			// Who made the request counted on the other era.
			return wire.Message{}, wire.Errorf(wire.ReasonBackendGone, "the backend %s has changed", s.backend.Name).
				With("backend", s.backend.Name).Hint("try again")
		}
		resp, err = l.serve(ctx, req, caller)
	}
	if err != nil {
		return wire.Message{}, s.explain(ctx, err)
	}
	if l.modern {
		return l.fit(req, resp), nil
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

// Notify sends a notification of the client, unless there is no connection: a
// backend that comes later learns what it needs by its own handshake. A modern
// backend takes none from a legacy client; what they mean for it is done.
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
	if l.modern {
		l.noted(m)
		return nil
	}
	if err := l.conn.Send(ctx, m); err != nil {
		return fmt.Errorf("sending %s to backend %s: %w", m.Method(), s.backend.Name, err)
	}
	return nil
}

// Close ends the session and returns when nothing of it is left. A second call does
// nothing more.
func (s *Session) Close() { s.closing.Do(s.close) }

func (s *Session) close() {
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
	for _, gaveUp := range []context.Context{ctx, s.ctx} { // which says nothing of the backend
		if err != nil && gaveUp.Err() != nil {
			return nil, context.Cause(gaveUp)
		}
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

// connect dials and shakes hands in the era that suits the client best, and
// brings the backend to where the client left the last connection. A backend that
// does not speak the one era is dialled again for the other: it may not have
// outlived the attempt.
func (s *Session) connect(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	deadline := time.Now().Add(s.backend.opts.ConnectTimeout)
	var refused error // by the first era; and by the legacy one if both refuse
	for _, modern := range s.backend.order(s.hello.Modern) {
		l, result, err := s.attempt(ctx, modern, deadline)
		switch {
		case err == nil:
			s.backend.learn(modern, refused != nil || !modern && l.legacyOnly())
			return l, s.adopt(ctx, l, result)
		case !isNotSpoken(err):
			if modern && ctx.Err() == nil {
				s.backend.forget() // it may be modern no longer
			}
			return nil, err
		case refused == nil || !modern:
			refused = err
		}
	}
	return nil, refused
}

// attempt dials, and shakes hands in one era.
func (s *Session) attempt(ctx context.Context, modern bool, deadline time.Time) (*link, []byte, error) {
	method := "initialize"
	if modern {
		method = "server/discover"
	}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, overdue(method, s.backend.opts.ConnectTimeout))
	defer cancel()
	l := newLink(s, modern)
	conn, err := s.backend.dialer.Dial(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	l.attach(conn)
	var result []byte
	if modern {
		result, err = l.discover(ctx, s.backend.probeLimit())
	} else {
		result, err = l.shakeHands(ctx)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		l.end(err)
		l.close()
		return nil, nil, err
	}
	return l, result, nil
}

// adopt makes l, whose handshake had this result, the session's connection.
func (s *Session) adopt(ctx context.Context, l *link, result []byte) error {
	if l.modern {
		l.capabilities = wire.Get(result, "capabilities")
		if !s.hello.Modern {
			result = asInitializeResult(result, s.hello.Params, s.backend.Name)
		}
	}
	s.mu.Lock()
	again := s.result != nil
	s.link, s.result = l, result
	hello := s.initialized
	s.mu.Unlock()
	s.wg.Go(l.watch)
	if l.modern {
		l.listener.pursue()
		return nil
	}
	if hello.Kind() != wire.Invalid {
		if err := l.conn.Send(ctx, hello); err != nil {
			l.end(err)
			return fmt.Errorf("it did not take the initialized notification: %w", err)
		}
	}
	if again {
		s.restore(ctx, l)
	}
	return nil
}
