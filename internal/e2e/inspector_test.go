//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The Inspector brings two command lines. `mcp-inspector --cli` makes one
// request per process and declares neither elicitation nor sampling:
// server-everything does not even list its asking tools to it, and a server
// that asks all the same is told by its SDK that the client cannot. `mcpdo`
// keeps connections in a daemon, declares elicitation, and when a tool asks it
// prints the question and exits; a second command answers. It is a client of
// the kind that takes its time.

// commandTimeout bounds one command of the Inspector.
const commandTimeout = 30 * time.Second

// inspections drive the two programs against a server and return what they
// printed.
func inspections() map[string]func(*testing.T, endpoint) string {
	return map[string]func(*testing.T, endpoint) string{"cli": inspectOnce, "mcpdo": inspectSession}
}

// TestInspectorDirect shows what the command lines print without Beckon.
func TestInspectorDirect(t *testing.T) {
	for _, s := range inspectorServers() {
		for name, inspect := range inspections() {
			t.Run(s.name+"/"+name, func(t *testing.T) { inspect(t, s.start(t)) })
		}
	}
}

// TestInspectorThrough wants the command lines to print the same. The two faces
// that people paste into a client stand for all. R1 R55
func TestInspectorThrough(t *testing.T) {
	for _, s := range inspectorServers() {
		for name, inspect := range inspections() {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				want := inspect(t, s.start(t))
				for _, r := range through() {
					if r.name != "serve-one" && (r.name != "run-command" || s.transport != "stdio") {
						continue
					}
					t.Run(r.name, func(t *testing.T) {
						got := inspect(t, r.open(t, s.start(t)))
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("through Beckon the Inspector prints something else (-direct +through):\n%s", diff)
						}
					})
				}
			})
		}
	}
}

func inspectorServers() []server {
	return slices.DeleteFunc(servers(), func(s server) bool {
		return s.name != "askserver-stdio" && s.name != "askserver-http"
	})
}

// inspectOnce makes three requests with `mcp-inspector --cli` and returns what
// it printed.
func inspectOnce(t *testing.T, to endpoint) string {
	t.Helper()
	i := newInspector(t, "launcher/build/index.js", to)
	out := i.run(0, "--cli", "--format", "json", "--method", "tools/list")
	out += i.run(0, "--cli", "--format", "json", "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hello")
	// It cannot be asked, and the tool says so: exit code 5.
	refused := i.run(5, "--cli", "--format", "json", "--method", "tools/call", "--tool-name", "ask_form", "--tool-arg", "message=Hello?")
	for _, want := range []string{`ask_twice`, `\"text\":\"hello\"`, `client does not support elicitation`} {
		if !strings.Contains(out+refused, want) {
			t.Errorf("no output contains %s:\n%s%s", want, out, refused)
		}
	}
	return out + refused
}

// inspectSession keeps a connection with mcpdo, has tools ask and answers them,
// and returns what it printed.
func inspectSession(t *testing.T, to endpoint) string {
	t.Helper()
	i := newInspector(t, "mcpdo/build/mcp-bin.js", to)
	i.connect()
	form := []string{"tools/call", "ask_form", "message:=Colour?"}
	page := []string{"tools/call", "ask_url", "url:=https://example.com/visit", "id:=visit-1"}
	var out strings.Builder
	for _, asked := range []struct {
		call   []string
		answer []string
		want   string
	}{
		{form, []string{"zeta:=deep blue", "alpha:=7"}, `deep blue`},
		{form, []string{"--decline"}, `\"action\":\"decline\"`},
		{form, []string{"--cancel"}, `\"action\":\"cancel\"`},
		{page, []string{"--done"}, `\"action\":\"accept\"`},
	} {
		question := i.run(0, append([]string{"--format", "json", "@peer"}, asked.call...)...)
		id := elicitationID.FindStringSubmatch(question)
		if id == nil {
			t.Fatalf("%q: no question: %s", asked.call, question)
		}
		result := i.run(0, append([]string{"--format", "json", "elicitation/respond", id[1]}, asked.answer...)...)
		if !strings.Contains(result, asked.want) {
			t.Errorf("answered %q: %s, want %s", asked.answer, result, asked.want)
		}
		out.WriteString(volatile.ReplaceAllString(question+result, "(varies)"))
	}
	return out.String()
}

// elicitationID is how mcpdo names an open question, and volatile what differs
// between two runs of it.
var (
	elicitationID = regexp.MustCompile(`"elicitationId": "(elicitation-[0-9a-f-]+)"`)
	volatile      = regexp.MustCompile(`elicitation-[0-9a-f-]+|"expiresAt": \d+`)
)

// An inspector runs one of the Inspector's programs, with a home of its own.
type inspector struct {
	t      *testing.T
	script string
	to     endpoint
	env    []string
}

func newInspector(t *testing.T, program string, to endpoint) *inspector {
	t.Helper()
	// Not t.TempDir: the path of the daemon's socket must be short.
	home, err := os.MkdirTemp("", "inspector-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return &inspector{
		t:      t,
		script: nodeFile(t, filepath.Join("node_modules/@modelcontextprotocol/inspector/clients", program)),
		to:     to,
		env: append(os.Environ(), "HOME="+home, "MCP_INSPECTOR_SECRET_STORE=file",
			"MCP_INSPECTOR_DAEMON_DIR="+filepath.Join(home, "d"), "MCP_INSPECTOR_DAEMON_TOKEN=for-this-test-only"),
	}
}

// connect opens the connection "peer". The daemon that keeps it is stopped when
// the test ends, before what it is connected to.
func (i *inspector) connect() {
	i.t.Cleanup(i.stopDaemon)
	i.run(0, append([]string{"--connection", "peer", "connect"}, i.target()...)...)
}

func (i *inspector) stopDaemon() {
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	if _, stderr, code, err := i.start(ctx, "daemon", "stop"); err != nil || code != 0 {
		i.t.Errorf("stopping the daemon of mcpdo: exit code %d, %v: %s", code, err, stderr)
	}
}

// target names the server, as the last arguments.
func (i *inspector) target() []string {
	if i.to.Command == "" {
		return []string{"--transport", i.to.Transport, "--server-url", i.to.URL}
	}
	var args []string
	for name, value := range i.to.Env {
		args = append(args, "-e", name+"="+value)
	}
	return append(append(args, "--", i.to.Command), i.to.Args...)
}

// run runs one command, which must exit with code, and returns its stdout.
func (i *inspector) run(code int, args ...string) string {
	i.t.Helper()
	if args[0] == "--cli" {
		args = append(args, i.target()...)
	}
	ctx, cancel := context.WithTimeoutCause(i.t.Context(), commandTimeout, fmt.Errorf("not done after %v", commandTimeout))
	defer cancel()
	stdout, stderr, got, err := i.start(ctx, args...)
	if err != nil || got != code {
		i.t.Fatalf("%q: exit code %d, want %d; %v\n%s%s", args, got, code, err, stdout, stderr)
	}
	return stdout
}

func (i *inspector) start(ctx context.Context, args ...string) (stdout, stderr string, code int, err error) {
	cmd := exec.CommandContext(ctx, nodeBinary(i.t), append([]string{i.script}, args...)...)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Env = i.env
	cmd.Dir = filepath.Dir(i.script)
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return out.String(), errOut.String(), exit.ExitCode(), nil
	}
	return out.String(), errOut.String(), 0, err
}
