package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a peer in a process of its own.
type process struct {
	cmd *exec.Cmd
	in  io.Closer // its end tells the process to stop
	url string
}

// start runs this program in another role and waits for its address.
func start(role string, args ...string) (*process, error) {
	cmd := exec.Command(os.Args[0], append([]string{"-role", role}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", role, err)
	}
	return &process{cmd, in, strings.TrimSpace(url)}, nil
}

// startBeckon runs the gateway with one backend.
func startBeckon(binary string, backend map[string]any, limits map[string]any) (*process, error) {
	dir, err := os.MkdirTemp("", "relaybench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cfg := map[string]any{
		"listen": "127.0.0.1:0", "backends": map[string]any{"bench": backend},
		"log": map[string]any{"level": "error"},
	}
	maps.Copy(cfg, limits)
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	path, ready := filepath.Join(dir, "beckon.json"), filepath.Join(dir, "ready")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "serve", "--config", path, "--ready-file", ready)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // a measurement that fails leaves nothing behind
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd}
	for range 1000 {
		if url, err := os.ReadFile(ready); err == nil && strings.HasSuffix(string(url), "\n") {
			p.url = strings.TrimSpace(string(url))
			return p, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("beckon did not get ready"), p.stop())
}

func (p *process) stop() error {
	if p.in != nil {
		p.in.Close()
	} else {
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	return p.cmd.Wait()
}

// tick is the unit of CPU time in /proc; Linux has told 100 a second for ever.
const tick = 10 * time.Millisecond

// cpu is the CPU time that the process has used.
func (p *process) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// resident is the memory of the process, in bytes.
func (p *process) resident() int {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(statm))[1])
	return pages * os.Getpagesize()
}
