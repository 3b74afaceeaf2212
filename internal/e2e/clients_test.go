//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// playTimeout bounds one script. It is long because the machine may be slow,
// and only ever reached by a client or server that hangs.
const playTimeout = 90 * time.Second

// A client plays a script against a server and returns its wire log. It fails
// the test when it cannot finish the script, after printing the log so far.
type client struct {
	name string
	play func(ctx context.Context, t *testing.T, to endpoint, s script) ([]frame, error)
}

func clients() []client {
	return []client{
		{"go-sdk", playGo("2025-11-25")},
		{"typescript", playNode("client.mjs")},
	}
}

func (c client) run(t *testing.T, to endpoint, s script) []frame {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), playTimeout, fmt.Errorf("the script took longer than %v", playTimeout))
	defer cancel()
	frames, err := c.play(ctx, t, to, s)
	if err != nil {
		for _, f := range frames {
			t.Logf("%s %s %s%s", f.Step, f.Dir, f.Message, f.Failure)
		}
		t.Fatalf("%s: %v", c.name, err)
	}
	return frames
}

// playGo plays in process, with one revision. When ctx ends, so do the connections
// and the child: closing an SDK session waits for everything that is open in it.
func playGo(revision string) func(context.Context, *testing.T, endpoint, script) ([]frame, error) {
	return func(ctx context.Context, t *testing.T, to endpoint, s script) ([]frame, error) {
		p := &player{script: s, revision: revision, log: newRecorder(), life: ctx}
		var err error
		if to.Command != "" {
			err = p.playCommand(ctx, t, to)
		} else {
			err = p.playHTTP(ctx, to)
		}
		return p.log.all(), err
	}
}

func (p *player) playHTTP(ctx context.Context, to endpoint) error {
	var dialer net.Dialer
	pool := &http.Transport{DialContext: func(dialCtx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(dialCtx, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}}
	defer pool.CloseIdleConnections()
	web := &http.Client{Transport: &tapTransport{next: pool, log: p.log}}
	if to.Transport == "sse" {
		return p.play(ctx, &mcp.SSEClientTransport{Endpoint: to.URL, HTTPClient: web})
	}
	return p.play(ctx, &mcp.StreamableClientTransport{Endpoint: to.URL, HTTPClient: web})
}

// playCommand plays over the pipes of a child, and sees it exit: closing its
// stdin is how a stdio session ends.
func (p *player) playCommand(ctx context.Context, t *testing.T, to endpoint) error {
	cmd := to.command()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("opening the stdin of a child: %w", err)
	}
	stdout, childStdout, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("opening the stdout of a child: %w", err)
	}
	defer stdout.Close()
	cmd.Stdout = childStdout
	child := startProcess(t, cmd)
	childStdout.Close()
	defer context.AfterFunc(ctx, child.kill)()

	in := &lineSplitter{emit: func(line []byte) { p.log.message("in", line) }}
	out := &lineSplitter{emit: func(line []byte) { p.log.message("out", line) }}
	err = p.play(ctx, &mcp.IOTransport{
		Reader: io.NopCloser(io.TeeReader(stdout, in)),
		Writer: tapWriter{io.MultiWriter(out, stdin), stdin},
	})
	if err != nil {
		return err
	}
	code, err := child.wait(ctx)
	if err != nil {
		return fmt.Errorf("after its stdin was closed: %w", err)
	}
	if to.ExitsClean && code != 0 {
		return fmt.Errorf("exit code %d after its stdin was closed", code)
	}
	return nil
}

type tapWriter struct {
	io.Writer
	io.Closer
}

func (e endpoint) command() *exec.Cmd {
	cmd := exec.Command(e.Command, e.Args...)
	cmd.Env = os.Environ()
	for name, value := range e.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// playNode plays with one of the scripts in node/.
func playNode(file string, args ...string) func(context.Context, *testing.T, endpoint, script) ([]frame, error) {
	return func(ctx context.Context, t *testing.T, to endpoint, s script) ([]frame, error) {
		job, err := json.Marshal(map[string]any{"endpoint": to, "script": s})
		if err != nil {
			return nil, fmt.Errorf("encoding the job: %w", err)
		}
		var stdout bytes.Buffer
		cmd := exec.Command(nodeBinary(t), append([]string{nodeFile(t, file)}, args...)...)
		cmd.Stdin = bytes.NewReader(job)
		cmd.Stdout = &stdout
		child := startProcess(t, cmd)
		code, err := child.wait(ctx)
		child.kill()
		frames, parseErr := parseFrames(&stdout)
		switch {
		case err != nil:
			return frames, err
		case code != 0:
			return frames, fmt.Errorf("exit code %d: %s", code, child.stderr.tail(20))
		}
		return frames, parseErr
	}
}

func parseFrames(log io.Reader) ([]frame, error) {
	var frames []frame
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var f frame
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return frames, fmt.Errorf("reading the wire log: %w", err)
		}
		frames = append(frames, f)
	}
	return frames, lines.Err()
}
