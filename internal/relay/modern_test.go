package relay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

const info = `{"name":"m","version":"1"}`

// modernly sends a request of the modern era. params are without braces.
func (c *client) modernly(id, method, params string, meta ...string) {
	c.t.Helper()
	if params != "" {
		params += ","
	}
	var more strings.Builder
	for _, m := range meta {
		more.WriteString("," + m)
	}
	c.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":%s,"io.modelcontextprotocol/clientCapabilities":%s%s}}}`,
		id, method, params, info, capable, more.String())
}

// ask sends a request of the modern era and returns the response, with nothing in
// between.
func (c *client) ask(id, method, params string, meta ...string) wire.Message {
	c.t.Helper()
	c.modernly(id, method, params, meta...)
	return c.wantID(method, id)
}

// retry returns the members of a retry that answer each question of an
// input_required result alike.
func retry(t *testing.T, asked wire.Message, answer string) string {
	t.Helper()
	if kind, _ := wire.Text(asked.Result(), "resultType"); kind != "input_required" {
		t.Fatalf("%s is no input_required", asked.Raw())
	}
	var answers []string
	for key := range wire.Members(wire.Get(asked.Result(), "inputRequests")) {
		answers = append(answers, fmt.Sprintf("%q:%s", key, answer))
	}
	return fmt.Sprintf(`"inputResponses":{%s},"requestState":%s`, strings.Join(answers, ","), wire.Get(asked.Result(), "requestState"))
}

const accepts = `{"action":"accept","content":{"n":1.0}}`

// C18: a modern client at a legacy backend: the handshake is Beckon's, the question
// ends the request, the answer comes with the next one and reaches the same call.
func TestModernClientLegacyBackend(t *testing.T) {
	s := newServer(t, "a")
	c := attach(t, gateway(t, relay.Options{}, s))
	c.modernly("1", "tools/call", `"name":"do","x":1.50`, `"progressToken":"mine"`)
	hello := <-s.offered
	if got := string(wire.Get(hello.Params(), "capabilities")); got != `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}` {
		t.Errorf("the backend was told %s", got)
	}
	if got := string(wire.Get(hello.Params(), "clientInfo")); got != info {
		t.Errorf("the backend was told of %s", got)
	}
	call := s.want("the call", "tools/call")
	token := wire.Get(call.Params(), "_meta", "progressToken")
	if want := fmt.Sprintf(`{"name":"do","x":1.50,"_meta":{"progressToken":%s}}`, token); string(call.Params()) != want {
		t.Errorf("the call has %s, want %s", call.Params(), want)
	}
	call.conn.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, token)
	if got := c.want("progress", "notifications/progress"); string(wire.Get(got.Params(), "progressToken")) != `"mine"` {
		t.Errorf("progress %s", got.Raw())
	}
	call.conn.send(form, "0")
	asked := c.wantID("the question", "1")
	if got := string(wire.Get(asked.Result(), "inputRequests", "r1", "params")); got != string(wire.Get(fmt.Appendf(nil, form, "0"), "params")) {
		t.Errorf("the question is %s", got)
	}

	c.modernly("2", "tools/call", `"x":1.50,"name":"do",`+retry(t, asked, accepts))
	answer := s.want("the answer", "")
	if string(answer.Result()) != accepts || answer.ID() != "0" {
		t.Errorf("the backend got %s", answer.Raw())
	}
	call.answer(`{"content":[],"isError":false}`)
	final := c.wantID("the result", "2")
	if got, _ := wire.Text(final.Result(), "resultType"); got != "complete" {
		t.Errorf("the result is %s", final.Raw())
	}
	if wire.Get(final.Result(), "_meta", wire.MetaServerInfo, "name") == nil {
		t.Errorf("the result does not say whose it is: %s", final.Raw())
	}
}

// A result is kept for a client that lost the response, though the backend that gave
// it is down.
func TestModernResultOutlivesBackend(t *testing.T) {
	s := newServer(t, "a")
	var down atomic.Bool
	s.dial = func(context.Context) error {
		if down.Load() {
			return errors.New("it is down")
		}
		return nil
	}
	c := attach(t, gateway(t, relay.Options{}, s))
	c.modernly("1", "tools/call", `"name":"do"`)
	call := s.want("the call", "tools/call")
	call.conn.send(form, "0")
	again := `"name":"do",` + retry(t, c.wantID("the question", "1"), accepts)
	c.modernly("2", "tools/call", again)
	s.want("the answer", "")
	call.answer(`{"content":[]}`)
	first := c.wantID("the result", "2")
	down.Store(true)
	call.conn.Close()
	if got := c.ask("3", "tools/call", again); string(got.Result()) != string(first.Result()) {
		t.Errorf("once more: %s\nwant %s", got.Raw(), first.Result())
	}
	wantError(t, "a fresh call", c.ask("4", "tools/call", `"name":"do"`), -32603, wire.ReasonBackendDown)
}

// What comes without a valid state is never run again.
func TestModernBadStates(t *testing.T) {
	s := newServer(t, "a")
	c := attach(t, gateway(t, relay.Options{}, s))
	c.modernly("1", "tools/call", `"name":"do"`)
	s.want("the call", "tools/call").conn.send(form, "0")
	asked := c.wantID("the question", "1")
	for _, tt := range []struct{ name, params string }{
		{"no state", `"name":"do","inputResponses":{"r1":` + accepts + `}`},
		{"made up", `"name":"do","inputResponses":{"r1":` + accepts + `},"requestState":"bk1.x.y"`},
		{"no text", `"name":"do","requestState":7`},
		{"of another request", `"name":"else",` + retry(t, asked, accepts)},
	} {
		wantError(t, tt.name, c.ask("2", "tools/call", tt.params), -32602, wire.ReasonState)
	}
	c.modernly("3", "tools/call", `"name":"do",`+retry(t, asked, accepts))
	s.want("the answer of the one that is right, and nothing else", "")
}

// C8: what a modern client asks for and a legacy backend knows by other names.
func TestModernWords(t *testing.T) {
	s := lister(t, "a")
	s.hello = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"x.y/z":{}}},"serverInfo":{"name":"a","version":"2"},"instructions":"use a"}`
	s.lists("tools/list", `{"tools":[{"name":"t","execution":{"taskSupport":"optional"},"z":1.0}]}`)
	c := attach(t, gateway(t, relay.Options{}, s))
	want := `{"capabilities":{"tools":{"listChanged":true},"extensions":{"x.y/z":{}}},"instructions":"use a",` +
		`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"resultType":"complete","ttlMs":0,"cacheScope":"private",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"2"}}}`
	wantResult(t, "discover", c.ask("1", "server/discover", ""), want)
	wantResult(t, "list", c.ask("2", "tools/list", ""),
		`{"tools":[{"name":"t","z":1.0}],"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"2"}}}`)
	for i, method := range []string{"ping", "initialize", "logging/setLevel", "resources/subscribe", "tasks/get"} {
		wantError(t, method, c.ask(fmt.Sprint(10+i), method, ""), -32601, wire.ReasonMethod)
	}
	c.modernly("4", "tools/call", `"name":"t"`)
	s.want("a call", "tools/call").answer(`{"resultType":"input_required","requestState":"x","_meta":{"y":1.0}}`)
	wantResult(t, "a result that says it is another", c.wantID("the result", "4"),
		`{"requestState":"x","_meta":{"y":1.0,"io.modelcontextprotocol/serverInfo":{"name":"a","version":"2"}},"resultType":"complete"}`)
	c.modernly("3", "resources/read", `"uri":"x:///"`)
	read := s.want("the read", "resources/read")
	read.conn.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"none","data":{"uri":"x:///"}}}`, read.ID())
	if got := c.wantID("not found", "3"); string(got.Error()) != `{"code":-32602,"message":"none","data":{"uri":"x:///"}}` {
		t.Errorf("not found is %s", got.Raw())
	}
}

// Log messages go to the request that wants them, from its level on.
func TestModernLogging(t *testing.T) {
	s := lister(t, "a")
	c := attach(t, gateway(t, relay.Options{}, s))
	wantError(t, "a level that there is not", c.ask("0", "tools/call", `"name":"do"`, `"io.modelcontextprotocol/logLevel":"loud"`), -32602, wire.ReasonParams)
	say := func(a arrived, level string) {
		a.conn.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"data":%q}}`, level, level)
	}
	c.modernly("1", "tools/call", `"name":"quiet"`)
	call := s.want("the call", "tools/call")
	say(call, "emergency")
	call.answer(`{}`)
	c.wantID("the result without a message", "1")

	c.modernly("2", "tools/call", `"name":"loud"`, `"io.modelcontextprotocol/logLevel":"warning"`)
	call = s.want("the call", "tools/call")
	say(call, "notice")
	say(call, "error")
	call.answer(`{}`)
	if got, _ := wire.Text(c.want("a message", "notifications/message").Params(), "level"); got != "error" {
		t.Errorf("the client heard %s", got)
	}
	c.wantID("the result", "2")
}

// A client that leaves while the log level is being set has its call not begun, and
// the level is set for the next one.
func TestModernLoggingCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		s.hello = `{"protocolVersion":"2025-11-25","capabilities":{"logging":{}},"serverInfo":{"name":"a","version":"1"}}`
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly("1", "tools/call", `"name":"t"`, `"io.modelcontextprotocol/logLevel":"info"`)
		s.want("the level", "logging/setLevel")
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		s.want("the end of that", "notifications/cancelled")
		synctest.Wait()
		if len(s.got) > 0 {
			t.Errorf("the backend got %s", (<-s.got).Raw())
		}
		c.modernly("2", "tools/call", `"name":"t"`, `"io.modelcontextprotocol/logLevel":"info"`)
		s.want("the level again", "logging/setLevel").answer(`{}`)
		s.want("the call", "tools/call").answer(`{}`)
		c.wantID("the result", "2")
		c.leave()
		<-c.left
	})
}

// A pipe does not tell which call asks, so calls that may ask have a process each;
// beyond the limit they wait, and are told.
func TestModernInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		s.instances, s.instanceWait = 2, 5*time.Second
		c := attach(t, gateway(t, relay.Options{}, s))
		calls := map[string]arrived{}
		for _, id := range []string{"1", "2"} {
			c.modernly(id, "tools/call", `"name":"t`+id+`"`)
			calls[id] = s.want("the call", "tools/call")
			calls[id].conn.send(form, "0") // equal ids at two processes
		}
		if calls["1"].conn == calls["2"].conn {
			t.Error("two calls that may ask share a process")
		}
		asked := map[string]wire.Message{}
		for range 2 {
			m := c.next("a question")
			asked[string(m.ID())] = m
		}
		c.modernly("3", "tools/call", `"name":"t3"`, `"progressToken":"p"`)
		if m := c.want("the wait is told", "notifications/progress"); !strings.Contains(string(m.Params()), "waiting for backend a") {
			t.Errorf("told %s", m.Raw())
		}
		time.Sleep(5*time.Second - time.Millisecond)
		synctest.Wait()
		if len(c.got) > 0 {
			t.Error("the wait ends early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if len(c.got) == 0 {
			t.Error("the wait ends late")
		}
		wantError(t, "no instance", c.wantID("no instance", "3"), -32603, wire.ReasonLimit)

		c.modernly("4", "tools/call", `"name":"t1",`+retry(t, asked["1"], `{"action":"decline"}`))
		s.want("the answer", "")
		c.modernly("5", "tools/call", `"name":"t5"`)
		calls["1"].answer(`{}`)
		c.wantID("the result", "4")
		if next := s.want("the call that waited", "tools/call"); next.conn != calls["1"].conn {
			t.Error("the call that waited did not get the process that became free")
		}
		c.leave()
		<-c.left
	})
}

// A backend of 2025-11-25 that needs a URL visited first says so with an error; the
// modern client is asked, and the call made again when the backend says that it
// happened.
func TestModernURLFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		refuse := func(a arrived) {
			a.conn.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://example.com/x","message":"Sign in"}]}}}`, a.ID())
		}
		c.modernly("1", "tools/call", `"name":"do"`)
		call := s.want("the call", "tools/call")
		refuse(call)
		asked := c.wantID("the question", "1")
		if got := string(wire.Get(asked.Result(), "inputRequests", "r1")); got != `{"method":"elicitation/create","params":{"mode":"url","url":"https://example.com/x","message":"Sign in"}}` {
			t.Errorf("the question is %s", got)
		}
		began := time.Now()
		c.modernly("2", "tools/call", `"name":"do",`+retry(t, asked, `{"action":"accept"}`))
		time.Sleep(time.Second)
		call.conn.send(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`)
		call = s.want("the call again", "tools/call")
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("made again after %v, want 1s", waited)
		}
		refuse(call)
		asked = c.wantID("the question again", "2")
		began = time.Now()
		c.modernly("3", "tools/call", `"name":"do",`+retry(t, asked, `{"action":"accept"}`))
		s.want("the call once more", "tools/call").answer(`{}`)
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("made again after %v, want 5s, because the backend does not say that it happened", waited)
		}
		c.wantID("the result", "3")

		c.modernly("4", "tools/call", `"name":"do"`)
		refuse(s.want("the call", "tools/call"))
		asked = c.wantID("the question", "4")
		got := c.ask("5", "tools/call", `"name":"do",`+retry(t, asked, `{"action":"decline"}`))
		wantError(t, "not agreed", got, -32603, wire.ReasonCancelled)
		c.leave()
		<-c.left
	})
}

// Listening at a legacy backend: acknowledged first, under the id of the request,
// with what the backend can tell and nothing else.
func TestModernListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lister(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:///one"]}`)
		sub := s.want("the subscription", "resources/subscribe")
		sub.answer(`{}`)
		ack := c.want("the acknowledgement", "notifications/subscriptions/acknowledged")
		if got, want := string(ack.Params()), `{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:///one"]}}`; got != want {
			t.Errorf("acknowledged %s\nwant %s", got, want)
		}
		for _, m := range []string{"tools", "prompts", "resources"} {
			sub.conn.send(`{"jsonrpc":"2.0","method":"notifications/%s/list_changed"}`, m)
		}
		sub.conn.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:///one"}}`)
		sub.conn.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:///two"}}`)
		if got := c.want("tools", "notifications/tools/list_changed"); string(got.Params()) != `{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}` {
			t.Errorf("told %s", got.Raw())
		}
		c.want("the resource", "notifications/resources/updated")
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`)
		s.want("the end", "resources/unsubscribe").answer(`{}`)
		synctest.Wait()
		if len(c.got) > 0 {
			t.Errorf("the client got %s", (<-c.got).Raw())
		}
		c.leave()
		<-c.left
	})
}

// A tool that can only be run as a task is run as one, and what it asks is asked.
func TestModernTask(t *testing.T) {
	s := newServer(t, "a")
	s.hello = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"a","version":"2"}}`
	s.lists("tools/list", `{"tools":[{"name":"slow","execution":{"taskSupport":"required"}}]}`)
	c := attach(t, gateway(t, relay.Options{}, s))
	c.modernly("1", "tools/call", `"name":"slow"`)
	call := s.want("the call", "tools/call")
	if wire.Get(call.Params(), "task") == nil {
		t.Errorf("it is not called as a task: %s", call.Raw())
	}
	call.answer(`{"task":{"taskId":"t1","status":"working"}}`)
	result := s.want("the wait", "tasks/result")
	result.conn.send(form, "0")
	asked := c.wantID("the question", "1")
	c.modernly("2", "tools/call", `"name":"slow",`+retry(t, asked, accepts))
	s.want("the answer", "")
	result.answer(`{"content":[]}`)
	if got := c.wantID("the result", "2"); wire.Get(got.Result(), "content") == nil {
		t.Errorf("the result is %s", got.Raw())
	}
}

// Calls that come while Beckon finds out what the tools are wait for that, so that
// none is made in another way than the first; a page that a client listed is not all.
func TestModernToolsAreListedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		s.instances = 3
		s.hello = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"a","version":"2"}}`
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly(`"page"`, "tools/list", "")
		s.want("a page", "tools/list").answer(`{"tools":[{"name":"other"}],"nextCursor":"2"}`)
		c.wantID("the page", `"page"`)
		c.modernly("1", "tools/call", `"name":"slow"`)
		list := s.want("the list", "tools/list")
		c.modernly("2", "tools/call", `"name":"slow"`)
		c.modernly("3", "tools/call", `"name":"other"`)
		if call := s.want("what is known need not wait", "tools/call"); wire.Get(call.Params(), "task") != nil {
			t.Errorf("it is called as a task: %s", call.Raw())
		}
		synctest.Wait()
		if len(s.got) > 0 {
			t.Errorf("not waited for the list: %s", (<-s.got).Raw())
		}
		list.answer(`{"tools":[{"name":"other"}],"nextCursor":"2"}`)
		s.want("the end of the list", "tools/list").answer(`{"tools":[{"name":"slow","execution":{"taskSupport":"required"}}]}`)
		for range 2 {
			if call := s.want("the call", "tools/call"); wire.Get(call.Params(), "task") == nil {
				t.Errorf("it is not called as a task: %s", call.Raw())
			}
		}
		c.leave()
		<-c.left
	})
}

// Several backends are one server for a modern client too.
func TestModernCatalogue(t *testing.T) {
	a, b := lister(t, "a"), lister(t, "b")
	a.lists("tools/list", `{"tools":[{"name":"do"}],"ttlMs":5000,"cacheScope":"public"}`)
	c := attach(t, gateway(t, relay.Options{}, a, b))
	discovered := c.ask("1", "server/discover", "")
	if got, _ := wire.Text(discovered.Result(), "_meta", wire.MetaServerInfo, "name"); got != "beckon" {
		t.Errorf("discovered %s", discovered.Raw())
	}
	listed := c.ask("2", "tools/list", "")
	if got := names(listed, "tools", "name"); got != "a__do b__do b__b" {
		t.Errorf("tools %s", got)
	}
	if string(wire.Get(listed.Result(), "ttlMs")) != "0" || string(wire.Get(listed.Result(), "cacheScope")) != `"private"` {
		t.Errorf("the list may be kept: %s", listed.Raw())
	}
	c.modernly("3", "tools/call", `"name":"b__do"`)
	call := b.want("the call", "tools/call")
	call.conn.send(form, "0")
	asked := c.wantID("the question", "3")
	if got, _ := wire.Text(asked.Result(), "inputRequests", "r1", "params", "_meta", "beckon/backend"); got != "b" { // D10
		t.Errorf("who asks is not told: %s", asked.Raw())
	}
	c.modernly("4", "tools/call", `"name":"b__do",`+retry(t, asked, accepts))
	b.want("the answer", "")
	call.answer(`{}`)
	c.wantID("the result", "4")
}

// newModern is a server of the modern era.
func newModern(t *testing.T, name string) *server {
	s := newServer(t, name)
	s.modern = true
	return s.lists("server/discover", fmt.Sprintf(`{"supportedVersions":["2026-07-28","2099-01-01"],"capabilities":{"tools":{"listChanged":true}},`+
		`"resultType":"complete","ttlMs":9,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":%q,"version":"3"}}}`, name))
}

const required = `{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":%s,"x":1.50}`

// C18: between a client and a backend of the modern era nothing changes but the id.
func TestModernToModern(t *testing.T) {
	s := newModern(t, "a")
	c := attach(t, gateway(t, relay.Options{}, s))
	if got := c.ask("1", "server/discover", ""); string(wire.Get(got.Result(), "supportedVersions")) != `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]` || string(wire.Get(got.Result(), "ttlMs")) != "9" {
		t.Errorf("discovered %s, want what the backend says, in the revisions of Beckon", got.Raw())
	}
	c.modernly("2", "tools/call", `"name":"do","x":1.50`)
	call := s.want("the call", "tools/call")
	want := fmt.Sprintf(`{"name":"do","x":1.50,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":%s,"io.modelcontextprotocol/clientCapabilities":%s}}`, info, capable)
	if string(call.Params()) != want {
		t.Errorf("the backend got %s\nwant %s", call.Params(), want)
	}
	call.answer(required, `"its own"`)
	asked := c.wantID("the question", "2")
	wantResult(t, "the question", asked, fmt.Sprintf(required, `"its own"`))
	c.modernly("3", "tools/call", `"name":"do","x":1.50,`+retry(t, asked, accepts))
	call = s.want("the retry", "tools/call")
	if got := string(wire.Get(call.Params(), "requestState")); got != `"its own"` {
		t.Errorf("the state came back as %s", got)
	}
	call.answer(`{"content":[],"resultType":"complete"}`)
	wantResult(t, "the result", c.wantID("the result", "3"), `{"content":[],"resultType":"complete"}`)
}

// Where the operator says so, the state of a modern backend is good for the client
// and the request that it was given to.
func TestModernSealed(t *testing.T) {
	s := newModern(t, "a")
	s.seal = true
	c := attach(t, gateway(t, relay.Options{}, s))
	c.modernly("1", "tools/call", `"name":"do"`)
	s.want("the call", "tools/call").answer(required, `"its own"`)
	asked := c.wantID("the question", "1")
	if state, _ := wire.Text(asked.Result(), "requestState"); strings.Contains(state, "its own") || state == "" {
		t.Errorf("the client sees the state %q", state)
	}
	wantError(t, "another request", c.ask("2", "tools/call", `"name":"else",`+retry(t, asked, accepts)), -32602, wire.ReasonState)
	for _, state := range []string{`"its own"`, `""`, `7`, `{"its":"own"}`} {
		wantError(t, "a state that was not sealed", c.ask("3", "tools/call", `"name":"do","requestState":`+state), -32602, wire.ReasonState)
	}
	c.modernly("4", "tools/call", `"name":"do",`+retry(t, asked, accepts))
	if got := string(wire.Get(s.want("the retry", "tools/call").Params(), "requestState")); got != `"its own"` {
		t.Errorf("the backend got the state %s", got)
	}
}

// C18: a legacy client at a modern backend is asked on the stream of its call, by a
// request, and the backend gets the call again with the answer.
func TestLegacyClientModernBackend(t *testing.T) {
	s := newModern(t, "a")
	c, hello := connect(t, gateway(t, relay.Options{}, s))
	if got, _ := wire.Text(hello.Result(), "serverInfo", "name"); got != "a" {
		t.Errorf("the handshake says %s", hello.Raw())
	}
	for s.next("what comes before the call").Method() != "subscriptions/listen" {
	}
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"do","x":1.50}}`)
	s.want("the call", "tools/call").answer(required, `"its own"`)
	asked := c.want("the question", "elicitation/create")
	c.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID(), accepts)
	again := s.want("the call again", "tools/call")
	if got := string(wire.Get(again.Params(), "inputResponses")); got != `{"who":`+accepts+`}` {
		t.Errorf("the backend got the answers %s", got)
	}
	if got := string(wire.Get(again.Params(), "requestState")); got != `"its own"` {
		t.Errorf("the backend got the state %s", got)
	}
	again.answer(`{"content":[]}`)
	c.wantID("the result", "1")
}

// Backends of both eras are one server for clients of both.
func TestMixedCatalogue(t *testing.T) {
	a, b := lister(t, "a"), newModern(t, "b")
	b.lists("tools/list", `{"tools":[{"name":"do"}],"resultType":"complete","ttlMs":5000,"cacheScope":"public"}`)
	r := gateway(t, relay.Options{}, a, b)
	old, _ := connect(t, r)
	young := attach(t, r)
	if got := names(old.call("1", "tools/list", `{}`), "tools", "name"); got != "a__do a__a b__do" {
		t.Errorf("a legacy client sees %s", got)
	}
	listed := young.ask("1", "tools/list", "")
	if got := names(listed, "tools", "name"); got != "a__do a__a b__do" {
		t.Errorf("a modern client sees %s", got)
	}
	if string(wire.Get(listed.Result(), "ttlMs")) != "0" || string(wire.Get(listed.Result(), "cacheScope")) != `"private"` {
		t.Errorf("the list may be kept: %s", listed.Raw())
	}
}

// The limit of open questions per session is one of each call for modern clients: the
// session at the backend is not theirs alone.
func TestModernLimitPerCall(t *testing.T) {
	s := newServer(t, "a")
	s.attributes = true
	o := relay.Options{Broker: input.NewBroker(input.Limits{Timeout: time.Minute, Total: 1000, PerSession: 2}, ignore{})}
	c := attach(t, gateway(t, o, s))
	for i := range 10 {
		c.modernly(fmt.Sprint(i), "tools/call", `"name":"do"`)
		call := s.want("the call", "tools/call")
		for q := range 3 {
			call.sendOn(form, fmt.Sprint(10*i+q))
		}
		if got := s.want("the third is refused", ""); string(wire.Get(got.Error(), "data", "reason")) != `"limit"` {
			t.Errorf("the backend got %s", got.Raw())
		}
		asked, n := c.wantID("the questions", fmt.Sprint(i)), 0
		for range wire.Members(wire.Get(asked.Result(), "inputRequests")) {
			n++
		}
		if n != 2 {
			t.Errorf("the client is asked %d things, want 2: %s", n, asked.Raw())
		}
	}
}
