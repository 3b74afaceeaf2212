// Package relay joins the two sides: it carries the calls of a client to the
// backends, and what the backends ask to that client and no other.
//
// A client session has one session of its own with each backend of its route, so
// that a backend sees the true capabilities of that client, and whatever a
// backend asks can only be for it. There is no table in which a question could
// be looked up wrongly: a question arrives in the session, and mostly in the
// call, that caused it.
//
// A route with one backend is transparent: but for ids, every byte passes as it
// came, the handshake included. A route with several is a catalogue: lists are
// merged, names get the prefix of their backend, and a backend that is down is
// missing from the lists until it is back, without harm to the others.
//
// Each session owns its goroutines and waits for them in Close. Configuration is
// constant for the life of a Relay.
package relay
