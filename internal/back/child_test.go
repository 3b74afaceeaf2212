//go:build unix

package back

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// childTest is a connection to a child that plays a role.
type childTest struct {
	*recorder
	*census
	Conn
	pid *citizen
}

// startChild starts a child, which must enlist before it returns.
func startChild(t *testing.T, role string, env map[string]string, change func(*ChildOptions)) *childTest {
	t.Helper()
	ct := &childTest{recorder: record(t), census: newCensus(t)}
	o := ChildOptions{
		Command:   Command{Command: self(), Env: map[string]string{roleVariable: role, censusVariable: ct.l.Addr().String(), raceVariable: noLinger}},
		StopGrace: 5 * time.Second,
	}
	maps.Copy(o.Env, env)
	if change != nil {
		change(&o)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	conn, err := NewChild(log, o).Dial(t.Context(), ct.recorder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	ct.Conn = conn
	ct.pid = ct.census.wait(role)
	return ct
}

// exchange sends a request to a child that echoes, and wants the answer.
func (ct *childTest) exchange(why string) {
	ct.recorder.t.Helper()
	m := parse(`{"jsonrpc":"2.0","id":"a","method":"x"}`)
	if err := ct.Send(ct.recorder.t.Context(), m); err != nil {
		ct.recorder.t.Fatalf("%s: %v", why, err)
	}
	ct.want(why, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":"a","result":%s}`, m.Raw()))
}

func TestChildCarriesMessages(t *testing.T) {
	ct := startChild(t, "echo", nil, nil)
	ct.exchange("a message there and back")

	// A message that was read over several lines goes out on one.
	m := parse("{\"jsonrpc\":\"2.0\",\r\n \"id\":7, \"method\":\"x\\n\"}")
	if err := ct.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	ct.want("a message with line breaks", "", `{"jsonrpc":"2.0","id":7,"result":{"jsonrpc":"2.0","id":7,"method":"x\n"}}`)
	if ct.Attributes() {
		t.Error("stdio claims to tell which request a message belongs to")
	}
	if err := ct.Err(); err != nil {
		t.Errorf("error of a live connection: %v", err)
	}

	ct.Close()
	ct.Close()
	ct.wantDead("after Close", ct.pid)
	if err := ct.Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := ct.Send(t.Context(), m); !errors.Is(err, ErrClosed) {
		t.Errorf("Send after Close: %v", err)
	}
	ct.wantQuiet("nothing else")
}

func TestChildBatch(t *testing.T) {
	ct := startChild(t, "echo", nil, nil)
	in := ct.Conn.(*child).in
	batch := []byte(`[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]`)
	if _, err := in.take(batch, ""); err == nil {
		t.Error("a batch was taken without a revision that has batches")
	}
	ct.Negotiated(wire.R20250326)
	if _, err := in.take(batch, ""); err != nil {
		t.Error(err)
	}
	ct.want("first of the batch", "", `{"jsonrpc":"2.0","method":"a"}`)
	ct.want("second of the batch", "", `{"jsonrpc":"2.0","method":"b"}`)
	ct.Negotiated(wire.R20250618)
	if _, err := in.take(batch, ""); err == nil {
		t.Error("a batch was taken in a revision that has none")
	}
}

func TestChildEnvironment(t *testing.T) {
	t.Setenv("BECKON_TOKEN", "secret")
	dir := t.TempDir()
	ct := startChild(t, "env", map[string]string{"BECKON_MODE": "asked for"}, func(o *ChildOptions) {
		o.Args, o.Dir = []string{"one", "two words"}, dir
	})
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	ct.want("how it was started", "", fmt.Sprintf(
		`{"jsonrpc":"2.0","method":"env","params":{"args":%q,"dir":%q,"beckon":"BECKON_MODE=asked for"}}`,
		self()+" one two words", real))
}

func TestChildIsFoundInItsOwnPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(self(), filepath.Join(dir, "backend-of-test")); err != nil {
		t.Fatal(err)
	}
	ct := startChild(t, "echo", map[string]string{"PATH": "/nonexistent:" + dir}, func(o *ChildOptions) {
		o.Command.Command = "backend-of-test"
	})
	ct.exchange("found")
}

func TestChildCannotStart(t *testing.T) {
	notFound := map[string]Command{
		"no such file":             {Command: "/nonexistent/server"},
		"not in PATH":              {Command: "no-such-server"},
		"not in the PATH of env":   {Command: "sh", Env: map[string]string{"PATH": "/nonexistent"}},
		"no such folder to run in": {Command: self(), Dir: "/nonexistent"},
	}
	for name, cmd := range notFound {
		t.Run(name, func(t *testing.T) {
			g := NewGuard(slog.New(slog.DiscardHandler))
			defer g.Close()
			_, err := NewChild(slog.New(slog.DiscardHandler), ChildOptions{Command: cmd, Guard: g}).Dial(t.Context(), record(t))
			wantTold(t, err, wire.ReasonBackendDown, "the backend's command cannot be started")
		})
	}
}

// A backend that prints what is no message is as good as one that does not.
func TestChildNoise(t *testing.T) {
	var log bytes.Buffer
	r, c := record(t), newCensus(t)
	d := NewChild(slog.New(slog.NewTextHandler(&log, nil)), ChildOptions{Name: "noisy", Command: Command{
		Command: self(), Env: map[string]string{roleVariable: "banner", censusVariable: c.l.Addr().String()},
	}})
	conn, err := d.Dial(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, why := range []string{"banner", "result and error", "duplicate id", "invalid UTF-8", "trailing data"} {
		r.wantParseError(why)
	}
	r.want("an error that answers nothing", "", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}`)
	ct := &childTest{recorder: r, Conn: conn}
	ct.exchange("alive after the noise")
	conn.Close()
	if got := strings.Count(log.String(), "level=WARN"); got != 1 {
		t.Errorf("%d warnings, want one:\n%s", got, log.String())
	}
	if !strings.Contains(log.String(), "backend=noisy") || !strings.Contains(log.String(), "Server running on stdio") {
		t.Errorf("the log does not show who printed what:\n%s", log.String())
	}
}

func TestChildLongLine(t *testing.T) {
	ct := startChild(t, "long", nil, func(o *ChildOptions) { o.MaxMessage = 1 << 20 })
	ct.wantNoise("a line of 100 MB", wire.ErrTooLong)
	ct.exchange("alive after the long line")
}

// The client hears that the backend exited, and the log the rest.
func TestChildExits(t *testing.T) {
	var log bytes.Buffer
	r, c := record(t), newCensus(t)
	d := NewChild(slog.New(slog.NewTextHandler(&log, nil)), ChildOptions{Command: Command{
		Command: self(), Env: map[string]string{roleVariable: "leaver", censusVariable: c.l.Addr().String(), raceVariable: noLinger, fork: "stubborn"},
	}})
	conn, err := d.Dial(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The two enlist in either order.
	p, q := receive(t, "a process", c.born), receive(t, "the other", c.born)
	if err := conn.Send(t.Context(), parse(`{"jsonrpc":"2.0","id":1,"method":"leave"}`)); err != nil {
		t.Fatal(err)
	}
	err = wantDone(t, conn)
	r.want("what was said before the exit", "", `{"jsonrpc":"2.0","method":"bye"}`)
	r.wantParseError("half a message")
	wantTold(t, err, wire.ReasonBackendGone, "the backend exited with status 3")
	if !strings.Contains(err.Error(), "secret token abc") {
		t.Errorf("the operator's error lacks the last line of stderr: %v", err)
	}
	for _, p := range []*citizen{p, q} {
		c.wantDead("no orphans when the backend exits", p)
	}
	conn.Close()
	if !strings.Contains(log.String(), `line="secret token abc"`) {
		t.Errorf("stderr is not in the log:\n%s", log.String())
	}
}

func TestChildKilled(t *testing.T) {
	ct := startChild(t, "echo", nil, nil)
	ct.Conn.(*child).proc.cmd.Process.Kill()
	err := wantDone(t, ct)
	wantTold(t, err, wire.ReasonBackendGone, "the backend was ended by signal killed")
	if err := ct.Send(t.Context(), parse(`{"jsonrpc":"2.0","id":1,"method":"x"}`)); !errors.Is(err, ct.Err()) {
		t.Errorf("Send to a dead backend: %v", err)
	}
}

// "The server MAY initiate shutdown by closing its output stream to the client
// and exiting."
func TestChildClosesOutput(t *testing.T) {
	ct := startChild(t, "shut", nil, nil)
	wantTold(t, wantDone(t, ct), wire.ReasonBackendGone, "the backend exited with status 0")

	ct = startChild(t, "mute", nil, func(o *ChildOptions) { o.StopGrace = 10 * time.Millisecond })
	wantTold(t, wantDone(t, ct), wire.ReasonBackendGone, "the backend closed its output")
}

// Whatever a backend ignores, Close leaves nothing of it.
func TestChildCloseLeavesNothing(t *testing.T) { // no orphans
	for _, role := range []string{"echo", "slow", "stubborn"} {
		t.Run(role, func(t *testing.T) {
			r, c := record(t), newCensus(t)
			g := NewGuard(slog.New(slog.DiscardHandler))
			defer g.Close()
			d := NewChild(slog.New(slog.DiscardHandler), ChildOptions{
				Command: Command{Command: self(), Env: map[string]string{
					roleVariable: role, censusVariable: c.l.Addr().String(), raceVariable: noLinger, fork: "stubborn",
				}},
				StopGrace: 50 * time.Millisecond, Guard: g,
			})
			conn, err := d.Dial(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			p, q := receive(t, "a process", c.born), receive(t, "the other", c.born)
			conn.Close()
			c.wantDead("after Close", p)
			c.wantDead("after Close", q)
			if err := conn.Err(); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

func TestChildThatDoesNotRead(t *testing.T) {
	reason := errors.New("the client gave up")
	begin := func(size int) (ct *childTest, err error) {
		ct = startChild(t, "deaf", nil, func(o *ChildOptions) { o.StopGrace = 10 * time.Millisecond })
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		m := wire.NewRequest("1", "x", fmt.Appendf(nil, `{"a":%q}`, strings.Repeat("a", size)))
		sent := make(chan error)
		go func() {
			for {
				if err := ct.Send(ctx, m); err != nil {
					sent <- err
					return
				}
			}
		}()
		blocked(t, ct.Conn.(*child))
		cancel(reason)
		return ct, receive(t, "the end of Send", sent)
	}

	ct, err := begin(1 << 20) // more than a pipe holds: part of it is written
	if !errors.Is(err, reason) {
		t.Errorf("Send: %v, want the cause of its context", err)
	}
	wantTold(t, wantDone(t, ct), wire.ReasonBackendGone, "the backend stopped reading in the middle of a message")

	line := len(wire.NewRequest("1", "x", []byte(`{"a":""}`)).Raw()) + 1
	ct, err = begin(4096 - line) // pages: nothing of the last one is written
	if !errors.Is(err, reason) {
		t.Errorf("Send: %v, want the cause of its context", err)
	}
	if err := ct.Err(); err != nil {
		t.Errorf("the connection ended, though no line was cut: %v", err)
	}

	// One more waits, and ends with the connection.
	sent := make(chan error)
	go func() { sent <- ct.Send(t.Context(), parse(`{"jsonrpc":"2.0","method":"x"}`)) }()
	blocked(t, ct.Conn.(*child))
	ct.Close()
	if err := receive(t, "the end of Send", sent); !errors.Is(err, ErrClosed) {
		t.Errorf("Send beside Close: %v", err)
	}
}

// blocked waits until a Send waits for the child to read. No event tells.
func blocked(t *testing.T, c *child) {
	t.Helper()
	raw, err := c.stdin.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range patient / time.Millisecond {
		room := 1
		raw.Control(func(fd uintptr) {
			room, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
		})
		if room == 0 && err == nil && len(c.turn) == 1 {
			return
		}
		<-tick.C
	}
	t.Fatal("the pipe does not fill up")
}
