package input

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// submission is what somebody answered, read.
type submission struct {
	values form.Values
	errors form.Errors // nil when it is valid
	by     Submitter
	shown  bool // it came over the channel of the request, which shows it no more
}

// read reads answers. It may take long, and no lock is held.
func (s *sheet) read(answers []byte, by Submitter, shown bool) submission {
	mode := form.Strict
	if s.lane {
		mode = form.Coerce
	}
	if answers == nil {
		answers = []byte("{}")
	}
	sub := submission{by: by.bounded(), shown: shown}
	values, err := s.form.Read(answers, mode)
	sub.values = values
	if err == nil {
		return sub
	}
	var ok bool
	if sub.errors, ok = errors.AsType[form.Errors](err); !ok {
		sub.errors = form.Errors{{Code: form.CodeMalformed, Message: "the answers cannot be read", Path: []string{}}}
	}
	return sub
}

// settle takes an answer of the client that is an accept. It reports false when r had
// ended before.
func (r *Request) settle(response wire.Message) bool {
	s := r.sheet
	sub := s.read(wire.Get(response.Result(), "content"), Submitter{Session: r.Session}, true)
	if sub.errors != nil && (s.lane || r.Validate != ValidateWarn) {
		_, late := r.reject(sub)
		return !late
	}
	if s.lane {
		response = response.WithResult(wire.Set(response.Result(), sub.values.JSON(), "content"))
	}
	return r.accept(sub, response) == nil
}

// Submit answers r, which has a form, with answers by field, a JSON object. When
// they are valid, r ends with them, outcome accept. Otherwise the error tells
// what is wrong and whether r may be answered again (reason validation), or that r
// has ended by this (too_many_attempts), or had before (already_completed,
// already_cancelled, already_timeout, …).
func (r *Request) Submit(answers []byte, by Submitter) *wire.Error {
	if r.sheet == nil {
		return badParams("what was asked is not a form that can be answered here")
	}
	if err := r.overdue(); err != nil {
		return err
	}
	sub := r.sheet.read(answers, by, false)
	if sub.errors != nil {
		err, _ := r.reject(sub)
		return err
	}
	content := sub.values.JSON()
	response, err := r.reply(slices.Concat([]byte(`{"action":"accept","content":`), content, []byte("}")))
	if err != nil {
		return err
	}
	return r.accept(sub, response)
}

// Reply ends r with the person's own decline or cancel. The error tells that r had
// ended before.
func (r *Request) Reply(o Outcome) *wire.Error {
	if o != Decline && o != Cancel || r.Kind != Form && r.Kind != URL {
		return badParams(`the answer must be "decline" or "cancel"`)
	}
	if err := r.overdue(); err != nil {
		return err
	}
	response, err := r.reply([]byte(`{"action":"` + string(o) + `"}`))
	if err != nil {
		return err
	}
	if !r.broker.end(r, Answer{Outcome: o, Response: response}, elsewhere) {
		return r.TooLate()
	}
	return nil
}

// elsewhere is what a channel is told when an answer came on another way.
const elsewhere = "the question was answered elsewhere"

// reply makes the response with which r ends when its answer came as no response.
func (r *Request) reply(result []byte) (wire.Message, *wire.Error) {
	id := cmp.Or(r.Message.ID(), "0")
	m, err := wire.Parse(slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), []byte(id), []byte(`,"result":`), result, []byte("}")))
	if err != nil {
		return m, badParams("the answers cannot be passed on")
	}
	return m, nil
}

// accept ends r with an answer. One that is not valid after all passes as well, and is
// told of.
func (r *Request) accept(sub submission, response wire.Message) *wire.Error {
	b, s := r.broker, r.sheet
	b.mu.Lock()
	if r.ending != "" {
		b.mu.Unlock()
		return r.TooLate()
	}
	s.record = record{values: sub.values, errors: sub.errors, by: sub.by}
	if sub.errors != nil {
		s.attempts++
		r.happened(WasRejected)
	}
	why := elsewhere
	if sub.shown {
		why = ""
	}
	b.conclude(r, Answer{Outcome: Accept, Response: response}, why)
	b.mu.Unlock()
	r.perform()
	return nil
}

// reject takes a submission that is not valid: an attempt, after which r is open
// again or has ended. It tells what is wrong, and whether r had ended before.
func (r *Request) reject(sub submission) (err *wire.Error, late bool) {
	b, s := r.broker, r.sheet
	var again wire.Message
	if sub.shown && !s.lane && s.terms.Attempts > 1 {
		again = r.corrected(retry{sub.values, sub.errors})
	}
	b.mu.Lock()
	if r.ending != "" {
		b.mu.Unlock()
		return r.TooLate(), true
	}
	s.attempts++
	s.record = record{values: sub.values, errors: sub.errors, by: sub.by}
	err = r.invalid(sub.errors)
	if s.attempts >= s.terms.Attempts {
		why := "the question was answered wrongly too often"
		if sub.shown {
			why = ""
		}
		b.conclude(r, Answer{Outcome: Rejected, Err: err}, why)
	} else {
		if s.state == Pending {
			s.state = Active
		}
		r.happened(WasRejected)
		if sub.shown {
			r.ask = again
			r.then(r.offer)
		}
	}
	b.mu.Unlock()
	r.perform()
	return err, false
}

// invalid is the error for the newest submission. broker.mu is held.
func (r *Request) invalid(errs form.Errors) *wire.Error {
	s := r.sheet
	reason, left := wire.ReasonValidation, s.terms.Attempts-s.attempts
	err := wire.Errorf(reason, "Form validation failed").Hint("correct the fields named in errors, and submit again")
	switch {
	case left > 0:
	case s.lane || r.Validate == ValidateReprompt:
		reason = wire.ReasonAttempts
		err = wire.Errorf(reason, "Form validation failed, for the last time that it may").
			Hint("ask again with a new form")
	default:
		err = wire.Errorf(reason, "Form validation failed: the answer does not fit the schema that was asked for").
			Hint("ask again, or set validate of this backend to reprompt")
	}
	return err.With("type", "validation").With("errors", errs).With("retry_allowed", left > 0).
		With("retry_limit", s.terms.Attempts).With("retry_count", s.attempts)
}

// overdue returns the error for what comes after the end of r, which it may bring
// about: the timer may be a moment late.
func (r *Request) overdue() *wire.Error {
	now := time.Now()
	r.broker.mu.Lock()
	ended := r.ending != ""
	over := r.sheet != nil && !now.Before(r.sheet.deadline)
	r.broker.mu.Unlock()
	if over && !ended {
		r.expire()
	}
	if over || ended {
		return r.TooLate()
	}
	return nil
}

// TooLate is the error for what comes after the end of r: it tells how r has ended
// (reason already_completed, already_timeout or already_cancelled), and that nothing was
// changed.
func (r *Request) TooLate() *wire.Error {
	r.broker.mu.Lock()
	state := r.ended()
	r.broker.mu.Unlock()
	var err *wire.Error
	switch state {
	case Completed:
		err = wire.Errorf(wire.ReasonCompleted, "the question has been answered already")
	case TimedOut:
		err = wire.Errorf(wire.ReasonExpired, "the question has timed out already")
	default:
		err = wire.Errorf(wire.ReasonEnded, "the question has ended already: %s", state)
	}
	return err.With("type", "submission").With("status", state).Hint("nothing was changed; ask again if an answer is still wanted")
}
