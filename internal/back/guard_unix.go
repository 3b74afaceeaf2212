//go:build unix

package back

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// RunGuard must be the first call of main, and of TestMain in a package whose
// tests use a [Guard]. It returns at once, except in a process that was started
// as the guard, where it does a guard's work and exits.
func RunGuard() {
	if os.Getenv(guardVariable) == "" {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	watch(os.Stdin, groups{})
	os.Exit(0)
}

// guardCommand is this program again, in a session of its own: a Ctrl-C at the
// terminal is not for it.
func guardCommand() (*exec.Cmd, error) {
	path := "/proc/self/exe" // finds the program even after an upgrade has replaced its file
	if runtime.GOOS != "linux" {
		var err error
		if path, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(path)
	cmd.Args[0] = "beckon-guard"
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

// groups is the process groups of this system.
type groups struct{}

func (groups) alive(pgid int) bool { return groupAlive(pgid) }
func (groups) terminate(pgid int)  { syscall.Kill(-pgid, syscall.SIGTERM) }
func (groups) kill(pgid int)       { syscall.Kill(-pgid, syscall.SIGKILL) }
