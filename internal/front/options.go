package front

import (
	"cmp"
	"net/http"
	"time"
)

// Options say what a front takes from its clients and whom it trusts. Each zero
// value means the default that its field names. A front copies its Options.
type Options struct {
	// MaxBody and MaxHeader are the longest HTTP body and header, in bytes; 4 MiB
	// and 64 KiB by default. Longer ones are refused with 413 and 431.
	MaxBody, MaxHeader int
	// MaxMessage is the longest message over stdio, in bytes; 16 MiB by
	// default. A longer one is refused and the connection goes on.
	MaxMessage int
	// MaxCalls is how many requests of one session may be in progress; 100 by
	// default. More are answered with an error, reason limit.
	MaxCalls int
	// MaxSessions is how many sessions there may be over HTTP; 1000 by default.
	// More are refused with 503.
	MaxSessions int
	// MaxLegs is how many requests of modern clients may be in progress over HTTP,
	// of all clients together; 10,000 by default. More are refused with 503. On
	// stdio MaxCalls counts for them, apart from those of the session.
	MaxLegs int
	// MaxKept and MaxKeptBytes are how many messages, and bytes of them, a session
	// keeps for clients that lose a connection; 256 and 1 MiB by default. Those
	// that were sent go first.
	MaxKept, MaxKeptBytes int

	// LeaveGrace is how long a client may be without the stream that a question
	// needs before the question is withdrawn; 750 ms by default.
	LeaveGrace time.Duration
	// KeepAlive is how long an event stream may be silent before a comment is
	// sent; 15 s by default.
	KeepAlive time.Duration
	// ReadTimeout and WriteTimeout are how long a client may take to send a body,
	// and to take one write; 30 s each by default. A slower one is cut.
	ReadTimeout, WriteTimeout time.Duration
	// SessionIdle is how long an HTTP session lives without a request, a call or
	// an open stream; 30 min by default.
	SessionIdle time.Duration

	// SSE switches the endpoints of the HTTP+SSE transport on.
	SSE bool
	// Backends are the names that /mcp/{backend} knows.
	Backends []string
	// AllowedHosts are names that may stand in the Host header, without port,
	// beside those of the loopback interface and the address that was connected to.
	AllowedHosts []string
	// AllowedOrigins are origins of web pages that may call, such as
	// "https://inspector.example", beside the gateway's own and, on the loopback
	// interface, those of the loopback interface.
	AllowedOrigins []string
	// Authenticate tells who sent a request, or that nobody may know. Nil means
	// that everybody is the principal "local".
	Authenticate func(*http.Request) (principal string, ok bool)
	// Other serves the paths that are none of the protocol, behind the checks of
	// Host and Origin but without authentication; nil means 404.
	Other http.Handler
	// API serves the paths under /api/; nil leaves them to Other.
	API API

	// Late is told of an answer to a question that has ended, and Stray of one to
	// a question that was never asked. They must not block; nil means nobody.
	Late, Stray func(*Client)
}

// anyone is the principal where nobody has to tell who they are.
const anyone = "local"

func (o Options) withDefaults() Options {
	o.MaxBody = cmp.Or(o.MaxBody, 4<<20)
	o.MaxHeader = cmp.Or(o.MaxHeader, 64<<10)
	o.MaxMessage = cmp.Or(o.MaxMessage, 16<<20)
	o.MaxCalls = cmp.Or(o.MaxCalls, 100)
	o.MaxSessions = cmp.Or(o.MaxSessions, 1000)
	o.MaxLegs = cmp.Or(o.MaxLegs, 10_000)
	o.MaxKept = cmp.Or(o.MaxKept, 256)
	o.MaxKeptBytes = cmp.Or(o.MaxKeptBytes, 1<<20)
	o.LeaveGrace = cmp.Or(o.LeaveGrace, 750*time.Millisecond)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 30*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 30*time.Second)
	o.SessionIdle = cmp.Or(o.SessionIdle, 30*time.Minute)
	if o.Authenticate == nil {
		o.Authenticate = func(*http.Request) (string, bool) { return anyone, true }
	}
	if o.Late == nil {
		o.Late = func(*Client) {}
	}
	if o.Stray == nil {
		o.Stray = func(*Client) {}
	}
	return o
}
