package back

import (
	"context"
	"fmt"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// shakeHands initializes the session at the backend.
func (l *link) shakeHands(ctx context.Context) (result []byte, err error) {
	req := wire.NewRequest(wire.IntID(0), "initialize", l.session.hello.Params)
	resp, err := l.call(ctx, req, l.session.caller)
	if err != nil {
		return nil, err
	}
	if resp.Kind() == wire.Failure {
		return nil, refusedInitialize(resp)
	}
	revision, _ := wire.Text(resp.Result(), "protocolVersion")
	if !wire.Revision(revision).Known() {
		return nil, fmt.Errorf("it speaks protocol revision %q, which this gateway does not", revision)
	}
	l.conn.Negotiated(wire.Revision(revision))
	return resp.Result(), nil
}

// call sends req under an id of ours and waits for the response. What only the
// modern era says is taken out of it.
func (l *link) call(ctx context.Context, req wire.Message, caller Caller) (wire.Message, error) {
	meta := wire.Get(req.Params(), "_meta")
	if wire.Get(meta, wire.MetaRevision) != nil {
		req = req.WithParams(wire.WithoutModernMeta(req.Params()))
	}
	c := &call{
		method:   req.Method(),
		token:    string(wire.Get(meta, "progressToken")),
		caller:   caller,
		response: make(chan wire.Message, 1),
	}
	id := l.newID()
	return l.exchange(ctx, id, c, req.WithID(id))
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
