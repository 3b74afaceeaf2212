package formtest_test

import (
	"os"
	"testing"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/form/formtest"
)

// BenchmarkMeasure tells how long reading and validating a submission takes, for most
// submissions and for the slowest: R130.
func BenchmarkMeasure(b *testing.B) {
	for _, name := range []string{"seed", "eight"} {
		b.Run(name, func(b *testing.B) {
			text, err := os.ReadFile("../testdata/" + name + ".json")
			if err != nil {
				b.Fatal(err)
			}
			f, err := form.Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			took, err := formtest.Measure(f, max(b.N, 100))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(took.Average.Nanoseconds()), "ns/op") // of a submission, without what is around it
			b.ReportMetric(float64(took.P50.Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(took.P95.Nanoseconds()), "p95-ns")
			b.ReportMetric(float64(took.P99.Nanoseconds()), "p99-ns")
		})
	}
}
