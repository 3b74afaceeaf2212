package demo

import (
	"fmt"
	"io"
	"sync"
)

// Teller prints what happens between client, backend and person, a line each.
type Teller struct {
	mu  sync.Mutex
	out io.Writer // guarded by mu
}

// NewTeller prints on out.
func NewTeller(out io.Writer) *Teller { return &Teller{out: out} }

// Line prints that who did something.
func (t *Teller) Line(who, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "%-8s %s\n", who, fmt.Sprintf(format, args...))
}

// Progress prints how far the call is.
func (t *Teller) Progress(step, total float64, message string) {
	t.Line("backend", "progress %v of %v: %s", step, total, message)
}
