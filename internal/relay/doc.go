// Package relay joins the two sides: it carries the calls of a client to the
// backends, and what the backends ask to that client and no other.
//
// # Sessions
//
// A session has one session of its own with each backend of its route, so that a
// backend sees what its client can truly be asked. A legacy client has one. Requests
// of modern clients share one if they agree on principal, route and capabilities
// (profiles); it is made by the first of them, and ends when it is idle, when there
// are too many, or with the Relay, but never under a call.
//
// # Who is asked
//
// A question arrives in the session, and mostly in the call, that caused it. In the
// session of a legacy client both are the same client, so that there is no table in
// which a question could be looked up wrongly. A modern client is asked by one of its
// requests, and it must be the right one: where the transport of a legacy backend
// does not tell, a call that may ask leases a session with the backend in which
// nothing else can have asked (instances). What it asks parks it (package park).
//
// # Routes
//
// A route with one backend is transparent: but for ids, every byte passes as it
// came, the handshake included; between two eras, what the other era does not know
// changes too (adapt.go, discover.go). A route with several is a catalogue: lists are
// merged, names get the prefix of their backend, and a backend that is down is
// missing from the lists until it is back, without harm to the others.
//
// What only the legacy era has is done in a modern client's stead: subscriptions and
// changes of lists reach the listens that want them (listen.go), log levels are set
// when a request names one, a URL that a tool needs first is asked for (urlfirst.go),
// and a tool that is only run as a task is run as one (task.go).
//
// # Forms
//
// A question by a form definition goes the way of any other, and comes back when it fits:
// package input has the form, and offers the question again as long as it does not. A
// legacy backend that can be told later is given a handle at once, and the end by a
// notification (handle.go). A client that knows forms is told more of them (forms.go),
// and any client can have Beckon itself keep one (manage.go). Between two of the modern
// era, where questions only pass, a call is taken over that asks a form in whose answers
// Beckon has a part (modern_forms.go).
//
// # Who owns what
//
// Each session owns its goroutines and waits for them in Close; the sessions of modern
// clients belong to the Relay, whose Close ends the parked calls first. A call runs on
// the goroutine that brought it, or on that of the lot if it may park. No lock is held
// while a backend or a client is talked to. Configuration is constant for the life of
// a Relay.
//
// # Limits
//
// Names, URIs and tools that are remembered: 10,000 of each kind in a session. A listen
// is acknowledged within 5 s and is about 1000 resources. Spellings of capabilities
// that are known: 10,000 of at most 4 KiB; longer than 64 KiB none may be. URLs that a
// call needs first: 5 rounds of at most 16, each visit waited for 5 s. Everything else
// is in [Options].
package relay
