// Package wire is the JSON-RPC wire as Beckon needs it: messages are read
// strictly and rewritten by splicing, never by decoding and encoding again.
//
// A [Message] is one message together with the places of its envelope members
// in the bytes it was read from. Changing the id, or a member somewhere inside
// params, gives a new Message that shares nothing with the old one and differs
// from it in exactly those bytes: key order, number spelling, escapes, white
// space and members that nobody knows stay as the peer wrote them.
//
// Reading is strict, because a gateway that decides on one reading and forwards
// another is a hole: trailing data, duplicate member names, members of the
// envelope in another case, invalid UTF-8, ids that are neither string nor
// integer, and messages that are two kinds at once are refused with a
// [ParseError].
//
// The package also holds what both sides of the gateway must agree on: ids as
// raw bytes ([ID]), line and SSE framing ([LineReader], [EventReader]),
// protocol revisions ([Revision]), client capabilities ([ClientCaps]) and the
// error table ([Reason]). It knows no transport and starts no goroutine.
package wire
