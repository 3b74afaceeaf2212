package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/api"
	"github.com/beckon-mcp/beckon/internal/input"
)

// askGateway puts a question to a gateway, and waits for its end.
func (p *program) askGateway(cmd *cobra.Command, flags askFlags, f *form.Form) (asked, error) {
	c, err := p.questioner(cmd, flags)
	if err != nil {
		return asked{}, err
	}
	definition, err := f.MarshalJSON()
	if err != nil {
		return asked{}, fmt.Errorf("writing the form: %w", err)
	}
	defer c.http.CloseIdleConnections()
	ctx := cmd.Context()
	q, err := c.ask(ctx, api.Asking{Form: definition, Message: flags.message})
	if err != nil {
		return asked{}, err
	}
	q, err = c.follow(ctx, q.ID, func() { p.say("beckon: the question %s is open, at %s\n", q.ID, c.address(q.ID)) })
	if err != nil && interrupted(ctx) {
		return c.takeBack(ctx, q)
	}
	if err != nil {
		return asked{}, err
	}
	return askedOf(q), nil
}

// takeBack withdraws a question whose asker was interrupted. An answer that came just
// before is not lost.
func (c *questioner) takeBack(ctx context.Context, q api.Question) (asked, error) {
	const patience = 5 * time.Second
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	after, err := c.withdraw(ctx, q.ID, "whoever asked was interrupted")
	if problem, ok := errors.AsType[problemError](err); ok && strings.HasPrefix(string(problem.Reason), "already_") {
		if after, err = c.show(ctx, q.ID); err == nil {
			return askedOf(after), nil
		}
	}
	if err != nil {
		return asked{}, fmt.Errorf("%w, and the question %s could not be withdrawn: %w", errInterrupted, q.ID, err)
	}
	a := askedOf(after)
	a.Detail = errInterrupted.Error()
	return a, nil
}

// askedOf is what came of a question at a gateway.
func askedOf(q api.Question) asked {
	a := asked{ID: q.ID, Reason: string(q.Reason), Detail: q.Detail, Errors: q.Errors}
	switch q.Status {
	case input.Completed:
		a.Outcome, a.Errors = input.Accept, nil
		if q.Response != nil {
			a.Content = q.Response.Responses
		}
	case input.Declined:
		a.Outcome, a.Detail = input.Decline, ""
	case input.Cancelled:
		a.Outcome, a.Detail = input.Cancel, ""
		if q.Reason == input.MaxRetriesExceeded {
			a.Outcome = input.Rejected
		}
	case input.TimedOut:
		a.Outcome = input.Timeout
	case input.Dropped:
		a.Outcome = input.Withdrawn
	default:
		a.Outcome = input.Abandoned
	}
	return a
}

// problemError is a refusal of a gateway.
type problemError struct{ api.Problem }

func (e problemError) Error() string {
	if len(e.Faults) > 0 {
		return "the gateway refuses: " + e.Detail + "\n" + e.Faults.Error()
	}
	return "the gateway refuses: " + e.Detail
}

// follow waits for the end of a question. It comes back after a connection that
// broke, and misses nothing of what the gateway still knows. It calls begun once, when
// nothing is missed any more, or when that has to be tried again.
func (c *questioner) follow(ctx context.Context, id string, begun func()) (api.Question, error) {
	waits := []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second,
		4 * time.Second, 5 * time.Second, 5 * time.Second, 5 * time.Second, 5 * time.Second, 5 * time.Second}
	at := place{question: api.Question{ID: id}, begun: sync.OnceFunc(begun)}
	for tries := 0; ; tries++ {
		before := at.last
		err := c.listen(ctx, id, &at)
		at.begun()
		if at.ended || ctx.Err() != nil {
			return at.question, err
		}
		problem, refused := errors.AsType[problemError](err)
		if refused && !slices.Contains([]int{429, 502, 503, 504}, problem.Status) {
			return at.question, err
		}
		if at.last != before {
			tries = 0
		}
		if tries == len(waits) {
			return at.question, errWithHint("the question may still be open: "+c.address(id), "the gateway cannot be reached any more: %w", err)
		}
		if err := pause(ctx, waits[tries]); err != nil {
			return at.question, err
		}
	}
}

// place is how far somebody who follows a question has come.
type place struct {
	question api.Question // as the newest event had it
	last     string       // id of that event
	ended    bool         // there will be no other
	begun    func()       // to be called when the question is followed
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// seen notes an event.
func (at *place) seen(id, name string, data []byte) error {
	var q api.Question
	if err := json.Unmarshal(data, &q); err != nil {
		return fmt.Errorf("reading what the gateway says: %w", err)
	}
	at.question, at.last, at.ended = q, id, name == "ended"
	return nil
}
