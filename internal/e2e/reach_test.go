//go:build e2e

package e2e

import "testing"

// A reach is a way from a client to a server: directly, or through Beckon.
type reach struct {
	name string
	// transport returns the transport on which the client speaks, and false
	// when there is no such way to this server.
	transport func(s server) (string, bool)
	// open makes the way to a server that has been started.
	open func(t *testing.T, to endpoint) endpoint
}

func direct() reach {
	return reach{
		name:      "direct",
		transport: func(s server) (string, bool) { return s.transport, true },
		open:      func(_ *testing.T, to endpoint) endpoint { return to },
	}
}

// through lists the ways through Beckon: each face that it has for clients.
func through() []reach {
	always := func(transport string) func(server) (string, bool) {
		return func(server) (string, bool) { return transport, true }
	}
	return []reach{
		{"serve-one", always("http"), serve("/mcp/peer", "http")},
		{"serve-all", always("http"), serve("/mcp", "http")},
		{"serve-sse", always("sse"), serve("/sse/peer", "sse")},
		{"run-config", always("stdio"), runConfig},
		{"run-command", func(s server) (string, bool) { return "stdio", s.transport == "stdio" }, runCommand},
	}
}

// serve starts `beckon serve` with one backend, "peer", and reaches path.
func serve(path, transport string) func(t *testing.T, to endpoint) endpoint {
	return func(t *testing.T, to endpoint) endpoint {
		t.Helper()
		baseURL := startBeckon(t, map[string]backend{"peer": backendOf(to)})
		return endpoint{URL: baseURL + path, Transport: transport}
	}
}
