//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// server is the backend of the scripts: an MCP server over stdio that does what
// its flags and the called tool say. It is written on the bare wire, so that it
// can do what no SDK would, and reports answers by the bytes that came.
type server struct {
	name   string
	banner string // printed before anything else
	mute   bool   // answers nothing
	modern bool   // speaks 2026-07-28 and nothing else
	count  string // a file that gets a line for each call of a tool

	nudged chan struct{} // holds a token for each notifications/roots/list_changed

	mu    sync.Mutex // guards the fields below, and standard output
	asked map[string]chan []byte
	last  int    // number of the newest question
	caps  []byte // what the client declared, raw

	endings map[string]chan []byte // what is told of forms that have ended, by elicitationId
}

// backendMain is the program `backend`.
func backendMain() {
	s := &server{nudged: make(chan struct{}, 10), asked: make(map[string]chan []byte), endings: make(map[string]chan []byte)}
	flags := flag.NewFlagSet("backend", flag.ExitOnError)
	flags.StringVar(&s.name, "name", "backend", "`NAME` that it gives itself, and puts into its questions")
	flags.StringVar(&s.banner, "banner", "", "print `TEXT` first, which is no message")
	flags.StringVar(&s.count, "count", "", "append the name of each called tool to `FILE`")
	flags.BoolVar(&s.mute, "mute", false, "never answer anything")
	flags.BoolVar(&s.modern, "modern", false, "speak revision 2026-07-28 and nothing else")
	pid := flags.String("pid", "", "write the process id to `FILE`")
	fork := flags.String("fork", "", "start a process that stays, and have it write its id to `FILE`")
	stubborn := flags.Bool("stubborn", false, "stay when standard input ends, and when told to terminate")
	say := flags.String("stderr", "", "print `TEXT` to standard error")
	exit := flags.Int("exit", -1, "exit with `STATUS` at once")
	flags.Parse(os.Args[1:])

	if *stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	if *pid != "" {
		insist(holdPid(*pid))
	}
	if *fork != "" {
		insist(exec.Command(os.Args[0], "-stubborn", "-pid", *fork).Start())
	}
	if *say != "" {
		fmt.Fprintln(os.Stderr, *say)
	}
	if *exit >= 0 {
		os.Exit(*exit)
	}
	insist(s.serve(os.Stdin))
	if *stubborn {
		select {} // until it is killed
	}
}

// insist ends the program on an error.
func insist(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "backend:", err)
		os.Exit(1)
	}
}

// message is what the backend reads of a message.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// serve reads messages until the input ends.
func (s *server) serve(in io.Reader) error {
	if s.banner != "" {
		s.write([]byte(s.banner))
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("%w in %q", err, line)
		}
		switch {
		case s.mute:
		case s.modern:
			s.takeModern(m)
		default:
			s.take(m, bytes.TrimSpace(line))
		}
	}
}

// take takes one message.
func (s *server) take(m message, line []byte) {
	switch m.Method {
	case "initialize":
		s.initialize(m)
	case "ping":
		s.result(m.ID, `{}`)
	case "tools/list":
		s.result(m.ID, toolList())
	case "tools/call":
		go s.call(m)
	case "notifications/roots/list_changed":
		s.nudged <- struct{}{}
	case "notifications/elicitation/complete":
		s.ended(m)
	case "":
		s.mu.Lock()
		answer := s.asked[string(m.ID)]
		delete(s.asked, string(m.ID))
		s.mu.Unlock()
		if answer != nil {
			answer <- line
		}
	default:
		if m.ID != nil {
			s.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, m.ID)
		}
	}
}

func (s *server) initialize(m message) {
	var p struct {
		ProtocolVersion string
		Capabilities    json.RawMessage
	}
	insist(json.Unmarshal(m.Params, &p))
	s.mu.Lock()
	s.caps = p.Capabilities
	s.mu.Unlock()
	s.result(m.ID, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1"}}`,
		p.ProtocolVersion, s.name))
}

// ask sends a question and waits for the answer, which it returns as it came.
func (s *server) ask(method, params string) []byte {
	answer := make(chan []byte, 1)
	s.mu.Lock()
	s.last++
	id := fmt.Sprint(s.last)
	s.asked[id] = answer
	s.mu.Unlock()
	s.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	return <-answer
}

func (s *server) result(id json.RawMessage, result string) {
	s.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// says answers the call of a tool with a text.
func (s *server) says(id json.RawMessage, text string) {
	quoted, err := json.Marshal(text)
	insist(err)
	s.result(id, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, quoted))
}

func (s *server) send(format string, args ...any) { s.write(fmt.Appendf(nil, format, args...)) }

// write writes one line.
func (s *server) write(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := os.Stdout.Write(append(line, '\n'))
	insist(err)
}

func toolList() string {
	var list []string
	for _, t := range tools {
		list = append(list, fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, t.name, t.what))
	}
	return `{"tools":[` + strings.Join(list, ",") + `]}`
}
