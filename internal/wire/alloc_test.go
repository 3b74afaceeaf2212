//go:build !race

// Under the race detector a sync.Pool forgets on purpose what it was given.

package wire

import "testing"

// What a relayed message may cost in allocations. Each line is a promise: it
// goes down freely and up only with a reason in the commit.
func TestAllocationBudget(t *testing.T) {
	for _, size := range sizes {
		data := call(size.bytes)
		m, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			what   string
			budget float64
			do     func()
		}{
			{"Parse and WithID", 3, func() { replaceBySplice(data) }},
			{"Get", 0, func() { Get(m.Params(), "_meta", "progressToken") }},
			{"Text", 1, func() { Text(m.Params(), "name") }},
			{"Set", 1, func() { Set(m.Params(), data[:0], "_meta", "progressToken") }},
			{"Line of one line", 0, func() { m.Line() }},
			{"ParseID", 1, func() { ParseID(data[22:23]) }},
		} {
			if got := testing.AllocsPerRun(100, tt.do); got > tt.budget {
				t.Errorf("%s of %s: %v allocations, budget %v", tt.what, size.name, got, tt.budget)
			}
		}
	}
}
