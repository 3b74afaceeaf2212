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
func (idle) Changed(*Request, Event)               {}
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

// BenchmarkOpenForms keeps many forms open at once, each of its own question, and
// tells what one costs the broker and, with its question, altogether. R128, R129, C26:
// the target is 100,000 with at most 2 KB each in the broker, and 5 KB altogether.
func BenchmarkOpenForms(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				own, whole := formBytes(b, n, false)
				b.ReportMetric(own, "B/form")
				b.ReportMetric(whole, "B/form-and-question")
			}
		})
	}
}

// formBytes returns what each of n open forms costs: the broker's own, and with the
// question that brought it.
func formBytes(t testing.TB, n int, begun bool) (own, whole float64) {
	broker := NewBroker(roomy(), idle{})
	runtime.GC() // what ended a moment ago is only found by the second collection
	empty := memory()
	questions := make([]Question, n)
	for i := range questions {
		q := of(t, settings(""))
		q.Managed = i%2 == 0
		q.Session = fmt.Sprint("session ", i)
		questions[i] = q
	}
	before := memory()
	for _, q := range questions {
		r, err := broker.Open(q, idle{}, func(*Request, Answer) {})
		if err != nil {
			t.Fatal(err)
		}
		if begun {
			r.Submit([]byte(bad), Submitter{})
		}
	}
	after := memory()
	broker.Close()
	if broker.Len() != 0 {
		t.Errorf("%d forms are open after Close", broker.Len())
	}
	runtime.KeepAlive(questions)
	return float64(after-before) / float64(n), float64(after-empty) / float64(n)
}

// The memory of an open form stays below its budget, also when it was answered
// wrongly (R129).
func TestOpenFormBudget(t *testing.T) {
	if own, whole := formBytes(t, 4_000, false); own > 2<<10 || whole > 5_000 {
		t.Errorf("an open form costs %.0f bytes, and %.0f with its question; want at most 2 KiB and 5 KB", own, whole)
	}
	if own, whole := formBytes(t, 2_000, true); own > 3<<10 || whole > 5_000 {
		t.Errorf("a form with a wrong answer costs %.0f bytes, and %.0f with its question; want at most 3 KiB and 5 KB", own, whole)
	}
}

// BenchmarkForm opens a form, shows it to a client and takes an answer.
func BenchmarkForm(b *testing.B) {
	for name, q := range map[string]Question{"managed": managed(b, settings("")), "client": of(b, settings(""))} {
		b.Run(name, func(b *testing.B) {
			broker := NewBroker(roomy(), idle{})
			defer broker.Close()
			b.ReportAllocs()
			for b.Loop() {
				r, err := broker.Open(q, shower{}, func(*Request, Answer) {})
				if err != nil {
					b.Fatal(err)
				}
				if err := r.Submit([]byte(good), Submitter{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// shower is a channel that looks at what it is to show.
type shower struct{ idle }

func (shower) Offer(r *Request) { r.Ask() }

// BenchmarkAsk makes what a client is shown of a form.
func BenchmarkAsk(b *testing.B) {
	broker := NewBroker(roomy(), idle{})
	defer broker.Close()
	r, err := broker.Open(of(b, settings("")), idle{}, func(*Request, Answer) {})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Ask()
	}
}

// BenchmarkValidated opens a relayed question, whose answer is judged, and answers it.
func BenchmarkValidated(b *testing.B) {
	broker := NewBroker(limits(), idle{})
	q := question(b, formAsk)
	q.Validate = ValidateEnforce
	answer := accepting(b, `{"name":"Ada"}`)
	b.ReportAllocs()
	for b.Loop() {
		r, err := broker.Open(q, idle{}, func(*Request, Answer) {})
		if err != nil {
			b.Fatal(err)
		}
		r.Settle(answer)
	}
}
