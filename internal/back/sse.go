package back

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// SSE dials a backend that speaks HTTP+SSE, the transport of revision
// 2024-11-05.
type SSE struct{ site *site }

// NewSSE returns a dialer for o.URL, the SSE endpoint.
func NewSSE(log *slog.Logger, o HTTPOptions) (*SSE, error) {
	c, err := newSite(log, o)
	if err != nil {
		return nil, err
	}
	return &SSE{c}, nil
}

// Close gives up the network connections that the dialer keeps for reuse. What it
// dialled must have been closed. It returns nil.
func (d *SSE) Close() error {
	d.site.Close()
	return nil
}

// Dial opens the event stream and waits for the endpoint event.
func (d *SSE) Dial(ctx context.Context, r Receiver) (Conn, error) {
	c, err := d.dial(ctx, newLife(), &inbox{r: r, log: d.site.log})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// dial makes a connection out of l, which stays as it is when that fails.
func (d *SSE) dial(ctx context.Context, l *life, in *inbox) (*sseConn, error) {
	t, err := l.enter(ctx)
	if err != nil {
		return nil, err
	}
	c := &sseConn{site: d.site, in: in, life: l}
	h := d.site.header(acceptStream)
	resp, err := d.site.do(t.ctx, http.MethodGet, d.site.url.String(), h, nil)
	if err == nil {
		if err = c.start(t, resp); err != nil {
			resp.Body.Close()
		}
	}
	if err != nil {
		t.leave()
		return nil, err
	}
	return c, nil
}

// sseConn is one session over HTTP+SSE, which is one event stream. Everything
// that the backend sends comes on it.
type sseConn struct {
	site     *site
	in       *inbox
	life     *life
	endpoint string // where messages are posted
}

func (c *sseConn) Attributes() bool { return false }

// legacyOnly says that the modern era does not know this transport.
func (c *sseConn) legacyOnly() bool { return true }

func (c *sseConn) Negotiated(r wire.Revision) { c.in.negotiated(r) }

func (c *sseConn) Done() <-chan struct{} { return c.life.ctx.Done() }

func (c *sseConn) Err() error { return context.Cause(c.life.ctx) }

func (c *sseConn) Close() { c.life.close(closed()) }

// start waits for the endpoint event on the stream in resp, and then takes over
// the stream and t.
//
// "When a client connects, the server MUST send an endpoint event containing a URI
// for the client to use for sending messages. All subsequent client messages MUST
// be sent as HTTP POST requests to this endpoint."
// https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
func (c *sseConn) start(t *task, resp *http.Response) error {
	switch {
	case resp.StatusCode/100 != 2:
		return c.site.refused(resp)
	case mediaType(resp) != "text/event-stream":
		return down(fmt.Errorf("content type %q", mediaType(resp)), "the backend has no event stream at its URL")
	}
	s := &stream{in: c.in, max: c.site.o.MaxMessage}
	s.open(resp.Body)
	late := time.AfterFunc(c.site.o.ConnectTimeout, func() {
		t.cancel(down(errors.New("no endpoint event"), "the backend does not tell where to send messages"))
	})
	err := c.locate(s, resp.Request.URL)
	late.Stop()
	switch {
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx)
	case err != nil:
		return err
	case !t.release():
		return abandoned(t.ctx)
	}
	go c.read(t, s, resp.Body)
	return nil
}

// locate waits for the endpoint. It must have the origin of the stream: the
// headers for the backend are for nobody else.
func (c *sseConn) locate(s *stream, base *url.URL) error {
	for {
		e, err := s.events.Next()
		switch {
		case errors.Is(err, wire.ErrTooLong):
			c.in.noise(err, "")
			continue
		case err != nil:
			return gone(err, "the backend ended its event stream at once")
		case e.Type != "endpoint":
			c.in.noise(fmt.Errorf("event %q before the endpoint", e.Type), "")
			continue
		}
		at, err := base.Parse(string(e.Data))
		if err != nil {
			return gone(errors.New("malformed URL in the endpoint event"), "the backend does not tell where to send messages")
		}
		if !sameOrigin(at, base) {
			return gone(fmt.Errorf("the endpoint is at %s://%s", at.Scheme, at.Host),
				"the backend wants messages sent to another origin, which is refused")
		}
		at.User = base.User
		c.endpoint = at.String()
		return nil
	}
}

// read hands on what comes until the stream ends, and the connection with it.
func (c *sseConn) read(t *task, s *stream, body io.ReadCloser) {
	defer t.leave()
	defer body.Close()
	_, err := s.read()
	c.life.end(gone(err, "the backend ended its event stream"))
}

func (c *sseConn) Send(ctx context.Context, m wire.Message) error {
	err := c.post(ctx, m)
	if r, ok := err.(*refusal); ok {
		return settle(ctx, c.life, c.in, m, r)
	}
	return err
}

func (c *sseConn) post(ctx context.Context, m wire.Message) error {
	t, err := c.life.enter(ctx)
	if err != nil {
		return err
	}
	defer t.leave()
	h := c.site.header("*/*")
	h.Set("Content-Type", "application/json")
	resp, err := c.site.do(t.ctx, http.MethodPost, c.endpoint, h, m.Raw())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode/100 == 2:
		// What the body says, "Accepted" for instance, is read so that the network
		// connection can be used again.
		io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10))
		return nil
	case resp.StatusCode == http.StatusNotFound:
		return gone(ErrSessionLost, "the backend has lost the session") // which is named by the endpoint
	}
	return c.site.refused(resp)
}
