package front

import (
	"context"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Relay is what a front hands its clients to.
type Relay interface {
	// Open begins the session of a client that sent initialize, and returns the
	// response to it. A nil Session means that there is none; the response is
	// then an error, and the client may try again. Requests and notifications
	// that the client sends in the meantime wait until Open has returned, and
	// what Open sends through c waits until the response is on its way. ctx ends
	// with the session, so when the client leaves in the meantime.
	Open(ctx context.Context, c *Client, initialize wire.Message) (Session, wire.Message)

	// Answer serves one request of a modern client and returns the response, with
	// the id of the request. It blocks until that is known: for a
	// subscriptions/listen, as long as that lives. ctx ends when the client no
	// longer wants the response (the cause is a [*Cancelled] when it sent
	// notifications/cancelled, else a [*wire.Error] with reason client_gone), and
	// when the gateway stops (reason stopping). Answer must then return soon; what
	// it returns is still sent when the gateway stops, and ignored otherwise.
	Answer(ctx context.Context, leg *Leg) wire.Message
}

// Session is the relay's side of one legacy client session.
type Session interface {
	// Serve answers one request of the client: every one but initialize and ping.
	// It blocks until the response is known, and returns it with the id of the
	// request. It begins when every notification that the client sent before has
	// been taken. When the client cancelled the request, or the session ends, ctx
	// ends with a cause (a [*Cancelled], or a [*wire.Error]); Serve must then
	// return soon, and what it returns is ignored.
	Serve(ctx context.Context, call *Call) wire.Message

	// Notify takes a notification of the client, in order of arrival: every one
	// but notifications/cancelled, which ends the context of its call. It may
	// block while a backend is slow to take it, and must return when ctx ends,
	// which it does with the session.
	Notify(ctx context.Context, m wire.Message)

	// Close releases the session. It is called once, after every Serve and Notify
	// has returned.
	Close()
}

// Asker is a way to a legacy client: a [Call] by the stream of that request, a
// [Client] by the stream of the session. It is the input.Channel "client". A modern
// client is asked by the response to a leg, for which the relay has Askers of its own.
//
// A question goes out under an id of the session's own and is forgotten when it
// has ended, so that an answer that comes later changes nothing. It is withdrawn
// when it cannot be shown within Options.LeaveGrace, when the client that it was
// shown to has had no stream open for that long, and when the session ends.
type Asker interface {
	input.Channel

	// Notify sends a notification. Messages of one Asker arrive in order; when
	// the client is slow, Notify blocks until there is room or the client is cut.
	Notify(m wire.Message)
}

// Cancelled is the cause with which the context of a call ends when its client
// sent notifications/cancelled.
type Cancelled struct {
	Notification wire.Message // as the client sent it
}

func (*Cancelled) Error() string { return "the client cancelled the request" }

// CancelNotification returns the notification, for the backend of the call.
func (c *Cancelled) CancelNotification() wire.Message { return c.Notification }
