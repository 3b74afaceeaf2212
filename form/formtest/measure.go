package formtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/beckon-mcp/beckon/form"
)

// Timings are how long something took, many times over.
type Timings struct {
	Average, P50, P95, P99 time.Duration
}

func (t Timings) String() string {
	return fmt.Sprintf("average %v, p50 %v, p95 %v, p99 %v", t.Average, t.P50, t.P95, t.P99)
}

// Measure reads valid answers to f n times, after a hundred times to warm up, and
// tells how long reading and validating them took. n is at least 1.
func Measure(f *form.Form, n int) (Timings, error) {
	answers, err := Answers(f, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		return Timings{}, err
	}
	for range 100 {
		if _, err := f.Read(answers, form.Coerce); err != nil {
			return Timings{}, err
		}
	}
	took := make([]time.Duration, max(n, 1))
	var sum time.Duration
	for i := range took {
		start := time.Now()
		_, _ = f.Read(answers, form.Coerce)
		took[i] = time.Since(start)
		sum += took[i]
	}
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[(len(took)-1)*percent/100] }
	return Timings{sum / time.Duration(len(took)), at(50), at(95), at(99)}, nil
}
