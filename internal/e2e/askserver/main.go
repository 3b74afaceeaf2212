//go:build e2e

// Command askserver is an MCP server that asks. Built on the go-sdk alone, it
// stands behind Beckon in the end-to-end tests and shows each way in which a
// legacy server can need its client in the middle of a call: forms, URLs,
// sampling, roots, progress, cancellation, several questions at once, and
// questions inside prompts and resources.
//
// It serves stdio, or with -http ADDR streamable HTTP at /mcp and the
// deprecated HTTP+SSE at /sse. In the second case it writes one line to stderr,
// "askserver: listening on http://HOST:PORT", once it accepts connections.
//
// Everything it says is a function of what it is told: the answers it got come
// back inside the result of the call, together with the name given by -name,
// so that a test sees where an answer went. What it remembers (how blocking
// calls ended, visited URLs) is shared by all sessions of the process and keyed by strings
// that the caller chooses.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "askserver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	name := flag.String("name", "ask", "name of this server, repeated in every result")
	addr := flag.String("http", "", "serve HTTP on this address instead of stdio")
	flag.Parse()

	server := newServer(*name)
	if *addr == "" {
		return server.Run(ctx, &mcp.StdioTransport{})
	}
	return serveHTTP(ctx, server, *addr)
}

// serveHTTP serves until ctx ends. Open streams are cut, not drained: a test
// that stops its server has seen what it wanted.
func serveHTTP(ctx context.Context, server *mcp.Server, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("opening the listener: %w", err)
	}
	get := func(*http.Request) *mcp.Server { return server }
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(get, nil))
	mux.Handle("/sse", mcp.NewSSEHandler(get, nil))

	web := &http.Server{Handler: mux, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	defer context.AfterFunc(ctx, func() { web.Close() })()
	fmt.Fprintf(os.Stderr, "askserver: listening on http://%s\n", listener.Addr())
	if err := web.Serve(listener); ctx.Err() == nil {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}
