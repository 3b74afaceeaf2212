package back

import (
	"context"
	"fmt"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// fault is an error with two audiences; see [Conn].
type fault struct {
	told  *wire.Error // what the client may hear
	cause error       // for the operator
}

func (f *fault) Error() string { return f.told.Message + ": " + f.cause.Error() }

func (f *fault) Unwrap() []error { return []error{f.told, f.cause} }

// gone is the fault of a backend that was there: it left, or spoke no sense.
func gone(cause error, format string, args ...any) error {
	return &fault{wire.Errorf(wire.ReasonBackendGone, format, args...), cause}
}

// down is the fault of a backend that cannot be used at present.
func down(cause error, format string, args ...any) error {
	return &fault{wire.Errorf(wire.ReasonBackendDown, format, args...), cause}
}

// closed is what becomes of a connection by Close.
func closed() error {
	return gone(ErrClosed, "the connection to the backend was closed")
}

// abandoned is the error of a Send whose ctx has ended.
func abandoned(ctx context.Context) error {
	return fmt.Errorf("sending to the backend: %w", context.Cause(ctx))
}
