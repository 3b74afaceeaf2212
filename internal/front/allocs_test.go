//go:build !race

package front

import "testing"

// The allocations of a call that is answered by JSON are a budget. It counts the
// front and the messages, not net/http.
func TestAllocations(t *testing.T) {
	const budget = 30
	if got := testing.AllocsPerRun(1000, inMemory(t)); got > budget {
		t.Errorf("a call makes %v allocations, over its budget of %d", got, budget)
	}
}
