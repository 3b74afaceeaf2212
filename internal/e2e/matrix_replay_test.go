//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// duplicates is how many retries of one call are made at once.
const duplicates = 5

// A replay is something that a modern client may do and go-sdk's does not.
type replay struct {
	name string
	// fits says whether it means anything in front of such a backend.
	fits func(backend side) bool
	play func(ctx context.Context, t *testing.T, s *stage, c cell, client rawClient)
}

func replays() []replay {
	always := func(side) bool { return true }
	// A modern backend's state is its own, and what it does with an old one too.
	parked := func(b side) bool { return b.era == legacy }
	return []replay{
		{atOnce, always, retryAtOnce},
		{oldState, parked, retryOldState},
		{leaveAtOnce, always, leaveBeforeAsked},
	}
}

// TestMatrixReplaysDirect shows what a modern server does by itself.
func TestMatrixReplaysDirect(t *testing.T) {
	s := newStage(t)
	for _, b := range []side{{modern, "http"}, {modern, "stdio"}} {
		playReplays(t, s, b, b, true)
	}
}

// TestMatrixReplays retries each kind of call in ways in which it must not run
// twice. D7
func TestMatrixReplays(t *testing.T) {
	s := newStage(t)
	s.openHouses(t)
	for _, client := range []side{{modern, "http"}, {modern, "stdio"}} {
		for _, backend := range sides() {
			playReplays(t, s, client, backend, false)
		}
	}
	s.closeHouses()
}

func playReplays(t *testing.T, s *stage, client, backend side, direct bool) {
	t.Helper()
	var playing sync.WaitGroup
	defer playing.Wait()
	for _, kind := range kinds {
		for _, r := range replays() {
			if !r.fits(backend) {
				continue
			}
			c := cell{client, backend, kind, r.name, direct}
			playing.Go(func() {
				t.Run(c.String(), func(t *testing.T) {
					ctx, cancel := context.WithTimeoutCause(t.Context(), cellTimeout, fmt.Errorf("it took longer than %v", cellTimeout))
					defer cancel()
					r.play(ctx, t, s, c, s.rawReach(ctx, t, c))
				})
			})
		}
	}
}

// arguments are those of a call of the tool that asks once in each round.
func (c cell) arguments(rounds int, hold bool) string {
	return fmt.Sprintf(`{"key":%q,"kind":%q,"rounds":%d,"atOnce":1,"hold":%t}`, c.key(), c.kind, rounds, hold)
}

// retryAtOnce makes the same retry five times at once, and once more when it is
// all over. In front of a legacy backend they are one call, of which each gets
// the result. A modern backend gets every one of them, and judges by itself.
func retryAtOnce(ctx context.Context, t *testing.T, s *stage, c cell, client rawClient) {
	first := rawCall(1, c.arguments(1, false))
	asked, answers := ask(ctx, t, c, client, first)
	retry := func(id int) string {
		got, err := client.send(ctx, first.with(id, asked.Result.RequestState, answers))
		if err != nil {
			return err.Error()
		}
		return got.report()
	}
	var retrying sync.WaitGroup
	got := make([]string, duplicates)
	for i := range got {
		retrying.Go(func() { got[i] = retry(10 + i) })
	}
	retrying.Wait()
	got = append(got, retry(100))

	want := executed{Entered: []int{1}, Ended: "worked"}
	if c.backend.era == modern {
		want.Entered = append(want.Entered, slices.Repeat([]int{2}, len(got))...)
		want.Extra = len(got) - 1
	}
	for i, report := range got {
		if report != c.report() {
			t.Errorf("retry %d got %s, want %s", i, report, c.report())
		}
	}
	s.ledger.check(t, c.key(), ending{Executed: want})
}

// retryOldState comes back with the state of the first round, and another
// answer to its question, when the second round is open, and when all is over.
// It is too late for both: it is told what is open now, and what came out.
func retryOldState(ctx context.Context, t *testing.T, s *stage, c cell, client rawClient) {
	first := rawCall(1, c.arguments(2, false))
	asked, answers := ask(ctx, t, c, client, first)
	asked2, answers2 := ask(ctx, t, c, client, first.with(2, asked.Result.RequestState, answers))
	wantAsked(t, c, asked2, "q2a")

	old := first.with(3, asked.Result.RequestState, otherAnswers(answers))
	replayed, _ := ask(ctx, t, c, client, old)
	wantAsked(t, c, replayed, "q2a")

	for i, last := range []rawRequest{
		first.with(4, asked2.Result.RequestState, answers2), // the round that is open
		first.with(5, asked2.Result.RequestState, answers2), // again
		first.with(6, asked.Result.RequestState, otherAnswers(answers)),
		first.with(7, replayed.Result.RequestState, nil),
	} {
		got, err := client.send(ctx, last)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.report(), got.report()); diff != "" {
			t.Errorf("retry %d (-want +got):\n%s", i, diff)
		}
	}
	s.ledger.check(t, c.key(), ending{Executed: executed{Entered: []int{1}, Ended: "worked"}})
}

// leaveBeforeAsked drops a call before it has asked anything. Nobody can come back
// for it: it must stop at once.
func leaveBeforeAsked(ctx context.Context, t *testing.T, s *stage, c cell, client rawClient) {
	call, leave := context.WithCancelCause(ctx)
	var calling sync.WaitGroup
	defer calling.Wait()
	defer leave(nil)
	calling.Go(func() {
		if got, err := client.send(call, rawCall(1, c.arguments(0, true))); err == nil {
			t.Errorf("the call got %s", got.report())
		}
	})
	if err := s.ledger.awaitHeld(ctx, c.key()); err != nil {
		t.Fatal(err)
	}
	leave(errors.New("left"))
	soon, cancel := soon(ctx)
	defer cancel()
	if err := s.ledger.awaitEnded(soon, c.key()); err != nil {
		t.Fatal(err)
	}
	s.ledger.check(t, c.key(), ending{Executed: executed{Entered: []int{1}, Ended: "stopped"}})
}

// ask sends a call that must end with input_required, and returns the answers
// that the cell has to it.
func ask(ctx context.Context, t *testing.T, c cell, client rawClient, call rawRequest) (*rawResponse, map[string]json.RawMessage) {
	t.Helper()
	got, err := client.send(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := got.answers(c)
	if err != nil {
		t.Fatal(err)
	}
	return got, answers
}

// wantAsked wants one question, with this name.
func wantAsked(t *testing.T, c cell, got *rawResponse, name string) {
	t.Helper()
	names, err := got.asks(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{name}, slices.Collect(maps.Values(names))); diff != "" {
		t.Errorf("the questions (-want +got):\n%s", diff)
	}
}

// otherAnswers are answers to the same questions that would show if they counted.
func otherAnswers(answers map[string]json.RawMessage) map[string]json.RawMessage {
	other := make(map[string]json.RawMessage)
	for key := range answers {
		other[key] = json.RawMessage(`{"action":"cancel","role":"user","model":"other","content":{"type":"text","text":"other"},"roots":[]}`)
	}
	return other
}
