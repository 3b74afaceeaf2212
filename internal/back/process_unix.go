//go:build unix

package back

import (
	"errors"
	"syscall"
)

// system is the process group, which has the number of its head.
type system struct{ pgid int }

func (p *process) isolate() {
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.belt()
}

func (p *process) adopt() error {
	p.pgid = p.cmd.Process.Pid
	return nil
}

func (p *process) forget() {}

func (p *process) terminate() { p.signal(syscall.SIGTERM) }

func (p *process) kill() { p.signal(syscall.SIGKILL) }

// signal signals the group. It may have lost its head: its number is not given
// to another as long as anything of it is left, and not soon after that, because
// the numbers go round.
func (p *process) signal(s syscall.Signal) {
	syscall.Kill(-p.pgid, s) // no such group: nothing to do
}

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return groupAlive(p.pgid)
	default:
		return true
	}
}

func groupAlive(pgid int) bool {
	return !errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH)
}
