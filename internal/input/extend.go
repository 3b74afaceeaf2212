package input

import (
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// extensionsLeft returns how often r may still be extended. broker.mu is held.
func (r *Request) extensionsLeft() int {
	s := r.sheet
	if !s.endedAt.IsZero() || !s.terms.ExtensionAllowed || !s.deadline.Before(r.latest()) {
		return 0
	}
	return max(s.terms.MaxExtensions-s.extensions, 0)
}

// latest returns when r ends however often it is extended.
func (r *Request) latest() time.Time { return r.OpenedAt.Add(r.sheet.terms.MaxTotal) }

// Extend moves the end of r, by the duration or, when that is zero, by the extension
// of its terms. What would go beyond the most that a form may be open is cut short.
// The error tells why it cannot be (not_extendable, no_extensions_left, params,
// already_…).
func (r *Request) Extend(by time.Duration) (Status, *wire.Error) {
	if !r.Lane() {
		return r.Status(), wire.Errorf(wire.ReasonNotExtendable, "only forms can be extended").With("type", "timeout")
	}
	if err := r.overdue(); err != nil {
		return r.Status(), err
	}
	r.broker.mu.Lock()
	if r.ending != "" {
		r.broker.mu.Unlock()
		return r.Status(), r.TooLate()
	}
	err := r.extend(by, time.Now())
	st := r.status()
	r.broker.mu.Unlock()
	r.perform()
	return st, err
}

// extend does so with r, which is open. broker.mu is held.
func (r *Request) extend(by time.Duration, now time.Time) *wire.Error {
	s := r.sheet
	if by == 0 {
		by = s.terms.Extension
	}
	var err *wire.Error
	switch {
	case !s.terms.ExtensionAllowed:
		err = wire.Errorf(wire.ReasonNotExtendable, "the terms of this form allow no extensions")
	case by < shortest || by > s.terms.Extension:
		return badParams("an extension of this form is between 1 s and "+s.terms.Extension.String()).
			With("type", "timeout").With("minMs", shortest.Milliseconds()).With("maxMs", s.terms.Extension.Milliseconds()).
			Hint("leave extensionDuration out for the longest")
	case r.extensionsLeft() == 0:
		err = wire.Errorf(wire.ReasonNoExtensions, "this form was extended as often, or for as long, as it may be").
			With("extensionsUsed", s.extensions)
	}
	if err != nil {
		return err.With("type", "timeout").With("elapsed_ms", now.Sub(r.OpenedAt).Milliseconds()).
			With("timeout_ms", s.deadline.Sub(r.OpenedAt).Milliseconds())
	}
	s.extensions++
	s.deadline = s.deadline.Add(by)
	if most := r.latest(); s.deadline.After(most) {
		s.deadline = most
	}
	s.state = Prolonged
	s.plan(now)
	r.timer.Reset(s.next().Sub(now))
	r.happened(WasExtended)
	return nil
}
