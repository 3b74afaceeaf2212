// Command relaybench measures what Beckon costs, in one run on one machine:
// compare the ratios, not the times.
//
//   - calls, questions: beside a reverse proxy that parses nothing and beside the
//     direct connection. What is told of a proxy is the CPU time of its process.
//   - eras: a question in each pairing of eras, beside the direct connection.
//   - forms: the same question passed on, validated, and as a form that Beckon owns.
//   - open: memory of questions that wait for a legacy client.
//   - parked: memory of calls whose modern client is away, and how soon they are
//     let go once their states have expired. Later than two seconds is an error.
//
// Backends, proxies and load are processes of their own.
//
//	go run ./internal/e2e/relaybench -beckon bin/beckon
//	go run ./internal/e2e/relaybench -beckon bin/beckon -only eras,parked
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	var s settings
	flag.StringVar(&s.beckon, "beckon", "", "the beckon `BINARY` to measure")
	flag.DurationVar(&s.each, "each", 2*time.Second, "how long each measurement takes")
	flag.IntVar(&s.questions, "questions", 10_000, "how many questions are open at once")
	flag.IntVar(&s.parking.calls, "parked", 10_000, "how many calls are parked at once")
	flag.DurationVar(&s.parking.ttl, "park-ttl", 40*time.Second, "how long the state of a parked call is good; all must be parked within it")
	only := flag.String("only", "calls,questions,eras,forms,open,parked", "which `MEASUREMENTS` to make")
	role := flag.String("role", "", "internal: what this process is to be")
	flag.Parse()
	if err := run(*role, s, strings.Split(*only, ","), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "relaybench:", err)
		os.Exit(1)
	}
}

// settings are what the measurements are told.
type settings struct {
	beckon    string
	each      time.Duration
	questions int
	parking   parking
}

func run(role string, s settings, only, args []string) error {
	switch role {
	case "backend":
		return serveBackend()
	case "asker":
		return serveAsker(os.Stdin, os.Stdout)
	case "proxy":
		return serveProxy(args[0])
	case "legacy":
		return serveLegacy()
	case "modern":
		return serveModern()
	}
	if s.beckon == "" {
		return fmt.Errorf("which binary? give -beckon")
	}
	for _, name := range only {
		if err := s.measure(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (s settings) measure(name string) error {
	switch name {
	case "calls":
		return measureCalls(s.beckon, s.each)
	case "questions":
		return measureQuestions(s.beckon, s.each)
	case "eras":
		return measureEras(s.beckon, s.each)
	case "forms":
		return measureForms(s.beckon, s.each)
	case "open":
		return measureOpen(s.beckon, s.questions)
	case "parked":
		return measureParked(s.beckon, s.parking)
	}
	return fmt.Errorf("there is no such measurement")
}
