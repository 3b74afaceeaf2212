//go:build !race

// Under the race detector pools forget on purpose what they were given.

package form

import "testing"

// What reading a submission may cost in allocations. It goes down freely, and up only
// with a reason in the commit.
func TestReadAllocations(t *testing.T) {
	for i, budget := range []float64{3, 22, 6, 76} {
		s := submissions[i]
		f := load(t, s.form)
		answers := []byte(s.answers)
		if got := testing.AllocsPerRun(100, func() { f.Read(answers, Coerce) }); got > budget {
			t.Errorf("%s: %v allocations, budget %v", s.name, got, budget)
		}
	}
}
