package back

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Auto dials a backend of which only the URL is known: it may speak streamable
// HTTP or HTTP+SSE. What it found out once it remembers.
type Auto struct {
	http *HTTP
	sse  *SSE
	old  atomic.Bool // the backend speaks HTTP+SSE
}

// NewAuto returns a dialer for o.URL.
func NewAuto(log *slog.Logger, o HTTPOptions) (*Auto, error) {
	c, err := newSite(log, o)
	if err != nil {
		return nil, err
	}
	return &Auto{http: &HTTP{c}, sse: &SSE{c}}, nil
}

// Close gives up the network connections that the dialer keeps for reuse. What it
// dialled must have been closed. It returns nil.
func (d *Auto) Close() error {
	return d.http.Close()
}

// Dial returns a connection that finds out with its first message, initialize,
// what the backend speaks; to a backend that is known to speak HTTP+SSE it
// connects at once.
func (d *Auto) Dial(ctx context.Context, r Receiver) (Conn, error) {
	if d.old.Load() {
		c, err := d.sse.Dial(ctx, r)
		if _, refused := errors.AsType[*refusal](err); !refused {
			return c, err
		}
		d.old.Store(false) // something else answers there now
	}
	return &autoConn{httpConn: d.http.conn(r), dialer: d}, nil
}

// autoConn is a connection of [Auto]: one over streamable HTTP, which the answer
// to initialize can turn into one over HTTP+SSE.
type autoConn struct {
	*httpConn
	dialer *Auto
	old    atomic.Pointer[sseConn] // shares life and inbox; nil unless the backend speaks HTTP+SSE
}

func (c *autoConn) Attributes() bool { return c.old.Load() == nil }

// legacyOnly reports whether the backend turned out to speak HTTP+SSE.
func (c *autoConn) legacyOnly() bool { return c.old.Load() != nil }

// Send sends a message. The first decides:
//
// "Attempt to POST an InitializeRequest to the server URL, with an Accept header as
// defined above: If it succeeds, the client can assume this is a server supporting
// the new Streamable HTTP transport. If it fails with the following HTTP status
// codes "400 Bad Request", "404 Not Found" or "405 Method Not Allowed": Issue a GET
// request to the server URL, expecting that this will open an SSE stream and return
// an endpoint event as the first event."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility
func (c *autoConn) Send(ctx context.Context, m wire.Message) error {
	if old := c.old.Load(); old != nil {
		return old.Send(ctx, m)
	}
	err := c.post(ctx, m)
	r, refused := err.(*refusal)
	if !refused {
		return err
	}
	if m.Method() != "initialize" || !r.old(m.ID()) {
		return settle(ctx, c.life, c.in, m, r)
	}
	old, err := c.dialer.sse.dial(ctx, c.life, c.in)
	if err != nil {
		if told := settle(ctx, c.life, c.in, m, r); told != nil {
			return fmt.Errorf("%w (and over HTTP+SSE: %w)", told, err)
		}
		return nil
	}
	c.old.Store(old)
	c.dialer.old.Store(true)
	return old.Send(ctx, m)
}

// old reports whether a backend that answers initialize like this may speak
// HTTP+SSE. One that answers the request by its id speaks JSON-RPC over POST, and so
// does one whose error only the modern era knows:
//
// "If it fails with HTTP status code 400 Bad Request, 404 Not Found, or 405 Method
// Not Allowed and the response body is not a recognized modern JSON-RPC error […]:
// Issue a GET request to the server URL"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#http-sse-transport-2024-11-05
func (r *refusal) old(id wire.ID) bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return r.reply.ID() != id && !modernCode(code(r.reply))
	}
	return false
}
