package relay_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// withCaps sends a call of a modern client with other capabilities than capable.
func (c *client) withCaps(id, method, params, caps string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`,
		id, method, params, caps)
}

// A legacy backend asks a modern client only during a call that can carry the
// question; everything else it asks is refused, and asked later neither.
func TestModernClientCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly("1", "completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}`)
		completion := s.want("the request", "completion/complete")
		completion.conn.send(form, `"q"`)
		wantError(t, "asked during a completion", s.want("the refusal", "").Message, -32000, wire.ReasonNoClient)
		completion.answer(`{"completion":{"values":[]}}`)
		c.wantID("the completion", "1")

		completion.conn.send(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		wantError(t, "asked during nothing", s.want("the refusal", "").Message, -32000, wire.ReasonNoClient)
		completion.conn.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		wantResult(t, "a ping of the backend", s.want("the answer", "").Message, `{}`)

		c.modernly("2", "tools/call", `"name":"do"`)
		call := s.want("the call", "tools/call")
		call.conn.send(`{"jsonrpc":"2.0","id":"x","method":"tasks/list"}`)
		wantError(t, "asked what the modern era does not know", s.want("the refusal", "").Message, -32601, wire.ReasonMethod)
		call.answer(`{}`)
		c.wantID("the result, and no question of before", "2")

		c.withCaps("3", "tools/call", `"name":"do"`, `{"elicitation":{"url":{}}}`)
		call = s.want("the call", "tools/call")
		call.conn.send(form, `"q"`)
		if got := s.want("the refusal of a form that was not declared", ""); got.Kind() != wire.Failure { // D2
			t.Errorf("the backend got %s", got.Raw())
		}
		call.answer(`{}`)
		c.wantID("the result", "3")
		c.leave()
		<-c.left
	})
}

// What a legacy backend tells its session reaches no request of a modern client that
// did not ask to hear it; what it tells in words of its era reaches none at all. C8
func TestModernHearsWhatItAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lister(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		for i, tt := range []struct{ method, params string }{
			{"tools/call", `"name":"do"`}, // can park
			{"completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}`}, // cannot
		} {
			id := fmt.Sprint(i)
			c.modernly(id, tt.method, tt.params)
			call := s.want("the request", tt.method)
			for _, m := range []string{
				`"notifications/tools/list_changed"`, `"notifications/resources/updated","params":{"uri":"a:///one"}`,
				`"notifications/elicitation/complete","params":{"elicitationId":"e"}`,
				`"notifications/message","params":{"level":"emergency","data":1}`,
				`"notifications/progress","params":{"progressToken":"p","progress":1}`,
			} {
				call.conn.send(`{"jsonrpc":"2.0","method":%s}`, m)
			}
			synctest.Wait()
			call.answer(`{}`)
			c.wantID("the result, and nothing before it", id)
		}
		c.leave()
		<-c.left
	})
}

// A legacy backend is told to say what the most talkative of the calls wants, once,
// and never to say less.
func TestModernRaisesLogLevel(t *testing.T) {
	s := lister(t, "a")
	delete(s.answers, "logging/setLevel")
	c := attach(t, gateway(t, relay.Options{}, s))
	for i, tt := range []struct{ level, told string }{
		{"", ""}, {"error", "error"}, {"warning", "warning"}, {"critical", ""}, {"warning", ""}, {"debug", "debug"},
	} {
		id := fmt.Sprint(i)
		meta := []string{`"io.modelcontextprotocol/logLevel":"` + tt.level + `"`}
		if tt.level == "" {
			meta = nil
		}
		c.modernly(id, "tools/call", `"name":"do"`, meta...)
		got := s.next("the call, or the level before it")
		if got.Method() == "logging/setLevel" {
			if level, _ := wire.Text(got.Params(), "level"); level != tt.told {
				t.Errorf("%q: the backend was told %s", tt.level, level)
			}
			got.answer(`{}`)
			got = s.next("the call")
		} else if tt.told != "" {
			t.Errorf("%q: the backend was not told", tt.level)
		}
		if got.Method() != "tools/call" {
			t.Fatalf("%q: the backend got %s", tt.level, got.Raw())
		}
		got.answer(`{}`)
		c.wantID("the result", id)
	}
}

// A call that needs a URL visited is refused for a client that shows no URLs, in the
// words of its era; one that needs more and more of them ends.
//
// "the server MUST return a MissingRequiredClientCapabilityError (-32021) whose
// data.requiredCapabilities lists the missing capabilities."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
func TestModernURLFirstNeedsURLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		refuse := func(elicitations string) {
			a := s.want("the call", "tools/call")
			a.conn.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"visit","data":{"elicitations":[%s]}}}`, a.ID(), elicitations)
		}
		const one = `{"mode":"url","elicitationId":"e1","url":"https://example.com/x","message":"Sign in"}`
		c.withCaps("1", "tools/call", `"name":"do"`, `{"elicitation":{}}`)
		refuse(one)
		got := c.wantID("the refusal", "1")
		wantError(t, "without URLs", got, -32021, wire.ReasonCapability)
		if required := string(wire.Get(got.Error(), "data", "requiredCapabilities")); required != `{"elicitation":{"url":{}}}` {
			t.Errorf("required is %s", required)
		}

		c.modernly("2", "tools/call", `"name":"do"`)
		refuse(``)
		wantError(t, "no URL named", c.wantID("the error", "2"), -32603, wire.ReasonInvalid)

		c.modernly("3", "tools/call", `"name":"do"`)
		for i := range 5 {
			refuse(one)
			id := fmt.Sprint(3 + i)
			asked := c.wantID("the question", id)
			c.modernly(fmt.Sprint(4+i), "tools/call", `"name":"do",`+retry(t, asked, `{"action":"accept"}`))
		}
		refuse(one)
		wantError(t, "more and more URLs", c.wantID("the error", "8"), -32603, wire.ReasonLimit)
		c.leave()
		<-c.left
	})
}

// Between two of the modern era results of any type pass, and so do methods of
// extensions and errors; what the revision has taken away is refused here.
func TestModernToModernPasses(t *testing.T) {
	s := newModern(t, "a")
	c := attach(t, gateway(t, relay.Options{}, s))
	for i, result := range []string{
		`{"resultType":"task","taskId":"t1","status":"working","ttlMs":1.0}`,
		`{ "resultType":"x.y/other" , "z":[1.50] }`,
		`{"content":[]}`,
	} {
		id := fmt.Sprint(i)
		c.modernly(id, "tools/call", `"name":"do"`)
		s.want("the call", "tools/call").answer("%s", result)
		wantResult(t, "a result", c.wantID("the result", id), result)
	}
	for i, failure := range []string{`{"code":-32042,"message":"m","data":{"elicitations":[]}}`, `{"code":-32002,"message":"m"}`, `{"code":-32021, "message":"m","data":{"requiredCapabilities":{}}}`} {
		id := fmt.Sprint(10 + i)
		c.modernly(id, "resources/read", `"uri":"a:///x"`)
		read := s.want("the read", "resources/read")
		read.conn.send(`{"jsonrpc":"2.0","id":%s,"error":%s}`, read.ID(), failure)
		if got := c.wantID("the error", id); string(got.Error()) != failure {
			t.Errorf("the client got %s, want %s", got.Raw(), failure)
		}
	}
	c.modernly("20", "tasks/get", `"taskId":"t1"`)
	s.want("the task", "tasks/get").answer(`{"resultType":"complete"}`)
	c.wantID("the task", "20")
	for i, method := range []string{"ping", "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
		wantError(t, method, c.ask(fmt.Sprint(30+i), method, ""), -32601, wire.ReasonMethod)
	}
}

// Arguments that a tool wants repeated in headers are compared with them before the
// call goes anywhere, whichever era the backend is of; the tools are listed for that.
//
// "Servers that process the request body MUST reject requests where the values
// specified in the headers do not match the corresponding values in the request
// body."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
func TestMirroredArguments(t *testing.T) {
	const list = `{"tools":[{"name":"do","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}}],"resultType":"complete"}`
	for _, s := range []*server{newServer(t, "a"), newModern(t, "a")} {
		s.lists("tools/list", list).lists("tools/call", `{"content":[]}`)
		h := front.NewHTTP(gateway(t, relay.Options{}, s), front.Options{}, slog.New(slog.DiscardHandler))
		for _, tt := range []struct {
			name    string
			headers []string
			status  int
			want    string
		}{
			{"as it is", []string{"Mcp-Param-Region", "eu", "Mcp-Param-N", "42"}, 200, `"result"`},
			{"in Base64, and another spelling of the number", []string{"Mcp-Param-Region", "=?base64?ZXU=?=", "Mcp-Param-N", "42.0"}, 200, `"result"`},
			{"one that nobody asked for", []string{"Mcp-Param-Region", "eu", "Mcp-Param-N", "42", "Mcp-Param-X", "y"}, 200, `"result"`},
			{"another region", []string{"Mcp-Param-Region", "us", "Mcp-Param-N", "42"}, 400, `"code":-32020`},
			{"another number", []string{"Mcp-Param-Region", "eu", "Mcp-Param-N", "43"}, 400, `"code":-32020`},
			{"none", nil, 400, `"code":-32020`},
		} {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"do","arguments":{"region":"eu","n":42},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
			r := httptest.NewRequest("POST", "/mcp", strings.NewReader(body))
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			mirror.SetStandard(r.Header, parse(t, body))
			for i := 0; i < len(tt.headers); i += 2 {
				r.Header.Set(tt.headers[i], tt.headers[i+1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("modern backend %v, %s: %d %s\nwant %d %s", s.modern, tt.name, w.Code, w.Body, tt.status, tt.want)
			}
		}
	}
}

// A client that does not want a call any more ends the task that was made for it. A
// backend that does not answer that holds the call up for 5 s, and no longer.
func TestModernTaskCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		s.hello = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{}},"serverInfo":{"name":"a","version":"2"}}`
		s.lists("tools/list", `{"tools":[{"name":"slow","execution":{"taskSupport":"required"}}]}`)
		s.instances, s.instanceWait = 1, time.Minute
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly("1", "tools/call", `"name":"slow"`)
		s.want("the call", "tools/call").answer(`{"task":{"taskId":"t1","status":"working"}}`)
		s.want("the wait", "tasks/result")
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		s.want("the wait is over", "notifications/cancelled")
		stop := s.want("the end of the task", "tasks/cancel")
		if got := string(stop.Params()); got != `{"taskId":"t1"}` {
			t.Errorf("cancelled is %s", got)
		}
		began := time.Now()
		c.modernly("2", "tools/call", `"name":"slow"`) // waits for the one process
		s.want("the backend does not answer", "notifications/cancelled")
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("given up after %v, want 5s", waited)
		}
		s.want("the next call", "tools/call").answer(`{"content":[]}`)
		c.wantID("the result", "2")
		c.leave()
		<-c.left
	})
}

// R66, R71, R84: what is switched off is not told to a modern backend either, and what
// the operator lets nobody be asked does not reach a modern client by way of a result.
func TestModernToModernObeysTheOperator(t *testing.T) {
	ask := func(properties string) string {
		return `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{` +
			properties + `}}}}},"requestState":"s"}`
	}
	s := newModern(t, "a")
	c := attach(t, gateway(t, relay.Options{Off: map[input.Kind]bool{input.Sampling: true}}, s))
	for i, seal := range []bool{false, true} {
		s := newModern(t, "a")
		s.seal = seal
		c := attach(t, gateway(t, relay.Options{}, s))
		id := fmt.Sprint(i)
		c.modernly(id, "tools/call", `"name":"do"`)
		s.want("the call", "tools/call").answer("%s", ask(`"password":{"type":"string"}`))
		got := c.wantID("a question for a secret", id)
		if code := string(wire.Get(got.Error(), "code")); code != "-32603" || wire.Get(got.Error(), "data", "reason") == nil {
			t.Errorf("the client got %s", got.Raw())
		}
	}

	c.modernly("1", "tools/call", `"name":"do","x":1.50`)
	call := s.want("the call", "tools/call")
	if got := string(wire.Get(call.Params(), "_meta", wire.MetaCapabilities)); got != `{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true}}` {
		t.Errorf("the backend is told %s", got)
	}
	call.answer(`{"resultType":"input_required","inputRequests":{"q":{"method":"sampling/createMessage","params":{"messages":[]}}},"requestState":"s"}`)
	if got := c.wantID("a question that is switched off", "1"); got.Kind() != wire.Failure {
		t.Errorf("the client got %s", got.Raw())
	}
	c.modernly("2", "tools/call", `"name":"do"`)
	s.want("the call", "tools/call").answer("%s", ask(`"name":{"type":"string"}`))
	wantResult(t, "a question that may be asked", c.wantID("the question", "2"), ask(`"name":{"type":"string"}`))
}

// Where the transport tells which call asks, the calls of a modern client share one
// session with the backend, and each is asked what its own call asked.
func TestModernSharesWhereCallsAreTold(t *testing.T) {
	s := newServer(t, "a")
	s.attributes = true
	c := attach(t, gateway(t, relay.Options{}, s))
	calls, asked := map[string]arrived{}, map[string]wire.Message{}
	for _, id := range []string{"1", "2"} {
		c.modernly(id, "tools/call", `"name":"t`+id+`"`)
		calls[id] = s.want("the call", "tools/call")
	}
	if calls["1"].conn != calls["2"].conn {
		t.Error("the calls have a connection each")
	}
	for _, id := range []string{"2", "1"} {
		call := calls[id]
		call.conn.receiver.Receive(parse(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s0,"method":"elicitation/create","params":{"message":"of %s","requestedSchema":{"type":"object","properties":{}}}}`, id, id)), call.ID())
		asked[id] = c.wantID("the question of its own call", id)
		if text, _ := wire.Text(asked[id].Result(), "inputRequests", "r1", "params", "message"); text != "of "+id {
			t.Errorf("request %s is asked %s", id, asked[id].Raw())
		}
	}
	for _, id := range []string{"1", "2"} {
		c.modernly(id+"0", "tools/call", `"name":"t`+id+`",`+retry(t, asked[id], accepts))
		if got := s.want("the answer", ""); string(got.ID()) != id+"0" {
			t.Errorf("call %s was answered %s", id, got.Raw())
		}
		calls[id].answer(`{}`)
		c.wantID("the result", id+"0")
	}
}

// In a catalogue, too, a modern backend gets its own state back, under the name by
// which it knows what was called.
func TestModernToModernCatalogue(t *testing.T) {
	a, b := newModern(t, "a"), newModern(t, "b")
	c := attach(t, gateway(t, relay.Options{}, a, b))
	c.modernly("1", "tools/call", `"name":"b__do"`)
	b.want("the call", "tools/call").answer(required, `"its own"`)
	asked := c.wantID("the question", "1")
	wantResult(t, "the question", asked, fmt.Sprintf(required, `"its own"`))
	c.modernly("2", "tools/call", `"name":"b__do",`+retry(t, asked, accepts))
	again := b.want("the retry", "tools/call")
	if name, _ := wire.Text(again.Params(), "name"); name != "do" || string(wire.Get(again.Params(), "requestState")) != `"its own"` {
		t.Errorf("the backend got %s", again.Params())
	}
	again.answer(`{"resultType":"complete","content":[]}`)
	c.wantID("the result", "2")
}
