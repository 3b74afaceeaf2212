package park

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"time"
)

// Options say how long calls wait for their clients, and how many may. Each zero
// value means the default that its field names.
type Options struct {
	// Keys are the master secrets, the current one first and then the previous
	// ones, whose states are still accepted; each at least 32 bytes. Replicas share
	// them. Nil means a random one, so that no state outlives the process. With one
	// key, at most 2^32 states may be sealed.
	Keys [][]byte
	// Owner names this process among replicas, in at most 255 bytes. It becomes a
	// part of each state.
	Owner string

	// TTL is how long a parked call waits for its client, in each round; 10 min by
	// default.
	TTL time.Duration
	// MaxAge is how long a call may live from its first leg to its last; 1 h by
	// default. A state of another server that [Lot.Seal] sealed lives as long.
	MaxAge time.Duration
	// Gather is how long a question waits for others that may go along. By default
	// that is no time for what was seen to ask one thing at a time, and 15 ms for what
	// asks for the first time, or was seen to ask several things.
	Gather time.Duration
	// Grace is how long a call goes on whose last leg broke off, when its client
	// has a state with which to come back; 3 s by default, none when negative.
	Grace time.Duration

	// MaxParked and MaxPerPrincipal are how many calls may be parked at a time;
	// 10,000 in the process and 1,000 of one principal by default. Beyond, the
	// question is refused, reason limit, and its call is not parked.
	MaxParked, MaxPerPrincipal int
	// MaxKept is how many bytes of results are kept for clients that come back
	// late; 64 MiB by default. The oldest go first.
	MaxKept int

	// Observer is told what happens to parked calls; it may be nil.
	Observer Observer
}

// Observer is told what happens to parked calls, for metrics. It must not block
// and must not call back. How many are parked now tells [Lot.Parked].
type Observer interface {
	// Parked tells that a call was given a round of questions for its client.
	Parked(questions int)

	// Resumed tells that the client came back, after which time.
	Resumed(after time.Duration)

	// Expired tells that the client did not come back, and how long it was waited
	// for.
	Expired(after time.Duration)

	// Refused tells of a requestState that was not accepted.
	Refused(why Refusal)
}

// Refusal is why a requestState was not accepted. Clients are not told the first
// three apart.
type Refusal string

const (
	Invalid   Refusal = "invalid"   // not one of ours, or changed
	Principal Refusal = "principal" // of somebody else
	Request   Refusal = "request"   // of another request
	Expired   Refusal = "expired"   // too late
	Elsewhere Refusal = "elsewhere" // of another replica
	Restarted Refusal = "restarted" // of this replica before it was started anew
	Ended     Refusal = "ended"     // of a call that is over, and whose result is not kept
)

// longWindow is for calls that may ask several things at once.
const longWindow = 15 * time.Millisecond

// withDefaults returns o with its zero values replaced, or what is wrong with it.
func (o Options) withDefaults() (Options, error) {
	if o.Keys == nil {
		key := make([]byte, minKey)
		rand.Read(key)
		o.Keys = [][]byte{key}
	}
	if len(o.Owner) > maxName {
		return o, fmt.Errorf("park: the owner has %d bytes, more than %d", len(o.Owner), maxName)
	}
	o.TTL = cmp.Or(o.TTL, 10*time.Minute)
	o.MaxAge = cmp.Or(o.MaxAge, time.Hour)
	o.Grace = max(0, cmp.Or(o.Grace, 3*time.Second))
	o.MaxParked = cmp.Or(o.MaxParked, 10_000)
	o.MaxPerPrincipal = cmp.Or(o.MaxPerPrincipal, 1_000)
	o.MaxKept = cmp.Or(o.MaxKept, 64<<20)
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	return o, nil
}

// unobserved is an Observer that nobody looks at.
type unobserved struct{}

func (unobserved) Parked(int)            {}
func (unobserved) Resumed(time.Duration) {}
func (unobserved) Expired(time.Duration) {}
func (unobserved) Refused(Refusal)       {}
