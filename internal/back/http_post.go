package back

import (
	"context"
	"net/http"
	"strings"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Send posts one message and, for a request, reads the answer.
//
// "Every JSON-RPC message sent from the client MUST be a new HTTP POST request to
// the MCP endpoint."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func (c *httpConn) Send(ctx context.Context, m wire.Message) error {
	err := c.post(ctx, m)
	if r, ok := err.(*refusal); ok { // of this message; one of a GET is wrapped
		return settle(ctx, c.life, c.in, m, r)
	}
	return err
}

// post is Send, except that a refusal is returned as it is.
func (c *httpConn) post(ctx context.Context, m wire.Message) error {
	h := c.header(acceptAnswer, m.Method() != "initialize")
	return c.exchange(ctx, m, h, c.site.o.ResumeAttempts)
}

// postModern posts a request of the modern era, which has no session and is not
// resumed: the headers say what the message says.
//
// "The client MUST include the request metadata headers on each POST request."
// "Resumable SSE streams via Last-Event-ID are not supported."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
func (c *httpConn) postModern(ctx context.Context, m wire.Message, params mirror.Params) error {
	h := c.site.header(acceptAnswer)
	h.Del(sessionHeader)
	mirror.SetStandard(h, m)
	params.Set(h, wire.Get(m.Params(), "arguments"))
	return c.exchange(ctx, m, h, noResumption)
}

// noResumption is a number of attempts to resume a stream.
const noResumption = -1

// exchange posts one message with the headers h and, for a request, reads the
// answer.
func (c *httpConn) exchange(ctx context.Context, m wire.Message, h http.Header, attempts int) error {
	t, err := c.life.enter(ctx)
	if err != nil {
		return err
	}
	a := &answer{task: t, conn: c, stream: stream{in: c.in, max: c.site.o.MaxMessage, of: m.ID(), attempts: attempts}}
	defer a.done()
	h.Set("Content-Type", "application/json")
	resp, err := c.site.do(t.ctx, http.MethodPost, c.site.url.String(), h, m.Raw())
	if err != nil {
		return err
	}
	a.body = resp.Body
	switch {
	case resp.StatusCode/100 != 2:
		return c.refuse(h, resp)
	case m.Kind() == wire.Request:
		if m.Method() == "initialize" {
			err = c.begin(resp)
		}
		if err == nil {
			err = a.take(resp)
		}
		return err
	case m.Method() == "notifications/initialized":
		c.listen()
	}
	return nil // "If the server accepts the input, the server MUST return HTTP status code 202 Accepted with no body."
}

// refuse turns a status that is no success into an error; h is what was sent.
func (c *httpConn) refuse(h http.Header, resp *http.Response) error {
	r := c.site.refused(resp)
	if h.Get(sessionHeader) != "" && (r.status == http.StatusNotFound || r.forgotten()) {
		c.lose()
		return gone(ErrSessionLost, "the backend has lost the session")
	}
	return r
}

// forgotten reports whether a refusal means that the session is unknown, though
// its status is not 404: servers made after the examples of the TypeScript SDK,
// server-everything among them, answer 400 with an error that names no request.
func (r *refusal) forgotten() bool {
	if r.status != http.StatusBadRequest || r.reply.Kind() != wire.Failure || r.reply.ID() != "" {
		return false
	}
	text, _ := wire.Text(r.reply.Error(), "message")
	return string(wire.Get(r.reply.Error(), "code")) == "-32000" && strings.Contains(strings.ToLower(text), "session id")
}

// settle ends a message that was refused. The backend's own error is the response
// to a request, though it may not name it:
//
// "If the server cannot accept the input, it MUST return an HTTP error status code
// (e.g., 400 Bad Request). The HTTP response body MAY comprise a JSON-RPC error
// response that has no id."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func settle(ctx context.Context, l *life, in *inbox, m wire.Message, r *refusal) error {
	if m.Kind() != wire.Request || !r.answers(m.ID()) {
		return r
	}
	t, err := l.enter(ctx)
	if err != nil {
		return err
	}
	defer t.leave()
	in.receive(r.reply, m.ID())
	return nil
}

// answers reports whether the refusal holds the response to the request id.
func (r *refusal) answers(id wire.ID) bool {
	of := r.reply.ID()
	return r.reply.Kind() == wire.Failure && !r.credentials() && (of == "" || of == id)
}
