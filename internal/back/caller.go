package back

import "github.com/beckon-mcp/beckon/internal/wire"

// Caller is on whose behalf a backend works, and so whom it may talk to: the
// client's call, or its session where the transport does not tell the call.
type Caller interface {
	// Notify takes a notification of the backend, in order of arrival. It may
	// block while the client is slow.
	Notify(m wire.Message)

	// Ask takes a request of the backend and returns at once. The returned
	// function, which may be nil, takes the request back because the backend no
	// longer wants to know or is gone; it is called at most once.
	Ask(a Asked) (withdraw func(*wire.Error))
}

// Asked is a request that a backend sent to its client.
type Asked struct {
	Message wire.Message

	// Inferred says that the transport does not tell which call caused the
	// request, and that the Caller is the only one that can have.
	Inferred bool

	// Reply sends the response, whatever its id, and returns at once. Only the
	// first call has an effect.
	Reply func(response wire.Message)
}
