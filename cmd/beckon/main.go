// Command beckon is an MCP gateway that brings every question of a server to
// whoever can answer it, and the answer back, unchanged.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/beckon-mcp/beckon/internal/back"
)

func main() {
	back.RunGuard() // does not return in the process that guards the children
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // docs/decisions/2026-11-21-garbage.md
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Environ()))
}
