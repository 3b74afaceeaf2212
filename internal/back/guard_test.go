//go:build unix

package back

import (
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// However Beckon ends, nothing that it started is left: neither the child, which
// heeds neither the end of its input nor TERM, nor what the child started.
func TestNoOrphans(t *testing.T) { // no orphans
	for _, way := range []string{"KILL", "TERM", "panic"} {
		t.Run(way, func(t *testing.T) {
			c := newCensus(t)
			gateway := exec.Command(self(), way)
			gateway.Env = append(os.Environ(), roleVariable+"=gateway", censusVariable+"="+c.l.Addr().String())
			stdin, err := gateway.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := gateway.Start(); err != nil {
				t.Fatal(err)
			}
			family := make(map[string][]*citizen)
			for range 3 {
				p := receive(t, "a process", c.born)
				family[p.role] = append(family[p.role], p)
			}
			if len(family["gateway"]) != 1 || len(family["stubborn"]) != 2 {
				t.Fatalf("not the processes that were wanted: %v", family)
			}
			switch way {
			case "KILL":
				gateway.Process.Kill()
			case "TERM":
				gateway.Process.Signal(syscall.SIGTERM)
			case "panic":
				stdin.Write([]byte("now\n"))
			}
			gateway.Wait()
			for _, p := range family["stubborn"] {
				c.wantDead("after the end of the gateway", p)
			}
		})
	}
}

// A guard that dies is replaced, and the new one knows everything.
func TestGuardIsReplaced(t *testing.T) { // no orphans
	g := NewGuard(slog.New(slog.DiscardHandler))
	guarded := func(o *ChildOptions) { o.Guard = g }
	first := startChild(t, "stubborn", nil, guarded)
	pid := g.cmd.Process.Pid
	g.cmd.Process.Kill()
	g.cmd.Process.Wait()
	second := startChild(t, "stubborn", nil, guarded)
	if g.cmd.Process.Pid == pid {
		t.Fatal("the guard was not replaced")
	}
	g.Close() // ends what is registered
	first.wantDead("ended by the new guard", first.pid)
	second.wantDead("ended by the new guard", second.pid)
}

// The guard does not run without a child.
func TestGuardIsLazy(t *testing.T) {
	g := NewGuard(slog.New(slog.DiscardHandler))
	if g.cmd != nil {
		t.Error("the guard runs already")
	}
	ct := startChild(t, "echo", nil, func(o *ChildOptions) { o.Guard = g })
	if g.cmd == nil {
		t.Error("the guard does not run")
	}
	ct.Close()
	if len(g.groups) != 0 {
		t.Errorf("a child that is gone is still registered: %v", g.groups)
	}
	g.Close()
	g.Close()
}

// A main that does not call RunGuard must not start itself for ever.
func TestGuardWithoutRunGuard(t *testing.T) {
	t.Setenv(guardVariable, "1")
	g := NewGuard(slog.New(slog.DiscardHandler))
	g.add(1 << 30)
	if g.cmd != nil {
		t.Error("a guard was started by what is a guard itself")
	}
	g.Close()
}
