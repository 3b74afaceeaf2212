package relay

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// session is one client with a session at each backend of its route.
type session struct {
	relay     *Relay
	id        string
	principal string
	asker     front.Asker   // for what belongs to no call
	revision  wire.Revision // offered to the backends
	params    []byte        // of initialize, as the backends see them
	caps      wire.ClientCaps
	log       *slog.Logger

	routes    []*route   // in the order of precedence
	via       *route     // the only route of a transparent session, or nil
	catalogue *catalogue // nil in a transparent session

	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // connections that are still being made

	// mu guards the fields below; held for moments.
	mu       sync.Mutex
	progress map[string]progress // open questions that want progress, by the token that the client sees
}

// progress is where the client's progress on a question goes.
type progress struct {
	route *route
	token []byte // the backend's own, raw
}

// route is the way of one session to one backend.
type route struct {
	session *session
	backend *back.Backend
	back    *back.Session

	mu      sync.Mutex // guards the field below
	attempt *attempt   // the newest to connect for the sake of a catalogue; nil before the first
}

func newRoute(s *session, b *back.Backend) *route {
	r := &route{session: s, backend: b}
	r.back = b.NewSession(back.Hello{Params: s.params}, newCaller(r, s.asker, wire.Message{}))
	return r
}

// open shakes hands with the backends and returns the InitializeResult.
func (s *session) open(ctx context.Context) ([]byte, *wire.Error) {
	if s.via == nil {
		return s.catalogue.open(ctx), nil
	}
	result, err := s.via.back.Connect(ctx)
	if err != nil {
		return nil, wire.ErrorFrom(err)
	}
	return result, nil
}

// Serve answers one request of the client.
func (s *session) Serve(ctx context.Context, call *front.Call) wire.Message {
	began := time.Now()
	x := &exchange{Asker: call, request: call.Request()}
	resp, via := s.serve(ctx, x)
	s.report(x, via, began, resp)
	return resp
}

// report tells how a call went.
func (s *session) report(x *exchange, via *route, began time.Time, resp wire.Message) {
	name := ""
	if via != nil {
		name = via.backend.Name
	}
	s.relay.opts.Observer.Called(Report{
		Method: x.request.Method(), Backend: name, Principal: s.principal, Session: s.id,
		Took: time.Since(began), Human: time.Duration(x.human.Load()), Response: resp,
	})
}

func (s *session) serve(ctx context.Context, call *exchange) (wire.Message, *route) {
	req := call.Request()
	var resp wire.Message
	var err error
	via := s.via
	if via != nil {
		resp, err = via.call(ctx, call, req)
	} else {
		resp, via, err = s.catalogue.serve(ctx, call)
	}
	if err != nil {
		resp = wire.NewFailure(req.ID(), wire.ErrorFrom(err))
	}
	return resp, via
}

// call sends one request of the client to the backend, with the client's call
// behind it for whatever the backend asks.
func (r *route) call(ctx context.Context, call *exchange, req wire.Message) (wire.Message, error) {
	c := newCaller(r, call, req)
	limit := r.backend.CallTimeout
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.clock = newClock(limit, func() { cancel(overtime(r.backend.Name, limit)) })
	resp, err := r.back.Call(ctx, req, c)
	call.human.Add(int64(c.clock.stop()))
	c.finish(ctx)
	return resp, err
}

func overtime(backend string, limit time.Duration) *wire.Error {
	return wire.Errorf(wire.ReasonTimeout, "the call took more than %v of working time at backend %s", limit, backend).
		With("timeoutMs", limit.Milliseconds()).With("backend", backend)
}

// Notify hands a notification of the client to the backends that it concerns.
func (s *session) Notify(ctx context.Context, m wire.Message) {
	if m.Method() == "notifications/progress" {
		s.notifyProgress(ctx, m)
		return
	}
	for _, r := range s.routes {
		r.notify(ctx, m)
	}
	if s.catalogue != nil && m.Method() == "notifications/initialized" {
		s.catalogue.initialized()
	}
}

// notifyProgress gives progress on a question to the backend that asked it.
func (s *session) notifyProgress(ctx context.Context, m wire.Message) {
	token, _ := wire.Text(m.Params(), "progressToken")
	s.mu.Lock()
	p, ok := s.progress[token]
	s.mu.Unlock()
	if !ok {
		s.log.Debug("progress on nothing that is open dropped")
		return
	}
	p.route.notify(ctx, m.WithParams(wire.Set(m.Params(), p.token, "progressToken")))
}

func (r *route) notify(ctx context.Context, m wire.Message) {
	if err := r.back.Notify(ctx, m); err != nil {
		r.session.log.Warn("notification not delivered", "backend", r.backend.Name, "err", err)
	}
}

// Close releases the session, its backends at the same time.
func (s *session) Close() {
	s.stop(wire.Errorf(wire.ReasonClientGone, "the session has ended"))
	var closing sync.WaitGroup
	for _, r := range s.routes {
		closing.Go(r.back.Close)
	}
	closing.Wait()
	s.wg.Wait()
}

// label names a call for people: its method and what it is about.
func label(req wire.Message) string {
	for _, key := range []string{"name", "uri"} {
		if v, ok := wire.Text(req.Params(), key); ok {
			return req.Method() + " " + v
		}
	}
	return req.Method()
}
