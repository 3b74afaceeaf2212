package park

import (
	"context"
	"runtime"
	"testing"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// BenchmarkCall is a call that asks nothing: what the lot costs everybody.
func BenchmarkCall(b *testing.B) {
	s := newStand(b, Options{})
	l := &leg{request: request(b, 1, deploy+","+meta)}
	p, response := partyOf(someone), result("done")
	work := func(context.Context, *Call) wire.Message { return response }
	b.ReportAllocs()
	for b.Loop() {
		s.Begin(b.Context(), l, p, work)
	}
}

// BenchmarkRoundTrip is a call that asks one thing, and its answer. R77:
// the target for the whole gateway is 0.5 ms.
func BenchmarkRoundTrip(b *testing.B) {
	s := newStand(b, Options{})
	l := &leg{request: request(b, 1, deploy+","+meta)}
	p, work := partyOf(someone), s.asking(1)
	b.ReportAllocs()
	for b.Loop() {
		m := s.Begin(b.Context(), l, p, work)
		state, _ := wire.Text(m.Result(), "requestState")
		again := &leg{request: request(b, 2, retry(deploy+","+meta, state, named("r1", "Ada")))}
		if m := s.Resume(b.Context(), again, p); m.Kind() != wire.Result {
			b.Fatal(string(m.Raw()))
		}
	}
}

// BenchmarkParked keeps 10,000 calls parked and tells what one costs in memory:
// with its work and its question, and what the lot has of that on the heap. The
// target for the gateway is 64 KB.
func BenchmarkParked(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		b.ReportMetric(parkedBytes(b, n), "B/call")
		b.ReportMetric(lotBytes(b, n), "B/call-lot")
	}
}

// parkedBytes returns how many bytes each of n parked calls takes.
func parkedBytes(t testing.TB, n int) float64 {
	t.Helper()
	s := newStand(t, Options{MaxPerPrincipal: n})
	heapBefore, stacksBefore := memory()
	s.fill(n, s.asking(1))
	heap, stacks := memory()
	runtime.KeepAlive(s)
	s.Close()
	return (heap + stacks - heapBefore - stacksBefore) / float64(n)
}

// nowhere is a channel that shows nothing.
type nowhere struct{}

func (nowhere) Offer(*input.Request)           {}
func (nowhere) Retract(*input.Request, string) {}

// lotBytes returns how many of them are the lot's own, on the heap. All calls ask
// the same question in the same request.
func lotBytes(t testing.TB, n int) float64 {
	t.Helper()
	s := newStand(t, Options{MaxPerPrincipal: n})
	r, err := s.broker.Open(input.Question{
		Message: parse(t, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{`+form+`}}`),
		Caps:    wire.ParseClientCaps([]byte(caps)),
	}, nowhere{}, func(*input.Request, input.Answer) {})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := memory()
	s.fill(n, func(ctx context.Context, c *Call) wire.Message {
		c.Offer(r)
		<-ctx.Done()
		c.Retract(r, "")
		return wire.Message{}
	})
	after, _ := memory()
	runtime.KeepAlive(s)
	s.Close()
	return (after - before) / float64(n)
}

// fill parks n calls.
func (s *stand) fill(n int, work Work) {
	s.Helper()
	l := &leg{request: request(s, 1, deploy+","+meta)}
	for range n {
		if m := s.Begin(s.Context(), l, partyOf(someone), work); wire.Get(m.Result(), "requestState") == nil {
			s.Fatal(string(m.Raw()))
		}
	}
}

// memory is what the process holds, in bytes. What ended a moment ago is only
// found by the second collection.
func memory() (heap, stacks float64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc), float64(m.StackInuse)
}

// The memory of a parked call stays below its budget.
func TestParkedBudget(t *testing.T) {
	const budget, own = 16 << 10, 2 << 10
	if each := parkedBytes(t, 2_000); each > budget {
		t.Errorf("a parked call takes %.0f bytes, want at most %d", each, budget)
	}
	if each := lotBytes(t, 2_000); each > own {
		t.Errorf("the lot takes %.0f bytes for a parked call, want at most %d", each, own)
	}
}
