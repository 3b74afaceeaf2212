package front

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Reasons that only a front has: they go with a refused HTTP request.
const (
	reasonOrigin  wire.Reason = "origin"  // the Host or the Origin header is not allowed
	reasonAuth    wire.Reason = "auth"    // nobody knows who sent the request
	reasonSession wire.Reason = "session" // there is no such session, or none is named
	reasonHTTP    wire.Reason = "http"    // method or headers break the rules of the transport
	reasonSize    wire.Reason = "size"    // the message is too long
	reasonSlow    wire.Reason = "slow"    // the message did not come in time
)

// refusal is an HTTP request that is not served.
type refusal struct {
	status int
	id     wire.ID // of the refused request, when it is known
	err    *wire.Error
}

func refused(status int, reason wire.Reason, format string, args ...any) *refusal {
	err := wire.Errorf(reason, format, args...)
	err.Code = wire.CodeInvalidRequest
	return &refusal{status: status, err: err}
}

// hint says what to do next.
func (f *refusal) hint(format string) *refusal {
	f.err = f.err.Hint(format)
	return f
}

// unwelcome refuses with an error that a message met.
func unwelcome(id wire.ID, err *wire.Error) *refusal {
	f := &refusal{status: http.StatusBadRequest, id: id, err: err}
	switch err.Reason {
	case wire.ReasonStopping:
		f.status = http.StatusServiceUnavailable
	case wire.ReasonClientGone, wire.ReasonSessionExpired:
		return noSession()
	case wire.ReasonLimit:
		// Nothing is wrong with the request, and some clients take an error status
		// for the end of their session.
		f.status = http.StatusOK
	}
	return f
}

// unparsed refuses what is no message.
func unparsed(err error) *refusal {
	f := &refusal{status: http.StatusBadRequest, err: wire.ErrorFrom(err)}
	if p, ok := errors.AsType[*wire.ParseError](err); ok {
		f.id = p.ID
	}
	if f.err.Data["hint"] == nil {
		f.err = f.err.Hint("send each JSON-RPC 2.0 message complete and on its own")
	}
	return f
}

func tooLong(limit int) *refusal {
	f := refused(http.StatusRequestEntityTooLarge, reasonSize, "the message is too long").hint("send less, or raise the limit")
	f.err = f.err.With("limitBytes", limit)
	return f
}

// send answers a request with the refusal.
//
// "If the server cannot accept the input, it MUST return an HTTP error status
// code (e.g., 400 Bad Request). The HTTP response body MAY comprise a JSON-RPC
// error response that has no id."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func (f *refusal) send(w http.ResponseWriter) {
	body := wire.NewFailure(f.id, f.err).Raw()
	h := w.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if f.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "5")
	}
	w.WriteHeader(f.status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

func isUnsupported(err error) bool { return errors.Is(err, http.ErrNotSupported) }
