package park

import (
	"context"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// announcing is a tool that announces the second of two questions with the first, and
// has it come after a pause.
func (s *stand) announcing(pause func()) Work {
	return func(_ context.Context, c *Call) wire.Message {
		c.Expect(1)
		a := s.openForm(c)
		pause()
		c.Expect(0)
		b := s.openForm(c)
		return result(a.answer() + " " + b.answer())
	}
}

// C18: what was announced is waited for, and then nothing is, whatever the tool is known
// to do and however long others would wait.
func TestAnnouncedGoTogether(t *testing.T) {
	for _, o := range []Options{{}, {Gather: roundWindow / 2}} {
		inBubble(t, o, func(s *stand) {
			first := s.begin(s.asking(1)) // the habit of asking one thing
			time.Sleep(o.Gather)
			first.wantInput("r1")
			v := s.begin(s.announcing(func() { time.Sleep(roundWindow - 1) }))
			time.Sleep(roundWindow - 2)
			v.wantWaits("the second is announced")
			time.Sleep(time.Nanosecond)
			both := v.wantInput("r1", "r2")
			s.resume(both, `{"r1":{"action":"decline"},"r2":{"action":"decline"}}`).wantResult("decline decline")
		})
	}
}

// An announced question that does not come holds the first up for so long, and no longer;
// the next one waits for nothing.
func TestAnnouncedInVain(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		v := s.begin(s.announcing(func() { time.Sleep(roundWindow + 1) }))
		time.Sleep(roundWindow - 1)
		v.wantWaits("the second is announced")
		time.Sleep(time.Nanosecond)
		state := v.wantInput("r1")
		time.Sleep(time.Second)
		state = s.resume(state, named("r1", "Ada")).wantInput("r2")
		s.resume(state, named("r2", "Bob")).wantResult("Ada Bob")
	})
}

// A question that was announced for is taken back with nothing left behind.
func TestAnnouncedAndTakenBack(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		v := s.begin(func(ctx context.Context, c *Call) wire.Message {
			c.Expect(1)
			s.openForm(c).Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "never mind"))
			c.Expect(0)
			return result(s.ask(ctx, c))
		})
		state := v.wantInput("r2")
		s.resume(state, named("r2", "Bob")).wantResult("Bob")
	})
}
