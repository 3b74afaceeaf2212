package relay

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// session is one legacy client, or all requests of modern clients that have a profile
// in common, with a session at each backend of its route.
type session struct {
	relay     *Relay
	id        string
	principal string
	hello     back.Hello
	asker     front.Asker   // for what belongs to no call
	revision  wire.Revision // offered to the backends
	caps      wire.ClientCaps
	declares  bool // the client knows the form extension
	log       *slog.Logger

	routes    []*route   // in the order of precedence
	via       *route     // the only route of a transparent session, or nil
	catalogue *catalogue // nil in a transparent session

	news *outbox // takes what belongs to no call to a legacy client; nil for modern ones

	// Of a session for modern clients; zero in one of a legacy client.
	profile   profile
	listeners *listeners
	visits    visits
	users     int         // requests and calls that use it; guarded by profiles.mu
	used      time.Time   // when it was last in use; guarded by profiles.mu
	idle      *time.Timer // ends it when nobody uses it; guarded by profiles.mu

	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // connections that are still being made

	// mu guards the fields below; held for moments.
	mu       sync.Mutex
	progress map[string]progress    // open questions that want progress, by the token that the client sees
	forms    map[*keptForm]struct{} // open forms that go with the session; nil before the first
}

// progress is where the client's progress on a question goes.
type progress struct {
	route   *route
	request *input.Request
	token   []byte // the backend's own, raw
}

// route is the way of one session to one backend.
type route struct {
	session *session
	backend *back.Backend
	back    *back.Session

	// Of a session for modern clients.
	tools       toolbook
	instances   *instances     // nil for a legacy client
	subscribing chan struct{}  // held, by the token in it, while the backend is told, ackWait at most; guards subscribed
	subscribed  map[string]int // listens to each resource, by its URI

	mu      sync.Mutex            // guards the fields below; held for moments
	attempt *attempt              // the newest to connect for the sake of a catalogue; nil before the first
	levels  map[*back.Session]int // how much each instance was told to say, as wire.Severity
}

func newRoute(s *session, b *back.Backend) *route {
	r := &route{session: s, backend: b}
	r.back = b.NewSession(s.hello, newCaller(r, s.asker, wire.Message{}))
	if s.hello.Modern {
		r.instances = newInstances(r)
		r.subscribing = make(chan struct{}, 1)
		r.subscribed = make(map[string]int)
		r.levels = make(map[*back.Session]int)
		r.tools.turn = make(chan struct{}, 1)
	}
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
	switch {
	case managed(req):
		resp, err = s.manage(call)
		via = nil
	case via != nil:
		resp, err = via.call(ctx, call, req)
	default:
		resp, via, err = s.catalogue.serve(ctx, call)
	}
	if err != nil {
		resp = wire.NewFailure(req.ID(), wire.ErrorFrom(err))
	}
	return resp, via
}

// call carries one request of the client to the backend. Its name in req is the
// backend's own.
func (r *route) call(ctx context.Context, x *exchange, req wire.Message) (wire.Message, error) {
	if x.leg != nil {
		return r.modern(ctx, x, req)
	}
	return r.work(ctx, x, req, r.back)
}

// work sends a request to the backend in one session with it, with the exchange
// behind it for whatever the backend asks.
func (r *route) work(ctx context.Context, x *exchange, req wire.Message, session *back.Session) (wire.Message, error) {
	c := newCaller(r, x, req)
	limit := r.backend.CallTimeout
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.clock = newClock(limit, func() { cancel(overtime(r.backend.Name, limit)) })
	resp, err := r.run(working, x, req, session, c)
	x.human.Add(int64(c.clock.stop()))
	c.finish(ctx, working.Err() != nil)
	if r.instances != nil && req.Method() == "tools/list" && resp.Kind() == wire.Result {
		r.tools.learn(resp.Result())
	}
	return resp, err
}

// run makes the call, in the way that the eras of its ends demand.
func (r *route) run(ctx context.Context, x *exchange, req wire.Message, session *back.Session, c *caller) (wire.Message, error) {
	if x.asked != nil {
		return session.Continue(ctx, req, *x.asked, c)
	}
	if !x.parks {
		return session.Call(ctx, req, c)
	}
	call := func() (wire.Message, error) { return session.Call(ctx, req, c) }
	if name, _ := wire.Text(req.Params(), "name"); req.Method() == "tools/call" && r.has("tasks") && r.tool(ctx, x, name).task {
		call = func() (wire.Message, error) { return r.runTask(ctx, session, req, c) }
	}
	resp, err := call()
	if err != nil {
		return resp, err
	}
	return r.urlsFirst(ctx, c, resp, call)
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
	if forServers(m) {
		s.log.Warn("notification dropped: it is for servers to send", "method", m.Method())
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
	p.request.Touch() // somebody is at it
	p.route.notify(ctx, m.WithParams(wire.Set(m.Params(), p.token, "progressToken")))
}

func (r *route) notify(ctx context.Context, m wire.Message) {
	if err := r.back.Notify(ctx, m); err != nil {
		r.session.log.Warn("notification not delivered", "backend", r.backend.Name, "err", err)
	}
}

// Close releases the session, its backends at the same time.
func (s *session) Close() {
	s.dropForms()
	s.stop(wire.Errorf(wire.ReasonClientGone, "the session has ended"))
	var closing sync.WaitGroup
	for _, r := range s.routes {
		if r.instances != nil {
			closing.Go(r.instances.close)
		} else {
			closing.Go(r.back.Close)
		}
	}
	closing.Wait()
	s.wg.Wait()
	if s.news != nil {
		s.news.close()
	}
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
