package park

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// stand is a lot with a broker, between scripted clients and scripted backends.
type stand struct {
	testing.TB
	*Lot
	broker *input.Broker
	seen   *seen
}

// seen is an Observer of both the lot and the broker that remembers.
type seen struct {
	mu       sync.Mutex
	parked   []int
	resumed  []time.Duration
	expired  []time.Duration
	refused  []Refusal
	opened   int
	ended    map[*input.Request]int
	outcomes []input.Outcome
}

func (s *seen) Parked(n int)              { s.lock(func() { s.parked = append(s.parked, n) }) }
func (s *seen) Resumed(d time.Duration)   { s.lock(func() { s.resumed = append(s.resumed, d) }) }
func (s *seen) Expired(d time.Duration)   { s.lock(func() { s.expired = append(s.expired, d) }) }
func (s *seen) RefusedState(why Refusal)  { s.lock(func() { s.refused = append(s.refused, why) }) }
func (s *seen) Opened(*input.Request)     { s.lock(func() { s.opened++ }) }
func (s *seen) lock(f func())             { s.mu.Lock(); defer s.mu.Unlock(); f() }
func (s *seen) brokerRefused(*wire.Error) {}

func (s *seen) Ended(r *input.Request, a input.Answer, _ time.Duration) {
	s.lock(func() {
		s.ended[r]++
		s.outcomes = append(s.outcomes, a.Outcome)
	})
}

// The two interfaces have a method of the same name.
type (
	lotObserver    struct{ *seen }
	brokerObserver struct{ *seen }
)

func (o lotObserver) Refused(why Refusal)                          { o.RefusedState(why) }
func (o brokerObserver) Changed(*input.Request, input.Event)       {}
func (o brokerObserver) Refused(_ input.Question, err *wire.Error) { o.brokerRefused(err) }

// testKey is a master secret.
var testKey = []byte("a master secret of thirty-two bytes, or a few more")

// newStand returns an empty lot, which is closed when the test ends.
func newStand(t testing.TB, o Options) *stand {
	t.Helper()
	s := &stand{TB: t, seen: &seen{ended: make(map[*input.Request]int)}}
	o.Observer = lotObserver{s.seen}
	if o.Keys == nil {
		o.Keys = [][]byte{testKey}
	}
	lot, err := New(o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	lot.first = 0 // so that only the tests of gathering are about that
	s.Lot = lot
	s.broker = input.NewBroker(input.Limits{Timeout: 24 * time.Hour, Total: 100_000, PerSession: 100_000}, brokerObserver{s.seen})
	t.Cleanup(lot.Close)
	return s
}

// inBubble runs f with a lot, in a bubble of synctest.
func inBubble(t *testing.T, o Options, f func(s *stand)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, o)
		f(s)
		s.Close()
	})
}

// leg is a leg that notes what it is told.
type leg struct {
	request wire.Message
	slow    chan struct{} // not nil: Notify waits until it is closed

	mu    sync.Mutex
	notes []string
}

func (l *leg) Request() wire.Message { return l.request }

func (l *leg) Notify(m wire.Message) {
	if l.slow != nil {
		<-l.slow
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, string(m.Raw()))
}

func (l *leg) told() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.notes...)
}

// visit is a leg in progress.
type visit struct {
	*leg
	stand  *stand
	cancel context.CancelCauseFunc
	done   chan wire.Message
}

const (
	caps    = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`
	deploy  = `"name":"deploy","arguments":{"env":"prod","n":1}`
	meta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + caps + `}`
	theirs  = "backend-a"
	someone = "ada"
)

// parties of the tests
func partyOf(principal string) Party {
	return Party{Principal: principal, Backend: theirs, Caps: wire.ParseClientCaps([]byte(caps))}
}

func parse(t testing.TB, text string) wire.Message {
	t.Helper()
	m, err := wire.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// request returns a request for a tool with these members in its params.
func request(t testing.TB, id int, params string) wire.Message {
	t.Helper()
	return parse(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s}}`, id, params))
}

// visitor starts a leg, with the goroutine in which it waits.
func (s *stand) visitor(l *leg, answer func(ctx context.Context) wire.Message) *visit {
	ctx, cancel := context.WithCancelCause(s.Context())
	v := &visit{leg: l, stand: s, cancel: cancel, done: make(chan wire.Message, 1)}
	go func() { v.done <- answer(ctx) }()
	return v
}

// begin starts the first leg of a call, with id 1.
func (s *stand) begin(work Work) *visit { return s.beginAs(someone, deploy+","+meta, work) }

func (s *stand) beginAs(principal, params string, work Work) *visit {
	s.Helper()
	l := &leg{request: request(s, 1, params)}
	return s.visitor(l, func(ctx context.Context) wire.Message { return s.Begin(ctx, l, partyOf(principal), work) })
}

// resume starts a further leg, with id 2.
func (s *stand) resume(state, responses string) *visit {
	s.Helper()
	return s.resumeAs(someone, retry(deploy+","+meta, state, responses))
}

// retry returns the params of a retry; without responses for "".
func retry(params, state, responses string) string {
	if responses != "" {
		params += `,"inputResponses":` + responses
	}
	return params + fmt.Sprintf(`,"requestState":%q`, state)
}

func (s *stand) resumeAs(principal, params string) *visit {
	s.Helper()
	l := &leg{request: request(s, 2, params)}
	return s.visitor(l, func(ctx context.Context) wire.Message { return s.Resume(ctx, l, partyOf(principal)) })
}

// response returns what the leg was answered, and fails when it still waits.
func (v *visit) response() wire.Message {
	v.stand.Helper()
	synctest.Wait()
	select {
	case m := <-v.done:
		v.done <- m
		if m.ID() != v.request.ID() {
			v.stand.Fatalf("the response has the id %s, want %s", m.ID(), v.request.ID())
		}
		return m
	default:
		v.stand.Fatal("the leg still waits")
		return wire.Message{}
	}
}

func (v *visit) wantWaits(why string) {
	v.stand.Helper()
	synctest.Wait()
	if len(v.done) > 0 {
		v.stand.Fatalf("the leg was answered %s, want that it waits: %s", (<-v.done).Raw(), why)
	}
}

// wantInput wants input_required with questions of these keys, and returns the
// state.
func (v *visit) wantInput(keys ...string) string {
	v.stand.Helper()
	r := v.response().Result()
	if kind, _ := wire.Text(r, "resultType"); kind != "input_required" {
		v.stand.Fatalf("the response is %s, want input_required", v.response().Raw())
	}
	got := []string{}
	for key := range wire.Members(wire.Get(r, "inputRequests")) {
		got = append(got, key)
	}
	if fmt.Sprint(got) != fmt.Sprint(keys) {
		v.stand.Fatalf("asked are %v, want %v", got, keys)
	}
	state, _ := wire.Text(r, "requestState")
	return state
}

// wantResult wants a final result with this text.
func (v *visit) wantResult(text string) {
	v.stand.Helper()
	if got, _ := wire.Text(v.response().Result(), "text"); got != text || got == "" {
		v.stand.Fatalf("the response is %s, want the result %q", v.response().Raw(), text)
	}
}

// wantError wants an error with this reason, and returns its message.
func (v *visit) wantError(reason wire.Reason) string {
	v.stand.Helper()
	e := v.response().Error()
	if got, _ := wire.Text(e, "data", "reason"); got != string(reason) {
		v.stand.Fatalf("the response is %s, want an error with reason %s", v.response().Raw(), reason)
	}
	text, _ := wire.Text(e, "message")
	return text
}

func result(text string) wire.Message {
	return wire.NewResult("99", fmt.Appendf(nil, `{"text":%q}`, text))
}

// gone is the cause with which the leg of a client ends that left.
func gone() error { return wire.Errorf(wire.ReasonClientGone, "the client left") }

// cancelled stands for the cause of a client that cancelled.
var errCancelled = errors.New("the client cancelled the request")

// question is a question that a scripted backend asked.
type question struct {
	*input.Request
	done chan input.Answer
}

const form = `"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}`

// open asks during a call.
func (s *stand) open(c *Call, method, params string) question {
	s.Helper()
	q := question{done: make(chan input.Answer, 1)}
	m := parse(s, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s}}`, method, params))
	r, err := s.broker.Open(input.Question{Message: m, Session: "session", Caps: partyOf("").Caps}, c,
		func(_ *input.Request, a input.Answer) { q.done <- a })
	if err != nil {
		s.Errorf("the broker refused: %v", err)
		q.done <- input.Answer{Outcome: input.Refused, Err: err}
	}
	q.Request = r
	return q
}

func (s *stand) openForm(c *Call) question { return s.open(c, "elicitation/create", form) }

// answer waits for the end of a question, and returns the name that was given, or
// the outcome.
func (q question) answer() string {
	a := <-q.done
	if name, ok := wire.Text(a.Response.Result(), "content", "name"); ok {
		return name
	}
	return string(a.Outcome)
}

// ask asks one form, as a backend does that can do nothing else meanwhile, and
// whose call withdraws its questions when it is cancelled.
func (s *stand) ask(ctx context.Context, c *Call) string {
	q := s.openForm(c)
	stop := context.AfterFunc(ctx, func() {
		q.Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "the call that asked has ended"))
	})
	defer stop()
	return q.answer()
}

// asking is a tool that asks n questions one after the other.
func (s *stand) asking(n int) Work {
	return func(ctx context.Context, c *Call) wire.Message {
		said := []string{"got"}
		for range n {
			said = append(said, s.ask(ctx, c))
		}
		return result(strings.Join(said, " "))
	}
}

// named is an answer to one question.
func named(key, name string) string {
	return fmt.Sprintf(`{%q:{"action":"accept","content":{"name":%q}}}`, key, name)
}
