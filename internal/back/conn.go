package back

import (
	"context"
	"errors"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Conn is one connection to a backend, over one transport, and in the legacy era
// one session with it: who wants another session dials again. It carries messages
// and knows nothing of their meaning, except where the transport itself depends
// on it (the session of streamable HTTP begins with initialize; the requests of
// the modern era are mirrored in headers).
//
// An error of a Conn has two audiences. Its text is for the operator and may
// quote the network or the backend's stderr. The client is told no more than the
// *wire.Error in its chain ([wire.ErrorFrom]), one sentence without inner text.
// No error holds a credential.
type Conn interface {
	// Send sends one message. The response to a request, and everything else that
	// the backend sends, reach the Receiver. Where the transport gives each request
	// a stream of its own (streamable HTTP), Send returns when the response has
	// been received, and reports an error if the stream ended without it. Elsewhere
	// it returns when the message is written. A ctx that ends abandons the stream,
	// and Send returns its cause; the backend is not told by that.
	Send(ctx context.Context, m wire.Message) error

	// Attributes reports whether the transport tells to which request a message
	// of the backend belongs. The answer is final once initialize was answered.
	Attributes() bool

	// Negotiated tells the connection the revision that the handshake agreed on.
	Negotiated(r wire.Revision)

	// Close ends the connection in the way that the transport demands, and
	// returns when nothing of it is left: no process, no goroutine, no stream. It
	// therefore waits for a Receive that is under way, and must not be called
	// from one. It is safe to call twice and beside Send.
	Close()

	// Done is closed when the connection can carry nothing any more, by Close or
	// because the backend went away; whatever arrived before has then been
	// received. Err says why ([ErrClosed] after Close), and is nil before. A
	// connection that has ended by itself must still be closed.
	Done() <-chan struct{}
	Err() error
}

// mirroring is a Conn over which each request of the modern era is a POST of its
// own, with headers that repeat it, and its answer a stream of its own.
type mirroring interface {
	// postModern is Send for a request of the modern era; of its arguments, headers
	// repeat those that params names. A request that is refused with an HTTP status
	// is a *refusal, which may hold the response. A ctx that ends cancels the
	// request at the backend.
	postModern(ctx context.Context, m wire.Message, params mirror.Params) error
}

// Receiver takes what arrives on a Conn. Messages of one stream come in order,
// those of several streams beside each other.
type Receiver interface {
	// Receive takes one message. of is the id of our request on whose stream it
	// came; it is empty when the transport does not tell. An error without id that
	// answers the request of a stream has been given that request's id. While
	// Receive blocks, nothing else of the same stream is read.
	Receive(m wire.Message, of wire.ID)

	// Noise counts something on the connection that is no message: a banner on
	// stdout, an event that does not parse. The Conn has logged it. It must not
	// block. A [wire.ParseError] in the chain of what may name the id of the
	// message; [wire.ErrTooLong] says that it was over the limit.
	Noise(what error)
}

// Dialer makes connections to one backend. It is safe for concurrent use.
type Dialer interface {
	// Dial connects. ctx bounds the dialling, not the connection. The Conn may
	// call r before Dial returns, and r may block until then; a Dial that fails
	// has called no more than Noise.
	Dial(ctx context.Context, r Receiver) (Conn, error)
}

// ErrSessionLost says that the backend no longer knows the session, and did not
// process the message. The client of such a server must initialize again:
//
// "When a client receives HTTP 404 in response to a request containing an
// MCP-Session-Id, it MUST start a new session by sending a new
// InitializeRequest without a session ID attached."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
var ErrSessionLost = errors.New("the backend has lost the session")

// ErrClosed says that the connection was ended by Close.
var ErrClosed = errors.New("the connection was closed")

// DefaultMaxMessage is the longest message, in bytes, that is taken from a
// backend when the options do not say otherwise.
const DefaultMaxMessage = 32 << 20
