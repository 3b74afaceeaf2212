package input

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/beckon-mcp/beckon/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a channel whose person the test plays, and an observer.
type desk struct {
	mu        sync.Mutex
	offered   []*Request
	retracted []string // id and why
	ended     []Answer
	refused   []*wire.Error
	events    []Event
}

func (d *desk) Offer(r *Request) { d.note(func() { d.offered = append(d.offered, r) }) }
func (d *desk) Retract(r *Request, why string) {
	d.note(func() { d.retracted = append(d.retracted, why) })
}
func (d *desk) Opened(*Request) {}
func (d *desk) Ended(_ *Request, a Answer, _ time.Duration) {
	d.note(func() { d.ended = append(d.ended, a) })
}
func (d *desk) Changed(_ *Request, e Event) { d.note(func() { d.events = append(d.events, e) }) }

func (d *desk) Refused(_ Question, err *wire.Error) {
	d.note(func() { d.refused = append(d.refused, err) })
}

func (d *desk) note(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

var both = wire.ParseClientCaps([]byte(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`))

func limits() Limits {
	return Limits{Timeout: time.Minute, Total: 100, PerSession: 10, Rules: Rules{Check: true, Secrets: true}}
}

// question is what a backend asks; a nil caps can be asked everything.
func question(t testing.TB, message string) Question {
	t.Helper()
	m, err := wire.Parse([]byte(message))
	if err != nil {
		t.Fatalf("parsing %s: %v", message, err)
	}
	return Question{Message: m, Backend: "b", Principal: "p", Session: "s", Caps: both}
}

const formAsk = `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`

// ends are the ends of a request, of which there should be one.
type ends struct {
	mu  sync.Mutex
	all []Answer
}

func (e *ends) add(_ *Request, a Answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, a)
}

func (e *ends) get() []Answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.all
}

// mustOpen opens q and returns the request, with a place where its end appears.
func mustOpen(t *testing.T, b *Broker, q Question, ch Channel) (*Request, *ends) {
	t.Helper()
	ends := new(ends)
	r, err := b.Open(q, ch, ends.add)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	return r, ends
}

func response(t testing.TB, text string) wire.Message {
	t.Helper()
	m, err := wire.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// R4, R58: the three answers of a person stay three outcomes, and arrive as they
// were sent. R9, R10, R27, R28: with every member, known or not.
func TestAnswersPassUnchanged(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         Outcome
	}{
		{"accept", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{"n":1.50},"x":1}}`, Accept},
		{"decline", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"decline"}}`, Decline},
		{"cancel", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"cancel"}}`, Cancel},
		{"partial", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{}}}`, Accept},
		{"without action", `{"jsonrpc":"2.0","id":"ask-1","result":{"content":{}}}`, Answered},
		// D7: an error is an answer too, and ends the wait at once.
		{"error", `{"jsonrpc":"2.0","id":"ask-1","error":{"code":-1,"message":"User rejected"}}`, Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &desk{}
			b := NewBroker(limits(), d)
			r, got := mustOpen(t, b, question(t, formAsk), d)
			if !r.Settle(response(t, tt.answer)) {
				t.Fatal("the first answer did not count")
			}
			if len(got.get()) != 1 || got.get()[0].Outcome != tt.want || string(got.get()[0].Response.Raw()) != tt.answer {
				t.Errorf("ended with %+v, want one %s with the answer's own bytes", got.get(), tt.want)
			}
			if len(d.retracted) != 0 {
				t.Error("an answered request was taken back from its own channel")
			}
			if b.Len() != 0 {
				t.Error("an answered request is still open")
			}
		})
	}
}

// D1, R12, R30: whatever comes second changes nothing and is told so.
func TestOneEndOnly(t *testing.T) {
	accept := `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`
	ways := map[string]func(*Request) bool{
		"answer":     func(r *Request) bool { return r.Settle(response(t, accept)) },
		"withdrawal": func(r *Request) bool { return r.Withdraw(Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "gone")) },
		"dismissal":  (*Request).Dismiss,
	}
	for first, end := range ways {
		for second, again := range ways {
			t.Run(first+" then "+second, func(t *testing.T) {
				d := &desk{}
				b := NewBroker(limits(), d)
				r, got := mustOpen(t, b, question(t, formAsk), d)
				if !end(r) || again(r) {
					t.Error("want the first end to count and the second not to")
				}
				if len(got.get()) != 1 || len(d.ended) != 1 {
					t.Errorf("told %d times and observed %d times, want once", len(got.get()), len(d.ended))
				}
			})
		}
	}
}

// One of many simultaneous ends counts.
func TestOneWinnerAmongMany(t *testing.T) {
	d := &desk{}
	b := NewBroker(limits(), d)
	r, got := mustOpen(t, b, question(t, formAsk), d)
	var wins sync.Map
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if r.Settle(wire.NewResult(wire.IntID(uint64(i)), []byte(`{"action":"accept"}`))) {
				wins.Store(i, true)
			}
		})
	}
	wg.Wait()
	n := 0
	wins.Range(func(any, any) bool { n++; return true })
	if n != 1 || len(got.get()) != 1 {
		t.Errorf("%d answers won and %d were told, want one", n, len(got.get()))
	}
}

// R14, R15, R31, R32, R65, R72: a request ends at its deadline, not before, with
// a timeout that is no decline, and is taken back from the client.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		b := NewBroker(limits(), d)
		_, got := mustOpen(t, b, question(t, formAsk), d)
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		if len(got.get()) != 0 {
			t.Fatal("ended before its deadline")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if len(got.get()) != 1 || got.get()[0].Outcome != Timeout {
			t.Fatalf("ended with %+v, want one timeout", got.get())
		}
		err := got.get()[0].Err
		if err.Code != -32000 || err.Reason != wire.ReasonTimeout || !strings.Contains(err.Message, "Elicitation timeout") {
			t.Errorf("error %+v, want -32000 Elicitation timeout", err)
		}
		if err.Data["timeoutMs"] != int64(60000) || err.Data["elapsedMs"] != int64(60000) {
			t.Errorf("data %v does not tell the times", err.Data)
		}
		if len(d.retracted) != 1 {
			t.Errorf("taken back %d times from the client, want once", len(d.retracted))
		}
	})
}

// R69, R70, R79: over a limit a request is refused with a reason; below it, it is
// not; and what has ended no longer counts (R74, R78).
func TestLimits(t *testing.T) {
	d := &desk{}
	l := limits()
	l.Total, l.PerSession = 5, 3
	b := NewBroker(l, d)
	open := func(session string) (*Request, *wire.Error) {
		q := question(t, formAsk)
		q.Session = session
		return b.Open(q, d, func(*Request, Answer) {})
	}
	var last *Request
	for range 3 {
		r, err := open("one")
		if err != nil {
			t.Fatalf("within the limit: %v", err)
		}
		last = r
	}
	wantLimit := func(err *wire.Error, limit int) {
		t.Helper()
		if err == nil || err.Reason != wire.ReasonLimit || err.Data["limit"] != limit {
			t.Errorf("error %v, want reason limit of %d", err, limit)
		}
	}
	_, err := open("one")
	wantLimit(err, 3)
	open("two")
	open("two")
	_, err = open("three")
	wantLimit(err, 5)
	last.Dismiss()
	if _, err := open("one"); err != nil {
		t.Errorf("after one ended: %v", err)
	}
}

// Close withdraws what is open and admits nothing more.
func TestClose(t *testing.T) {
	d := &desk{}
	b := NewBroker(limits(), d)
	_, got := mustOpen(t, b, question(t, formAsk), d)
	b.Close()
	if len(got.get()) != 1 || got.get()[0].Outcome != Withdrawn || got.get()[0].Err.Reason != wire.ReasonStopping {
		t.Errorf("ended with %+v, want one withdrawal because of the shutdown", got.get())
	}
	if _, err := b.Open(question(t, formAsk), d, nil); err == nil || err.Reason != wire.ReasonStopping {
		t.Errorf("opened after Close: %v", err)
	}
}

// C15: a client that cancels a request of ours means the person's cancel, where
// there is such a thing (R13).
func TestDismiss(t *testing.T) {
	d := &desk{}
	b := NewBroker(limits(), d)
	r, got := mustOpen(t, b, question(t, formAsk), d)
	r.Dismiss()
	if a := got.get()[0]; a.Outcome != Cancel || string(a.Response.Result()) != `{"action":"cancel"}` {
		t.Errorf("elicitation ended with %+v, want action cancel", a)
	}
	r, got = mustOpen(t, b, question(t, `{"jsonrpc":"2.0","id":7,"method":"roots/list"}`), d)
	r.Dismiss()
	if a := got.get()[0]; a.Outcome != Cancel || a.Err == nil || a.Err.Reason != wire.ReasonCancelled {
		t.Errorf("roots ended with %+v, want an error with reason cancelled", a)
	}
}
