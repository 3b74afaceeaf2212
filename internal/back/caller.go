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

	// Following is how many more requests the backend makes together with this one; they
	// come right behind it, unless this one is refused.
	Following int

	// Reply sends the response, whatever its id, and returns at once. Only the
	// first call has an effect.
	Reply func(response wire.Message)

	// Promise is Reply with a response which says that the answer comes later. It
	// returns how that is sent: keep takes a notification, which the backend gets
	// behind the response, and returns at once. Only its first call has an effect.
	// Until then the request may still be taken back, because the backend is gone; it
	// cannot be cancelled any more. Promise is nil where a backend takes no
	// notifications: it can be told the answer in its response and in no other way.
	Promise func(response wire.Message) (keep func(notification wire.Message))
}
