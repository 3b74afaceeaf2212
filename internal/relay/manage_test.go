package relay_test

import (
	"fmt"
	"log/slog"
	"net/http"
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

const creates = `"mode":"form","formDefinition":` + definition

// R102, R103, R104, R109, R112, C9: a legacy client has Beckon ask a form, submits it,
// and is told of what happens to it, whatever it declared.
func TestClientAsksBeckon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c, _ := connect(t, gateway(t, relay.Options{}, s))
		made := c.call("1", "elicitation/create", `{`+creates+`}`)
		id := string(wire.Get(made.Result(), "elicitationId"))
		if status, _ := wire.Text(made.Result(), "status"); status != "pending" || string(wire.Get(made.Result(), "formDefinition")) != definition {
			t.Fatalf("the handle is %s", made.Raw())
		}
		time.Sleep(90 * time.Second)
		c.want("the warning", "notifications/elicitation/timeout_warning")
		wantError(t, "wrong", c.call("2", "elicitation/submit", `{"elicitationId":`+id+`,"responses":{"port":"x"}}`), -32007, wire.ReasonValidation)
		now := c.call("3", "elicitation/status", `{"elicitationId":`+id+`}`).Result()
		if string(wire.Get(now, "status")) != `"active"` || string(wire.Get(now, "retry_count")) != "1" || wire.Get(now, "errors") == nil || wire.Get(now, "result") != nil {
			t.Errorf("it stands so: %s", now)
		}
		c.send(`{"jsonrpc":"2.0","id":4,"method":"elicitation/submit","params":{"elicitationId":%s,"responses":{"port":"8080"}}}`, id)
		seen := map[string]wire.Message{}
		for range 2 {
			m := c.next("what follows")
			seen[m.Method()+string(m.ID())] = m
		}
		wantResult(t, "submitted", seen["4"], `{"status":"completed"}`)
		if got, want := string(seen["notifications/elicitation/complete"].Params()), `{"elicitationId":`+id+`,"status":"completed","result":{"port":8080}}`; got != want {
			t.Errorf("the client is told %s\nwant %s", got, want)
		}
		now = c.call("5", "elicitation/status", `{"elicitationId":`+id+`}`).Result()
		if string(wire.Get(now, "status")) != `"completed"` || string(wire.Get(now, "result")) != `{"port":8080}` || wire.Get(now, "endedAt") == nil {
			t.Errorf("it stands so: %s", now)
		}
		if len(s.got) > 0 {
			t.Errorf("the backend got %s", (<-s.got).Raw())
		}
		c.leave()
		<-c.left
	})
}

// C8, C9, C10: a modern client does the same in results of its era and errors with codes
// of its era, and is notified of nothing.
func TestModernClientAsksBeckon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := attach(t, gateway(t, relay.Options{}, newServer(t, "a")))
		made := c.ask("1", "elicitation/create", creates)
		id := string(wire.Get(made.Result(), "elicitationId"))
		if kind, _ := wire.Text(made.Result(), "resultType"); kind != "complete" || wire.Get(made.Result(), "_meta", wire.MetaServerInfo, "name") == nil {
			t.Errorf("the handle is %s", made.Raw())
		}
		bad := c.ask("2", "elicitation/submit", `"elicitationId":`+id+`,"responses":{"port":1}`)
		wantError(t, "wrong", bad, -32602, wire.ReasonValidation)
		if string(wire.Get(bad.Error(), "data", "type")) != `"validation"` {
			t.Errorf("refused with %s", bad.Error())
		}
		if got := c.ask("3", "elicitation/extend_timeout", `"elicitationId":`+id+`,"extensionDuration":30000`); string(wire.Get(got.Result(), "extensionsRemaining")) != "1" {
			t.Errorf("extended: %s", got.Raw())
		}
		time.Sleep(149 * time.Second) // past the warning
		if got := c.ask("4", "elicitation/cancel", `"elicitationId":`+id+`,"action":"decline"`); string(wire.Get(got.Result(), "status")) != `"declined"` {
			t.Errorf("declined: %s", got.Raw())
		}
		if got := c.ask("5", "elicitation/status", `"elicitationId":`+id); string(wire.Get(got.Result(), "reason")) != `"user_cancelled"` {
			t.Errorf("it stands so: %s", got.Raw())
		}
		synctest.Wait()
		if len(c.got) > 0 {
			t.Errorf("the client got %s", (<-c.got).Raw())
		}
		c.leave()
		<-c.left
	})
}

// R83, R66, R124: what is no form is refused with what to send instead; what is no method
// of this family is not known; and where it is switched off nothing is there.
func TestClientAsksWrongly(t *testing.T) {
	s := newServer(t, "a")
	c, _ := connect(t, gateway(t, relay.Options{}, s))
	for i, tt := range []struct {
		method, params string
		code           int
		reason         wire.Reason
	}{
		{"elicitation/create", `{"mode":"form"}`, -32602, wire.ReasonParams},
		{"elicitation/create", ports, -32602, wire.ReasonParams},
		{"elicitation/create", `{"mode":"url","url":"https://x.example/","message":"m"}`, -32602, wire.ReasonMode},
		{"elicitation/create", `{"mode":"form","formDefinition":{"id":"x"}}`, -32602, wire.ReasonSchema},
		{"elicitation/create", `{"mode":"inline"}`, -32602, wire.ReasonParams},
		{"elicitation/submit", `{}`, -32602, wire.ReasonParams},
		{"elicitation/submit", `{"elicitationId":"elic_x","responses":{}}`, -32602, wire.ReasonNotFound},
		{"elicitation/extend_timeout", `{"elicitationId":7}`, -32602, wire.ReasonParams},
		{"elicitation/cancel", `{"elicitationId":"elic_x"}`, -32602, wire.ReasonNotFound},
		{"elicitation/guess", `{}`, -32601, wire.ReasonMethod},
		{"elicitation/requestInput", `{}`, -32601, wire.ReasonMethod},
	} {
		wantError(t, tt.method+tt.params, c.call(fmt.Sprint(i), tt.method, tt.params), tt.code, tt.reason)
	}
	made := c.call(`"i"`, "elicitation/create", `{"mode":"inline","prompt":"Which city?"}`).Result()
	id := string(wire.Get(made, "elicitationId"))
	if wire.Get(made, "formDefinition", "fields") == nil {
		t.Errorf("the handle is %s", made)
	}
	wantError(t, "no responses", c.call(`"n"`, "elicitation/submit", `{"elicitationId":`+id+`}`), -32602, wire.ReasonParams)
	wantError(t, "no such action", c.call(`"a"`, "elicitation/cancel", `{"elicitationId":`+id+`,"action":"accept"}`), -32602, wire.ReasonParams)
	if len(s.got) > 0 {
		t.Errorf("the backend got %s", (<-s.got).Raw())
	}
	off := map[input.Kind]bool{input.Form: true, input.URL: true}
	c, _ = connect(t, gateway(t, relay.Options{Off: off}, s))
	wantError(t, "off", c.call("1", "elicitation/create", `{`+creates+`}`), -32601, wire.ReasonDisabled)
	wantError(t, "off", c.call("2", "elicitation/status", `{"elicitationId":"elic_x"}`), -32601, wire.ReasonDisabled)
}

// R75, D12: a form is its session's where nobody is authenticated: another one can
// neither see, answer, extend nor cancel it, and is told the same as of one that there
// never was. When the session ends, so does the form.
func TestFormsOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := &endings{}
		b := input.NewBroker(input.Limits{Timeout: time.Minute, Total: 10, PerSession: 10}, watch)
		r := gateway(t, relay.Options{Broker: b}, newServer(t, "a"))
		ada, _ := connect(t, r)
		eve, _ := connect(t, r)
		id := string(wire.Get(ada.call("1", "elicitation/create", `{`+creates+`}`).Result(), "elicitationId"))
		for i, method := range []string{"submit", "extend_timeout", "cancel", "status"} {
			theirs := eve.call(fmt.Sprint(i), "elicitation/"+method, `{"elicitationId":`+id+`,"responses":{"port":8080}}`)
			nobodys := eve.call(fmt.Sprint(i), "elicitation/"+method, `{"elicitationId":"elic_`+strings.Repeat("A", 26)+`","responses":{"port":8080}}`)
			wantError(t, method, theirs, -32602, wire.ReasonNotFound)
			if string(theirs.Raw()) != string(nobodys.Raw()) {
				t.Errorf("%s: %s\nand of one that never was %s", method, theirs.Raw(), nobodys.Raw())
			}
		}
		ada.leave()
		<-ada.left
		synctest.Wait()
		if b.Len() != 0 || watch.last() != "client_disconnected" {
			t.Errorf("%d forms are open, the last ended by %q", b.Len(), watch.last())
		}
		eve.leave()
		<-eve.left
	})
}

// endings notes how forms end.
type endings struct {
	ignore
	list []string // written before the broker returns
}

func (e *endings) Ended(r *input.Request, _ input.Answer, _ time.Duration) {
	e.list = append(e.list, string(r.Status().Abandonment()))
}

func (e *endings) last() string {
	if len(e.list) == 0 {
		return ""
	}
	return e.list[len(e.list)-1]
}

// D12, R114: a form of a principal that is known is that principal's, from whatever
// connection, and outlives sessions of modern clients; that of a legacy session ends with
// it.
func TestFormsOfAPrincipal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := &endings{}
		b := input.NewBroker(input.Limits{Timeout: time.Minute, Total: 10, PerSession: 10}, watch)
		r := gateway(t, relay.Options{Broker: b, SessionIdle: 10 * time.Second}, newServer(t, "a"))
		web := newWeb(t, r, time.Minute)
		made := web.modern("ada", "elicitation/create", creates, `{}`)
		id := string(wire.Get(made.Result(), "elicitationId"))
		time.Sleep(time.Minute) // the session of the request has ended
		wantError(t, "somebody else", web.modern("eve", "elicitation/submit", `"elicitationId":`+id+`,"responses":{"port":8080}`, `{}`), -32602, wire.ReasonNotFound)
		got := web.modern("ada", "elicitation/submit", `"elicitationId":`+id+`,"responses":{"port":8080}`, `{"roots":{}}`)
		if string(wire.Get(got.Result(), "status")) != `"completed"` {
			t.Errorf("submitted: %s", got.Raw())
		}

		session := web.open("ada")
		id = string(wire.Get(web.legacy("ada", session, "elicitation/create", `{`+creates+`}`).Result(), "elicitationId"))
		if got := web.modern("ada", "elicitation/status", `"elicitationId":`+id, `{}`); string(wire.Get(got.Result(), "status")) != `"pending"` {
			t.Errorf("from another connection: %s", got.Raw())
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if watch.last() != "session_expired" {
			t.Errorf("the form ended by %q, and %d are open", watch.last(), b.Len())
		}
	})
}

// web is clients over HTTP, which the test plays, each with its name for a token.
type web struct {
	t *testing.T
	h *front.HTTP
}

func newWeb(t *testing.T, r *relay.Relay, idle time.Duration) *web {
	h := front.NewHTTP(r, front.Options{SessionIdle: idle, Authenticate: func(r *http.Request) (string, bool) {
		name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		return name, ok
	}}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { h.Close(t.Context()) })
	return &web{t, h}
}

// post sends a message and returns the response, and the id of the session in its header.
func (w *web) post(as, session, body string) (wire.Message, string) {
	w.t.Helper()
	req := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+as)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	if m := parse(w.t, body); wire.IsModern(m) {
		mirror.SetStandard(req.Header, m)
	}
	resp := httptest.NewRecorder()
	w.h.ServeHTTP(resp, req)
	text := resp.Body.String()
	if _, data, ok := strings.Cut(text, "\ndata: {"); ok {
		text, _, _ = strings.Cut("{"+data, "\n")
	}
	return parse(w.t, text), resp.Header().Get("Mcp-Session-Id")
}

func (w *web) modern(as, method, params, caps string) wire.Message {
	w.t.Helper()
	m, _ := w.post(as, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`,
		method, params, caps))
	return m
}

func (w *web) open(as string) (session string) {
	w.t.Helper()
	_, session = w.post(as, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	return session
}

func (w *web) legacy(as, session, method, params string) wire.Message {
	w.t.Helper()
	m, _ := w.post(as, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	return m
}

// The extension is advertised to clients that declare it, in either era and on either
// kind of route, and nothing else changes; everybody else sees the backend's own bytes.
func TestAdvertised(t *testing.T) {
	one := func() *relay.Relay {
		s := newServer(t, "one")
		s.hello = `{ "serverInfo":{"version":"1.0","name":"x"},"capabilities":{"z":{},"tools":{}}, "protocolVersion":"2025-06-18"}`
		return gateway(t, relay.Options{}, s)
	}
	_, hello := knowing(t, one())
	wantResult(t, "handshake", hello, `{ "serverInfo":{"version":"1.0","name":"x"},"capabilities":{"z":{},"tools":{},`+experimental+`}, "protocolVersion":"2025-06-18"}`)

	young := newModern(t, "a").lists("server/discover", `{"supportedVersions":[ "2026-07-28"],"capabilities":{"tools":{}}}`)
	c := attach(t, gateway(t, relay.Options{}, young))
	for _, tt := range []struct{ caps, want string }{
		{`{}`, ``}, {`{` + experimental + `}`, `,` + experimental}, {`{"experimental":{"dev.beckon/form":null}}`, ``},
	} {
		c.withCaps("1", "server/discover", `"x":1`, tt.caps)
		got := string(wire.Get(c.wantID("discover", "1").Result(), "capabilities"))
		if want := `{"tools":{}` + tt.want + `}`; got != want {
			t.Errorf("%s: the capabilities are %s, want %s", tt.caps, got, want)
		}
	}
	several := gateway(t, relay.Options{}, newServer(t, "a"), newServer(t, "b"))
	for _, meet := range []func(*testing.T, *relay.Relay) (*client, wire.Message){knowing, connect} {
		_, hello = meet(t, several)
		if got := string(wire.Get(hello.Result(), "capabilities")); got != `{"tools":{},`+experimental+`}` {
			t.Errorf("of a catalogue: %s", got)
		}
	}
	_, hello = knowing(t, gateway(t, relay.Options{Off: map[input.Kind]bool{input.Form: true}}, newServer(t, "a")))
	if got := wire.Get(hello.Result(), "capabilities", "experimental"); got != nil {
		t.Errorf("though it is off: %s", got)
	}
}

// R114: where nobody is known, a form that a modern client has asked ends with what its
// requests share, which goes when it is not used any more.
func TestFormsOfNobodyInParticular(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := &endings{}
		b := input.NewBroker(input.Limits{Timeout: time.Minute, Total: 10, PerSession: 10}, watch)
		c := attach(t, gateway(t, relay.Options{Broker: b, SessionIdle: 20 * time.Second}, newServer(t, "a")))
		id := string(wire.Get(c.ask("1", "elicitation/create", creates).Result(), "elicitationId"))
		c.withCaps("2", "elicitation/status", `"elicitationId":`+id, `{}`)
		wantError(t, "a client of other capabilities", c.wantID("status", "2"), -32602, wire.ReasonNotFound)
		time.Sleep(20*time.Second - time.Millisecond)
		synctest.Wait()
		if b.Len() != 1 {
			t.Error("the form has ended early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if b.Len() != 0 || watch.last() != "session_expired" {
			t.Errorf("%d forms are open, the last ended by %q", b.Len(), watch.last())
		}
		c.leave()
		<-c.left
	})
}

// R119, C14, C8: there are only so many forms in a minute; one more is refused with when
// to try again, in the words of the client's era, and a minute later there may be more.
func TestTooManyForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := gateway(t, relay.Options{}, newServer(t, "a"))
		old, _ := connect(t, r)
		young := attach(t, r)
		for _, tt := range []struct {
			c      *client
			create func(id string) wire.Message
			code   int
		}{
			{old, func(id string) wire.Message { return old.call(id, "elicitation/create", `{`+creates+`}`) }, -32010},
			{young, func(id string) wire.Message { return young.ask(id, "elicitation/create", creates) }, -32603},
		} {
			for i := range 10 {
				if m := tt.create(fmt.Sprint(i)); m.Kind() != wire.Result {
					t.Fatalf("form %d: %s", i, m.Raw())
				}
			}
			m := tt.create("10")
			wantError(t, "one too many", m, tt.code, wire.ReasonRate)
			if wire.Get(m.Error(), "data", "retryAfterMs") == nil {
				t.Errorf("refused with %s", m.Error())
			}
		}
		time.Sleep(10 * time.Second)
		if m := young.ask("11", "elicitation/create", creates); m.Kind() != wire.Result {
			t.Errorf("later: %s", m.Raw())
		}
		for _, c := range []*client{old, young} {
			c.leave()
			<-c.left
		}
	})
}

// R112: a warning says whether there can be more time. R116: of a form that there is not,
// the error is of the family submission.
func TestWarningWithoutMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := connect(t, gateway(t, relay.Options{}, newServer(t, "a")))
		for i, terms := range []string{`"max_extensions":0`, `"extension_allowed":false`, `"initial_timeout":3600000`} {
			definition := `{"id":"f","title":"F","fields":[{"id":"a","type":"text","label":"A"}],"timeout_config":{` + terms + `}}`
			id := string(wire.Get(c.call(fmt.Sprint(i), "elicitation/create", `{"mode":"form","formDefinition":`+definition+`}`).Result(), "elicitationId"))
			time.Sleep(time.Hour)
			warned := c.want("the warning", "notifications/elicitation/timeout_warning").Params()
			if string(wire.Get(warned, "elicitationId")) != id || string(wire.Get(warned, "extensionAllowed")) != "false" {
				t.Errorf("%s: warned %s", terms, warned)
			}
			if got := c.want("the end", "notifications/elicitation/complete").Params(); string(wire.Get(got, "status")) != `"timeout"` {
				t.Errorf("%s: ended %s", terms, got)
			}
		}
		none := c.call(`"n"`, "elicitation/status", `{"elicitationId":"elic_x"}`)
		if wantError(t, "none", none, -32602, wire.ReasonNotFound); string(wire.Get(none.Error(), "data", "type")) != `"submission"` {
			t.Errorf("of the family %s", none.Error())
		}
		c.leave()
		<-c.left
	})
}

// submitters keeps who submitted the answers of requests that have ended.
type submitters struct {
	ignore
	list []input.Submitter // written before the broker returns
}

func (s *submitters) Ended(r *input.Request, _ input.Answer, _ time.Duration) {
	s.list = append(s.list, r.Status().By)
}

// R107: it is kept who submitted: the name and version of the client, of either era, and
// its session.
func TestWhoSubmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := &submitters{}
		b := input.NewBroker(input.Limits{Timeout: time.Minute, Total: 10, PerSession: 10}, watch)
		r := gateway(t, relay.Options{Broker: b}, newServer(t, "a"))
		old, _ := connect(t, r)
		young := attach(t, r)
		for _, c := range []struct {
			client *client
			ask    func(id, method, params string) wire.Message
		}{
			{old, func(id, method, params string) wire.Message {
				old.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
				m := old.next(method)
				for !m.IsResponse() { // the notice of the end may come first
					m = old.next(method)
				}
				return m
			}},
			{young, func(id, method, params string) wire.Message { return young.ask(id, method, params) }},
		} {
			id := string(wire.Get(c.ask("1", "elicitation/create", creates).Result(), "elicitationId"))
			c.ask("2", "elicitation/submit", `"elicitationId":`+id+`,"responses":{"port":8080}`)
			c.client.leave()
			<-c.client.left
		}
		if len(watch.list) != 2 || watch.list[0].UserAgent != "c/1" || watch.list[0].Session == "" || watch.list[1].UserAgent != "m/1" {
			t.Errorf("kept of those who submitted: %+v", watch.list)
		}
	})
}
