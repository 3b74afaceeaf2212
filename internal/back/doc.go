// Package back is Beckon's side towards the backends: the MCP servers that it
// connects to.
//
// # From the bottom up
//
// A [Dialer] makes connections to one backend: [Child] starts a process for each,
// [HTTP] speaks streamable HTTP, [SSE] the older HTTP+SSE, and [Auto] finds out
// which of the two a URL means. A [Conn] is one connection and one session with
// the backend. It carries messages, and hands what comes to a [Receiver].
//
// Above that, a [Backend] is what is configured and how it has fared lately, and
// a [Session] is a client's session with it. The session matches requests and
// responses, and outlives its connections: it dials again when one has ended. Who
// is asked when the backend asks is told by the stream on which the question came,
// or inferred where the transport has only one ([Conn].Attributes).
//
// # Two eras
//
// A backend speaks the legacy era (initialize, a session, questions that it sends),
// the modern one (every request stands for itself, questions in results), or both.
// Which it is, is a fact of the Backend, found out by its sessions and kept
// ([Backend.order] has the rules, discover the probe); a session takes the era of
// its client where there is a choice. A [Session] is the same for who calls it:
//
//   - legacy.go: a legacy backend, for clients of both eras;
//   - modern.go: a modern backend for a modern client: requests pass, with our ids;
//   - modern_bridge.go, modern_rounds.go, modern_ask.go, modern_listen.go: a modern
//     backend for a legacy client: requests say what the client said once, questions in
//     results are put to the client and the request is made again, and one
//     subscriptions/listen carries what the client subscribed to. The rounds are there
//     for a modern client too whose questions Beckon does not only pass on
//     ([Session.Continue]).
//
// Modern or not, a link matches requests and responses. Over HTTP a modern request is
// a POST of its own, whose headers repeat it (modern_tools.go knows those of tools);
// there is no session, no GET stream and no resumption.
//
// # The life of a connection
//
// Dial makes it, Close ends it, and it can end by itself: a process exits, an event
// stream breaks off. Done tells, Err says why. Nobody reconnects at this level,
// with one exception: an event stream of streamable HTTP may go over several
// network connections, and is resumed where it broke, as the specification wants.
// What cannot be resumed fails the request, and is not sent again: the backend may
// have done the work.
//
// Close returns when nothing is left. For a child that means: the end of its
// input, a grace period, TERM to its process group, another, KILL. When Beckon
// itself dies without doing any of that, its [Guard] does. For streamable HTTP it
// means the end of every stream and a DELETE of the session, which may take 2 s.
//
// # Who owns which goroutine
//
// A child has four: one waits for the process (on a thread of its own, see
// startProcess), one reads its output, one its log, and one supervises: it waits
// for the other three and closes Done last. A connection over HTTP has none at
// rest except the reader of its GET stream (or of the one stream of HTTP+SSE); an
// answer is read by the goroutine that called Send, and what follows the response
// by one that lasts a second at most. Close waits for them all (see life).
//
// A modern link has one for its listen and one for the listen's successor, of which
// the link's end waits (see listener).
//
// A Receiver is called by these goroutines, and its slowness is felt by the one
// stream that it holds up.
//
// # Limits
//
// A message is as long as MaxMessage allows; a longer one is skipped without being
// kept. A line of a child's stderr is cut at 4 KB in the log. The longest wait
// between two network connections of one stream is 30 s, unless the backend itself
// asks for more. Every wait for an answer is bounded by the ctx of Send, and by
// nothing else.
//
// A probe over a pipe takes 5 s (Options.ProbeTimeout). A call of a legacy client
// becomes at most 10 requests, each with 100 questions; a round that asks nothing is
// waited for 250 ms to 4 s. A listen is acknowledged within 10 s, and carries 1000
// resources. The headers of 10,000 tools are kept; listing them for a call takes 10 s
// and 100 pages.
//
// Headers and the query of a URL may hold secrets: no error and no log line of
// this package shows them, and a redirect or an endpoint at another origin is
// refused, so that they do not travel.
package back
