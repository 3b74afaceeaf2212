package input

import (
	"cmp"
	"time"

	"github.com/beckon-mcp/beckon/form"
)

// Terms are the numbers under which a form is open, after all who may say something
// have: the form itself, then the backend, then the defaults; each within its bounds.
type Terms struct {
	Timeout          time.Duration // from the question to its end; 1 s to 1 h, and at most MaxTotal
	ExtensionAllowed bool
	Extension        time.Duration // what one extension adds unless it says otherwise, and the most that it may add; 1 s to 1 h
	MaxExtensions    int
	MaxTotal         time.Duration // the most that a form is open, extensions included
	WarnBefore       time.Duration // how long before the end the warning comes, at most half the timeout; zero for none
	Attempts         int           // invalid submissions that end it; at least 1
}

// DefaultTerms are the terms of the form lane: 5 min, ten extensions of 5 min each,
// at most 1 h in all, a warning a minute before the end, three attempts.
func DefaultTerms() Terms {
	return Terms{
		Timeout:          5 * time.Minute,
		ExtensionAllowed: true,
		Extension:        5 * time.Minute,
		MaxExtensions:    10,
		MaxTotal:         time.Hour,
		WarnBefore:       time.Minute,
		Attempts:         3,
	}
}

// The bounds of a timeout, and of one extension.
const (
	shortest = time.Second
	longest  = time.Hour
)

// filled returns t with defaults where a zero makes no sense. The zero Terms are the
// defaults altogether; of any others, no extensions and no warning mean just that.
func (t Terms) filled() Terms {
	d := DefaultTerms()
	if t == (Terms{}) {
		return d
	}
	t.Timeout = cmp.Or(t.Timeout, d.Timeout)
	t.Extension = cmp.Or(t.Extension, d.Extension)
	t.MaxTotal = cmp.Or(t.MaxTotal, d.MaxTotal)
	t.Attempts = cmp.Or(t.Attempts, d.Attempts)
	return t
}

// with returns t where said says nothing, and said where it does.
func (t Terms) with(said form.Terms) Terms {
	t.Timeout = cmp.Or(said.Timeout, t.Timeout)
	t.Extension = cmp.Or(said.Extension, t.Extension)
	t.WarnBefore = cmp.Or(said.WarnBefore, t.WarnBefore)
	t.Attempts = cmp.Or(said.MaxAttempts, t.Attempts)
	if said.ExtensionAllowed != nil {
		t.ExtensionAllowed = *said.ExtensionAllowed
	}
	if said.MaxExtensions != nil {
		t.MaxExtensions = *said.MaxExtensions
	}
	return t
}

// bounded returns t within its bounds. MaxTotal is the gateway's own and stands above
// what a form or a backend says: a longer timeout is cut down to it, and one that takes
// all of it leaves nothing to extend.
func (t Terms) bounded() Terms {
	t.MaxTotal = max(t.MaxTotal, shortest)
	t.Timeout = min(max(t.Timeout, shortest), longest, t.MaxTotal)
	t.ExtensionAllowed = t.ExtensionAllowed && t.Timeout < t.MaxTotal
	t.Extension = min(max(t.Extension, shortest), longest)
	t.WarnBefore = min(max(t.WarnBefore, 0), t.Timeout/2)
	t.MaxExtensions = max(t.MaxExtensions, 0)
	t.Attempts = max(t.Attempts, 1)
	return t
}

// terms returns the terms of a form that a question of a backend with those terms
// brings.
func (f Forms) terms(own, backend form.Terms) Terms {
	return f.Terms.filled().with(backend).with(own).bounded()
}

// relayed are the terms of a request that Beckon only relays: its one timeout.
func relayed(timeout time.Duration, attempts int) Terms {
	return Terms{Timeout: timeout, MaxTotal: timeout, Attempts: attempts}
}

// TimeoutConfig are terms as they are told: durations in milliseconds, by the names that
// a form definition has for them.
type TimeoutConfig struct {
	InitialTimeout    int64 `json:"initial_timeout" doc:"How long it is open, without extensions."`
	ExtensionAllowed  bool  `json:"extension_allowed" doc:"Whether its end can be put off."`
	ExtensionDuration int64 `json:"extension_duration" doc:"By how much at a time, and at most."`
	MaxExtensions     int   `json:"max_extensions" doc:"How often."`
	MaxTotal          int64 `json:"max_total" doc:"How long it is open at most, with all extensions."`
	WarnBefore        int64 `json:"warn_before" doc:"How long before the end the warning comes; 0 for none."`
}

// Config returns the terms as they are told.
func (t Terms) Config() TimeoutConfig {
	return TimeoutConfig{
		InitialTimeout: t.Timeout.Milliseconds(), ExtensionAllowed: t.ExtensionAllowed,
		ExtensionDuration: t.Extension.Milliseconds(), MaxExtensions: t.MaxExtensions,
		MaxTotal: t.MaxTotal.Milliseconds(), WarnBefore: t.WarnBefore.Milliseconds(),
	}
}
