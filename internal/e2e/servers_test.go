//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"
)

// startTimeout bounds how long a process may take until it is ready.
const startTimeout = 30 * time.Second

// A server is a peer that stands behind. Start makes it reachable for the rest
// of the test; for stdio servers, which their client starts, it starts nothing.
type server struct {
	name      string
	transport string // "stdio", "http" or "sse"
	start     func(t *testing.T) endpoint
	scenarios func() []scenario
}

// servers lists every server with every transport that it has.
func servers() []server {
	return []server{
		{"everything-stdio", "stdio", everythingStdio, everythingScenarios},
		{"everything-http", "http", everythingHTTP, everythingScenarios},
		{"everything-sse", "sse", everythingSSE, everythingScenarios},
		{"askserver-stdio", "stdio", askStdio, askScenarios},
		{"askserver-http", "http", askHTTP, askScenarios},
		{"askserver-sse", "sse", askSSE, askScenarios},
	}
}

func everythingStdio(t *testing.T) endpoint {
	return endpoint{Command: nodeBinary(t), Args: []string{everythingScript(t), "stdio"}}
}

func everythingHTTP(t *testing.T) endpoint {
	return endpoint{URL: startEverything(t, "streamableHttp") + "/mcp", Transport: "http"}
}

func everythingSSE(t *testing.T) endpoint {
	return endpoint{URL: startEverything(t, "sse") + "/sse", Transport: "sse"}
}

func everythingScript(t *testing.T) string {
	t.Helper()
	return nodeFile(t, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
}

// startEverything starts server-everything with one of its HTTP transports and
// returns its base URL. It binds all interfaces and has no flag for it, hence
// the preload.
func startEverything(t *testing.T, transport string) string {
	t.Helper()
	cmd := exec.Command(nodeBinary(t), "--import", nodeFile(t, "loopback.mjs"), everythingScript(t), transport)
	cmd.Env = append(os.Environ(), "PORT=0")
	return startListening(t, cmd)
}

// askCommand runs askserver over stdio. It puts name into every result.
func askCommand(t *testing.T, name string) endpoint {
	t.Helper()
	return endpoint{
		Command:    askBinary(t),
		Args:       []string{"-name", name},
		Env:        map[string]string{askEnvName: askEnvValue},
		ExitsClean: true,
	}
}

// go-sdk withdraws the questions of a cancelled call in the background. Over
// streamable HTTP that notification races the response of the call, which ends
// its stream, and is dropped when it loses. With this setting it goes first.
const askEnvName, askEnvValue = "MCPGODEBUG", "blockingcancelnotify=1"

// startAsk starts askserver with its HTTP transports and returns its base URL.
func startAsk(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command(askBinary(t), "-name", name, "-http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), askEnvName+"="+askEnvValue)
	return startListening(t, cmd)
}

func askStdio(t *testing.T) endpoint { return askCommand(t, "ask") }

func askHTTP(t *testing.T) endpoint {
	return endpoint{URL: startAsk(t, "ask") + "/mcp", Transport: "http"}
}

func askSSE(t *testing.T) endpoint {
	return endpoint{URL: startAsk(t, "ask") + "/sse", Transport: "sse"}
}

func askBinary(t *testing.T) string {
	t.Helper()
	return binaries.path(t, "./askserver", "-tags=e2e")
}

// listeningLine is how loopback.mjs and askserver say that they accept
// connections.
var listeningLine = regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)$`)

func startListening(t *testing.T, cmd *exec.Cmd) (baseURL string) {
	t.Helper()
	p := startProcess(t, cmd)
	ctx, cancel := context.WithTimeoutCause(t.Context(), startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()
	match, err := p.waitLine(ctx, listeningLine)
	if err != nil {
		t.Fatal(err)
	}
	return match[1]
}

// startReference starts the conformance server of the go-sdk's module and
// returns its URL: stateless for the modern era, otherwise stateful. It cannot
// choose a port itself nor say that it listens, so that a port is chosen for it
// and tried.
func startReference(t *testing.T, modern bool) endpoint {
	t.Helper()
	address := freeAddress(t)
	p := startProcess(t, exec.Command(referenceBinary(t), "-http", address, fmt.Sprintf("-stateless=%t", modern)))
	ctx, cancel := context.WithTimeoutCause(t.Context(), startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()
	err := p.poll(ctx, func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return endpoint{URL: "http://" + address, Transport: "http"}
}

func referenceBinary(t *testing.T) string {
	t.Helper()
	return binaries.path(t, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
}

// freeAddress is an address that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
