//go:build e2e

// Command bridgeserver is a reference server for the conformance suite that
// speaks one era and no other. What the suite of each revision needs is there in
// both: a question that the modern suite expects as input_required is pushed by
// the legacy server in the middle of the call, and one that the legacy suites
// expect to be pushed ends the call of the modern server with input_required.
// So each suite can be run against the server of the other era with Beckon in
// between, and a scenario that fails cannot be bridged, rather than lacks a tool.
//
// It serves stdio, or with -http ADDR streamable HTTP on every path. In the
// second case it writes one line to stderr, "bridgeserver: listening on
// http://HOST:PORT", once it accepts connections.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const modernVersion = "2026-07-28"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bridgeserver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	era := flag.String("era", "", "the era to speak: legacy or modern")
	addr := flag.String("http", "", "serve HTTP on this address instead of stdio")
	flag.Parse()
	if *era != "legacy" && *era != "modern" {
		return errors.New("-era must be legacy or modern")
	}
	modern := *era == "modern"
	server := newServer(modern)
	go touch(ctx, server)
	if *addr == "" {
		return server.Run(ctx, &mcp.StdioTransport{})
	}
	return serveHTTP(ctx, server, modern, *addr)
}

func serveHTTP(ctx context.Context, server *mcp.Server, modern bool, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("opening the listener: %w", err)
	}
	get := func(*http.Request) *mcp.Server { return server }
	web := &http.Server{
		Handler:  mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: modern}),
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	defer context.AfterFunc(ctx, func() { web.Close() })()
	fmt.Fprintf(os.Stderr, "bridgeserver: listening on http://%s\n", listener.Addr())
	if err := web.Serve(listener); ctx.Err() == nil {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

func newServer(modern bool) *mcp.Server {
	versions := []string{"2025-11-25", "2025-06-18"}
	if modern {
		versions = []string{modernVersion}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "bridgeserver", Version: "1.0.0"}, &mcp.ServerOptions{
		SupportedProtocolVersions: versions,
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	addTools(server)
	addContent(server)
	addAsking(server, modern)
	server.AddReceivingMiddleware(refuseOther(modern, versions))
	return server
}

// refuseOther refuses requests of the other era, which the SDK serves wherever
// it can. "A server that supports only modern versions SHOULD name the protocol
// versions it supports in any error it returns to an initialize request, on any
// transport".
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
func refuseOther(modern bool, versions []string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if strings.HasPrefix(method, "notifications/") || isModern(req) == modern {
				return next(ctx, method, req)
			}
			if !modern {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown method " + method}
			}
			data, err := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: versions})
			if err != nil {
				return nil, err
			}
			return nil, &jsonrpc.Error{Code: mcp.CodeUnsupportedProtocolVersion, Message: "unsupported protocol version", Data: data}
		}
	}
}

// isModern tells by what legacy requests do not say: "Client requests carry the
// following io.modelcontextprotocol/* fields in _meta; fields marked as required
// MUST be included on every request."
// https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
func isModern(req mcp.Request) bool {
	params := req.GetParams()
	if params == nil || reflect.ValueOf(params).IsNil() { // a request need not have any
		return false
	}
	_, ok := params.GetMeta()[mcp.MetaKeyProtocolVersion]
	return ok
}
