package park

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// A plan is what a backend and its client do; the lot is between them.
type plan struct {
	options Options
	backend []step
	client  []step
}

// step is one thing that either side does.
type step struct {
	do    string
	n     int           // which state, leg or question, of those that there are
	mask  int           // which keys are answered
	after time.Duration // before it
}

func genSteps(kinds []string, most int) *rapid.Generator[[]step] {
	one := rapid.Custom(func(t *rapid.T) step {
		return step{
			do:   rapid.SampledFrom(kinds).Draw(t, "do"),
			n:    rapid.IntRange(0, 5).Draw(t, "n"),
			mask: rapid.IntRange(0, 31).Draw(t, "mask"),
			after: rapid.SampledFrom([]time.Duration{
				0, 0, time.Millisecond, longWindow, time.Second, 5 * time.Second, time.Minute - 1, time.Minute,
			}).Draw(t, "after"),
		}
	})
	return rapid.SliceOfN(one, 0, most)
}

func genPlan(t *rapid.T) plan {
	return plan{
		options: Options{
			TTL:       time.Minute,
			MaxAge:    4 * time.Minute,
			Gather:    rapid.SampledFrom([]time.Duration{0, longWindow}).Draw(t, "gather"),
			Grace:     rapid.SampledFrom([]time.Duration{-1, 0}).Draw(t, "grace"),
			MaxParked: rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "parked"),
			MaxKept:   rapid.SampledFrom([]int{0, 1}).Draw(t, "kept"),
		},
		backend: genSteps([]string{"ask", "ask", "await", "notify", "withdraw", "sleep"}, 12).Draw(t, "backend"),
		client:  genSteps([]string{"answer", "answer", "answer", "nothing", "nonsense", "eve", "leave", "cancel", "sleep"}, 14).Draw(t, "client"),
	}
}

// play carries a plan out, and tells what was wrong.
type play struct {
	*stand
	ran atomic.Int32

	mu     sync.Mutex
	faults []string
	states []string
	visits []*visit
}

func (p *play) fault(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// work does what the plan says of the backend, and gives up when its call is
// cancelled.
func (p *play) work(steps []step) Work {
	return func(ctx context.Context, c *Call) wire.Message {
		p.ran.Add(1)
		var asked []question
		for _, s := range steps {
			select {
			case <-time.After(s.after):
			case <-ctx.Done():
				return result("cancelled")
			}
			switch s.do {
			case "ask":
				asked = append(asked, p.openForm(c))
			case "notify":
				c.Notify(said(c, fmt.Sprint(s.n)))
			case "withdraw":
				if s.n < len(asked) {
					asked[s.n].Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "not any more"))
				}
			case "await":
				for i, q := range asked {
					select {
					case a := <-q.done:
						q.done <- a
						p.checkAnswer(i+1, a)
					case <-ctx.Done():
						return result("cancelled")
					}
				}
			}
		}
		return result("done")
	}
}

// checkAnswer wants that what a person said was said to this question, by the one
// who was asked.
func (p *play) checkAnswer(number int, a input.Answer) {
	switch a.Outcome {
	case input.Accept:
		if name, _ := wire.Text(a.Response.Result(), "content", "name"); !strings.HasPrefix(name, fmt.Sprintf("ada r%d ", number)) {
			p.fault("question %d was answered by %q", number, name)
		}
	case input.Decline, input.Cancel:
		p.fault("question %d was answered with %s, which nobody said", number, a.Outcome)
	}
}

// look notes the state that a leg was given, if it was.
func (p *play) look() {
	synctest.Wait()
	for _, v := range p.visits {
		if len(v.done) == 0 {
			continue
		}
		m := <-v.done
		v.done <- m
		state, ok := wire.Text(m.Result(), "requestState")
		if !ok {
			continue
		}
		questions := 0
		for range wire.Members(wire.Get(m.Result(), "inputRequests")) {
			questions++
		}
		if questions == 0 {
			p.fault("a leg was sent away without questions")
		}
		p.states = append(p.states, state)
	}
}

// step does what the plan says of the client.
func (p *play) step(n int, s step) {
	time.Sleep(s.after)
	p.look()
	if s.do == "leave" || s.do == "cancel" {
		cause := gone()
		if s.do == "cancel" {
			cause = errCancelled
		}
		p.visits[s.n%len(p.visits)].cancel(cause)
		return
	}
	if len(p.states) == 0 || s.do == "sleep" {
		return
	}
	state, who, value := p.states[len(p.states)-1-s.n%len(p.states)], someone, `{"action":"accept","content":{"name":"%s r%d %d"}}`
	switch s.do {
	case "eve":
		who = "eve"
	case "nothing":
		s.mask = 0
	case "nonsense":
		value = `"%s %d %d"`
	}
	var responses []string
	for key := range 5 {
		if s.mask&(1<<key) != 0 {
			responses = append(responses, fmt.Sprintf(`"r%d":`+value, key+1, who, key+1, n))
		}
	}
	p.visits = append(p.visits, p.resumeAs(who, retry(deploy, state, "{"+strings.Join(responses, ",")+"}")))
}

// run carries out the whole plan, and what must be true in the end.
func (p *play) run(pl plan) {
	p.visits = []*visit{p.beginAs(someone, deploy, p.work(pl.backend))}
	for n, s := range pl.client {
		p.step(n, s)
	}
	time.Sleep(5 * time.Minute) // longer than a call may live
	synctest.Wait()
	if len(p.calls) != 0 || p.Parked() != 0 || len(p.byPrincipal) != 0 || p.shelf.bytes != 0 || p.shelf.calls.Len() != 0 {
		p.fault("left are %d calls, %d parked, %d bytes", len(p.calls), p.Parked(), p.shelf.bytes)
	}
	p.Close()
	synctest.Wait()
	if p.ran.Load() != 1 {
		p.fault("the work ran %d times", p.ran.Load())
	}
	if p.seen.opened != len(p.seen.ended) || p.broker.Len() != 0 {
		p.fault("%d questions were opened, %d ended, %d are open", p.seen.opened, len(p.seen.ended), p.broker.Len())
	}
	for r, n := range p.seen.ended {
		if n != 1 {
			p.fault("the question %s ended %d times", r.ID, n)
		}
	}
	for i, v := range p.visits {
		if len(v.done) == 0 {
			p.fault("leg %d still waits", i)
		}
	}
}

// R78: whatever backend and client do, the work runs once, each question ends once and
// is answered by nobody but who was asked, each leg returns, and nothing is left.
func TestInterleavingsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pl := rapid.Custom(genPlan).Draw(rt, "plan")
		var faults []string
		synctest.Test(t, func(t *testing.T) {
			p := &play{stand: newStand(t, pl.options)}
			p.run(pl)
			faults = p.faults
		})
		if len(faults) > 0 {
			rt.Fatal(strings.Join(faults, "\n"))
		}
	})
}
