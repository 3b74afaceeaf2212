package park

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Many calls at once, whose clients send each retry several times, on real
// threads: each runs once, and each leg gets the result of its own call.
func TestManyAtOnce(t *testing.T) {
	const clients, copies, rounds = 40, 4, 3
	s := newStand(t, Options{})
	var ran atomic.Int32
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			params := fmt.Sprintf(`"name":"deploy","n":%d`, n)
			want := []string{fmt.Sprint(n)}
			m := s.Begin(t.Context(), &leg{request: request(t, 1, params)}, partyOf(someone), func(ctx context.Context, c *Call) wire.Message {
				ran.Add(1)
				said := []string{fmt.Sprint(n)}
				for range rounds {
					said = append(said, s.ask(ctx, c))
				}
				return result(strings.Join(said, " "))
			})
			for round := 1; round <= rounds; round++ {
				state, _ := wire.Text(m.Result(), "requestState")
				name := fmt.Sprintf("%d-%d", n, round)
				want = append(want, name)
				responses := named(fmt.Sprintf("r%d", round), name)
				m = s.resumeCopies(copies, retry(params, state, responses))
			}
			if got, _ := wire.Text(m.Result(), "text"); got != strings.Join(want, " ") {
				t.Errorf("client %d got %s, want %s", n, m.Raw(), want)
			}
		})
	}
	wg.Wait()
	if ran.Load() != clients || s.Parked() != 0 {
		t.Errorf("%d calls ran, want %d; %d are parked", ran.Load(), clients, s.Parked())
	}
	for r, n := range s.seen.ended {
		if n != 1 {
			t.Errorf("the question %s ended %d times", r.ID, n)
		}
	}
}

// resumeCopies sends the same retry several times at once, and returns the response
// to the first copy.
func (s *stand) resumeCopies(copies int, params string) wire.Message {
	all := make([]wire.Message, copies)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			all[i] = s.Resume(s.Context(), &leg{request: request(s, i+2, params)}, partyOf(someone))
		})
	}
	wg.Wait()
	return all[0]
}

// Close, clients that leave, and answers that arrive, all at the same time.
func TestCloseAmidEverything(t *testing.T) {
	for range 20 {
		s := newStand(t, Options{})
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if n%3 == 0 {
					go cancel(gone())
				}
				m := s.Begin(ctx, &leg{request: request(t, 1, deploy)}, partyOf(someone), s.asking(2))
				if state, ok := wire.Text(m.Result(), "requestState"); ok {
					s.resumeCopies(2, retry(deploy, state, named("r1", "Ada")))
				}
			})
		}
		s.Close()
		wg.Wait()
		s.Close()
		if len(s.calls) != 0 || s.parked != 0 || s.broker.Len() != 0 {
			t.Fatalf("left are %d calls, %d parked, %d questions", len(s.calls), s.parked, s.broker.Len())
		}
	}
}
