package config

import "time"

// Park governs calls of clients of the revision 2026-07-28 at backends of older
// ones. Such a client is asked by the end of its request and comes back with the
// answer; meanwhile the call is parked, which keeps its backend working.
type Park struct {
	// How long a parked call waits for its client to come back, each time that it
	// asks. Then it is cancelled, and the client has to start again. A question
	// itself waits no longer than `input.timeout`.
	TTL time.Duration `key:"ttl" default:"10m" min:"1s" max:"24h"`

	// How long a call may take altogether, from its first request to its result,
	// however often it asks.
	MaxAge time.Duration `key:"max_age" default:"1h" min:"1s" max:"24h"`

	// How long a call goes on when the connection of its client breaks while the
	// client is waiting for it and could come back. Zero cancels it at once.
	Grace time.Duration `key:"grace" default:"3s" min:"0s" max:"5m"`

	// How long a question waits for others of the same call, so that they reach
	// the client together. Zero lets Beckon find out: 15 ms the first time that a tool
	// asks, and from then on hardly any time, unless it was seen to ask several things
	// at once.
	Gather time.Duration `key:"gather" default:"0s" min:"0s" max:"5s"`

	// How many calls may be parked in the whole process. A question that would park
	// one more is refused with reason `limit`.
	MaxCalls int `key:"max_calls" default:"10000" min:"1"`

	// How many calls of one principal may be parked. A question that would park one
	// more is refused with reason `limit`.
	MaxPerPrincipal int `key:"max_per_principal" default:"1000" min:"1"`

	// How many bytes of results are kept for clients that come back once more for a
	// result that they were given before. The oldest go first.
	MaxKept Bytes `key:"max_kept" default:"64MiB" min:"1KiB" max:"16GiB"`

	// The secret that seals what a client carries from one request to the next
	// (`requestState`), at least 32 characters. `openssl rand -hex 32` makes a good
	// one. Replicas share it. Empty makes a new one with every start.
	Key Secret `key:"key"`

	// The secret that was in use before, so that clients which are under way can
	// come back after a change. Empty accepts the current one alone.
	PreviousKey Secret `key:"previous_key"`
}
