package back

import (
	"fmt"
	"os/exec"
	"runtime"
	"time"
)

// process is a started program with everything that it started in turn: its
// group. The system-specific part is in process_*.go.
type process struct {
	cmd    *exec.Cmd
	guard  *Guard
	exited chan struct{} // closed when the program itself has been reaped
	system
}

// startProcess starts cmd as the head of a group of its own. The goroutine that
// waits for it ends with the program.
func startProcess(cmd *exec.Cmd, g *Guard) (*process, error) {
	p := &process{cmd: cmd, guard: g, exited: make(chan struct{})}
	p.isolate()
	started := make(chan error, 1)
	go func() {
		defer close(p.exited)
		// Linux delivers the parent-death signal when the *thread* that started the
		// child ends. This one waits for the child anyway.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.start()
		started <- err
		if err == nil {
			cmd.Wait() // its error is in cmd.ProcessState
		}
	}()
	return p, <-started
}

// start starts the program and puts it under guard.
func (p *process) start() error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if err := p.adopt(); err != nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		return fmt.Errorf("taking charge of the process: %w", err)
	}
	p.guard.add(p.cmd.Process.Pid)
	return nil
}

// release forgets a process of which nothing is left.
func (p *process) release() {
	p.guard.remove(p.cmd.Process.Pid)
	p.forget()
}

func (p *process) gone() <-chan struct{} { return p.exited }

// group is what stop needs of a [process].
type group interface {
	gone() <-chan struct{} // closed when the program itself has exited
	alive() bool           // whether anything of the group is left
	terminate()            // asks all of it to exit
	kill()                 // ends all of it
}

// pollGroup is how often stop looks whether a group is empty; no event tells.
const pollGroup = 10 * time.Millisecond

// stop ends a group whose stdin has been closed, and returns when the program
// itself has exited. It reports whether the program did so without a signal.
//
// "[…] the client SHOULD initiate shutdown by: First, closing the input stream to
// the child process (the server). Waiting for the server to exit, or sending
// SIGTERM if the server does not exit within a reasonable time. Sending SIGKILL if
// the server does not exit within a reasonable time after SIGTERM."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#stdio
func stop(g group, grace time.Duration) (unsignalled bool) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-g.gone():
		unsignalled = true
	case <-timer.C:
	}
	if !g.alive() {
		return unsignalled
	}
	g.terminate()
	timer.Reset(grace)
	tick := time.NewTicker(pollGroup)
	defer tick.Stop()
	for g.alive() {
		select {
		case <-tick.C:
			continue
		case <-timer.C:
		}
		break
	}
	g.kill() // reaches nobody when the group is empty
	<-g.gone()
	return unsignalled
}
