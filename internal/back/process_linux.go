package back

import "syscall"

// belt lets the kernel tell the child when Beckon dies, beside the guard. Without
// a guard there is nobody to insist.
func (p *process) belt() {
	p.cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	if p.guard == nil {
		p.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}
