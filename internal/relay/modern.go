package relay

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/park"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Answer serves one request of a modern client.
func (r *Relay) Answer(ctx context.Context, l *front.Leg) wire.Message {
	s, err := r.profiles.enter(l)
	if err != nil {
		return wire.NewFailure(l.Request().ID(), err.Modern())
	}
	defer r.profiles.leave(s)
	return s.answer(ctx, l)
}

func (s *session) answer(ctx context.Context, l *front.Leg) wire.Message {
	began := time.Now()
	out := &outbox{to: l}
	defer out.close()
	x := &exchange{Asker: legAsker{outbox: out}, request: l.Request(), leg: l}
	resp, via, err := s.modern(ctx, x)
	if err != nil {
		resp = wire.NewFailure(l.Request().ID(), wire.ErrorFrom(err).Modern())
	}
	if !x.parks { // a call that parks is reported when it ends, and not with each leg
		s.report(x, via, began, resp)
	}
	return resp
}

// modern serves one request in the words of the modern era.
//
// "If the io.modelcontextprotocol/logLevel value carried in a request's _meta is not a
// recognized log level, the server SHOULD reject that request with a standard JSON-RPC
// error: Invalid log level: -32602 (Invalid params)"
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#error-handling
func (s *session) modern(ctx context.Context, x *exchange) (resp wire.Message, via *route, err error) {
	x.request = s.relay.allowed(x.request)
	if level := x.leg.Meta.LogLevel; level != "" && wire.Severity(level) < 0 {
		return wire.Message{}, nil, wire.Errorf(wire.ReasonParams, "there is no log level %q", level)
	}
	switch method := x.request.Method(); method {
	case "server/discover":
		return s.discover(ctx, x)
	case "subscriptions/listen":
		resp, err = s.listen(ctx, x)
		return resp, s.via, err
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		// "Remove ping, logging/setLevel, and notifications/roots/list_changed."
		// https://modelcontextprotocol.io/specification/2026-07-28/changelog
		return wire.Message{}, nil, wire.Errorf(wire.ReasonMethod, "revision %s does not know the method %s", x.leg.Meta.Revision, method)
	}
	if managed(x.request) {
		resp, err = s.manage(x)
		return resp, nil, err
	}
	if s.via != nil {
		resp, err = s.via.call(ctx, x, x.request)
		return resp, s.via, err
	}
	return s.catalogue.serve(ctx, x)
}

// modern carries a request of a modern client to the backend, in whichever era
// that speaks.
func (r *route) modern(ctx context.Context, x *exchange, req wire.Message) (wire.Message, error) {
	resumes := r.resumes(req)
	if !resumes || r.back.Result() == nil {
		if _, err := r.back.Connect(ctx); err != nil {
			return wire.Message{}, err
		}
	}
	if req.Method() == "tools/call" {
		if err := r.checkHeaders(ctx, x, req); err != nil {
			return wire.Message{}, err
		}
	}
	switch {
	case resumes:
		return r.park(ctx, x, req)
	case r.back.Modern():
		return r.pass(ctx, x, req)
	case strings.HasPrefix(req.Method(), "tasks/"):
		return wire.NewFailure(req.ID(), wire.Errorf(wire.ReasonMethod, "the tasks of backend %s are not those of this revision", r.backend.Name)), nil
	case wire.MayAsk(req.Method()):
		return r.park(ctx, x, req)
	}
	return r.plain(ctx, x, req)
}

// resumes reports whether a request goes on with a call that is or was parked, or claims
// to. That needs no connection to the backend, once there was one: the call has its own,
// or its result already, whatever has become of the backend since. No backend, of either
// era, gets the state of such a call: it would take the retry for a fresh call.
func (r *route) resumes(req wire.Message) bool {
	state, ok := wire.Text(req.Params(), "requestState")
	if !ok || !wire.MayAsk(req.Method()) {
		return false
	}
	name, ours := r.session.relay.lot.Peek(state)
	return ours && name == r.backend.Name
}

// plain carries a request that cannot ask to a legacy backend.
func (r *route) plain(ctx context.Context, x *exchange, req wire.Message) (wire.Message, error) {
	// Progress tokens of several clients meet in one session; without a call that
	// could take it, there is none.
	req = req.WithParams(wire.Drop(req.Params(), "_meta", "progressToken"))
	quiet := &exchange{Asker: heard{x.Asker, x.leg.Meta.LogLevel}, request: x.request}
	resp, err := r.work(ctx, quiet, req, r.back)
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Reason == wire.ReasonBackendDown && !standard(req.Method()) {
		// It was there a moment ago. Legacy servers have no one way to say that they
		// do not know a method: some refuse the HTTP request.
		return wire.Message{}, wire.Errorf(wire.ReasonMethod, "backend %s does not take the method %s", r.backend.Name, req.Method())
	}
	return r.adapt(req.Method(), resp), err
}

// standard reports whether a method is one that both eras define.
func standard(method string) bool {
	family, _, _ := strings.Cut(method, "/")
	switch family {
	case "completion", "prompts", "resources", "tools":
		return true
	}
	return false
}

// pass carries a request to a backend of the client's own era, as it is. What it asks
// passes too, unless Beckon has a part in the answers.
func (r *route) pass(ctx context.Context, x *exchange, req wire.Message) (wire.Message, error) {
	began := time.Now()
	for key, answer := range wire.Members(wire.Get(req.Params(), "inputResponses")) {
		r.session.relay.opts.Observer.Passed(Passing{Question: r.question(req), Key: key, Answer: answer})
	}
	if !r.backend.SealState || !wire.MayAsk(req.Method()) {
		resp, err := r.work(ctx, x, req, r.back)
		if err == nil && r.concerns(resp) {
			return r.takeOver(ctx, x, req, resp, began), nil
		}
		return r.judged(req, resp, err)
	}
	lot, p := r.session.relay.lot, r.party()
	if v := wire.Get(req.Params(), "requestState"); v != nil && string(v) != "null" {
		state, _ := wire.Text(req.Params(), "requestState") // what is no text was sealed for nobody
		inner, err := lot.Open(state, p, x.leg.Request())
		if err != nil {
			return wire.Message{}, err
		}
		req = req.WithParams(wire.Set(req.Params(), wire.Quote(inner), "requestState"))
	}
	resp, err := r.work(ctx, x, req, r.back)
	if err == nil && r.concerns(resp) {
		return r.takeOver(ctx, x, req, resp, began), nil
	}
	resp, err = r.judged(req, resp, err)
	if state, ok := wire.Text(resp.Result(), "requestState"); ok && err == nil {
		sealed := wire.Quote(lot.Seal(state, p, x.leg.Request()))
		resp = resp.WithResult(wire.Set(resp.Result(), sealed, "requestState"))
	}
	return resp, err
}

// judged returns the response of a modern backend to a modern client, unless it asks
// what the operator lets nobody be asked. Such a question passes without the broker,
// whose rules hold for it all the same.
func (r *route) judged(req, resp wire.Message, err error) (wire.Message, error) {
	if err != nil {
		return resp, err
	}
	s := r.session
	for key, request := range wire.Members(wire.Get(resp.Result(), "inputRequests")) {
		method, ok := wire.Text(request, "method")
		params := wire.Get(request, "params")
		if !ok || len(params) > 0 && params[0] != '{' {
			continue // it is the client that refuses what is no request
		}
		q := r.question(req)
		q.Message = wire.NewRequest(wire.IntID(0), method, params)
		refusal := s.relay.opts.Broker.Judge(q)
		if refusal == nil {
			s.relay.opts.Observer.Passed(Passing{Question: q, Key: key})
		} else {
			refusal = refusal.With("backend", r.backend.Name)
			refusal.Code = wire.CodeInternal // it is not the client's request that is wrong
			return wire.Message{}, refusal
		}
	}
	return resp, nil
}

// question is what is known of the questions that a modern backend asks by the
// response to req.
func (r *route) question(req wire.Message) input.Question {
	s := r.session
	return input.Question{Backend: r.backend.Name, Principal: s.principal, Session: s.id, Call: label(req), Caps: s.caps}
}

// allowed takes out of what a request says of its client what is switched off here.
// Otherwise the request stays as it is.
func (r *Relay) allowed(req wire.Message) wire.Message {
	if len(r.opts.Off) == 0 {
		return req
	}
	caps := wire.Get(req.Params(), "_meta", wire.MetaCapabilities)
	left := wire.Get(r.offer(wire.Set(nil, caps, "capabilities")), "capabilities")
	if len(left) == len(caps) {
		return req
	}
	return req.WithParams(wire.Set(req.Params(), left, "_meta", wire.MetaCapabilities))
}

func (r *route) party() park.Party {
	return park.Party{Principal: r.session.principal, Backend: r.backend.Name, Caps: r.session.caps}
}

// park carries a call to a legacy backend, where it goes on while the client goes
// away to collect answers; or joins the call that goes on.
//
// A retry without state is none of ours: whatever it answers was not asked here,
// and to take it for a fresh call could run the tool twice.
func (r *route) park(ctx context.Context, x *exchange, req wire.Message) (wire.Message, error) {
	x.parks = true
	lot := r.session.relay.lot
	switch {
	case wire.Get(req.Params(), "requestState") != nil:
		return lot.Resume(ctx, x.leg, r.party()), nil
	case wire.Get(req.Params(), "inputResponses") != nil:
		return wire.Message{}, wire.Errorf(wire.ReasonState, "the request has inputResponses and no requestState").
			Hint("send the requestState that came with the inputRequests, or begin without inputResponses")
	}
	return lot.Begin(ctx, x.leg, r.party(), func(ctx context.Context, c *park.Call) wire.Message {
		return r.perform(ctx, c, x.leg.Meta, req)
	}), nil
}

// perform is the work of a call that may park. It runs once, however many legs the
// client needs. While the client is away it waits in here, so that it is frugal with its
// stack: what can be done before and after is done in functions of its own.
func (r *route) perform(ctx context.Context, c *park.Call, meta wire.Meta, req wire.Message) wire.Message {
	began := time.Now()
	x, err := r.enter(c)
	if err != nil {
		return failed(req, err)
	}
	defer r.session.relay.profiles.leave(r.session)
	resp, err := r.leased(ctx, x, meta, tokened(c, req))
	return r.performed(x, began, r.adapt(req.Method(), resp), err)
}

// enter begins a call that may park. The session is kept until it is left.
func (r *route) enter(c *park.Call) (*exchange, error) {
	if !r.session.relay.profiles.retain(r.session) {
		return nil, wire.Errorf(wire.ReasonStopping, "the gateway is shutting down")
	}
	return &exchange{Asker: c, request: c.Request(), parks: true}, nil
}

// tokened gives req the progress token of its call.
func tokened(c *park.Call, req wire.Message) wire.Message {
	return req.WithParams(wire.Set(req.Params(), c.Token(), "_meta", "progressToken"))
}

// performed reports a call that may park, and returns its response.
func (r *route) performed(x *exchange, began time.Time, resp wire.Message, err error) wire.Message {
	if err != nil {
		resp = failed(x.request, err)
	}
	r.session.report(x, r, began, resp)
	return resp
}

// failed is the response to a request of a modern client that ended with err.
func failed(req wire.Message, err error) wire.Message {
	return wire.NewFailure(req.ID(), wire.ErrorFrom(err).Modern())
}

// leased does the work with a session of the backend in which nothing else can be
// taken for the origin of a question.
func (r *route) leased(ctx context.Context, x *exchange, meta wire.Meta, req wire.Message) (wire.Message, error) {
	if r.back.Attributes() || !r.mayBeAsked() {
		r.setLevel(ctx, r.back, meta.LogLevel)
		return r.work(ctx, x, req, r.back)
	}
	in, err := r.instances.lease(ctx, func() { tellWaiting(x, req, r.backend.Name) })
	if err != nil {
		return wire.Message{}, err
	}
	r.setLevel(ctx, in.Session, meta.LogLevel)
	resp, err := r.work(ctx, x, req, in.Session)
	if unanswered(ctx, err) {
		r.instances.abandon(in)
	} else {
		r.instances.release(in)
	}
	return resp, err
}

// unanswered reports whether a call that ended with err was given up before the
// backend was done with it: it was cancelled, or took too long.
func unanswered(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*wire.Error](err)
	return err != nil && (ctx.Err() != nil || ok && e.Reason == wire.ReasonTimeout)
}

// tellWaiting tells a client that wants progress what its call waits for.
func tellWaiting(x *exchange, req wire.Message, backend string) {
	p := []byte(`{"progress":0}`)
	p = wire.Set(p, wire.Get(req.Params(), "_meta", "progressToken"), "progressToken")
	p = wire.Set(p, wire.Quote("waiting for backend "+backend+": its instances are busy with calls that may ask"), "message")
	x.Notify(wire.NewNotification("notifications/progress", p))
}

// mayBeAsked reports whether there is anything that the client can be asked and the
// revision of the legacy backend lets it ask.
func (r *route) mayBeAsked() bool {
	text, _ := wire.Text(r.back.Result(), "protocolVersion")
	revision, caps := wire.Revision(text), r.session.caps
	return caps.Sampling || caps.Roots ||
		caps.Form && revision.Since(wire.R20250618) || caps.URL && revision.Since(wire.R20251125)
}

// legAsker is the way to a modern client during one request that cannot park:
// notifications go on its stream, and questions cannot be asked.
type legAsker struct {
	*outbox
	nobody
}

// nobody is an Asker through which nobody can be asked: behind it is a modern
// client, which is asked by the result of a call and in no other way.
type nobody struct{}

func (nobody) Offer(r *input.Request) {
	r.Withdraw(input.Unseen, wire.Errorf(wire.ReasonNoClient,
		"no client is available: the client of this request can only be asked during tools/call, prompts/get and resources/read"))
}

func (nobody) Retract(*input.Request, string) {}
