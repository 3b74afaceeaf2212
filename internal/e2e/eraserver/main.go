//go:build e2e

// Command eraserver is an MCP server of one era alone, built on the go-sdk. It
// stands behind Beckon in the era matrix. Its only tool, ask, puts questions to
// its caller: a legacy one pushes them in the middle of the call, a modern one
// ends the call with input_required and goes on when the call is retried.
//
// It serves stdio, or with -http ADDR streamable HTTP at /mcp. In the second
// case it writes one line to stderr, "eraserver: listening on http://HOST:PORT",
// once it accepts connections.
//
// The go-sdk speaks both eras, and would rather speak the wrong one than refuse.
// A peer that does, or that lets anything of the other era through, is refused
// here in front of it (strict.go).
//
// What becomes of each call stands in a folder, one file per call (ledger.go),
// so that it outlives the server and several servers count together.
package main

import (
	"context"
	"errors"
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
		fmt.Fprintln(os.Stderr, "eraserver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	era := flag.String("era", "", "the era to speak: legacy or modern")
	addr := flag.String("http", "", "serve HTTP on this address instead of stdio")
	folder := flag.String("ledger", "", "the folder that says what became of each call")
	flag.Parse()
	if *era != "legacy" && *era != "modern" || *folder == "" {
		return errors.New("-era and -ledger must be given")
	}
	s := &service{modern: *era == "modern", ledger: ledger{*folder}}
	// The end of stdin ends the calls, but does not wait for them to be written down.
	defer s.calls.Wait()
	server := s.server()
	if *addr == "" {
		return server.Run(ctx, &strictTransport{next: &mcp.StdioTransport{}, modern: s.modern})
	}
	return serveHTTP(ctx, s, server, *addr)
}

// serveHTTP serves until ctx ends. Open streams are cut, not drained.
func serveHTTP(ctx context.Context, s *service, server *mcp.Server, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("opening the listener: %w", err)
	}
	// "closing the SSE response stream is itself the cancellation signal": go-sdk
	// goes by it only when it is told to.
	// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: s.modern, PropagateRequestCancellation: s.modern})
	mux := http.NewServeMux()
	mux.Handle("/mcp", &strictHandler{next: handler, modern: s.modern})

	web := &http.Server{Handler: mux, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	defer context.AfterFunc(ctx, func() { web.Close() })()
	fmt.Fprintf(os.Stderr, "eraserver: listening on http://%s\n", listener.Addr())
	if err := web.Serve(listener); ctx.Err() == nil {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}
