package front

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// isJSON refuses a body that says it is something else.
func isJSON(r *http.Request) *refusal {
	if v := r.Header.Get("Content-Type"); v == typeJSON || mediaType(v) == typeJSON {
		return nil
	}
	return refused(http.StatusUnsupportedMediaType, reasonHTTP, "the body must be JSON").
		hint("send Content-Type: application/json")
}

// readBody reads a body, which must not be too long, and must come before the deadline
// that [HTTP.ServeHTTP] has set.
func readBody(w http.ResponseWriter, r *http.Request, limit int) ([]byte, *refusal) {
	if r.ContentLength > int64(limit) {
		return nil, tooLong(limit)
	}
	var buf bytes.Buffer
	buf.Grow(int(min(max(r.ContentLength, 0), 64<<10)) + bytes.MinRead)
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, int64(limit)))
	if err == nil {
		setReadDeadline(w, time.Time{}) // from now on the connection is read only to see it break
		return buf.Bytes(), nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLong(limit)
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		w.Header().Set("Connection", "close")
		return nil, refused(http.StatusRequestTimeout, reasonSlow, "the body did not come in time")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, refused(http.StatusBadRequest, wire.ReasonInvalid, "the body ends too early")
	}
	return nil, refused(http.StatusBadRequest, wire.ReasonInvalid, "the body could not be read")
}
