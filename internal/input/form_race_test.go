package input

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// person is a channel that shows a form and remembers to take it back.
type person struct {
	mu    sync.Mutex
	shown map[*Request]bool
}

func (p *person) Offer(r *Request)             { p.set(r, true) }
func (p *person) Retract(r *Request, _ string) { p.set(r, false) }

func (p *person) set(r *Request, shown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown[r] = shown
}

// take is what a channel does with an answer: it shows the form no more, and settles
// it.
func (p *person) take(r *Request, m wire.Message) {
	p.mu.Lock()
	was := p.shown[r]
	p.shown[r] = false
	p.mu.Unlock()
	if was {
		r.Settle(m)
	}
}

// witness notes what a request goes through, in order.
type witness struct {
	idle
	mu    sync.Mutex
	heard []string // events, and "end"
	ends  []Answer
	after Status // how it stood when it was told to have ended
}

func (w *witness) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, what)
}

func (w *witness) Changed(_ *Request, e Event) { w.note(string(e.What)) }

func (w *witness) done(r *Request, a Answer) {
	st := r.Status()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, "end")
	w.ends = append(w.ends, a)
	w.after = st
}

// deeds are what may be done to a form, by whomever.
func deeds(t testing.TB, p *person) map[string]func(*Request) {
	valid, invalid := accepting(t, good), accepting(t, bad)
	cancel := response(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}}`)
	failure := response(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`)
	return map[string]func(*Request){
		"submit":         func(r *Request) { r.Submit([]byte(good), Submitter{}) },
		"submit invalid": func(r *Request) { r.Submit([]byte(bad), Submitter{}) },
		"settle":         func(r *Request) { p.take(r, valid) },
		"settle invalid": func(r *Request) { p.take(r, invalid) },
		"settle cancel":  func(r *Request) { p.take(r, cancel) },
		"settle failure": func(r *Request) { p.take(r, failure) },
		"extend":         func(r *Request) { r.Extend(0) },
		"extend a bit":   func(r *Request) { r.Extend(time.Second) },
		"decline":        func(r *Request) { r.Reply(Decline) },
		"withdraw":       func(r *Request) { r.Withdraw(Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "gone")) },
		"disconnect":     func(r *Request) { r.Withdraw(Abandoned, wire.Errorf(wire.ReasonClientGone, "gone")) },
		"touch":          (*Request).Touch,
		"look":           func(r *Request) { r.Status(); r.Ask() },
		"ring":           (*Request).ring, // a timer that rings too early does nothing
	}
}

// unsound returns what is wrong with a request that should have ended, or "".
func unsound(b *Broker, r *Request, w *witness, p *person) string {
	st := r.Status()
	final := []State{Completed, Declined, Cancelled, TimedOut, Dropped, Forsaken}
	if !slices.Contains(final, st.State) || len(w.ends) != 1 || b.Len() != 0 {
		return fmt.Sprintf("state %s, told %d times, %d open", st.State, len(w.ends), b.Len())
	}
	if w.heard[len(w.heard)-1] != "end" {
		return fmt.Sprintf("something was told after the end: %v", w.heard)
	}
	if st.State != w.after.State || st.Attempts != w.after.Attempts || st.TimeoutAt != w.after.TimeoutAt || st.EndedAt != w.after.EndedAt ||
		string(jsonOf(st)) != string(jsonOf(w.after)) || st.Answer.Outcome != w.ends[0].Outcome {
		return fmt.Sprintf("status\n%+v after the end, was\n%+v", st, w.after)
	}
	terms := r.Terms()
	if st.Attempts < 0 || st.Attempts > terms.Attempts || r.sheet.extensions > terms.MaxExtensions || st.TimeoutAt.After(r.OpenedAt.Add(terms.MaxTotal)) {
		return fmt.Sprintf("%d attempts, %d extensions, ends after %v", st.Attempts, r.sheet.extensions, st.TimeoutAt.Sub(r.OpenedAt))
	}
	if rejected := count(w.heard, string(WasRejected)); st.Attempts != rejected && !(st.Answer.Outcome == Rejected && st.Attempts == rejected+1) {
		return fmt.Sprintf("%d attempts, but %d rejections were told", st.Attempts, rejected)
	}
	if count(w.heard, string(WasExtended)) != r.sheet.extensions {
		return fmt.Sprintf("%d extensions, told %v", r.sheet.extensions, w.heard)
	}
	if (st.State == Completed) != (string(jsonOf(st)) == goodJSON && st.Errors == nil) {
		return fmt.Sprintf("%s with the values %s", st.State, jsonOf(st))
	}
	if p.shown[r] {
		return "the channel still shows it"
	}
	return ""
}

func jsonOf(st Status) []byte {
	if st.Values.Form() == nil {
		return nil
	}
	return st.Values.JSON()
}

func sortedNames(all map[string]func(*Request)) []string {
	return slices.Sorted(maps.Keys(all))
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// R105, R111, R121, D1: whatever happens at once, by however many, a form ends once,
// in one state, which stays; within its attempts and extensions; and whoever is told
// of it is told in order.
func TestAnyInterleaving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, w := &person{shown: make(map[*Request]bool)}, &witness{}
		l := roomy()
		l.Forms.Terms = DefaultTerms()
		l.Forms.Terms.MaxExtensions = rapid.IntRange(0, 3).Draw(rt, "extensions")
		l.Forms.Terms.Attempts = rapid.IntRange(1, 4).Draw(rt, "attempts")
		b := NewBroker(l, w)
		defer b.Close()
		all := deeds(t, p)
		names := rapid.SliceOfN(rapid.SampledFrom(sortedNames(all)), 1, 24).Draw(rt, "deeds")
		r, err := b.Open(of(t, settings("")), p, w.done)
		if err != nil {
			rt.Fatal(err)
		}
		var wg sync.WaitGroup
		start := make(chan struct{})
		for _, name := range append(names, "withdraw") {
			wg.Go(func() {
				<-start
				all[name](r)
			})
		}
		close(start)
		wg.Wait()
		if wrong := unsound(b, r, w, p); wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// The same with the clock: what is done comes in a drawn order at drawn times, and
// the deadline among it.
func TestAnyOrderInTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := deeds(t, &person{})
		names := rapid.SliceOfN(rapid.SampledFrom(sortedNames(all)), 0, 12).Draw(rt, "deeds")
		waits := rapid.SliceOfN(rapid.IntRange(0, 120), len(names), len(names)).Draw(rt, "waits")
		var failed string
		synctest.Test(t, func(t *testing.T) { failed = inTime(t, names, waits) })
		if failed != "" {
			rt.Fatal(failed)
		}
	})
}

// inTime does what names say after each wait, in seconds, and lets the rest of the
// time run out. It returns what is wrong.
func inTime(t *testing.T, names []string, waits []int) string {
	p, w := &person{shown: make(map[*Request]bool)}, &witness{}
	l := roomy()
	l.Forms.Terms = DefaultTerms()
	l.Forms.Terms.Timeout = time.Minute
	l.Forms.Terms.Extension = time.Minute
	l.Forms.Terms.MaxTotal = 5 * time.Minute
	b := NewBroker(l, w)
	defer b.Close()
	r, err := b.Open(of(t, settings("")), p, w.done)
	if err != nil {
		return err.Error()
	}
	all := deeds(t, p)
	for i, name := range names {
		pass(time.Duration(waits[i]) * time.Second / 2)
		before := r.Status()
		open, due := before.EndedAt.IsZero(), !time.Now().Before(before.TimeoutAt)
		if open && due || before.State == TimedOut && (!due || !before.EndedAt.Equal(before.TimeoutAt)) {
			return fmt.Sprintf("%+v at %v", before, time.Now())
		}
		all[name](r)
		synctest.Wait()
		if now := r.Status(); !open && (now.State != before.State || now.TimeoutAt != before.TimeoutAt || now.Attempts != before.Attempts) {
			return fmt.Sprintf("%s changed what had ended from %+v to %+v", name, before, now)
		}
	}
	pass(5 * time.Minute)
	return unsound(b, r, w, p)
}

// clumsy is an observer that panics at some of what it is told of.
type clumsy struct {
	idle
	atChange, atEnd bool
}

func (c *clumsy) Changed(*Request, Event) {
	if c.atChange {
		panic("at a change")
	}
}

func (c *clumsy) Ended(*Request, Answer, time.Duration) {
	if c.atEnd {
		panic("at the end")
	}
}

// A callback that panics, in a request that its server lets live on, costs its own
// step and no other: whoever waits for the end hears of it, and it is remembered.
func TestPanicOfACallback(t *testing.T) {
	tells := func(t *testing.T, do func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		do()
	}
	t.Run("while it is open", func(t *testing.T) {
		c := &clumsy{atChange: true}
		b := NewBroker(roomy(), c)
		defer b.Close()
		r, e := mustOpen(t, b, of(t, settings("")), idle{})
		tells(t, r.Touch)
		c.atChange = false
		wantReason(t, r.Submit([]byte(good), Submitter{}), "")
		wantEnd(t, e, Accept)
	})
	t.Run("with an end behind it", func(t *testing.T) {
		c := &clumsy{atChange: true}
		b := NewBroker(roomy(), c)
		defer b.Close()
		r, e := mustOpen(t, b, of(t, settings("")), idle{})
		b.mu.Lock()
		r.then(func() { r.Reply(Decline) }) // finds somebody at it
		r.happened(WasTouched)
		b.mu.Unlock()
		tells(t, r.perform)
		wantEnd(t, e, Decline)
		wantState(t, r, Declined)
	})
	for _, message := range []string{ask("elicitation/create", `{"formDefinition":`+settings("")+`}`), formAsk} {
		t.Run("at the end", func(t *testing.T) {
			b := NewBroker(roomy(), &clumsy{atEnd: true})
			defer b.Close()
			r, e := mustOpen(t, b, question(t, message), idle{})
			tells(t, func() { r.Settle(response(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}}`)) })
			wantEnd(t, e, Cancel)
			if !r.Lane() {
				return
			}
			if _, err := b.Find(r.ID, me); err != nil {
				t.Errorf("the end is not remembered: %v", err)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if len(b.forms.ended) != 1 || r.sheet.kept == nil {
				t.Error("the end lies open")
			}
		})
	}
}
