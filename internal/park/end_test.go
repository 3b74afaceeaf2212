package park

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// ending is a tool that asks, and notes how it was ended. Its call withdraws
// nothing by itself, so that the lot has to.
type ending struct {
	stopped atomic.Bool     // the context of the work has ended
	at      time.Time       // when
	cause   error           // with which
	open    bool            // the question was open then
	outcome input.Outcome   // of the question
	err     *wire.Error     // that the backend is told
	over    <-chan struct{} // closed when the question has ended
}

// asksAndNotes makes the tool. It takes a minute to stop.
func (s *stand) asksAndNotes(e *ending) Work {
	over := make(chan struct{})
	e.over = over
	return func(ctx context.Context, c *Call) wire.Message {
		q := s.openForm(c)
		<-ctx.Done()
		e.at, e.cause, e.open = time.Now(), context.Cause(ctx), len(q.done) == 0
		e.stopped.Store(true)
		go func() {
			a := <-q.done
			e.outcome, e.err = a.Outcome, a.Err
			close(over)
		}()
		time.Sleep(time.Minute)
		if len(q.done) > 0 {
			s.Error("the question ended before the work had returned")
		}
		return result("too late")
	}
}

// want wants that the call was ended so, and its question abandoned with the same
// reason, after the backend was told.
func (e *ending) want(t testing.TB, at time.Time, outcome input.Outcome, reason wire.Reason) {
	t.Helper()
	<-e.over
	if !e.at.Equal(at) {
		t.Errorf("the work was stopped %v too late", e.at.Sub(at))
	}
	if !e.open {
		t.Error("the question ended before the backend heard that the call is cancelled")
	}
	if e.outcome != outcome || e.err == nil || e.err.Reason != reason {
		t.Errorf("the question ended with %s, %+v, want %s, %s", e.outcome, e.err, outcome, reason)
	}
}

// A client that leaves before it was told a state ends the call at once.
func TestFirstLegLeaves(t *testing.T) {
	inBubble(t, Options{Gather: time.Hour}, func(s *stand) {
		var e ending
		v := s.begin(s.asksAndNotes(&e))
		v.wantWaits("the question waits for others")
		v.cancel(gone())
		v.wantError(wire.ReasonClientGone)
		e.want(t, time.Now(), input.Abandoned, wire.ReasonClientGone)
		if len(s.calls) != 0 {
			t.Error("the call is still there")
		}
	})
}

// The cause with which a client cancels reaches the work as it is, because it
// carries what the backend is told.
func TestCancelled(t *testing.T) {
	inBubble(t, Options{Gather: time.Hour}, func(s *stand) {
		var e ending
		v := s.begin(s.asksAndNotes(&e))
		synctest.Wait()
		v.cancel(errCancelled)
		v.wantError(wire.ReasonCancelled)
		e.want(t, time.Now(), input.Abandoned, wire.ReasonCancelled)
		if e.cause != errCancelled {
			t.Errorf("the work was stopped with %v, want the client's own cause", e.cause)
		}
	})
}

// A client that has a state may lose its connection: the call goes on for a moment.
func TestLaterLegLeaves(t *testing.T) {
	const grace = 3 * time.Second
	setup := func(s *stand, cause error) (string, *ending) {
		e := &ending{}
		state := s.begin(func(ctx context.Context, c *Call) wire.Message {
			s.ask(ctx, c)
			<-ctx.Done()
			e.at, e.cause = time.Now(), context.Cause(ctx)
			e.stopped.Store(true)
			return result("too late")
		}).wantInput("r1")
		v := s.resume(state, named("r1", "Ada"))
		v.wantWaits("the tool works")
		v.cancel(cause)
		synctest.Wait()
		return state, e
	}
	t.Run("it comes back", func(t *testing.T) {
		inBubble(t, Options{}, func(s *stand) {
			state, e := setup(s, gone())
			time.Sleep(grace - 1)
			v := s.resume(state, named("r1", "Ada"))
			time.Sleep(time.Hour / 2)
			v.wantWaits("the tool works")
			if e.stopped.Load() {
				t.Error("the call was ended")
			}
		})
	})
	t.Run("it stays away", func(t *testing.T) {
		inBubble(t, Options{}, func(s *stand) {
			left := time.Now()
			state, e := setup(s, gone())
			time.Sleep(grace)
			synctest.Wait()
			if e.at.Sub(left) != grace || wire.ErrorFrom(e.cause).Reason != wire.ReasonClientGone {
				t.Errorf("ended after %v with %v", e.at.Sub(left), e.cause)
			}
			if got := s.resume(state, "").wantError(wire.ReasonState); got != "the call has ended" {
				t.Errorf("told is %q", got)
			}
		})
	})
	t.Run("without grace", func(t *testing.T) {
		inBubble(t, Options{Grace: -1}, func(s *stand) {
			if _, e := setup(s, gone()); e.cause == nil {
				t.Error("the call goes on")
			}
		})
	})
	t.Run("it cancels", func(t *testing.T) {
		inBubble(t, Options{}, func(s *stand) {
			if _, e := setup(s, errCancelled); e.cause != errCancelled {
				t.Errorf("the call was ended with %v, want at once, by the client", e.cause)
			}
		})
	})
	t.Run("the gateway stops", func(t *testing.T) {
		inBubble(t, Options{}, func(s *stand) {
			if _, e := setup(s, stopping()); !e.stopped.Load() {
				t.Error("the call goes on")
			}
		})
	})
	t.Run("another leg waits", func(t *testing.T) {
		inBubble(t, Options{}, func(s *stand) {
			goOn := make(chan struct{})
			state := s.begin(func(ctx context.Context, c *Call) wire.Message {
				text := s.ask(ctx, c)
				<-goOn
				return result(text)
			}).wantInput("r1")
			a := s.resume(state, named("r1", "Ada"))
			a.wantWaits("the tool works")
			b := s.resume(state, "")
			b.wantWaits("the tool works")
			a.cancel(errCancelled)
			time.Sleep(time.Minute)
			b.wantWaits("the tool works")
			close(goOn)
			b.wantResult("Ada")
		})
	})
	t.Run("the tool ends meanwhile", func(t *testing.T) {
		inBubble(t, Options{}, func(s *stand) {
			state := s.begin(func(ctx context.Context, c *Call) wire.Message {
				text := s.ask(ctx, c)
				time.Sleep(time.Second)
				return result(text)
			}).wantInput("r1")
			v := s.resume(state, named("r1", "Ada"))
			synctest.Wait()
			v.cancel(gone())
			time.Sleep(time.Minute)
			s.resume(state, "").wantResult("Ada")
		})
	})
	t.Run("a question comes meanwhile, and too many are parked", func(t *testing.T) {
		inBubble(t, Options{MaxParked: 1}, func(s *stand) {
			goOn := make(chan struct{})
			state := s.begin(func(ctx context.Context, c *Call) wire.Message {
				text := s.ask(ctx, c)
				time.Sleep(time.Second)
				text += " " + s.ask(ctx, c)
				<-goOn
				return result(text)
			}).wantInput("r1")
			v := s.resume(state, named("r1", "Ada"))
			synctest.Wait()
			v.cancel(gone())
			s.begin(s.asking(1)).wantInput("r1")
			time.Sleep(2 * time.Second)
			v = s.resume(state, "")
			time.Sleep(time.Minute)
			v.wantWaits("its client is there, and has all the time")
			close(goOn)
			v.wantResult("Ada unseen")
		})
	})
	t.Run("a question comes meanwhile", func(t *testing.T) {
		inBubble(t, Options{}, func(s *stand) {
			state := s.begin(func(ctx context.Context, c *Call) wire.Message {
				text := s.ask(ctx, c)
				time.Sleep(time.Second)
				return result(text + " " + s.ask(ctx, c))
			}).wantInput("r1")
			v := s.resume(state, named("r1", "Ada"))
			synctest.Wait()
			v.cancel(gone())
			time.Sleep(2 * time.Second)
			state = s.resume(state, "").wantInput("r2")
			time.Sleep(time.Minute) // no grace any more: it was told to be away
			s.resume(state, named("r2", "Bob")).wantResult("Ada Bob")
		})
	})
}

// A leg whose client is gone when it would be told a state does not know it, so
// nobody can come back.
func TestStateIsToldToNobody(t *testing.T) {
	for _, taken := range []int{0, 1} {
		inBubble(t, Options{Gather: time.Second}, func(s *stand) { s.tellNobody(taken) })
	}
}

// tellNobody has a client leave that has taken so many of the two notifications
// before the state.
func (s *stand) tellNobody(taken int) {
	var e ending
	l := &leg{request: request(s, 1, deploy+","+meta), slow: make(chan struct{})}
	v := s.visitor(l, func(ctx context.Context) wire.Message {
		return s.Begin(ctx, l, partyOf(someone), func(ctx context.Context, c *Call) wire.Message {
			c.Notify(wire.NewNotification("notifications/x", nil))
			time.Sleep(time.Millisecond) // now the leg is busy with it
			c.Notify(wire.NewNotification("notifications/y", nil))
			return s.asksAndNotes(&e)(ctx, c)
		})
	})
	time.Sleep(2 * time.Second)
	for range taken {
		l.slow <- struct{}{}
	}
	synctest.Wait()
	if s.Parked() != 1 {
		s.Fatal("the call is not parked")
	}
	v.cancel(gone())
	close(l.slow)
	synctest.Wait()
	if s.Parked() != 0 {
		s.Error("the call is still parked")
	}
	e.want(s, time.Now(), input.Abandoned, wire.ReasonClientGone)
}

// R72: a client that never comes back is given up when its state has expired: the call
// is cancelled first, and then its questions end, with an error.
func TestClientNeverReturns(t *testing.T) {
	inBubble(t, Options{TTL: time.Minute}, func(s *stand) {
		began := time.Now()
		var e ending
		state := s.begin(s.asksAndNotes(&e)).wantInput("r1")
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		if s.Parked() != 1 || e.stopped.Load() {
			t.Error("given up too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if s.Parked() != 0 {
			t.Error("the call is still parked")
		}
		e.want(t, began.Add(time.Minute), input.Abandoned, wire.ReasonTimeout)
		if len(s.seen.expired) != 1 || s.seen.expired[0] != time.Minute {
			t.Errorf("observed as expired: %v", s.seen.expired)
		}
		if got := s.resume(state, named("r1", "Ada")).wantError(wire.ReasonState); got != "the requestState has expired" {
			t.Errorf("told is %q", got)
		}
	})
}

// The last moment at which a client may come back is the one before its state
// expires; the clock of the call and the state agree about it.
func TestAnswerAtTheDeadline(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		ok    bool
	}{{time.Minute - 1, true}, {time.Minute, false}, {time.Minute + 1, false}} {
		inBubble(t, Options{TTL: time.Minute}, func(s *stand) {
			state := s.begin(s.asking(1)).wantInput("r1")
			time.Sleep(tt.after)
			v := s.resume(state, named("r1", "Ada"))
			if tt.ok {
				v.wantResult("got Ada")
			} else {
				v.wantError(wire.ReasonState)
			}
		})
	}
}

// However often the client comes back, a call ends in the end.
func TestMaxAge(t *testing.T) {
	t.Run("parked", func(t *testing.T) {
		inBubble(t, Options{TTL: 10 * time.Minute, MaxAge: 25 * time.Minute}, func(s *stand) {
			began := time.Now()
			var e ending
			state := s.begin(s.asksAndNotes(&e)).wantInput("r1")
			for range 2 {
				time.Sleep(9 * time.Minute)
				state = s.resume(state, "").wantInput("r1")
			}
			time.Sleep(7*time.Minute - 1)
			state = s.resume(state, "").wantInput("r1")
			e.want(t, began.Add(25*time.Minute), input.Abandoned, wire.ReasonTimeout)
			if got := s.resume(state, "").wantError(wire.ReasonState); got != "the requestState has expired" {
				t.Errorf("told is %q: the state is good for longer than the call", got)
			}
		})
	})
	t.Run("working", func(t *testing.T) {
		inBubble(t, Options{MaxAge: time.Minute, Gather: time.Hour}, func(s *stand) {
			began := time.Now()
			var e ending
			v := s.begin(s.asksAndNotes(&e))
			time.Sleep(time.Minute - 1)
			v.wantWaits("there is a nanosecond left")
			time.Sleep(time.Nanosecond)
			v.wantError(wire.ReasonTimeout)
			e.want(t, began.Add(time.Minute), input.Abandoned, wire.ReasonTimeout)
		})
	})
}

// Close ends calls that are parked, calls that work, and what is kept.
func TestClose(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		var parked, working ending
		one := s.begin(s.asksAndNotes(&parked)).wantInput("r1")
		kept := s.begin(s.asking(1)).wantInput("r1")
		s.resume(kept, named("r1", "Ada")).wantResult("got Ada")
		two := s.begin(func(ctx context.Context, c *Call) wire.Message {
			<-ctx.Done()
			return s.asksAndNotes(&working)(ctx, c)
		})
		synctest.Wait()
		closed := time.Now()
		s.Close()
		if took := time.Since(closed); took != time.Minute {
			t.Errorf("Close took %v, want that it waits for the work", took)
		}
		two.wantError(wire.ReasonStopping)
		parked.want(t, closed, input.Withdrawn, wire.ReasonStopping)
		<-working.over
		if working.err.Reason != wire.ReasonStopping {
			t.Errorf("a question that was asked too late ended with %v", working.err)
		}
		for _, state := range []string{one, kept} {
			s.resume(state, "").wantError(wire.ReasonState)
		}
		s.begin(s.asking(0)).wantError(wire.ReasonStopping)
		if len(s.calls) != 0 || s.Parked() != 0 || s.shelf.calls.Len() != 0 {
			t.Errorf("something is left: %d calls, %d parked, %d kept", len(s.calls), s.Parked(), s.shelf.calls.Len())
		}
		s.Close() // a second time changes nothing
	})
}

// A leg that has ended before it begins does nothing.
func TestEndedLeg(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		ctx, cancel := context.WithCancelCause(s.Context())
		cancel(gone())
		m := s.Begin(ctx, &leg{request: request(t, 1, deploy)}, partyOf(someone), func(context.Context, *Call) wire.Message {
			t.Error("the work ran")
			return result("x")
		})
		if m.Kind() != wire.Failure {
			t.Errorf("answered %s", m.Raw())
		}
		state := s.begin(s.asking(1)).wantInput("r1")
		s.Resume(ctx, &leg{request: request(t, 2, retry(deploy, state, named("r1", "Eve")))}, partyOf(someone))
		s.resume(state, named("r1", "Ada")).wantResult("got Ada")
	})
}

// A question that the work leaves open when it returns ends with it; one that is
// asked afterwards is turned away.
func TestQuestionsEndWithTheirCall(t *testing.T) {
	inBubble(t, Options{Gather: time.Hour}, func(s *stand) {
		var call *Call
		var q question
		s.begin(func(_ context.Context, c *Call) wire.Message {
			call, q = c, s.openForm(c)
			return result("done")
		}).wantResult("done")
		for _, q := range []question{q, s.openForm(call)} {
			if got := q.answer(); got != "withdrawn" {
				t.Errorf("the question ended with %s", got)
			}
		}
		call.Notify(wire.NewNotification("notifications/x", nil))
	})
}

// Beyond the limits the question is refused, and its call goes on without being
// parked.
func TestParkedLimits(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		who  [3]string
	}{
		{"in the gateway", Options{MaxParked: 2}, [3]string{"a", "b", "c"}},
		{"of one principal", Options{MaxPerPrincipal: 2}, [3]string{"a", "a", "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, tt.o, func(s *stand) {
				asks := func(_ context.Context, c *Call) wire.Message {
					a := <-s.openForm(c).done
					if a.Err != nil {
						return result(fmt.Sprint(a.Outcome, " ", a.Err.Reason, " ", a.Err.Data["limit"]))
					}
					return result("answered")
				}
				state := s.beginAs(tt.who[0], deploy, asks).wantInput("r1")
				s.beginAs(tt.who[1], deploy, asks).wantInput("r1")
				s.beginAs(tt.who[2], deploy, asks).wantResult("unseen limit 2")
				if s.Parked() != 2 {
					t.Errorf("%d are parked", s.Parked())
				}
				s.resumeAs(tt.who[0], retry(deploy, state, named("r1", "Ada"))).wantResult("answered")
				s.beginAs(tt.who[2], deploy, asks).wantInput("r1")
			})
		})
	}
}

// Results are kept within a bound; the oldest go first.
func TestMaxKept(t *testing.T) {
	inBubble(t, Options{MaxKept: 3 * (keptOverhead + 1000)}, func(s *stand) {
		var states []string
		for range 5 {
			state := s.begin(func(ctx context.Context, c *Call) wire.Message {
				s.ask(ctx, c)
				return result(fmt.Sprintf("%0900d", 0))
			}).wantInput("r1")
			s.resume(state, named("r1", "Ada")).wantResult(fmt.Sprintf("%0900d", 0))
			states = append(states, state)
		}
		for i, state := range states {
			if v := s.resume(state, ""); i < 2 {
				v.wantError(wire.ReasonState)
			} else {
				v.wantResult(fmt.Sprintf("%0900d", 0))
			}
		}
		if s.shelf.bytes > s.o.MaxKept || len(s.calls) != 3 {
			t.Errorf("%d calls and %d bytes are kept", len(s.calls), s.shelf.bytes)
		}
		if got := s.seen.refused; len(got) != 2 || got[0] != Ended {
			t.Errorf("refused were %v", got)
		}
	})
}
