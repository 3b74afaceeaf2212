package terminal

import (
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
)

// keys is a terminal as the program that draws the pages reads it. The program leaves
// a read behind when it ends, which would take what is typed next; this one can be
// waited for.
type keys struct {
	term.File // for what the program does to a terminal, but for reading

	r       cancelreader.CancelReader // ends its reads when it is cancelled
	reading sync.Mutex                // held during a read, so that stop can wait for it
	stopped sync.Once
}

// newKeys returns what the program is to read, and what stops it.
func newKeys(in term.File) (io.Reader, func(), error) {
	if runtime.GOOS == "windows" {
		return in, func() {}, nil // the program reads a console by its own means
	}
	r, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the terminal: %w", err)
	}
	k := &keys{File: in, r: r}
	return k, k.stop, nil
}

// Read returns the next keys.
func (k *keys) Read(b []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	return k.r.Read(b)
}

// stop ends the read that is under way, and lets there be no other.
func (k *keys) stop() {
	k.stopped.Do(func() {
		k.r.Cancel()
		k.reading.Lock()
		defer k.reading.Unlock()
		_ = k.r.Close() // of what it was made of; the terminal stays open
	})
}
