package back

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// guardVariable, set in the environment, makes the program a guard.
const guardVariable = "BECKON_GUARD"

// guardGrace is how long what Beckon left behind has between TERM and KILL.
const guardGrace = 2 * time.Second

// Guard sees to it that no child outlives Beckon, however Beckon ends. It is a
// process of its own, this program started again, that reads from a pipe which
// groups of processes there are. When the pipe ends, it ends those that are left.
// It starts with the first child. (Windows needs no guard: the kernel does it.)
type Guard struct {
	log *slog.Logger

	// mu guards the fields below. It is held while the guard is started and while
	// it is told a line, which the pipe takes at once.
	mu     sync.Mutex
	groups map[int]struct{} // registered
	cmd    *exec.Cmd        // nil when not running
	pipe   *os.File         // to cmd's stdin
	shut   bool             // Close was called, or starting is hopeless
}

// NewGuard returns a guard that is not started yet.
func NewGuard(log *slog.Logger) *Guard {
	return &Guard{log: log, groups: make(map[int]struct{})}
}

// Close ends the guard, and with it whatever is still registered.
func (g *Guard) Close() {
	g.mu.Lock()
	g.shut = true
	cmd, pipe := g.cmd, g.pipe
	g.cmd, g.pipe = nil, nil
	g.mu.Unlock()
	if cmd != nil {
		g.reap(cmd, pipe)
	}
}

// add registers the group pgid. Nothing is done for a nil guard.
func (g *Guard) add(pgid int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[pgid] = struct{}{}
	g.tell(pgid)
}

// remove takes back add.
func (g *Guard) remove(pgid int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, pgid)
	if g.cmd != nil {
		g.tell(-pgid)
	}
}

// tell writes one line to the guard, which is started when it does not run; one
// that has died is started again and told everything. mu is held.
func (g *Guard) tell(pgid int) {
	if g.cmd != nil {
		if _, err := fmt.Fprintf(g.pipe, "%+d\n", pgid); err == nil {
			return
		}
		g.log.Warn("the guard of the backend processes has died; starting another")
		g.reap(g.cmd, g.pipe)
		g.cmd, g.pipe = nil, nil
	}
	if g.shut {
		return
	}
	if err := g.start(); err != nil {
		g.log.Error("no guard for the backend processes: they may outlive a crash", "err", err)
		g.shut = true
		return
	}
	for n := range g.groups {
		if g.cmd != nil { // on Windows it stays nil
			fmt.Fprintf(g.pipe, "%+d\n", n) // an error shows at the next line
		}
	}
}

// start starts the guard; mu is held.
func (g *Guard) start() error {
	if os.Getenv(guardVariable) != "" {
		return fmt.Errorf("%s is set: main must call RunGuard first", guardVariable)
	}
	cmd, err := guardCommand()
	if err != nil || cmd == nil {
		return err
	}
	cmd.Env = []string{guardVariable + "=1"}
	rd, wr, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer rd.Close()
	cmd.Stdin = rd
	if err := cmd.Start(); err != nil {
		wr.Close()
		return fmt.Errorf("starting the guard: %w", err)
	}
	g.cmd, g.pipe = cmd, wr
	return nil
}

// reap closes the pipe to a guard and waits for its end.
func (g *Guard) reap(cmd *exec.Cmd, pipe *os.File) {
	pipe.Close()
	if err := cmd.Wait(); err != nil {
		g.log.Debug("guard ended", "err", err)
	}
}

// watch is the guard's work: it reads "+pgid" and "-pgid" lines to the end, and
// then ends the groups that are left.
func watch(r io.Reader, g interface {
	alive(pgid int) bool
	terminate(pgid int)
	kill(pgid int)
}) {
	groups := make(map[int]struct{})
	for lines := bufio.NewScanner(r); lines.Scan(); {
		switch n, err := strconv.Atoi(lines.Text()); {
		case err != nil || n == 0:
		case n > 0:
			groups[n] = struct{}{}
		default:
			delete(groups, -n)
		}
	}
	for n := range groups {
		g.terminate(n)
	}
	patience := time.NewTimer(guardGrace)
	defer patience.Stop()
	tick := time.NewTicker(pollGroup)
	defer tick.Stop()
	for len(groups) > 0 {
		for n := range groups {
			if !g.alive(n) {
				delete(groups, n)
			}
		}
		select {
		case <-tick.C:
			continue
		case <-patience.C:
		}
		for n := range groups {
			g.kill(n)
		}
		return
	}
}
