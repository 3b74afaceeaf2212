package back

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errNoStream says that a GET was answered with something else than a stream.
var errNoStream = errors.New("the backend answers GET with no event stream")

// get opens an event stream; behind the event last, unless that is empty.
func (c *httpConn) get(ctx context.Context, last string) (io.ReadCloser, error) {
	h := c.header(acceptStream, true)
	if last != "" {
		h.Set(eventHeader, last)
	}
	resp, err := c.site.do(ctx, http.MethodGet, c.site.url.String(), h, nil)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode/100 != 2:
		err = c.refuse(h, resp)
	case mediaType(resp) != "text/event-stream":
		err = fmt.Errorf("%w: content type %q", errNoStream, mediaType(resp))
	default:
		return resp.Body, nil
	}
	resp.Body.Close()
	return nil, err
}

// passing reports whether what err says of a GET may be over at the next try. A
// conflict is: the backend has not noticed yet that the last connection broke.
func passing(err error) bool {
	if r, ok := errors.AsType[*refusal](err); ok {
		switch r.status {
		case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
			return true
		}
		return r.status >= 500
	}
	return !errors.Is(err, errNoStream) && !errors.Is(err, ErrSessionLost)
}

// listen begins to read the GET stream, once.
//
// "The client MAY issue an HTTP GET to the MCP endpoint. This can be used to open
// an SSE stream, allowing the server to communicate to the client, without the
// client first sending data via HTTP POST."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
func (c *httpConn) listen() {
	c.mu.Lock()
	again := c.listening
	c.listening = true
	c.mu.Unlock()
	if !again {
		c.life.work.Go(c.hear)
	}
}

// hear reads the GET stream as long as the backend offers one and the connection
// is open. That it ends says nothing of the session.
//
// "The server MUST either return Content-Type: text/event-stream in response to
// this HTTP GET, or else return HTTP 405 Method Not Allowed, indicating that the
// server does not offer an SSE stream at this endpoint." "The server MAY close the
// SSE stream at any time."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
func (c *httpConn) hear() {
	ctx := c.life.ctx
	s := stream{in: c.in, max: c.site.o.MaxMessage}
	for {
		openedAt := time.Now()
		s.brought = false
		body, err := c.get(ctx, s.last)
		if err == nil {
			s.open(body)
			_, err = s.read()
			body.Close()
		} else if !c.relisten(&s, err) {
			return
		}
		if !sleep(ctx, s.pause(time.Since(openedAt))) {
			return
		}
		c.site.log.Debug("reopening the GET stream", "err", err)
	}
}

// relisten decides whether a GET that failed is worth another try.
func (c *httpConn) relisten(s *stream, err error) bool {
	if c.life.ctx.Err() != nil {
		return false
	}
	r, refused := errors.AsType[*refusal](err)
	switch {
	case passing(err):
		return true
	case refused && r.status == http.StatusBadRequest && s.last != "":
		s.last = "" // the backend cannot go on from there; what it sent meanwhile is lost
		return true
	case refused && r.status == http.StatusMethodNotAllowed:
		c.site.log.Debug("the backend has no GET stream")
	default:
		c.site.log.Warn("no GET stream: what the backend sends outside of calls is lost", "err", err)
	}
	return false
}
