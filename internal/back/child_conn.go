package back

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// child is the connection to one process.
//
// "The client launches the MCP server as a subprocess. The server reads JSON-RPC
// messages from its standard input (stdin) and sends messages to its standard
// output (stdout)."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
type child struct {
	log   *slog.Logger
	in    *inbox
	max   int // bytes of one message
	grace time.Duration
	proc  *process

	stdin, stdout, stderr *os.File // our ends; closed by supervise

	turn    chan struct{}          // holds a token while one Send writes to stdin
	eof     chan struct{}          // closed when stdout has ended
	readers sync.WaitGroup         // of stdout and stderr; awaited by supervise
	said    atomic.Pointer[string] // last line on stderr; nil when there was none

	ctx  context.Context // ends when the connection is to end; the cause says why
	stop context.CancelCauseFunc
	done chan struct{} // closed by supervise, last
	err  error         // set before done is closed
}

// outputGrace bounds how long the end of a process and the end of its output may
// lie apart: output may be held open by a process that left the group, and a
// process that closed its output may still be about to exit.
const outputGrace = 500 * time.Millisecond

func (c *child) Attributes() bool { return false }

func (c *child) Negotiated(r wire.Revision) { c.in.negotiated(r) }

func (c *child) Done() <-chan struct{} { return c.done }

func (c *child) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

func (c *child) Close() {
	c.stop(closed())
	<-c.done
}

// Send writes m as one line.
//
// "Messages are delimited by newlines, and MUST NOT contain embedded newlines."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
func (c *child) Send(ctx context.Context, m wire.Message) error {
	text := m.Line()
	line := append(append(make([]byte, 0, len(text)+1), text...), '\n')
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return abandoned(ctx)
	case <-c.ctx.Done():
		return c.lost()
	}
	switch {
	case c.ctx.Err() != nil:
		return c.lost()
	case ctx.Err() != nil:
		return abandoned(ctx)
	}
	n, err := c.write(ctx, line)
	switch {
	case err == nil:
		return nil
	case n > 0 && ctx.Err() != nil:
		c.stop(gone(err, "the backend stopped reading in the middle of a message"))
		return abandoned(ctx)
	case ctx.Err() != nil:
		return abandoned(ctx)
	}
	c.stop(gone(fmt.Errorf("%w: %w", errLeaving, err), "the backend does not read any more"))
	return c.lost()
}

// write writes until ctx ends. A process that does not read blocks it only that
// long.
func (c *child) write(ctx context.Context, line []byte) (n int, err error) {
	expired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(expired)
		if err := c.stdin.SetWriteDeadline(time.Unix(1, 0)); err != nil {
			c.stop(gone(err, "the backend does not read")) // this system's pipes have no deadlines
		}
	})
	n, err = c.stdin.Write(line)
	if !stop() {
		<-expired
		c.stdin.SetWriteDeadline(time.Time{})
	}
	return n, err
}

// lost says why nothing can be sent any more.
func (c *child) lost() error {
	if err := c.Err(); err != nil {
		return err
	}
	return context.Cause(c.ctx)
}

// readMessages reads stdout to its end.
//
// "The server MUST NOT write anything to its stdout that is not a valid MCP
// message." Many do; what is no message is skipped.
func (c *child) readMessages() {
	defer close(c.eof)
	lines := wire.NewLineReader(c.stdout, c.max)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, wire.ErrTooLong):
			c.in.noise(fmt.Errorf("a line of more than %d bytes: %w", c.max, err), "")
		case err != nil:
			return
		default:
			if _, err := c.in.take(line, ""); err != nil {
				c.in.noise(err, banner(line))
			}
		}
	}
}

// logLine is how much of one line on stderr the log gets, in bytes.
const logLine = 4 << 10

// readLog copies stderr to the log.
//
// "The server MAY write UTF-8 strings to its standard error (stderr) for any
// logging purposes including informational, debug, and error messages. The client
// MAY capture, forward, or ignore the server's stderr output and SHOULD NOT
// assume stderr output indicates error conditions."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
func (c *child) readLog() {
	r := bufio.NewReaderSize(c.stderr, logLine)
	for {
		line, more, err := r.ReadLine()
		if err != nil {
			return
		}
		text := strings.ToValidUTF8(strings.TrimSpace(string(line)), "\uFFFD")
		if more {
			text += "…"
		}
		for more && err == nil {
			_, more, err = r.ReadLine()
		}
		if text != "" {
			c.said.Store(&text)
			c.log.Info("backend stderr", "line", text)
		}
	}
}

// supervise sees the process to its end, whoever wants it, and clears up.
func (c *child) supervise() {
	defer close(c.done)
	polite := c.await()
	c.stdin.Close()
	byItself := true
	if polite {
		byItself = stop(c.proc, c.grace)
	} else {
		c.proc.kill() // what is left of its group
		<-c.proc.exited
	}
	if c.stdout.SetReadDeadline(time.Now().Add(outputGrace)) == nil {
		c.stderr.SetReadDeadline(time.Now().Add(outputGrace))
	}
	c.readers.Wait()
	c.err = c.verdict(byItself) // knows the last line on stderr
	c.stop(c.err)               // no Send begins any more
	closeAll([]*os.File{c.stdout, c.stderr})
	c.proc.release()
	c.log.Debug("backend stopped", "err", c.err)
}

// await waits until the process exits or is to exit, and reports whether it still
// has to be asked to.
//
// "The server MAY initiate shutdown by closing its output stream to the client
// and exiting."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
func (c *child) await() (ask bool) {
	select {
	case <-c.proc.exited:
		return false
	case <-c.ctx.Done():
		return true
	case <-c.eof:
	}
	exit := time.NewTimer(outputGrace)
	defer exit.Stop()
	select {
	case <-c.proc.exited:
		return false
	case <-c.ctx.Done():
	case <-exit.C:
		c.stop(gone(errLeaving, "the backend closed its output"))
	}
	return true
}

// errLeaving is the cause of a stop that may have come just before the exit.
var errLeaving = errors.New("it seems to be leaving")

// verdict says why the connection ended. byItself tells that the process exited
// without a signal of ours.
func (c *child) verdict(byItself bool) error {
	cause := context.Cause(c.ctx)
	if cause != nil && !(byItself && errors.Is(cause, errLeaving)) {
		return cause
	}
	word := errors.New("it wrote nothing to stderr")
	if line := c.said.Load(); line != nil {
		word = fmt.Errorf("its last line on stderr: %s", *line)
	}
	state := c.proc.cmd.ProcessState
	if code := state.ExitCode(); code >= 0 {
		return gone(word, "the backend exited with status %d", code)
	}
	return gone(word, "the backend was ended by %s", strings.Replace(state.String(), ":", "", 1))
}
