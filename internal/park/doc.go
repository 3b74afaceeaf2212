// Package park carries the calls of modern clients at legacy backends, where the
// two eras differ most. A legacy backend asks in the middle of a call and waits; a
// modern client is asked by the end of its request, and answers in a new one. So
// the call stays here, with its backend, while its client goes away to collect
// answers and comes back with them.
//
// # The life of a call
//
// [Lot.Begin] starts the work of a call, once, and waits with its first leg for
// what comes first: the response, or a question of the backend. A question goes out
// as input_required, in a moment in which others may go along; the leg is over then,
// and the call is parked. [Lot.Resume] brings the next leg, which the requestState
// in it leads to its call. Its answers settle the questions, and the leg waits as
// the first one did. What is still open, or was asked meanwhile, is asked again at
// once. A round is one set of questions that went out. So a call is
//
//   - working: at least one leg waits for it;
//   - parked: no leg waits, the client has a state, and is waited for until that
//     expires, Options.TTL after it was given;
//   - alone: its last leg broke off, but the client has a state: Options.Grace;
//   - over.
//
// A call is ended from outside when its client is given up, when it leaves before
// it was told a state, when it cancels, when the call is older than Options.MaxAge,
// and when the lot closes. Its legs are answered at once; then the context of the
// work ends, so that the backend hears that the call is cancelled; and when the
// work has returned, the questions that are still open end: abandoned, or
// withdrawn, with the reason, never with an answer that nobody gave.
//
// # Retries
//
// Any leg may come late, twice or with an old state. The first answer to a question
// counts. Keys of questions are not used again in a call, so that an answer cannot
// reach another question than its own; and what the client has not been shown, it
// cannot answer. Several legs may wait for one call; each gets the end of the round,
// or the result, under its own id. A result whose call gave out a state is kept
// until that expires. A state that leads to nothing is an error, and never a fresh
// call: a tool runs once.
//
// # The state
//
// A requestState is a sealed handle (AES-256-GCM, keys derived from master secrets
// that replicas share): it names the call, its principal, the digest of its request,
// its backend and when it expires. Everything else stays here, so that a restart
// ends parked calls; the state then says so honestly. Who presents a state that was
// not given to him, or not for this request, learns nothing at all.
//
// # Who owns what
//
// The lot owns the calls and the goroutine of each one's work, and waits for those
// in [Lot.Close]. A leg is served on the goroutine that brought it: only that one
// talks to the client, so that a slow client holds up nobody else. A parked call has
// no goroutine but that of its work, and one timer. Mutexes are taken in the order
// Call.mu, Lot.mu (or habits.mu), and none is held while anything blocks or is
// called back.
//
// # Limits
//
// Parked calls, in the process and of one principal, kept results, and all times are
// [Options]. Notifications that wait for a leg: 64 of at most 256 KiB for one that
// is slow, and 16 and the latest progress, of at most 16 KiB each, while there is
// none. A parked call takes less than 2 KiB here, beside its work and its question.
package park
