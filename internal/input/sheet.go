package input

import (
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// sheet is what the broker keeps of a request whose answers it looks at: one of the
// form lane, or a relayed one that is validated.
type sheet struct {
	form  *form.Form
	lane  bool
	terms Terms

	// broker.mu guards the fields below.
	watch      func(*Request, Event) // nil for nobody
	state      State
	deadline   time.Time
	warnAt     time.Time // zero when no warning is to come
	endedAt    time.Time
	attempts   int // invalid submissions
	extensions int
	record     record
	kept       []byte // the record, sealed, once the request has ended and all have been told

	// Whatever is told of the request is told in the order in which it happened, by
	// one goroutine at a time: that which finds nobody at it.
	steps []func()
	busy  bool
}

// record is what was answered.
type record struct {
	values form.Values // the answer, or the valid part of the newest submission
	errors form.Errors // of the newest submission
	answer Answer      // once the request has ended
	by     Submitter
}

// lend gives r a sheet if somebody is to look at its answers. A relayed schema of
// which no form can be made is left alone: the answers to it pass as they are.
func (b *Broker) lend(r *Request, d draft) {
	defaults := b.limits.Forms
	switch {
	case d.form != nil:
		r.sheet = &sheet{form: d.form, lane: true, terms: defaults.terms(d.form.Definition().Terms, r.Question.Terms)}
	case d.kind == Form && r.Validate != "" && r.Validate != ValidateOff:
		f, err := b.cache().Lift(wire.Get(d.ask.Params(), "requestedSchema"))
		if err != nil {
			return
		}
		attempts := 1
		if r.Validate == ValidateReprompt {
			attempts = defaults.terms(form.Terms{}, r.Question.Terms).Attempts
		}
		r.sheet = &sheet{form: f, terms: relayed(b.limits.Timeout, attempts)}
	default:
		return
	}
	s := r.sheet
	s.state = Pending
	s.deadline = r.OpenedAt.Add(s.terms.Timeout)
	s.plan(r.OpenedAt)
	s.watch, r.Watch = r.Watch, nil // it goes when the request ends
}

// plan sets when the warning comes, if that is still ahead.
func (s *sheet) plan(now time.Time) {
	s.warnAt = time.Time{}
	if at := s.deadline.Add(-s.terms.WarnBefore); s.terms.WarnBefore > 0 && at.After(now) {
		s.warnAt = at
	}
}

// next returns when the timer is to ring.
func (s *sheet) next() time.Time {
	if s.warnAt.IsZero() {
		return s.deadline
	}
	return s.warnAt
}

// ring does what is due: the warning, or the end.
func (r *Request) ring() {
	now := time.Now()
	r.broker.mu.Lock()
	s := r.sheet
	switch {
	case r.ending != "":
		r.broker.mu.Unlock()
		return
	case !now.Before(s.deadline):
		r.broker.mu.Unlock()
		r.expire()
		return
	case !s.warnAt.IsZero() && !now.Before(s.warnAt):
		s.warnAt = time.Time{}
		r.happened(WasWarned)
	}
	r.timer.Reset(s.next().Sub(now))
	r.broker.mu.Unlock()
	r.perform()
}

// happened has everybody told that something happened to r. broker.mu is held.
func (r *Request) happened(what What) {
	e, watch := Event{what, r.status()}, r.sheet.watch
	r.then(func() {
		r.broker.observer.Changed(r, e)
		if watch != nil {
			watch(r, e)
		}
	})
}

// then adds a step. broker.mu is held.
func (r *Request) then(step func()) { r.sheet.steps = append(r.sheet.steps, step) }

// perform takes the steps that there are, unless somebody is at it. A step that panics
// costs itself and no other: the rest are taken before the panic goes on, because
// somebody waits for the end of r.
func (r *Request) perform() {
	s, mu := r.sheet, &r.broker.mu
	mu.Lock()
	if s.busy {
		mu.Unlock()
		return
	}
	s.busy = true
	defer func() {
		s.busy = false
		left := len(s.steps) > 0
		mu.Unlock()
		if left {
			r.perform()
		}
	}()
	for len(s.steps) > 0 {
		r.take()
	}
}

// take takes the first step. broker.mu is held, but not during the step.
func (r *Request) take() {
	s, mu := r.sheet, &r.broker.mu
	step := s.steps[0]
	s.steps[0] = nil
	if s.steps = s.steps[1:]; len(s.steps) == 0 {
		s.steps = nil
	}
	mu.Unlock()
	defer mu.Lock()
	step()
}

// offer shows r on its channel, unless it has ended. What Beckon itself was asked is
// shown to nobody.
func (r *Request) offer() {
	r.broker.mu.Lock()
	ch := r.channel
	r.broker.mu.Unlock()
	if ch != nil && !r.Managed {
		ch.Offer(r)
	}
}

// shut closes the sheet of r, which has just ended. mu is held.
func (b *Broker) shut(r *Request, last farewell) {
	s := r.sheet
	s.state = r.ended()
	s.endedAt = time.Now()
	s.warnAt = time.Time{}
	s.record.answer = last.answer
	if s.lane {
		b.forms.leave(r)
	}
	r.then(last.tell)
	r.then(func() { b.seal(r) })
}

// ended returns the final state of r. broker.mu is held, and r has ended.
func (r *Request) ended() State {
	switch r.ending {
	case Accept:
		return Completed
	case Decline:
		return Declined
	case Cancel, Rejected:
		return Cancelled
	case Timeout:
		return TimedOut
	case Withdrawn:
		return Dropped
	case Answered:
		if r.Lane() {
			return Forsaken // a response that is no answer to a form
		}
		return Completed
	}
	return Forsaken
}

// Status returns how r stands.
func (r *Request) Status() Status {
	r.broker.mu.Lock()
	st := r.status()
	var kept []byte
	if r.sheet != nil {
		kept = r.sheet.kept
	}
	r.broker.mu.Unlock()
	if kept != nil {
		r.unseal(kept, &st)
	}
	return st
}

// status returns how r stands; when it is locked away, without the record. broker.mu
// is held.
func (r *Request) status() Status {
	s := r.sheet
	if s == nil {
		st := Status{State: Pending, CreatedAt: r.OpenedAt, TimeoutAt: r.Deadline, AttemptsLeft: 1}
		if r.ending != "" {
			st.State, st.Answer, st.AttemptsLeft = r.ended(), Answer{Outcome: r.ending}, 0
		}
		return st
	}
	return Status{
		State:          s.state,
		CreatedAt:      r.OpenedAt,
		TimeoutAt:      s.deadline,
		EndedAt:        s.endedAt,
		Attempts:       s.attempts,
		AttemptsLeft:   max(s.terms.Attempts-s.attempts, 0),
		ExtensionsLeft: r.extensionsLeft(),
		Errors:         s.record.errors,
		Values:         s.record.values,
		Answer:         s.record.answer,
		By:             s.record.by,
	}
}

// Touch notes a sign of life: somebody is at r. It is for whoever sees that before there
// is an answer: the relay does, where a client reports progress on the question.
func (r *Request) Touch() {
	if r.sheet == nil {
		return
	}
	r.broker.mu.Lock()
	if r.sheet.state == Pending {
		r.sheet.state = Active
		r.happened(WasTouched)
	}
	r.broker.mu.Unlock()
	r.perform()
}

// Abandonment is why a request ended without an answer, in the words of the form API.
type Abandonment string

// Why a request ended without an answer. To decline and to cancel are both the person's
// own, and one word there.
const (
	UserCancelled      Abandonment = "user_cancelled"
	ClientDisconnected Abandonment = "client_disconnected"
	RanOut             Abandonment = "timeout"
	SessionExpired     Abandonment = "session_expired"
	FormInvalidated    Abandonment = "form_invalidated"
	MaxRetriesExceeded Abandonment = "max_retries_exceeded"
)

// Abandonment tells why a request ended without an answer; "" for one that is open or
// answered.
func (s Status) Abandonment() Abandonment {
	var reason wire.Reason
	if s.Answer.Err != nil {
		reason = s.Answer.Err.Reason
	}
	switch {
	case s.State == TimedOut:
		return RanOut
	case s.State == Cancelled && s.Answer.Outcome == Rejected:
		return MaxRetriesExceeded
	case s.State == Declined, s.State == Cancelled:
		return UserCancelled
	case s.State != Dropped && s.State != Forsaken:
		return ""
	case reason == wire.ReasonSessionExpired:
		return SessionExpired
	case reason == wire.ReasonTimeout: // of the call
		return RanOut
	case s.Answer.Outcome == Failed, s.Answer.Outcome == Answered:
		return FormInvalidated // the client is there, and cannot show it
	case reason == wire.ReasonClientGone, s.State == Forsaken:
		return ClientDisconnected
	}
	return FormInvalidated
}
