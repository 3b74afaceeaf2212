//go:build unix

package back

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// The test binary plays backends: with roleVariable set it is the program of
// that name instead of running tests.
const (
	roleVariable   = "ROLE"
	censusVariable = "CENSUS"
	fork           = "FORK" // role of a process to start beside

	// A program with the race detector lingers for a second before it exits.
	raceVariable = "GORACE"
	noLinger     = "atexit_sleep_ms=0"
)

var roles = map[string]func(){
	"echo":     func() { enlist("echo"); echo() },
	"env":      func() { enlist("env"); env(); echo() },
	"banner":   func() { enlist("banner"); banners(); echo() },
	"long":     func() { enlist("long"); long(); echo() },
	"leaver":   leaver,
	"deaf":     func() { enlist("deaf"); select {} },
	"shut":     func() { enlist("shut"); os.Stdout.Close(); io.Copy(io.Discard, os.Stdin) },
	"mute":     func() { enlist("mute"); os.Stdout.Close(); select {} },
	"stubborn": func() { signal.Ignore(syscall.SIGTERM); enlist("stubborn"); forkOne(); select {} },
	"slow":     slow,
	"gateway":  gateway,
	"go-sdk":   sdkChild,
}

// self is the test binary.
func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// play makes the process the program that the environment names, if any.
func play() {
	if name := os.Getenv(roleVariable); name != "" {
		roles[name]()
		os.Exit(0)
	}
}

// enlist tells the census of this process, and keeps the connection open: it
// ends when the process does, and not before. The role must be set up by then.
func enlist(name string) {
	addr := os.Getenv(censusVariable)
	if addr == "" {
		return
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(conn, "%s %d\n", name, os.Getpid())
	keep = conn
}

var keep net.Conn // what enlist opened; a variable so that it is not collected

// forkOne starts the process that the environment asks for, which stays.
func forkOne() {
	role := os.Getenv(fork)
	if role == "" {
		return
	}
	cmd := exec.Command(self())
	cmd.Env = append(os.Environ(), roleVariable+"="+role, fork+"=")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // holds them open
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// echo answers requests until stdin ends.
func echo() {
	forkOne()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		m := parse(lines.Text())
		fmt.Printf("%s\n", wire.NewResult(m.ID(), m.Raw()).Raw())
	}
}

// env reports how the process was started.
func env() {
	dir, _ := os.Getwd()
	var ours []string
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "BECKON_") {
			ours = append(ours, v)
		}
	}
	fmt.Printf(`{"jsonrpc":"2.0","method":"env","params":{"args":%q,"dir":%q,"beckon":%q}}`+"\n",
		strings.Join(os.Args, " "), dir, strings.Join(ours, " "))
}

func banners() {
	fmt.Println("Server running on stdio")
	fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`)
	fmt.Println(`{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`)
	fmt.Println(`{"jsonrpc":"2.0","id":1,"result":"` + "\xff" + `"}`)
	fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{}} {}`)
	fmt.Println(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}`)
}

// long prints a line of 100 MB.
func long() {
	out := bufio.NewWriter(os.Stdout)
	out.WriteString(`{"jsonrpc":"2.0","id":1,"result":"`)
	chunk := strings.Repeat("x", 1<<20)
	for range 100 {
		out.WriteString(chunk)
	}
	out.WriteString("\"}\n")
	out.Flush()
}

// leaver exits in the middle of a message when it is told anything.
func leaver() {
	forkOne()
	enlist("leaver")
	bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Println(`{"jsonrpc":"2.0","method":"bye"}`)
	fmt.Fprintln(os.Stderr, "first\nsecret token abc")
	fmt.Print(`{"jsonrpc":"2.0","met`)
	os.Exit(3)
}

// slow exits when it is told to by TERM, with status 7; not at the end of stdin.
func slow() {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	forkOne()
	enlist("slow")
	<-term
	os.Exit(7)
}

// gateway is a Beckon with one child. It dies in the way its argument says.
func gateway() {
	g := NewGuard(slog.New(slog.DiscardHandler))
	d := NewChild(slog.New(slog.DiscardHandler), ChildOptions{
		Command: Command{Command: self(), Env: map[string]string{roleVariable: "stubborn", fork: "stubborn"}},
		Guard:   g,
	})
	if _, err := d.Dial(context.Background(), deaf{}); err != nil {
		panic(err)
	}
	enlist("gateway")
	if os.Args[1] == "panic" {
		bufio.NewReader(os.Stdin).ReadString('\n')
		panic("as the test wants")
	}
	select {}
}

// census knows which processes a test has caused, and sees them end.
type census struct {
	t    *testing.T
	l    net.Listener
	born chan *citizen
}

// citizen is one process that enlisted.
type citizen struct {
	role string
	pid  int
	conn net.Conn
	dead bool
}

func newCensus(t *testing.T) *census {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &census{t, l, make(chan *citizen, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p := &citizen{conn: conn}
			fmt.Fscan(conn, &p.role, &p.pid)
			c.born <- p
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return c
}

// wait returns the next process, which must play role.
func (c *census) wait(role string) *citizen {
	c.t.Helper()
	p := receive(c.t, role+" starts", c.born)
	if p.role != role {
		c.t.Fatalf("%s started, want %s", p.role, role)
	}
	c.t.Cleanup(func() {
		p.conn.Close()
		if !p.dead {
			syscall.Kill(p.pid, syscall.SIGKILL) // a failed test leaves nothing either
		}
	})
	return p
}

// wantDead waits for the end of p. A dead process keeps no connection open.
func (c *census) wantDead(why string, p *citizen) {
	c.t.Helper()
	p.conn.SetReadDeadline(time.Now().Add(patient))
	if _, err := io.ReadAll(p.conn); err != nil {
		if e, ok := err.(net.Error); ok && e.Timeout() {
			c.t.Fatalf("%s: %s (%d) is alive", why, p.role, p.pid)
		}
	}
	p.dead = true
}
