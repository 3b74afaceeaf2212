package back

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// tail is how long a stream may go on behind the response that it was opened for.
// Reading it to its end is what lets the network connection be used again.
const tail = time.Second

// errNoMessage says that what came as an answer answers nothing.
var errNoMessage = errors.New("it is no answer to the request")

// answer is what comes back for one request: one JSON object, or a stream over
// as many connections as it takes.
type answer struct {
	*task
	stream
	conn   *httpConn
	body   io.ReadCloser // of the connection in use; nil when there is none
	passed bool          // the rest of the stream belongs to drain
}

// done ends the answer, unless drain does.
func (a *answer) done() {
	if a.passed {
		return
	}
	if a.body != nil {
		a.body.Close()
	}
	a.leave()
}

// take reads the answer that begins with resp.
//
// "If the input is a JSON-RPC request, the server MUST either return Content-Type:
// text/event-stream, to initiate an SSE stream, or Content-Type: application/json,
// to return one JSON object. The client MUST support both these cases."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func (a *answer) take(resp *http.Response) error {
	switch t := mediaType(resp); t {
	case "application/json":
		return a.readObject(resp)
	case "text/event-stream":
		return a.readStream()
	default:
		return gone(fmt.Errorf("%w: HTTP status %d, content type %q", errNoMessage, resp.StatusCode, t),
			"the backend's answer is neither JSON nor an event stream")
	}
}

func (a *answer) readObject(resp *http.Response) error {
	data, err := a.conn.site.readAll(resp)
	switch {
	case errors.Is(err, wire.ErrTooLong):
		a.in.noise(err, "")
		return gone(err, "the backend's answer is too long")
	case a.ctx.Err() != nil:
		return abandoned(a.ctx)
	case err != nil:
		return gone(err, "the backend's answer broke off")
	}
	answered, err := a.in.take(data, a.of)
	switch {
	case err != nil:
		a.in.noise(err, "")
		return gone(fmt.Errorf("%w: %w", errNoMessage, err), "the backend's answer is no message")
	case !answered:
		return gone(fmt.Errorf("%w: it has another id", errNoMessage), "the backend's answer does not belong to the request")
	}
	return nil
}

// readStream reads to the response, and resumes a stream that breaks before it.
//
// "Disconnection MAY occur at any time (e.g., due to network conditions).
// Therefore: Disconnection SHOULD NOT be interpreted as the client cancelling its
// request." "After the server has sent an SSE event with an event ID to the
// client, the server MAY close the connection (without terminating the SSE stream)
// at any time […] The client SHOULD then "poll" the SSE stream by attempting to
// reconnect."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func (a *answer) readStream() error {
	for {
		openedAt := time.Now()
		a.open(a.body)
		answered, err := a.stream.read()
		if answered {
			a.passed = true
			a.release() // the caller may end its ctx when Send has returned
			go a.drain()
			return nil
		}
		a.body.Close()
		a.body = nil
		if err := a.broken(err); err != nil {
			return err
		}
		if err := a.reconnect(time.Since(openedAt)); err != nil {
			return err
		}
	}
}

// drain reads what is left of the stream. The connection's Close waits for it.
//
// "After the JSON-RPC response has been sent, the server SHOULD terminate the SSE
// stream."
func (a *answer) drain() {
	defer a.leave()
	defer a.body.Close()
	timer := time.AfterFunc(tail, func() { a.cancel(errors.New("the stream goes on behind its end")) })
	defer timer.Stop()
	for {
		if _, err := a.stream.read(); err != nil {
			return
		}
	}
}

// broken says why a stream that ended with err, and without the response, cannot
// be resumed; nil when it can.
func (a *answer) broken(err error) error {
	switch {
	case a.ctx.Err() != nil:
		return abandoned(a.ctx)
	case a.tooLong:
		return gone(wire.ErrTooLong, "the backend's answer is too long")
	case a.last != "" && a.attempts > 0:
		return nil
	case errors.Is(err, io.EOF):
		return gone(err, "the backend ended its answer without the response")
	}
	return gone(err, "the connection to the backend broke before the response")
}

// reconnect resumes the stream after a connection that lasted for a while.
//
// "If the client wishes to resume after a disconnection (whether due to network
// failure or server-initiated closure), it SHOULD issue an HTTP GET to the MCP
// endpoint, and include the Last-Event-ID header to indicate the last event ID it
// received."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
func (a *answer) reconnect(lasted time.Duration) error {
	err := error(io.EOF)
	for {
		pause := a.pause(lasted)
		if a.empty > a.attempts {
			return gone(err, "the backend broke off its answer and does not go on with it")
		}
		if !sleep(a.ctx, pause) {
			return abandoned(a.ctx)
		}
		a.body, err = a.conn.get(a.ctx, a.last)
		switch {
		case err == nil:
			return nil
		case a.ctx.Err() != nil:
			return abandoned(a.ctx)
		case errors.Is(err, ErrSessionLost):
			// Not for the caller: the request was processed, or may have been.
			return gone(errors.New("the stream is not known any more"), "the backend lost the session during the call")
		case !passing(err):
			return gone(err, "the backend does not go on with its answer")
		}
		lasted, a.brought = 0, false
	}
}
