//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28. They must still pass.
//
//lint:file-ignore SA1019 what is deprecated must still pass

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// revisionOf is the revision by which a client speaks each era.
var revisionOf = map[era]string{legacy: "2025-11-25", modern: "2026-07-28"}

// A cellClient is a go-sdk client with its connection, which can be cut as
// by a cable.
type cellClient struct {
	desk    *desk
	log     *recorder // what the client sends and receives, as bytes
	session *mcp.ClientSession
	cut     func()
}

// connect connects a client of the cell's era. When the test ends, so does the
// connection; a Beckon that is the client's own must then exit in good order.
func connect(ctx context.Context, t *testing.T, c cell, to endpoint) *cellClient {
	t.Helper()
	p := &cellClient{desk: newDesk(ctx, c), log: newRecorder()}
	var transport mcp.Transport
	if to.Command != "" {
		transport = p.overPipes(ctx, t, to)
	} else {
		transport = p.overHTTP(t, to)
	}
	session, err := p.desk.client().Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revisionOf[c.client.era]})
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	p.session = session
	t.Cleanup(func() {
		p.desk.close()
		session.Close() // fails when the cell has cut it
	})
	if got, want := session.InitializeResult().ProtocolVersion, revisionOf[c.client.era]; got != want {
		t.Fatalf("the client speaks revision %s, want %s", got, want)
	}
	return p
}

func (p *cellClient) overHTTP(t *testing.T, to endpoint) mcp.Transport {
	t.Helper()
	w := &wires{}
	p.cut = w.cut
	pool := &http.Transport{DialContext: w.dial}
	t.Cleanup(pool.CloseIdleConnections)
	return &mcp.StreamableClientTransport{
		Endpoint:   to.URL,
		HTTPClient: &http.Client{Transport: &tapTransport{next: pool, log: p.log}},
		MaxRetries: -1, // what breaks stays broken
	}
}

// wires are the connections of one client.
type wires struct {
	mu    sync.Mutex
	conns []net.Conn // guarded by mu
	down  bool       // guarded by mu; no more connections
}

func (w *wires) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		conn.Close()
		return nil, errors.New("the wires are cut")
	}
	w.conns = append(w.conns, conn)
	return conn, nil
}

func (w *wires) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for _, conn := range w.conns {
		conn.Close()
	}
}

func (p *cellClient) overPipes(ctx context.Context, t *testing.T, to endpoint) mcp.Transport {
	t.Helper()
	cmd := to.command()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, childStdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = childStdout
	child := startProcess(t, cmd)
	childStdout.Close()
	p.cut = func() { stdin.Close() }
	t.Cleanup(func() {
		defer stdout.Close()
		stdin.Close()
		if to.ExitsClean {
			checkExit(ctx, t, child)
		}
	})
	in := &lineSplitter{emit: func(line []byte) { p.log.message("in", line) }}
	out := &lineSplitter{emit: func(line []byte) { p.log.message("out", line) }}
	return &mcp.IOTransport{
		Reader: io.NopCloser(io.TeeReader(stdout, in)),
		Writer: tapWriter{io.MultiWriter(out, stdin), stdin},
	}
}

// checkExit wants a Beckon whose client has left to exit in good order.
func checkExit(ctx context.Context, t *testing.T, child *process) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), stopTimeout,
		fmt.Errorf("still there %v after its client left", stopTimeout))
	defer cancel()
	code, err := child.wait(ctx)
	if err != nil {
		t.Error(err)
	} else if code != 0 {
		t.Errorf("beckon left with exit code %d, want 0", code)
	}
}
