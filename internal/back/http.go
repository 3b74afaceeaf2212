package back

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// HTTP dials a backend that speaks streamable HTTP, the transport of revisions
// 2025-03-26 to 2025-11-25.
type HTTP struct{ site *site }

// NewHTTP returns a dialer for o.URL.
func NewHTTP(log *slog.Logger, o HTTPOptions) (*HTTP, error) {
	c, err := newSite(log, o)
	if err != nil {
		return nil, err
	}
	return &HTTP{c}, nil
}

// Dial returns a connection without talking to the backend: the first message,
// initialize, does.
func (d *HTTP) Dial(ctx context.Context, r Receiver) (Conn, error) {
	return d.conn(r), nil
}

func (d *HTTP) conn(r Receiver) *httpConn {
	return &httpConn{
		site: d.site, in: &inbox{r: r, log: d.site.log}, life: newLife(), closed: make(chan struct{}),
	}
}

// Close gives up the network connections that the dialer keeps for reuse. What it
// dialled must have been closed. It returns nil.
func (d *HTTP) Close() error {
	d.site.Close()
	return nil
}

// httpConn is one session over streamable HTTP.
type httpConn struct {
	site *site
	in   *inbox
	life *life

	closing atomic.Bool   // Close was called
	closed  chan struct{} // closed when it has done its work

	// mu guards the fields below; held for moments.
	mu        sync.Mutex
	session   string        // MCP-Session-Id; "" before initialize, and for ever where the backend keeps none
	lost      bool          // the backend does not know the session any more
	revision  wire.Revision // negotiated; "" before
	listening bool          // the GET stream was begun
}

const (
	// "The client MUST include an Accept header, listing both application/json and
	// text/event-stream as supported content types."
	// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
	acceptAnswer = "application/json, text/event-stream"

	// "The client MUST include an Accept header, listing text/event-stream as a
	// supported content type."
	// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
	acceptStream = "text/event-stream"
)

// deleteTimeout bounds the goodbye to a session.
const deleteTimeout = 2 * time.Second

func (c *httpConn) Attributes() bool { return true }

func (c *httpConn) Negotiated(r wire.Revision) {
	c.in.negotiated(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision = r
}

func (c *httpConn) Done() <-chan struct{} { return c.life.ctx.Done() }

func (c *httpConn) Err() error { return context.Cause(c.life.ctx) }

// Close ends every stream and then the session.
//
// "Clients that no longer need a particular session […] SHOULD send an HTTP DELETE
// to the MCP endpoint with the MCP-Session-Id header, to explicitly terminate the
// session. The server MAY respond to this request with HTTP 405 Method Not
// Allowed, indicating that the server does not allow clients to terminate
// sessions."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
func (c *httpConn) Close() {
	if c.closing.Swap(true) {
		<-c.closed
		return
	}
	defer close(c.closed)
	c.life.close(closed())
	c.goodbye()
}

// goodbye ends the session at the backend, if there is one.
func (c *httpConn) goodbye() {
	h := c.header("*/*", true)
	if h.Get(sessionHeader) == "" || c.isLost() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
	defer cancel()
	resp, err := c.site.do(ctx, http.MethodDelete, c.site.url.String(), h, nil)
	if err != nil {
		c.site.log.Debug("session not deleted", "err", err)
		return
	}
	resp.Body.Close()
}

const (
	sessionHeader  = "Mcp-Session-Id"
	revisionHeader = "Mcp-Protocol-Version"
	eventHeader    = "Last-Event-Id"
)

// header returns the headers of a request; one of the session unless it begins
// one.
//
// "If an MCP-Session-Id is returned by the server during initialization, clients
// using the Streamable HTTP transport MUST include it in the MCP-Session-Id header
// on all of their subsequent HTTP requests."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
//
// "If using HTTP, the client MUST include the MCP-Protocol-Version:
// <protocol-version> HTTP header on all subsequent requests to the MCP server […]
// The protocol version sent by the client SHOULD be the one negotiated during
// initialization."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
func (c *httpConn) header(accept string, ofSession bool) http.Header {
	h := c.site.header(accept)
	h.Del(sessionHeader)
	h.Del(revisionHeader)
	if !ofSession {
		return h
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != "" {
		h.Set(sessionHeader, c.session)
	}
	if c.revision != "" {
		h.Set(revisionHeader, string(c.revision))
	}
	return h
}

// begin takes over the session that the response to initialize brings.
//
// "The session ID MUST only contain visible ASCII characters (ranging from 0x21 to
// 0x7E)."
func (c *httpConn) begin(resp *http.Response) error {
	id := resp.Header.Get(sessionHeader)
	for _, b := range []byte(id) {
		if b < 0x21 || b > 0x7E {
			return gone(errors.New("it has other than visible ASCII characters"), "the backend assigns an invalid session id")
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = id
	return nil
}

// lose notes that the backend has forgotten the session.
func (c *httpConn) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = true
}

func (c *httpConn) isLost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}
