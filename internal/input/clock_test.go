package input

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// pass lets time pass, in a bubble, and everything happen that is due by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// until lets time pass until so long after r was opened.
func until(r *Request, d time.Duration) { pass(time.Until(r.OpenedAt.Add(d))) }

// watched opens q and returns what happens to it.
func watched(t *testing.T, b *Broker, q Question, ch Channel) (*Request, *ends, func() []What) {
	t.Helper()
	log := &desk{}
	q.Watch = func(_ *Request, e Event) { log.note(func() { log.events = append(log.events, e) }) }
	r, e := mustOpen(t, b, q, ch)
	return r, e, func() []What {
		log.mu.Lock()
		defer log.mu.Unlock()
		var all []What
		for _, e := range log.events {
			all = append(all, e.What)
		}
		return all
	}
}

func wantEvents(t *testing.T, got []What, want ...What) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("events %v, want %v", got, want)
		}
	}
}

// R110, R111, R112, R113: the warning comes a minute before the end, not before, once;
// an extension moves the end, and there is a warning again. The end comes when it
// should, not before.
func TestWarningExtensionEnd(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		r, e, events := watched(t, b, managed(t, settings("")), nil)
		until(r, 4*time.Minute-time.Nanosecond)
		wantEvents(t, events())
		until(r, 4*time.Minute)
		wantEvents(t, events(), WasWarned)
		wantState(t, r, Pending)

		st, err := r.Extend(0)
		wantReason(t, err, "")
		if st.State != Prolonged || st.TimeoutAt.Sub(r.OpenedAt) != 10*time.Minute || st.ExtensionsLeft != 9 {
			t.Errorf("extended to %+v", st)
		}
		wantEvents(t, events(), WasWarned, WasExtended)
		until(r, 9*time.Minute-time.Nanosecond)
		wantEvents(t, events(), WasWarned, WasExtended)
		until(r, 9*time.Minute)
		wantEvents(t, events(), WasWarned, WasExtended, WasWarned)

		until(r, 10*time.Minute-time.Nanosecond)
		wantState(t, r, Prolonged)
		until(r, 10*time.Minute)
		wantState(t, r, TimedOut)
		wantEvents(t, events(), WasWarned, WasExtended, WasWarned)
		// R116: the family timeout, beside the members that every timeout has.
		err = wantEnd(t, e, Timeout).Err
		for name, want := range map[string]any{"type": "timeout", "timeout_ms": int64(600_000), "elapsed_ms": int64(600_000), "timeoutMs": int64(600_000), "elapsedMs": int64(600_000)} {
			if err.Data[name] != want {
				t.Errorf("%s is %v, want %v", name, err.Data[name], want)
			}
		}
		if len(d.events) != 3 {
			t.Errorf("the observer was told of %d events, want 3", len(d.events))
		}
	})
}

// C24: just before the end a form can be extended and answered; from then on never
// again, even if the timer were late (D13).
func TestExtendOnlyBeforeTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		r, _ := mustOpen(t, b, managed(t, settings("")), nil)
		late, _ := mustOpen(t, b, managed(t, settings("")), nil)
		until(r, 5*time.Minute-time.Nanosecond)
		_, err := r.Extend(time.Second)
		wantReason(t, err, "")
		until(late, 5*time.Minute)
		for range 2 {
			_, err = late.Extend(time.Second)
			wantReason(t, err, wire.ReasonExpired)
			err = late.Submit([]byte(good), Submitter{})
			wantReason(t, err, wire.ReasonExpired)
			if err.Data["type"] != "submission" || err.Data["status"] != TimedOut {
				t.Errorf("error %+v is not of the family submission", err)
			}
		}
		wantState(t, late, TimedOut)
		wantReason(t, r.Submit([]byte(good), Submitter{}), "")
	})
}

// A deadline that has passed ends a form although its timer has not rung yet.
func TestLateTimer(t *testing.T) {
	for name, do := range map[string]func(*Request) *wire.Error{
		"submit": func(r *Request) *wire.Error { return r.Submit([]byte(good), Submitter{}) },
		"extend": func(r *Request) *wire.Error { _, err := r.Extend(0); return err },
		"cancel": func(r *Request) *wire.Error { return r.Reply(Cancel) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *Broker, d *desk) {
				r, e := mustOpen(t, b, managed(t, settings("")), nil)
				r.timer.Stop()
				pass(5 * time.Minute)
				wantReason(t, do(r), wire.ReasonExpired)
				wantEnd(t, e, Timeout)
			})
		})
	}
}

// R110, R113: how often and for how long a form may be extended.
func TestExtensionBounds(t *testing.T) {
	for _, tt := range []struct {
		name, config string
		by           []time.Duration
		reason       wire.Reason // of the last; the others pass
		want         time.Duration
		left         int
	}{
		{"ten times are allowed, but not more than an hour in all", "", make([]time.Duration, 12), wire.ReasonNoExtensions, time.Hour, 0},
		{"as often as the form says", `"max_extensions":2`, make([]time.Duration, 3), wire.ReasonNoExtensions, 15 * time.Minute, 0},
		{"none", `"max_extensions":0`, make([]time.Duration, 1), wire.ReasonNoExtensions, 5 * time.Minute, 0},
		{"not allowed", `"extension_allowed":false`, make([]time.Duration, 1), wire.ReasonNotExtendable, 5 * time.Minute, 0},
		{"by less", "", []time.Duration{time.Second, time.Minute}, "", 6*time.Minute + time.Second, 8},
		{"by too little", "", []time.Duration{time.Second - 1}, wire.ReasonParams, 5 * time.Minute, 10},
		{"by less than nothing", "", []time.Duration{-time.Minute}, wire.ReasonParams, 5 * time.Minute, 10},
		{"by as much as can be", "", []time.Duration{5 * time.Minute}, "", 10 * time.Minute, 9},
		{"by too much", "", []time.Duration{5*time.Minute + 1}, wire.ReasonParams, 5 * time.Minute, 10},
		{"cut short at the most", `"initial_timeout":3540000`, make([]time.Duration, 2), wire.ReasonNoExtensions, time.Hour, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, _ *Broker, d *desk) {
				l := roomy()
				terms := DefaultTerms()
				if tt.name[:3] == "ten" {
					terms.MaxExtensions = 11
				}
				l.Forms.Terms = terms
				b := NewBroker(l, d)
				defer b.Close()
				r, _ := mustOpen(t, b, managed(t, settings(`,"timeout_config":{`+tt.config+`}`)), nil)
				for i, by := range tt.by {
					_, err := r.Extend(by)
					if i < len(tt.by)-1 {
						wantReason(t, err, "")
						continue
					}
					wantReason(t, err, tt.reason)
					if err != nil && err.Data["type"] != "timeout" {
						t.Errorf("error %+v is not of the family timeout", err)
					}
				}
				st := r.Status()
				if got := st.TimeoutAt.Sub(r.OpenedAt); got != tt.want || st.ExtensionsLeft != tt.left {
					t.Errorf("ends after %v with %d extensions left, want %v with %d", got, st.ExtensionsLeft, tt.want, tt.left)
				}
			})
		})
	}
}

// Ten extensions are possible unless somebody says otherwise (R110), which WCAG
// 2.2.1 demands.
func TestTenExtensions(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		r, _ := mustOpen(t, b, managed(t, settings("")), nil)
		for i := range 10 {
			if _, err := r.Extend(time.Minute); err != nil {
				t.Fatalf("extension %d: %v", i+1, err)
			}
		}
		_, err := r.Extend(time.Minute)
		wantReason(t, err, wire.ReasonNoExtensions)
	})
}

// An extension that leaves less time than the warning is ahead of the end is warned of
// by itself: whoever made it was told the end.
func TestNoWarningInThePast(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		r, _, events := watched(t, b, managed(t, settings("")), nil)
		until(r, 5*time.Minute-time.Second)
		r.Extend(10 * time.Second)
		until(r, 5*time.Minute+9*time.Second)
		wantEvents(t, events(), WasWarned, WasExtended)
		until(r, 5*time.Minute+10*time.Second)
		wantState(t, r, TimedOut)
	})
}

// An extension may bring the next warning before the old end.
func TestWarningBeforeTheOldEnd(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		r, _, events := watched(t, b, managed(t, settings("")), nil)
		until(r, 4*time.Minute+10*time.Second)
		r.Extend(30 * time.Second)
		until(r, 4*time.Minute+30*time.Second-1)
		wantEvents(t, events(), WasWarned, WasExtended)
		until(r, 4*time.Minute+30*time.Second)
		wantEvents(t, events(), WasWarned, WasExtended, WasWarned)
	})
}

// A form without a warning has none.
func TestWithoutWarning(t *testing.T) {
	bubble(t, func(t *testing.T, _ *Broker, d *desk) {
		l := roomy()
		l.Forms.Terms = DefaultTerms()
		l.Forms.Terms.WarnBefore = 0
		b := NewBroker(l, d)
		defer b.Close()
		r, _, events := watched(t, b, managed(t, settings("")), nil)
		until(r, 5*time.Minute)
		wantEvents(t, events())
		wantState(t, r, TimedOut)
	})
}

// R111: a sign of life is noted once, and not after the end.
func TestTouch(t *testing.T) {
	b, _ := newFormBroker(t)
	r, _, events := watched(t, b, managed(t, settings("")), nil)
	r.Touch()
	r.Touch()
	wantState(t, r, Active)
	wantEvents(t, events(), WasTouched)
	r.Extend(0)
	r.Touch()
	wantState(t, r, Prolonged)
	r.Reply(Decline)
	r.Touch()
	wantState(t, r, Declined)
	wantEvents(t, events(), WasTouched, WasExtended)
}

// What is only relayed has its one timeout, no warning, and cannot be extended.
func TestRelayedIsNotExtended(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		for _, v := range []Validation{ValidateOff, ValidateReprompt} {
			q := question(t, formAsk)
			q.Validate = v
			r, e, events := watched(t, b, q, d)
			_, err := r.Extend(0)
			wantReason(t, err, wire.ReasonNotExtendable)
			if r.Terms().Timeout != time.Minute || r.Lane() {
				t.Errorf("terms %+v", r.Terms())
			}
			until(r, time.Minute-time.Nanosecond)
			wantState(t, r, Pending)
			until(r, time.Minute)
			wantEnd(t, e, Timeout)
			wantEvents(t, events())
			wantState(t, r, TimedOut)
		}
	})
}
