package input

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// idle is a channel and an observer that do nothing.
type idle struct{}

func (idle) Offer(*Request)                        {}
func (idle) Retract(*Request, string)              {}
func (idle) Opened(*Request)                       {}
func (idle) Ended(*Request, Answer, time.Duration) {}
func (idle) Refused(Question, *wire.Error)         {}

// BenchmarkRoundTrip opens a question and answers it.
func BenchmarkRoundTrip(b *testing.B) {
	broker := NewBroker(limits(), idle{})
	q := question(b, formAsk)
	answer := response(b, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"Ada"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		r, err := broker.Open(q, idle{}, func(*Request, Answer) {})
		if err != nil {
			b.Fatal(err)
		}
		r.Settle(answer)
	}
}

// BenchmarkOpen keeps many questions open at once and tells what one costs the
// broker. R79, R129: the target is 100,000 with at most 2 KB each.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := limits()
			l.Total, l.PerSession = n, n
			for b.Loop() {
				broker := NewBroker(l, idle{})
				questions := make([]Question, n)
				for i := range questions {
					questions[i] = question(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`, i))
				}
				before := memory()
				for _, q := range questions {
					if _, err := broker.Open(q, idle{}, func(*Request, Answer) {}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(memory()-before)/float64(n), "B/question")
				broker.Close()
				runtime.KeepAlive(questions)
			}
		})
	}
}

// memory is what the process holds, heap and stacks.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// The memory of an open question stays below its budget.
func TestOpenQuestionBudget(t *testing.T) {
	const n, budget = 10_000, 2 << 10
	l := limits()
	l.Total, l.PerSession = n, n
	broker := NewBroker(l, idle{})
	q := question(t, formAsk)
	before := memory()
	for range n {
		if _, err := broker.Open(q, idle{}, func(*Request, Answer) {}); err != nil {
			t.Fatal(err)
		}
	}
	if each := (memory() - before) / n; each > budget {
		t.Errorf("an open question costs %d bytes, want at most %d", each, budget)
	}
	broker.Close()
	if broker.Len() != 0 {
		t.Errorf("%d questions are open after Close", broker.Len())
	}
}
