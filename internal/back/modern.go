package back

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// modernCall is what a call has more in the modern era.
type modernCall struct {
	id       wire.ID       // ours; set for a subscriptions/listen
	params   mirror.Params // arguments that headers repeat
	probe    bool          // server/discover: a refusal counts as it is, and nobody cancels it
	wanted   []byte        // the client's progress token, raw, where token is one of ours; else nil
	listener wire.ID       // the client's id of a subscriptions/listen; "" for anything else
	logs     bool          // the request wants log messages
}

func newModernCall(method string, caller Caller) *call {
	return &call{method: method, caller: caller, response: make(chan wire.Message, 1), modernCall: new(modernCall)}
}

// unheard is the Caller of what Beckon asks for itself.
type unheard struct{}

func (unheard) Notify(wire.Message)             {}
func (unheard) Ask(Asked) (_ func(*wire.Error)) { return nil }

// serve answers one request of the client.
func (l *link) serve(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	switch {
	case !l.modern:
		return l.call(ctx, req, caller)
	case wire.IsModern(req):
		return l.pass(ctx, req, caller)
	}
	return l.bridge(ctx, req, caller)
}

// pass hands a request of a modern client to a modern backend, and the response
// back.
func (l *link) pass(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	resp, err := l.round(ctx, req, caller)
	if err != nil {
		return wire.Message{}, err
	}
	if resultType(resp) == inputRequired {
		if err := l.wrongInput(req.Method(), resp.Result(), wire.ParseMeta(req.Params()).Caps); err != nil {
			return wire.NewFailure(req.ID(), err), nil
		}
	}
	if req.Method() == "tools/list" {
		resp = l.tools(resp, false)
	}
	return resp, nil
}

// round sends one modern request and returns the response. If the headers of a
// tool call turn out not to be what the backend expects, it did not run the tool,
// and is asked what it expects.
//
// "If the server rejects a request with a HeaderMismatch error because required
// Mcp-Param-* headers are missing or do not match the body, the client SHOULD call
// tools/list to check for changes to the tool's inputSchema, then retry the original
// request with the appropriate headers."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#client-behavior
func (l *link) round(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	params := l.mirrored(ctx, req)
	resp, err := l.dispatch(ctx, req, params, caller)
	if err == nil && l.http != nil && req.Method() == "tools/call" && code(resp) == wire.CodeHeaderMismatch {
		l.listTools(ctx, req, true)
		name, _ := wire.Text(req.Params(), "name")
		params, _ = l.session.backend.mirrors.of(name)
		return l.dispatch(ctx, req, params, caller)
	}
	return resp, err
}

// dispatch sends one modern request under an id of ours. On a pipe, which other
// clients may share, its progress token is ours too.
func (l *link) dispatch(ctx context.Context, req wire.Message, params mirror.Params, caller Caller) (wire.Message, error) {
	id := l.newID()
	meta := wire.Get(req.Params(), "_meta")
	c := newModernCall(req.Method(), caller)
	c.params = params
	c.logs = wire.Get(meta, wire.MetaLogLevel) != nil
	if c.method == listenMethod {
		c.id, c.listener = id, req.ID()
	}
	if token := wire.Get(meta, "progressToken"); token != nil && l.http == nil {
		c.token, c.wanted = string(id), token
		req = req.WithParams(wire.Set(req.Params(), []byte(id), "_meta", "progressToken"))
	}
	resp, err := l.exchange(ctx, id, c, req.WithID(id))
	if err == nil && c.listener != "" {
		resp = c.inClientsTerms(resp)
	}
	return resp, err
}

// send sends m, the request of c.
func (l *link) send(ctx context.Context, c *call, m wire.Message) error {
	if l.http == nil {
		return l.conn.Send(ctx, m)
	}
	err := l.http.postModern(ctx, m, c.params)
	r, refused := err.(*refusal)
	if !refused || c.probe || !r.answers(m.ID()) {
		return err
	}
	l.respond(addressed(r.reply, m.ID()))
	return nil
}

// fit gives the response to req the form in which the client takes it.
func (l *link) fit(req, resp wire.Message) wire.Message {
	if !wire.IsModern(req) {
		resp = l.forLegacy(req, resp)
	}
	return resp.WithID(req.ID())
}

// receiveModern takes one message of a modern backend.
//
// "The server MUST NOT write JSON-RPC requests to stdout." "clients do not send
// JSON-RPC responses": what it asks all the same is dropped.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#receiving-messages
func (l *link) receiveModern(m wire.Message, of wire.ID) {
	switch m.Kind() {
	case wire.Result, wire.Failure:
		if m.ID() == "" {
			m = l.probed(m)
		}
		l.respond(m)
	case wire.Request:
		l.session.backend.log.Warn("request of a modern backend dropped", "method", m.Method())
	case wire.Notification:
		c, ok := l.concerned(m, of)
		switch {
		case !ok:
			l.session.backend.log.Debug("late notification dropped", "method", m.Method())
		case c == nil:
			l.session.caller.Notify(m)
		case m.Method() != "notifications/cancelled":
			c.caller.Notify(c.inClientsTerms(m))
		case c.listener != "":
			c.caller.Notify(c.inClientsTerms(m))
			l.respond(c.closing())
		}
	}
}

// probed gives an error without id the id of the probe, if that is in progress:
// nothing else is then.
func (l *link) probed(m wire.Message) wire.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.calls {
		if c.probe && len(l.calls) == 1 {
			return addressed(m, id)
		}
	}
	return m
}

// concerned tells whose a notification is: that of the call on whose stream it
// came, of the call whose progress token, subscription or id it names, or, of log
// messages on a pipe, of the one call that can have caused them. With several such
// calls it is nobody's in particular, and goes to the session: nil and true. False
// means that its call is over.
func (l *link) concerned(m wire.Message, of wire.ID) (c *call, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of != "" {
		c, ok = l.calls[of]
		return c, ok
	}
	if id := wire.Get(m.Params(), "_meta", wire.MetaSubscription); id != nil {
		c, ok = l.calls[wire.ID(id)]
		return c, ok
	}
	switch m.Method() {
	case "notifications/progress":
		c, ok = l.tokens[string(wire.Get(m.Params(), "progressToken"))]
		return c, ok
	case "notifications/cancelled":
		c, ok = l.calls[wire.ID(wire.Get(m.Params(), "requestId"))]
		return c, ok && c.listener != ""
	case "notifications/message":
		for _, one := range l.calls {
			if one.logs && c != nil {
				return nil, true
			} else if one.logs {
				c = one
			}
		}
	}
	return c, true
}

// inClientsTerms gives a message of the call c the progress token and the
// subscription id that the client knows.
func (c *call) inClientsTerms(m wire.Message) wire.Message {
	if m.Kind() == wire.Result {
		if wire.Get(m.Result(), "_meta", wire.MetaSubscription) != nil {
			m = m.WithResult(wire.Set(m.Result(), []byte(c.listener), "_meta", wire.MetaSubscription))
		}
		return m
	}
	if m.Kind() != wire.Notification {
		return m
	}
	p := m.Params()
	switch {
	case c.listener != "" && m.Method() == "notifications/cancelled":
		return m.WithParams(wire.Set(p, []byte(c.listener), "requestId"))
	case c.listener != "" && wire.Get(p, "_meta", wire.MetaSubscription) != nil:
		return m.WithParams(wire.Set(p, []byte(c.listener), "_meta", wire.MetaSubscription))
	case c.wanted != nil && m.Method() == "notifications/progress":
		return m.WithParams(wire.Set(p, c.wanted, "progressToken"))
	}
	return m
}

// closing is the response to a listen that the backend ends by a notification,
// after which there may be no other.
//
// "A server MUST send notifications/cancelled referencing a subscriptions/listen
// request ID when it tears down that subscription stream".
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
func (c *call) closing() wire.Message {
	meta := wire.Set(nil, []byte(c.id), wire.MetaSubscription)
	return wire.NewResult(c.id, wire.Set([]byte(`{"resultType":"complete"}`), meta, "_meta"))
}

// lost tells whether the backend did not process a request because it does not
// know the session, or is not of the era any more in which it was addressed. The
// link has ended then, and the next one finds out.
func (l *link) lost(ctx context.Context, resp wire.Message, err error) bool {
	if errors.Is(err, ErrSessionLost) {
		l.end(err)
		return true
	}
	if !l.modern || ctx.Err() != nil {
		return false
	}
	certain, suspect := strange(resp, err)
	if !suspect {
		return false
	}
	if _, err := l.discover(ctx, l.session.backend.opts.ProbeTimeout); !isNotSpoken(err) {
		return false
	}
	l.session.backend.forget()
	l.end(errors.New("it does not speak the modern era any more"))
	return certain
}

// strange tells whether what came for a modern request is not to be expected from
// a modern backend, and whether that means for certain that it was not processed.
func strange(resp wire.Message, err error) (certain, suspect bool) {
	if r, ok := errors.AsType[*refusal](err); ok {
		suspect = r.status == http.StatusNotFound
		return suspect, suspect
	}
	if resp.Kind() != wire.Failure {
		return false, false
	}
	switch code(resp) {
	case wire.CodeUnsupportedRevision:
		return true, true
	case 0, wire.CodeInvalidRequest, wire.CodeInvalidParams, wire.CodeConnectionClosed, wire.CodeResourceNotFound:
		text := strings.ToLower(ErrorText(resp))
		return false, strings.Contains(text, "initializ") // "not initialized", "before initialization": a legacy server
	}
	return false, false
}

// modernMeta is what a request says of the client in its _meta.
//
// "Clients SHOULD include io.modelcontextprotocol/clientInfo on every request"; a
// legacy client has said it once. What the modern era does not know stays away:
// tasks, and that roots may change.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
func modernMeta(h Hello) []byte {
	caps := wire.Get(h.Params, "capabilities")
	if caps == nil || caps[0] != '{' {
		caps = []byte("{}")
	}
	if !h.Modern {
		caps = wire.Drop(caps, "tasks")
		caps = wire.Drop(caps, "roots", "listChanged")
		caps = wire.Drop(caps, "extensions", wire.ExtensionTasks)
	}
	meta := wire.Set(nil, wire.Quote(string(wire.R20260728)), wire.MetaRevision)
	if info := wire.Get(h.Params, "clientInfo"); info != nil {
		meta = wire.Set(meta, info, wire.MetaClientInfo)
	}
	return wire.Set(meta, caps, wire.MetaCapabilities)
}
