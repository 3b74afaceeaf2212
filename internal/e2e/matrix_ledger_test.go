//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A ledgerFolder is where eraserver writes what became of each call.
type ledgerFolder string

// executed is what the tool did in one call.
type executed struct {
	Entered []int  // the rounds in which it was entered, in order
	Ended   string // worked, failed, stopped; nothing if it has not ended
	Extra   int    `json:",omitempty"` // ends beyond the first
}

// read returns what the tool did in a call, and the process that it ran in last.
func (l ledgerFolder) read(key string) (done executed, held bool, pid int, err error) {
	text, err := os.ReadFile(filepath.Join(string(l), key))
	if errors.Is(err, fs.ErrNotExist) {
		return executed{}, false, 0, nil
	}
	if err != nil {
		return executed{}, false, 0, err
	}
	for line := range strings.Lines(string(text)) {
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "entered":
			var round int
			if _, err := fmt.Sscan(rest, &round, &pid); err != nil {
				return done, held, pid, fmt.Errorf("reading %q in the ledger: %w", line, err)
			}
			done.Entered = append(done.Entered, round)
		case "held":
			held = true
		default:
			if done.Ended != "" {
				done.Extra++
			}
			done.Ended = strings.TrimSuffix(word, ":")
		}
	}
	return done, held, pid, nil
}

// check wants the tool to have done this and no more.
func (l ledgerFolder) check(t *testing.T, key string, want ending) {
	t.Helper()
	got, _, _, err := l.read(key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Executed, got); diff != "" {
		text, _ := os.ReadFile(filepath.Join(string(l), key))
		t.Errorf("what the tool did (-want +got):\n%s%s", diff, text)
	}
}

// await returns once the ledger shows of a call what condition wants. It is for
// what happens in other processes, where there is no event to wait for.
func (l ledgerFolder) await(ctx context.Context, key, what string, condition func(done executed, held bool) bool) (pid int, err error) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		done, held, pid, err := l.read(key)
		if err != nil || condition(done, held) {
			return pid, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("waiting until the tool %s, it has %+v: %w", what, done, context.Cause(ctx))
		}
	}
}

func (l ledgerFolder) awaitEnded(ctx context.Context, key string) error {
	_, err := l.await(ctx, key, "has ended", func(done executed, _ bool) bool { return done.Ended != "" })
	return err
}

func (l ledgerFolder) awaitHeld(ctx context.Context, key string) error {
	_, err := l.await(ctx, key, "works", func(_ executed, held bool) bool { return held })
	return err
}

// withdraw tells a legacy tool to withdraw its questions.
func (l ledgerFolder) withdraw(key string) error {
	return os.WriteFile(filepath.Join(string(l), key+".withdraw"), nil, 0o600)
}

// kill ends the server that the tool of a call runs in, which must be nobody
// else's.
func (l ledgerFolder) kill(ctx context.Context, key string) error {
	pid, err := l.await(ctx, key, "was entered", func(done executed, _ bool) bool { return len(done.Entered) > 0 })
	if err != nil {
		return err
	}
	if pid <= 1 {
		return fmt.Errorf("the ledger says process %d", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing the backend: %w", err)
	}
	return nil
}
