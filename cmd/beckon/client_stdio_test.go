//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// pipe is a line over the standard input and output of a command.
type pipe struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when the command has exited and all is received
}

func newPipe(command, env []string, dir, log string, in *inbox) (*pipe, error) {
	stderr, err := createLog(log)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = env, dir, stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &pipe{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		lines := bufio.NewReader(stdout)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break
			}
			in.put(strings.TrimSuffix(line, "\n"))
		}
		_ = cmd.Wait() // ProcessState has it
		in.put(fmt.Sprint("EXIT ", cmd.ProcessState.ExitCode()))
	}()
	return p, nil
}

// send writes a line. When the command is gone, "EXIT" tells.
func (p *pipe) send(message []byte) { _, _ = p.stdin.Write(append(message, '\n')) }

func (p *pipe) session() string { return "" }

func (p *pipe) listen() {}

func (p *pipe) process() *os.Process { return p.cmd.Process }

func (p *pipe) drop() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

func (p *pipe) leave() error {
	if err := p.stdin.Close(); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
		return errors.New("the command does not end with its standard input")
	}
}
