//go:build !race

package front

import "testing"

// The allocations of a call that is answered by JSON are a budget. It counts the
// front and the messages, not net/http.
func TestAllocations(t *testing.T) {
	legacy, modern := inMemory(t)
	for _, era := range []struct {
		name   string
		budget float64
		call   func()
	}{{"legacy", 30, legacy}, {"modern", 42, modern}} {
		if got := testing.AllocsPerRun(1000, era.call); got > era.budget {
			t.Errorf("a %s call makes %v allocations, over its budget of %v", era.name, got, era.budget)
		}
	}
}
