package formtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/beckon-mcp/beckon/form"
)

// Question is a form that waits for an answer. The methods may be called by several
// goroutines.
type Question interface {
	// Form returns what is asked.
	Form() *form.Form

	// Deadline returns when the question ends unless it is answered. It may be later
	// each time.
	Deadline() time.Time

	// Submit answers. Nil means that the question has ended with these answers; an
	// error tells why it has not, and not that it may not be answered again.
	Submit(answers []byte) error
}

// Manner is how a person treats a question.
type Manner int

// The manners.
const (
	Prompt   Manner = iota // answers at once
	Careless               // errs first, then answers
	Absent                 // never answers, and sees the question end
	Late                   // answers when the question has ended
)

// Person is somebody who is asked. The zero Person answers at once.
type Person struct {
	Manner Manner
	Thinks time.Duration // before each submission
	Errors int           // how often a careless person errs; 0 means once
	Seed   uint64        // of what is answered
}

// Attempt is one submission, and what became of it.
type Attempt struct {
	At      time.Time
	Answers json.RawMessage
	Wrong   bool  // it was meant to be refused
	Err     error // of [Question.Submit]
}

// Meeting is what happened between a person and a question.
type Meeting struct {
	Attempts []Attempt
	Answered bool      // the last attempt was taken
	Ended    bool      // the person saw the deadline pass
	Until    time.Time // when the person left
}

// Meet lets the person treat the question in their manner, and returns when they are
// done with it, or ctx has ended. The error tells that the person could not do so:
// ctx ended, or no answer could be made up. That an answer was refused is no error.
func (p Person) Meet(ctx context.Context, q Question) (m Meeting, err error) {
	defer func() { m.Until = time.Now() }()
	rng := rand.New(rand.NewPCG(p.Seed, 5))
	if p.Manner == Absent || p.Manner == Late {
		if err := outlast(ctx, q); err != nil {
			return m, err
		}
		m.Ended = true
		if p.Manner == Absent {
			return m, nil
		}
	}
	if p.Manner == Careless {
		for range max(p.Errors, 1) {
			r, err := wrong(q.Form(), rng)
			if err != nil {
				return m, err
			}
			if err := p.submit(ctx, q, &m, Attempt{Answers: r, Wrong: true}); err != nil || m.Answered {
				return m, err
			}
		}
	}
	r, err := Answers(q.Form(), rng)
	if err != nil {
		return m, err
	}
	return m, p.submit(ctx, q, &m, Attempt{Answers: r})
}

// wrong makes answers that are wrong in one of the ways in which they can be.
func wrong(f *form.Form, rng *rand.Rand) (json.RawMessage, error) {
	all := Scenarios(f)
	if len(all) == 0 {
		return nil, fmt.Errorf("the form %s takes everything", f.Definition().ID)
	}
	r, err := Invalid(f, all[rng.IntN(len(all))], rng)
	return r.Responses, err
}

// submit thinks, and submits.
func (p Person) submit(ctx context.Context, q Question, m *Meeting, a Attempt) error {
	if err := wait(ctx, p.Thinks); err != nil {
		return err
	}
	a.At = time.Now()
	a.Err = q.Submit(a.Answers)
	m.Attempts = append(m.Attempts, a)
	m.Answered = a.Err == nil
	return nil
}

// outlast waits until the deadline has passed, wherever it has moved.
func outlast(ctx context.Context, q Question) error {
	for {
		left := time.Until(q.Deadline())
		if left < 0 {
			return nil
		}
		if err := wait(ctx, left+time.Millisecond); err != nil {
			return err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
