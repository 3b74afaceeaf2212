//go:build unix

package terminal

import (
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/termios"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/beckon-mcp/beckon/form"
)

// patience is how long a person waits for what must appear.
const patience = 20 * time.Second

// seat is a person in front of a terminal: what they see, and their keys.
type seat struct {
	t      *testing.T
	master *os.File // the keys and the picture
	tty    *os.File // what Ask gets

	mu    sync.Mutex
	text  strings.Builder // guarded by mu: all that was written
	glass *glass          // guarded by mu: what is seen now
	more  chan struct{}   // guarded by mu: closed when there is more

	ended  chan struct{}
	result Result
	err    error
}

// sit asks f at a new terminal, of a comfortable size.
func sit(ctx context.Context, t *testing.T, f *form.Form, o Options) *seat {
	t.Helper()
	return sitAt(ctx, t, f, o, 50, 100)
}

// sitAt asks f at a new terminal of so many rows and columns.
func sitAt(ctx context.Context, t *testing.T, f *form.Form, o Options, rows, cols uint16) *seat {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: rows, Cols: cols}); err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, master: master, tty: tty, glass: newGlass(int(rows), int(cols)), more: make(chan struct{}), ended: make(chan struct{})}
	var watching sync.WaitGroup
	watching.Go(s.watch)
	o.In, o.Out = tty, tty
	if o.Environ == nil {
		o.Environ = []string{"TERM=xterm"}
	}
	go func() {
		defer close(s.ended)
		s.result, s.err = Ask(ctx, o, f)
	}()
	t.Cleanup(func() {
		<-s.ended
		tty.Close() // the last one on that side, so that watch ends
		watching.Wait()
		master.Close()
	})
	return s
}

func (s *seat) watch() {
	b := make([]byte, 4096)
	for {
		n, err := s.master.Read(b)
		s.mu.Lock()
		s.text.Write(b[:n])
		s.glass.write(string(b[:n]))
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return // EIO on Linux, EOF elsewhere
		}
	}
}

// sees waits until text is seen.
func (s *seat) sees(text string) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		picture, unknown, more := s.glass.picture(), s.glass.unknown, s.more
		s.mu.Unlock()
		if len(unknown) > 0 {
			s.t.Fatalf("the picture may be wrong because of %q", unknown)
		}
		if strings.Contains(picture, text) {
			return
		}
		select {
		case <-more:
		case <-deadline:
			s.t.Fatalf("%q is not seen; there is:\n%s\n\nof:\n%q", text, picture, s.written())
		}
	}
}

// picture is what is seen now.
func (s *seat) picture() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.glass.picture()
}

// types presses keys.
func (s *seat) types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.master, keys); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits for the end of Ask.
func (s *seat) leaves() (Result, error) {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("Ask does not end; there is:\n%s", s.picture())
	}
	return s.result, s.err
}

func (s *seat) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// echoes reports whether the terminal shows what is typed.
func (s *seat) echoes() bool {
	s.t.Helper()
	state, err := termios.GetTermios(int(s.tty.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// awaits waits until the terminal shows what is typed, or does not. Nothing is
// written when that changes, so there is nothing else to wait for.
func (s *seat) awaits(shown bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); s.echoes() != shown; runtime.Gosched() {
		if time.Now().After(deadline) {
			s.t.Fatalf("the terminal shows what is typed: %t", !shown)
		}
	}
}
