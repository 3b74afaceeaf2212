package park

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// askingTwice is a tool that asks a second thing a while after the first.
func (s *stand) askingTwice(gap time.Duration) Work {
	return func(_ context.Context, c *Call) wire.Message {
		a := s.openForm(c)
		time.Sleep(gap)
		b := s.openForm(c)
		return result(a.answer() + " " + b.answer())
	}
}

// A window that was set lasts that long, from the first question on.
func TestGatherFixed(t *testing.T) {
	const window = 100 * time.Millisecond
	for _, tt := range []struct {
		gap  time.Duration
		keys []string
	}{
		{0, []string{"r1", "r2"}},
		{window - 1, []string{"r1", "r2"}},
		{window + 1, []string{"r1"}},
	} {
		inBubble(t, Options{Gather: window}, func(s *stand) {
			v := s.begin(s.askingTwice(tt.gap))
			time.Sleep(window - 1)
			v.wantWaits("the window is open")
			time.Sleep(time.Nanosecond)
			state := v.wantInput(tt.keys...)
			time.Sleep(time.Second)
			if len(tt.keys) == 2 {
				s.resume(state, `{"r1":{"action":"decline"},"r2":{"action":"decline"}}`).wantResult("decline decline")
				return
			}
			state = s.resume(state, named("r1", "Ada")).wantInput("r2")
			s.resume(state, named("r2", "Bob")).wantResult("Ada Bob")
		})
	}
}

// A window that was set holds for what was seen to ask several things, too.
func TestGatherFixedIsNotLearned(t *testing.T) {
	inBubble(t, Options{Gather: time.Millisecond}, func(s *stand) {
		for range 3 {
			v := s.begin(s.askingTwice(2 * time.Millisecond))
			time.Sleep(time.Millisecond)
			state := v.wantInput("r1")
			time.Sleep(time.Second)
			state = s.resume(state, named("r1", "Ada")).wantInput("r2")
			s.resume(state, named("r2", "Bob")).wantResult("Ada Bob")
		}
	})
}

// What asks for the first time waits for what may go along. From then on it takes no
// time to ask one thing, as long as that is all that it asks.
func TestGatherFirst(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		s.first = longWindow
		for _, want := range []time.Duration{longWindow, 0, 0} {
			began := time.Now()
			v := s.begin(s.asking(1))
			if want > 0 {
				time.Sleep(want - 1)
				v.wantWaits("the window is open")
				time.Sleep(time.Nanosecond)
			}
			v.wantInput("r1")
			if took := time.Since(began); took != want {
				t.Errorf("the question went out after %v, want %v", took, want)
			}
		}
	})
	inBubble(t, Options{}, func(s *stand) {
		s.first = longWindow
		for range 2 {
			v := s.begin(s.askingTwice(longWindow - 1))
			time.Sleep(longWindow)
			v.wantInput("r1", "r2")
		}
	})
}

// Where nothing else is known or set, a question goes out without any time passing.
func TestGatherTakesNoTime(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		began := time.Now()
		s.begin(s.asking(1)).wantInput("r1")
		if took := time.Since(began); took != 0 {
			t.Errorf("the question went out after %v", took)
		}
	})
}

// What asks another thing soon after the first is remembered, and the next time
// the first waits for it; by tool, not by arguments.
func TestGatherLearns(t *testing.T) {
	for _, tt := range []struct {
		gap     time.Duration
		learned bool
	}{
		{time.Millisecond, true},
		{longWindow - 1, true},
		{longWindow, true}, // learned; but it comes when the window ends
		{longWindow + 1, false},
	} {
		inBubble(t, Options{}, func(s *stand) {
			v := s.begin(s.askingTwice(tt.gap))
			state := v.wantInput("r1")
			time.Sleep(time.Second)
			state = s.resume(state, named("r1", "Ada")).wantInput("r2")
			s.resume(state, named("r2", "Bob")).wantResult("Ada Bob")

			next := s.beginAs("bob", `"name":"deploy"`, s.askingTwice(tt.gap))
			if !tt.learned {
				next.wantInput("r1")
				return
			}
			time.Sleep(longWindow - 1)
			next.wantWaits("the window is open")
			time.Sleep(time.Nanosecond)
			if synctest.Wait(); tt.gap < longWindow {
				next.wantInput("r1", "r2")
			}
			s.beginAs("bob", `"name":"other"`, s.askingTwice(tt.gap)).wantInput("r1")
		})
	}
}

// Questions that are asked one after the other teach nothing: they cannot go
// along.
func TestGatherOneAfterTheOther(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		for range 3 {
			state := s.begin(s.asking(2)).wantInput("r1")
			state = s.resume(state, named("r1", "Ada")).wantInput("r2")
			s.resume(state, named("r2", "Bob")).wantResult("got Ada Bob")
		}
	})
}

// What is remembered is bounded, and so is each name.
func TestHabitsAreBounded(t *testing.T) {
	var h habits
	for i := range 3 * maxHabits {
		h.learn(habit{name: fmt.Sprint(i)}, several)
		h.learn(habit{name: fmt.Sprint(i)}, single)
	}
	if len(h.all) != maxHabits {
		t.Errorf("%d are remembered, want %d", len(h.all), maxHabits)
	}
	if last := (habit{name: fmt.Sprint(3*maxHabits - 1)}); h.of(last) != several {
		t.Error("the newest is not remembered")
	}
	long := habit{name: fmt.Sprintf("%0*d", maxHabitName+1, 0)}
	if h.learn(long, single); h.of(long) != unasked {
		t.Error("a name that is too long is remembered")
	}
}
