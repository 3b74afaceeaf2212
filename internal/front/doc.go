// Package front is the side of the gateway that clients see: stdio
// ([ServeStdio]), streamable HTTP and, when it is switched on, the deprecated
// HTTP+SSE ([HTTP]). It hands what clients want to a [Relay], and lets the relay
// ask them.
//
// # Layers
//
// The files named legacy*.go are the only ones that know sessions and the
// initialize handshake, those named modern*.go the only ones that know requests
// which stand for themselves. Below both a [stream] is a bounded log of messages to
// a client and a [reader] the connection that sends them; an [outlet] writes what a
// reader takes as one HTTP response, and stdio.go as lines. Beside them guard.go
// decides from where, and auth.go from whom, a request may come.
//
// The era of each message is decided by itself, in [HTTP.post] and stdio.take: it is
// modern when the header MCP-Protocol-Version or its own _meta says so. Nothing is
// inferred from what the client sent before, so that both eras share an endpoint and
// a pipe; on a pipe they share the ids, too, because the client cannot tell the
// responses apart otherwise. HTTP+SSE is older, and knows only the legacy era.
//
// # The life of a session
//
// A [Client] is fresh until it sends initialize; then the relay opens the session,
// while pings are answered and everything else waits. In an open session each
// request is a [Call] that the relay serves beside the others, behind the
// notifications that came before it; notifications are handed over one by one, in
// order. The session is shut when the client ends it or leaves, when it is idle for
// long, or when the gateway stops: its questions are withdrawn, then the contexts
// of its calls end, with the reason as their cause; when the relay has returned
// from all of them it is told to close its side, and the streams end.
//
// On stdio and HTTP+SSE the client has left when its pipe or its event stream is
// closed; on stdio, calls in progress then have a moment to finish. On streamable
// HTTP a connection that breaks means nothing by itself: the call goes on, and its
// messages wait for the client to resume the stream. Only a client that was never
// told an event id cannot, so nothing is kept for it.
//
// # The life of a leg
//
// A request of a modern client is a [Leg]. What it says of itself is checked first -
// that it is complete, that the headers repeat it, that the revision is spoken - and
// then the relay answers it: over HTTP on the stream of its POST, which nobody can
// resume, so that nothing is kept of what was sent. The handler of the POST serves
// the leg itself, as it does a legacy call.
//
// Here a connection that breaks means much: the client wants the request no more.
// The context of the leg ends at once, before anything was sent and while the front
// is blocked in writing, and nothing is sent after that. On stdio
// notifications/cancelled does the same. No question goes to a modern client; it is
// asked by the response to a leg, which is the relay's affair.
//
// When the gateway drains, no legs begin. Those that come to an end by themselves
// have the time to; a subscriptions/listen never does, and holds up nothing. Then
// the contexts end, and what the relay says to that is still sent.
//
// # Questions
//
// A question goes on the stream of the call that caused it; one that belongs to no
// call, or whose call can carry none, goes on the newest GET stream, else on that
// of the oldest call in progress: always to the same session, and never to two
// streams. When the stream is not there, it has Options.LeaveGrace to appear; then
// another stream of the session will do, or the question is withdrawn. So is a
// question that was shown when its client has had no stream at all for that long.
// A question that ends without the client is taken back: silently when it was never
// sent, else by notifications/cancelled. The ids are numbered, so that an answer
// that comes too late, which is counted and accepted, can be told from one to a
// question that never was, which is refused.
//
// # Cancelling
//
// A client that cancels a call gets no response: the event stream of its POST ends
// without one, or, when it takes only JSON, the POST is answered with 204. A client
// that sends notifications/cancelled for a question means the person's cancel.
//
// # Who owns what
//
// The session owns the goroutines that run the relay's code, and waits for them
// before it closes; on stdio, so do the legs. A POST with one request needs none: its
// handler serves the call or the leg, and a goroutine that sends is only started when
// there is something to send before the response; the handler waits for that one. The
// handler of a GET sends itself. Mutexes are taken in the order sessions.mu, Client.mu, journal.mu; those of
// legs are held alone. None is held while anything blocks or is called back.
//
// # Limits
//
// Message size, calls per session, sessions, legs, and time to read, write, leave and
// idle are [Options]. A sender waits while its connection is more than 64 messages
// or 256 KiB behind, until the connection takes them or is cut. Without a
// connection nobody waits: beyond the same bounds, the oldest notifications are
// dropped. What was sent is kept for resumption up to Options.MaxKept; an event
// that is no longer held is left out when a client resumes, and a stream that is
// not, is replaced by that of the session, because a refusal would end the session
// of most clients. Up to 4 GET streams of one session may be open; they are not
// replaced by newer ones, because clients that reopen what is closed would fight
// with themselves.
package front
