// Command relaybench measures what Beckon costs, beside a reverse proxy that
// parses nothing and beside the direct connection, in one run on one machine:
// compare the ratios, not the times. Backend, proxy and load are processes of
// their own; what is told of a proxy is the CPU time of its process.
//
//	go run ./internal/e2e/relaybench -beckon bin/beckon
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	beckon := flag.String("beckon", "", "the beckon `BINARY` to measure")
	each := flag.Duration("each", 2*time.Second, "how long each measurement takes")
	questions := flag.Int("questions", 10_000, "how many questions are open at once in the last table")
	role := flag.String("role", "", "internal: backend, asker or proxy")
	flag.Parse()
	if err := run(*role, *beckon, *each, *questions, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "relaybench:", err)
		os.Exit(1)
	}
}

func run(role, beckon string, each time.Duration, questions int, args []string) error {
	switch role {
	case "backend":
		return serveBackend()
	case "asker":
		return serveAsker(os.Stdin, os.Stdout)
	case "proxy":
		return serveProxy(args[0])
	}
	if beckon == "" {
		return fmt.Errorf("which binary? give -beckon")
	}
	if err := measureCalls(beckon, each); err != nil {
		return fmt.Errorf("calls: %w", err)
	}
	if err := measureQuestions(beckon, each); err != nil {
		return fmt.Errorf("questions: %w", err)
	}
	if err := measureOpen(beckon, questions); err != nil {
		return fmt.Errorf("open questions: %w", err)
	}
	return nil
}
