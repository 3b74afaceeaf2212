//go:build e2e

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A ledger is a folder with a file for each call, named by the call's key. Its
// lines say what became of the call, in order:
//
//	entered ROUND PID   the tool was called; ROUND is 1 except for modern retries
//	held                the tool works until it is stopped
//	worked              the tool did what it was called for
//	failed: "WHY"       the tool could not go on
//	stopped             the tool was cancelled while it worked
//
// The file KEY.withdraw is a signal to the tool.
type ledger struct{ folder string }

// note adds a line to the file of key. Each is one write to its end, so that
// several processes can.
func (l ledger) note(key, format string, args ...any) error {
	f, err := os.OpenFile(filepath.Join(l.folder, key), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, format+"\n", args...); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	return nil
}

// awaitWithdrawal returns when the questions of key are to be withdrawn, or with
// an error when ctx ends before.
func (l ledger) awaitWithdrawal(ctx context.Context, key string) error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		_, err := os.Stat(filepath.Join(l.folder, key+".withdraw"))
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
