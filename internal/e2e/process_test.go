//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A process is a child that belongs to a test and is gone when it ends.
type process struct {
	cmd    *exec.Cmd
	stderr *lineLog
	done   chan struct{} // closed when the child has exited
}

// startProcess starts cmd with its stderr kept. What is left of the child at
// the end of the test is killed; if the test failed, stderr is printed.
func startProcess(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, stderr: newLineLog(), done: make(chan struct{})}
	cmd.Stderr = p.stderr
	cmd.WaitDelay = time.Second // a grandchild may hold the pipes
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	go func() {
		defer close(p.done)
		cmd.Wait() // the outcome is in cmd.ProcessState
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("stderr of %s:\n%s", cmd, p.stderr.tail(60))
		}
	})
	return p
}

// kill ends the child if it still runs, and waits for it.
func (p *process) kill() {
	p.cmd.Process.Kill() // fails only when it has exited
	<-p.done
}

// wait returns the exit code, -1 for a child that a signal ended.
func (p *process) wait(ctx context.Context) (int, error) {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("waiting for %s to exit: %w", p.cmd, context.Cause(ctx))
	}
}

// terminate sends SIGTERM and returns the exit code.
func (p *process) terminate(ctx context.Context) (int, error) {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("sending SIGTERM to %s: %w", p.cmd, err)
	}
	return p.wait(ctx)
}

// waitLine waits for a line on stderr and returns the match with its groups.
func (p *process) waitLine(ctx context.Context, pattern *regexp.Regexp) ([]string, error) {
	for {
		match, changed := p.stderr.find(pattern)
		if match != nil {
			return match, nil
		}
		select {
		case <-changed:
		case <-p.done:
			return nil, fmt.Errorf("%s exited with code %d before it was ready", p.cmd, p.cmd.ProcessState.ExitCode())
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s to say %q: %w", p.cmd, pattern, context.Cause(ctx))
		}
	}
}

// poll asks until ready is true. It is for children that are ready without
// saying so; there is no event to wait for.
func (p *process) poll(ctx context.Context, ready func() bool) error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !ready() {
		select {
		case <-ticker.C:
		case <-p.done:
			return fmt.Errorf("%s exited with code %d before it was ready", p.cmd, p.cmd.ProcessState.ExitCode())
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", p.cmd, context.Cause(ctx))
		}
	}
	return nil
}

// A lineLog is a writer that keeps lines and lets others wait for them.
type lineLog struct {
	split *lineSplitter

	mu      sync.Mutex
	lines   []string      // guarded by mu
	changed chan struct{} // guarded by mu; closed and replaced when lines grow
}

func newLineLog() *lineLog {
	l := &lineLog{changed: make(chan struct{})}
	l.split = &lineSplitter{emit: l.add}
	return l
}

func (l *lineLog) Write(p []byte) (int, error) { return l.split.Write(p) }

func (l *lineLog) add(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *lineLog) find(pattern *regexp.Regexp) (match []string, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if match := pattern.FindStringSubmatch(line); match != nil {
			return match, nil
		}
	}
	return nil, l.changed
}

func (l *lineLog) all() string { return l.tail(math.MaxInt) }

// tail returns the last n lines.
func (l *lineLog) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-n):], "\n")
}
