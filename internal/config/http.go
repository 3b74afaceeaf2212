package config

import "time"

// HTTP is the side that faces the clients, at the address of `listen`.
type HTTP struct {
	// Names by which this server may be called, beside localhost, loopback
	// addresses and the host of `listen`. A request whose Host is another one is
	// refused, so that no web page can reach Beckon under a name of its own (DNS
	// rebinding). With or without port; without one, every port.
	AllowedHosts []string `key:"allowed_hosts" example:"beckon.example.com"`

	// Web pages that may call this server, as in `https://app.example.com`,
	// beside pages of this server itself. A request with another Origin is
	// refused. Requests without Origin, which is all that are not from a browser,
	// are not concerned.
	AllowedOrigins []string `key:"allowed_origins" example:"https://app.example.com"`

	// The longest request body; a longer one is answered with 413. The default has
	// room for an answer with a file of 10 MiB, the most that a form takes unless it
	// says otherwise.
	MaxBody Bytes `key:"max_body" default:"16MiB" min:"1KiB" max:"1GiB"`

	// The longest request header, all lines together; a longer one is answered
	// with 431.
	MaxHeader Bytes `key:"max_header" default:"64KiB" min:"4KiB" max:"1MiB"`

	// How long a client may refuse to take what is written to it before its
	// stream is cut. It can come back and resume.
	WriteTimeout time.Duration `key:"write_timeout" default:"30s" min:"1s" max:"10m"`

	// How often an open stream carries a comment when there is nothing else, so
	// that proxies keep it open and a client that is gone is noticed.
	Keepalive time.Duration `key:"keepalive" default:"15s" min:"1s" max:"10m"`

	// How long a session without requests, streams and open calls is kept. Then
	// it ends, its backends with it, and the client has to initialize again. What
	// is kept at backends for clients of the revision 2026-07-28, which have no
	// sessions, is let go after the same time; they do not notice.
	SessionIdle time.Duration `key:"session_idle" default:"30m" min:"1s"`

	// How many sessions may exist at once. One more is refused with 503; no
	// existing one is ended for it. Beside them, requests of clients of the revision
	// 2026-07-28 may come from as many combinations of principal, path and
	// capabilities; one more takes the place of the one that was not used for
	// longest, and is refused with reason `limit` if all are in use.
	MaxSessions int `key:"max_sessions" default:"1000" min:"1"`

	// How many requests of clients of the revision 2026-07-28, which have no
	// sessions, may be in progress at once. One more is refused with 503.
	MaxRequests int `key:"max_requests" default:"10000" min:"1"`

	// How many events per session are kept for a client that lost its stream and
	// resumes it with Last-Event-ID.
	ResumeEvents int `key:"resume_events" default:"256" min:"1" max:"100000"`

	// How many bytes those events may have together, per session; the oldest go
	// first.
	ResumeBytes Bytes `key:"resume_bytes" default:"1MiB" min:"1KiB" max:"1GiB"`

	// How long a client whose stream broke may stay away before it counts as
	// gone and open questions to it fail. Long enough to reconnect, short enough
	// that a backend hears of it within a second.
	LeaveGrace time.Duration `key:"leave_grace" default:"750ms" min:"1ms" max:"1m"`

	// Also serve the deprecated HTTP+SSE of 2024-11-05, for clients that know
	// nothing newer, at `/sse` and `/sse/{backend}`.
	SSE bool `key:"sse" default:"false"`
}
