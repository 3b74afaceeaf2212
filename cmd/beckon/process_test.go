//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// waitfile FILE [VAR] waits until FILE has a whole line, and puts it into the
// variable VAR; the host of a URL goes into HOST.
func waitfileCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: waitfile FILE [VAR]")
	}
	var line string
	eventually(ts, args[0]+" has no line yet", func() bool {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		whole := false
		line, _, whole = strings.Cut(string(data), "\n")
		return err == nil && whole
	})
	if len(args) == 2 {
		ts.Setenv(args[1], line)
		if u, err := url.Parse(line); err == nil && u.Host != "" {
			ts.Setenv("HOST", u.Host)
		}
	}
}

// waitline FILE PATTERN [D] waits, for D at most, until FILE has a line that
// matches PATTERN.
func waitlineCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: waitline FILE PATTERN [D]")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	within(ts, limit(ts, args[2:]), fmt.Sprintf("%s has no line that matches %#q", args[0], args[1]), func() bool {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && re.Match(data)
	})
}

// status CODE [<FILE] PROGRAM ARGS... runs a program, which must exit with CODE. FILE
// is its input. What it printed is there for stdout and stderr.
func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	var stdin io.Reader
	if len(args) > 1 && strings.HasPrefix(args[1], "<") {
		stdin = strings.NewReader(ts.ReadFile(args[1][1:]))
		args = slices.Delete(args, 1, 2)
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE [<FILE] PROGRAM ARGS...")
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin = stdin
	cmd.Dir, cmd.Env = ts.MkAbs("."), ts.Value(castKey{}).(*cast).env
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	if err := cmd.Run(); err != nil {
		_, exited := errors.AsType[*exec.ExitError](err)
		if !exited {
			ts.Check(err)
		}
	}
	if got := cmd.ProcessState.ExitCode(); strconv.Itoa(got) != args[0] {
		ts.Fatalf("the exit code is %d", got)
	}
}

// signals are what can be sent to a process.
var signals = map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}

// signal SIG WHO... sends a signal to the process that wrote its id into the file
// WHO (backend -pid), or to the program in the background whose command line
// begins with WHO.
func signalCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal INT|TERM|KILL FILE|COMMAND...")
	}
	who := args[1:]
	if _, err := os.Stat(ts.MkAbs(who[0])); err == nil {
		pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(who[0])))
		ts.Check(err)
		ts.Check(syscall.Kill(pid, signals[args[0]]))
		return
	}
	i := slices.IndexFunc(ts.BackgroundCmds(), func(cmd *exec.Cmd) bool {
		line := append([]string{filepath.Base(cmd.Args[0])}, cmd.Args[1:]...)
		return len(line) >= len(who) && slices.Equal(line[:len(who)], who)
	})
	if i < 0 {
		ts.Fatalf("nothing in the background is %q, and there is no such file", strings.Join(who, " "))
	}
	ts.Check(ts.BackgroundCmds()[i].Process.Signal(signals[args[0]]))
}

// gone FILE... waits until the processes that wrote their ids into the files have
// ended. ! gone says that they run.
//
// A process holds a lock on its file (see holdPid), which the system releases
// when it ends. So nobody need reap it, and no other process is taken for it.
func goneCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: gone FILE...")
	}
	for _, name := range args {
		f, err := os.Open(ts.MkAbs(name))
		ts.Check(err)
		defer f.Close()
		free := func() bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }
		switch {
		case !neg:
			eventually(ts, "the process of "+name+" still runs", free)
		case free():
			ts.Fatalf("the process of %s has ended", name)
		}
	}
}

// holdPid writes the id of this process into a file, and holds a lock on it until
// the process ends: the file is never closed.
func holdPid(path string) error {
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_TRUNC|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
		return err
	}
	_, err = syscall.Write(fd, []byte(strconv.Itoa(os.Getpid())+"\n"))
	return err
}

// limit reads an optional duration.
func limit(ts *testscript.TestScript, args []string) time.Duration {
	if len(args) == 0 {
		return patience
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	return d
}

// eventually looks until something has become true.
func eventually(ts *testscript.TestScript, not string, condition func() bool) {
	within(ts, patience, not, condition)
}

func within(ts *testscript.TestScript, limit time.Duration, not string, condition func() bool) {
	const look = 5 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	late := time.NewTimer(limit)
	defer late.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-late.C:
			ts.Fatalf("%s after %v", not, limit)
		}
	}
}
