//go:build unix

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// client NAME VERB... is an MCP client on the bare wire. A script may have
// several. What arrives is kept, so that nothing is missed between two lines.
//
//	client ada connect [-modern] [-token T] [-caps JSON] [-revision R] URL|-- COMMAND...
//	                             open a session: initialize, its response, initialized;
//	                             a modern client opens none, and says all with each request
//	client ada dial ...          the same without saying anything
//	client ada send JSON         send a message as it is written
//	client ada bytes TEXT        send TEXT, with escapes as in Go
//	client ada flood BYTES       send a message of so many bytes
//	client ada call ID TOOL [MEMBERS]
//	                             call a tool, with further members of params
//	client ada request ID METHOD [MEMBERS]
//	                             send a request, with these members of params
//	client ada state VAR         put the newest requestState into a variable
//	client ada form VAR          put the newest elicitationId into a variable
//	client ada want PATTERN [D]  wait, for D at most, for a message that was not wanted yet
//	client ada never PATTERN     no such message has come
//	client ada session VAR       put the id of the session into a variable
//	client ada listen            open a GET stream
//	client ada signal SIG        send a signal to the command
//	client ada drop              cut all connections, or kill the command, without a word
//	client ada leave             end the session in good order
//
// A command has the environment with which the script began. Two things that are
// no messages are kept with them: "HTTP 404" before the body of a response that
// tells of no success, and "EXIT 1" when a command has ended.
func clientCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: client NAME VERB...")
	}
	all := ts.Value(castKey{}).(*cast)
	name, verb, args := args[0], args[1], args[2:]
	if verb == "connect" || verb == "dial" {
		all.connect(ts, name, args, verb == "connect")
		return
	}
	do := clientVerbs[verb]
	if do.act == nil || len(args) < do.least || len(args) > do.most {
		ts.Fatalf("client NAME %s has %d to %d arguments", verb, do.least, do.most)
	}
	do.act(all.client(ts, name), ts, args)
}

// clientVerbs are what a client does once it is connected.
var clientVerbs = map[string]struct {
	least, most int // arguments
	act         func(*client, *testscript.TestScript, []string)
}{
	"send":    {1, 1, (*client).sendText},
	"bytes":   {1, 1, (*client).sendBytes},
	"flood":   {1, 1, (*client).flood},
	"call":    {2, 3, (*client).call},
	"request": {2, 3, (*client).request},
	"state":   {1, 1, (*client).state},
	"form":    {1, 1, (*client).form},
	"want":    {1, 2, (*client).want},
	"never":   {1, 1, (*client).never},
	"session": {1, 1, (*client).session},
	"signal":  {1, 1, (*client).signal},
	"listen":  {0, 0, func(c *client, _ *testscript.TestScript, _ []string) { c.line.listen() }},
	"drop":    {0, 0, func(c *client, _ *testscript.TestScript, _ []string) { c.line.drop() }},
	"leave":   {0, 0, func(c *client, ts *testscript.TestScript, _ []string) { ts.Check(c.line.leave()) }},
}

// client is one client of a script.
type client struct {
	inbox  *inbox
	line   line
	modern string            // what it can be asked; "" for a legacy client
	sent   map[string]string // the params of requests of a modern client, without _meta, by id
}

// line is the way from a client to Beckon. What comes back goes into the inbox.
type line interface {
	send(message []byte)
	session() string
	listen()
	process() *os.Process // nil without a command
	drop()                // without a word; nothing is received any more when it returns
	leave() error         // in good order
}

// cast are the clients and attackers of one script. They leave at its end.
type cast struct {
	env     []string // of the script, at its beginning
	clients map[string]*client
	atEnd   func(func())
}

type castKey struct{}

func newCast(env *testscript.Env) *cast {
	return &cast{env: env.Vars, clients: make(map[string]*client), atEnd: env.Defer}
}

func (all *cast) client(ts *testscript.TestScript, name string) *client {
	c := all.clients[name]
	if c == nil {
		ts.Fatalf("nobody is called %s: client %s connect comes first", name, name)
	}
	return c
}

// connect makes a client, and opens its session when it shakes hands.
func (all *cast) connect(ts *testscript.TestScript, name string, args []string, shake bool) {
	flags := flag.NewFlagSet("connect", flag.ContinueOnError)
	flags.SetOutput(ts.Stderr())
	token := flags.String("token", "", "")
	caps := flags.String("caps", `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`, "")
	revision := flags.String("revision", "2025-11-25", "")
	modern := flags.Bool("modern", false, "")
	over := len(args) // where the command begins
	for i, a := range args {
		if a == "--" {
			over = i
			break
		}
	}
	ts.Check(flags.Parse(args[:over]))
	c := &client{inbox: newInbox(), sent: make(map[string]string)}
	if *modern {
		c.modern, shake = *caps, false
	}
	switch {
	case over < len(args):
		line, err := newPipe(args[over+1:], all.env, ts.MkAbs("."), ts.MkAbs(name+".log"), c.inbox)
		ts.Check(err)
		c.line = line
	case flags.NArg() == 1:
		c.line = newPoster(flags.Arg(0), *token, c.inbox)
	default:
		ts.Fatalf("usage: client NAME connect [-token T] [-caps JSON] [-revision R] URL|-- COMMAND...")
	}
	all.clients[name] = c
	all.atEnd(c.line.drop)
	if !shake {
		return
	}
	c.line.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,`+
		`"capabilities":%s,"clientInfo":{"name":%q,"version":"1"}}}`, *revision, *caps, name))
	if _, err := c.inbox.await(patience, func(m *received) bool { return strings.Contains(m.text, `"id":"hello","result"`) }); err != nil {
		ts.Fatalf("%s got no session: %v", name, err)
	}
	c.line.send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

func (c *client) sendText(_ *testscript.TestScript, args []string) { c.line.send([]byte(args[0])) }

func (c *client) sendBytes(ts *testscript.TestScript, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[0], `"`, `\"`) + `"`)
	ts.Check(err)
	c.line.send([]byte(text))
}

func (c *client) flood(ts *testscript.TestScript, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	head, tail := `{"jsonrpc":"2.0","id":"flood","method":"tools/call","params":{"x":"`, `"}}`
	message := append(make([]byte, 0, n), head...)
	message = append(message, bytes.Repeat([]byte("x"), n-len(head)-len(tail))...)
	c.line.send(append(message, tail...))
}

func (c *client) call(ts *testscript.TestScript, args []string) {
	var params strings.Builder
	params.WriteString(fmt.Sprintf(`"name":%q`, args[1]))
	for _, more := range args[2:] {
		params.WriteString("," + more)
	}
	c.request(ts, []string{args[0], "tools/call", params.String()})
}

func (c *client) request(_ *testscript.TestScript, args []string) {
	id, method, params := args[0], args[1], strings.Join(args[2:], "")
	if c.modern != "" {
		c.sent[id] = params
		if params != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + c.modern + `}`
	}
	c.line.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params))
}

func (c *client) state(ts *testscript.TestScript, args []string) {
	state := ""
	for _, m := range c.inbox.all() {
		if r, ok := inputRequired(m.text); ok {
			state = r.Result.RequestState
		}
	}
	if state == "" {
		ts.Fatalf("no requestState has come")
	}
	ts.Setenv(args[0], state)
}

func (c *client) form(ts *testscript.TestScript, args []string) {
	id := ""
	for _, m := range c.inbox.all() {
		var about struct {
			Params, Result struct{ ElicitationID string }
		}
		if json.Unmarshal([]byte(m.text), &about) == nil {
			id = cmp.Or(about.Params.ElicitationID, about.Result.ElicitationID, id)
		}
	}
	if id == "" {
		ts.Fatalf("no elicitationId has come")
	}
	ts.Setenv(args[0], id)
}

// required is an input_required result.
type required struct {
	ID     json.RawMessage
	Result struct {
		ResultType    string
		InputRequests map[string]message
		RequestState  string
	}
}

func inputRequired(text string) (r required, ok bool) {
	return r, json.Unmarshal([]byte(text), &r) == nil && r.Result.ResultType == "input_required"
}

// retry sends the request that ended with r once more, with the same answer to all
// that it asks. Its id has one more "+".
func (c *client) retry(ts *testscript.TestScript, r required, answer string) {
	id := strings.Trim(string(r.ID), `"`)
	params, ok := c.sent[string(r.ID)]
	if !ok {
		ts.Fatalf("no request has the id %s", r.ID)
	}
	if before, _, again := strings.Cut(params, `,"inputResponses"`); again {
		params = before
	}
	var answers []string
	for key := range r.Result.InputRequests {
		answers = append(answers, fmt.Sprintf("%q:%s", key, answer))
	}
	c.request(ts, []string{fmt.Sprintf("%q", id+"+"), "tools/call",
		fmt.Sprintf(`%s,"inputResponses":{%s},"requestState":%q`, params, strings.Join(answers, ","), r.Result.RequestState)})
}

func (c *client) want(ts *testscript.TestScript, args []string) {
	m, err := c.inbox.await(limit(ts, args[1:]), func(m *received) bool {
		found := !m.wanted && m.matches(ts, args[0])
		m.wanted = m.wanted || found
		return found
	})
	if err != nil {
		ts.Fatalf("no message matches %#q: %v", args[0], err)
	}
	fmt.Fprintln(ts.Stdout(), m)
}

func (c *client) never(ts *testscript.TestScript, args []string) {
	for _, m := range c.inbox.all() {
		if m.matches(ts, args[0]) {
			ts.Fatalf("a message matches %#q: %s", args[0], m.text)
		}
	}
}

func (c *client) session(ts *testscript.TestScript, args []string) {
	id := c.line.session()
	if id == "" {
		ts.Fatalf("there is no session id")
	}
	ts.Setenv(args[0], id)
}

func (c *client) signal(ts *testscript.TestScript, args []string) {
	p, s := c.line.process(), signals[args[0]]
	if p == nil || s == 0 {
		ts.Fatalf("there is no command, or no signal %s", args[0])
	}
	ts.Check(p.Signal(s))
}

// createLog makes the file for what a command writes to standard error.
func createLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}
