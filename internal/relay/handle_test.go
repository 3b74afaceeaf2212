package relay_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	forms "github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// defines is a question by a form definition and nothing else.
const defines = `{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"mode":"form","formDefinition":` + definition + `}}`

// legacyBackends runs a story with a legacy backend, for a client of each era.
func legacyBackends(t *testing.T, limit time.Duration, story func(p *pairing)) {
	pairings(t, limit, func(p *pairing) {
		if !p.backYoung {
			story(p)
		}
	})
}

// wantComplete takes the notification that a form has ended, which must be for id, and
// have exactly the members.
func (s *server) wantComplete(id, members string) {
	s.t.Helper()
	got := s.want("the end of the form", "notifications/elicitation/complete")
	if want := fmt.Sprintf(`{"elicitationId":%s,%s}`, id, members); string(got.Params()) != want {
		s.t.Errorf("the backend is told %s\nwant %s", got.Params(), want)
	}
}

// R102, R109, R110, C9, C12, C25, D4: a legacy backend that defines a form gets a handle
// at once, with the terms, and later the answers in one notification. The client is asked
// as by any server. The clock of the call stands meanwhile.
func TestHandleAndComplete(t *testing.T) {
	legacyBackends(t, 10*time.Second, func(p *pairing) {
		call, began := p.call("1", ""), time.Now().UnixMilli()
		call.conn.send(defines, `"f"`)
		handle := p.s.want("the handle", "")
		id := wire.Get(handle.Result(), "elicitationId")
		if handle.ID() != `"f"` || !strings.HasPrefix(string(id), `"elic_`) || len(id) != len(`"elic_"`)+26 {
			p.t.Errorf("the handle is %s", handle.Raw())
		}
		want := fmt.Sprintf(`{"elicitationId":%s,"mode":"form","status":"pending","createdAt":%d,"timeoutAt":%d,`+
			`"timeout_config":{"initial_timeout":120000,"extension_allowed":true,"extension_duration":60000,"max_extensions":2,"max_total":3600000,"warn_before":30000},`+
			`"retry_limit":3,"formDefinition":%s}`, id, began, began+120000, definition)
		if string(handle.Result()) != want {
			p.t.Errorf("the handle is %s\nwant %s", handle.Result(), want)
		}
		asked := p.asked()
		if shown := p.shows(asked); wire.Get(shown, "formDefinition") != nil || message(shown) != "Which port?" {
			p.t.Errorf("the client is asked %s", shown)
		}
		time.Sleep(time.Minute)
		p.gives(asked, accepting(`{"port":"8080","name":"web"}`))
		p.s.wantComplete(string(id), `"status":"completed","result":{"port":8080,"name":"web"}`)
		time.Sleep(10*time.Second - time.Millisecond)
		p.finish(call)
		synctest.Wait()
		if len(p.s.got)+len(p.c.got) > 0 {
			p.t.Error("something was said besides")
		}
	})
}

// R103, R109: what a client says of the end of a form reaches no backend, which would
// believe it: it learns the end from Beckon alone.
func TestForgedEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c, _ := connect(t, gateway(t, relay.Options{}, s))
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"do"}}`)
		call := s.want("the call", "tools/call")
		call.conn.send(defines, "0")
		id := string(wire.Get(s.want("the handle", "").Result(), "elicitationId"))
		asked := c.want("the question", "elicitation/create")
		for _, what := range []string{"complete", "timeout_warning", "else"} {
			c.send(`{"jsonrpc":"2.0","method":"notifications/elicitation/%s","params":{"elicitationId":%s,"status":"completed","result":{"port":1}}}`, what, id)
		}
		c.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID(), accepting(`{"port":8080}`))
		s.wantComplete(id, `"status":"completed","result":{"port":8080}`)
		call.answer(`{"content":[]}`)
		c.wantID("the result", "1")
		c.leave()
		<-c.left
	})
}

// R109, R114: each way in which a form can end without an answer reaches the backend
// once, with why, and the call goes on.
func TestHandleWithoutAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		after      time.Duration
		end        func(p *pairing, asked wire.Message)
	}{
		{"declined", `"status":"declined","reason":"user_cancelled"`, 0, func(p *pairing, asked wire.Message) {
			p.gives(asked, `{"action":"decline"}`)
		}},
		{"cancelled", `"status":"cancelled","reason":"user_cancelled"`, 0, func(p *pairing, asked wire.Message) {
			p.gives(asked, `{"action":"cancel"}`)
		}},
		{"never answered", `"status":"timeout","reason":"timeout"`, 2 * time.Minute, func(p *pairing, _ wire.Message) {
			if !p.young {
				p.c.want("the question is taken back", "notifications/cancelled")
			}
		}},
		{"always wrong", `"status":"cancelled","reason":"max_retries_exceeded"`, 0, func(p *pairing, asked wire.Message) {
			for i := range 3 {
				p.gives(asked, accepting(`{"port":-1}`))
				if i < 2 {
					asked = p.asked()
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			legacyBackends(t, 0, func(p *pairing) {
				call := p.call("1", "")
				call.conn.send(defines, "0")
				id := wire.Get(p.s.want("the handle", "").Result(), "elicitationId")
				asked := p.asked()
				time.Sleep(tt.after)
				tt.end(p, asked)
				p.s.wantComplete(string(id), tt.want)
				if p.young && p.legs == 0 {
					return // the client never came back for its call
				}
				p.finish(call)
			})
		})
	}
}

// R24, R109, R114: a client that is there and cannot ask is not one that is gone: the
// backend is told what the client said.
func TestHandleThatTheClientRefuses(t *testing.T) {
	for _, tt := range []struct{ response, want string }{
		{`"error":{"code":-1,"message":"no forms today"}`, `"status":"abandoned","reason":"form_invalidated","error":{"code":-1,"message":"no forms today"}`},
		{`"result":{"action":"guess"}`, `"status":"abandoned","reason":"form_invalidated"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, "a")
			c, _ := connect(t, gateway(t, relay.Options{}, s))
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"do"}}`)
			call := s.want("the call", "tools/call")
			call.conn.send(defines, "0")
			id := string(wire.Get(s.want("the handle", "").Result(), "elicitationId"))
			asked := c.want("the question", "elicitation/create")
			c.send(`{"jsonrpc":"2.0","id":%s,%s}`, asked.ID(), tt.response)
			s.wantComplete(id, tt.want)
			call.answer(`{"content":[]}`)
			c.wantID("the result", "1")
			c.leave()
			<-c.left
		})
	}
}

// R109, R115: a call that ends takes its form along, and a client that leaves does too;
// the backend hears it in either case, behind the handle.
func TestHandleOfACallThatEnds(t *testing.T) {
	legacyBackends(t, 0, func(p *pairing) {
		p.s.attributes = true
		call := p.call("1", "")
		call.sendOn(defines, "0")
		id := string(wire.Get(p.s.want("the handle", "").Result(), "elicitationId"))
		p.asked()
		call.answer(`{"content":[]}`)
		p.s.wantComplete(id, `"status":"withdrawn","reason":"form_invalidated"`)
		if !p.young {
			p.c.want("the question is taken back", "notifications/cancelled")
			p.c.wantID("the result", "1")
		}
	})
	legacyBackends(t, 0, func(p *pairing) {
		call := p.call("1", "")
		call.conn.send(defines, "0")
		id := string(wire.Get(p.s.want("the handle", "").Result(), "elicitationId"))
		p.asked()
		p.c.leave()
		<-p.c.left
		time.Sleep(time.Hour)
		synctest.Wait()
		told := 0
		for len(p.s.got) > 0 {
			if m := <-p.s.got; m.Method() == "notifications/elicitation/complete" {
				told++
				if got, _ := wire.Text(m.Params(), "elicitationId"); `"`+got+`"` != id || wire.Get(m.Params(), "result") != nil {
					p.t.Errorf("the backend is told %s", m.Raw())
				}
			}
		}
		if told != 1 {
			p.t.Errorf("the backend was told %d times", told)
		}
	})
}

// A form that cannot be asked is refused in place of a handle, and nothing follows: one
// with faults, which are named, and one whose fields no client could show. C19, C11
func TestHandleRefused(t *testing.T) {
	for _, tt := range []struct {
		name, definition string
		code             int
		reason           wire.Reason
	}{
		{"faults", `{"id":"f","title":"F","fields":[{"id":"a","type":"txt","label":"A"}]}`, -32602, wire.ReasonSchema},
		{"a file", `{"id":"f","title":"F","fields":[{"id":"a","type":"file","label":"A"}]}`, -32602, wire.ReasonUnrepresentable},
		{"a secret", `{"id":"f","title":"F","fields":[{"id":"password","type":"text","label":"Password"}]}`, -32602, wire.ReasonSensitive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			legacyBackends(t, 0, func(p *pairing) {
				call := p.call("1", "")
				call.conn.send(`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"mode":"form","formDefinition":%s}}`, tt.definition)
				wantError(p.t, tt.name, p.s.want("the refusal", "").Message, tt.code, tt.reason)
				p.finish(call)
				if len(p.s.got) > 0 {
					p.t.Errorf("the backend got %s", (<-p.s.got).Raw())
				}
			})
		})
	}
}

// R124: the older mode, a prompt, is a question of the specification, with one text for
// an answer.
func TestInlineInEachPairing(t *testing.T) {
	pairings(t, 0, func(p *pairing) {
		call := p.call("1", "")
		asked := p.asksFor(call, `{"mode":"inline","prompt":"Enter a city:"}`)
		shown := p.shows(asked)
		if mode, _ := wire.Text(shown, "mode"); mode != "form" || message(shown) != "Enter a city:" || wire.Get(shown, "requestedSchema", "properties", "answer") == nil {
			p.t.Errorf("the client is asked %s", shown)
		}
		p.gives(asked, accepting(`{"answer":"Turin"}`))
		got, call := p.told(call)
		if string(got) != accepting(`{"answer":"Turin"}`) {
			p.t.Errorf("the backend got %s", got)
		}
		p.finish(call)
	})
}

const experimental = `"experimental":{"dev.beckon/form":{}}`

// knowing is a legacy client that knows the form extension.
func knowing(t *testing.T, r *relay.Relay) (*client, wire.Message) {
	t.Helper()
	c := attach(t, r)
	c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},%s},"clientInfo":{"name":"c","version":"1"}}}`, experimental)
	hello := c.wantID("handshake", `"hello"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c, hello
}

// R104, R111, R112, R113, R116, C10: a client that knows the extension is shown the definition
// beside the schema, is warned, may extend and submit, and learns how it ended. Of the
// question it hears that it need not answer it any more.
func TestClientThatKnowsForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c, _ := knowing(t, gateway(t, relay.Options{}, s))
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
		call := s.want("the call", "tools/call")
		call.conn.send(defines, "0")
		asked := c.want("the question", "elicitation/create")
		id := string(wire.Get(asked.Params(), "elicitationId"))
		if string(wire.Get(asked.Params(), "formDefinition")) != definition || wire.Get(asked.Params(), "requestedSchema") == nil {
			t.Errorf("the client is asked %s", asked.Raw())
		}
		if got := string(wire.Get(s.want("the handle", "").Result(), "elicitationId")); got != id {
			t.Errorf("the backend knows %s as %s", id, got)
		}
		began := time.Now()
		time.Sleep(90*time.Second - time.Millisecond)
		synctest.Wait()
		if len(c.got) > 0 {
			t.Errorf("warned early: %s", (<-c.got).Raw())
		}
		if got, want := string(c.want("the warning", "notifications/elicitation/timeout_warning").Params()),
			fmt.Sprintf(`{"elicitationId":%s,"remainingMs":30000,"extensionAllowed":true,"extensionDuration":60000}`, id); got != want {
			t.Errorf("warned %s\nwant %s", got, want)
		}
		for left := 1; left >= 0; left-- {
			got := c.call("2", "elicitation/extend_timeout", `{"elicitationId":`+id+`}`)
			wantResult(t, "extended", got, fmt.Sprintf(`{"newTimeoutAt":%d,"extensionsRemaining":%d}`,
				began.Add(2*time.Minute+time.Duration(2-left)*time.Minute).UnixMilli(), left))
		}
		wantError(t, "extended once more", c.call("2", "elicitation/extend_timeout", `{"elicitationId":`+id+`}`), -32602, wire.ReasonNoExtensions)
		wantError(t, "extended by nothing", c.call("2", "elicitation/extend_timeout", `{"elicitationId":`+id+`,"extensionDuration":0}`), -32602, wire.ReasonParams)

		bad := c.call("3", "elicitation/submit", `{"elicitationId":`+id+`,"responses":{"port":80}}`)
		wantError(t, "what does not fit", bad, -32007, wire.ReasonValidation)
		if got := string(wire.Get(bad.Error(), "data", "retry_count")); got != "1" || string(wire.Get(bad.Error(), "message")) != `"Form validation failed"` {
			t.Errorf("refused with %s", bad.Error())
		}
		c.send(`{"jsonrpc":"2.0","id":4,"method":"elicitation/submit","params":{"elicitationId":%s,"responses":{"port":8080}}}`, id)
		seen := map[string]wire.Message{}
		for range 3 {
			m := c.next("what follows the submission")
			seen[m.Method()+string(m.ID())] = m
		}
		wantResult(t, "submitted", seen["4"], `{"status":"completed"}`)
		if got := seen["notifications/cancelled"]; string(wire.Get(got.Params(), "requestId")) != string(asked.ID()) {
			t.Errorf("the question was not taken back: %s", got.Raw())
		}
		if got, want := string(seen["notifications/elicitation/complete"].Params()), `{"elicitationId":`+id+`,"status":"completed","result":{"port":8080}}`; got != want {
			t.Errorf("the client is told %s\nwant %s", got, want)
		}
		s.wantComplete(id, `"status":"completed","result":{"port":8080}`)
		wantError(t, "submitted again", c.call("5", "elicitation/submit", `{"elicitationId":`+id+`,"responses":{"port":8080}}`), -32602, wire.ReasonCompleted)
		call.answer(`{}`)
		c.wantID("the result", "1")
		c.leave()
		<-c.left
	})
}

// C8, C10: a client that did not say that it knows forms hears nothing of them but
// questions, and neither does a modern one that said so.
func TestClientThatDoesNotKnowForms(t *testing.T) {
	legacyBackends(t, 0, func(p *pairing) {
		call := p.call("1", "")
		call.conn.send(defines, "0")
		p.s.want("the handle", "")
		asked := p.asked()
		time.Sleep(119 * time.Second)
		synctest.Wait()
		if len(p.c.got) > 0 {
			p.t.Errorf("the client got %s", (<-p.c.got).Raw())
		}
		p.gives(asked, accepting(`{"port":8080}`))
		p.s.want("the end", "notifications/elicitation/complete")
		p.finish(call)
	})
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		caps := `{"elicitation":{},` + experimental + `}`
		c.withCaps("1", "tools/call", `"name":"do"`, caps)
		call := s.want("the call", "tools/call")
		call.conn.send(defines, "0")
		s.want("the handle", "")
		asked := c.wantID("the question", "1")
		params := wire.Get(asked.Result(), "inputRequests", "r1", "params")
		if wire.Get(params, "formDefinition") != nil || wire.Get(params, "elicitationId") != nil {
			t.Errorf("the client is asked %s", params)
		}
		time.Sleep(100 * time.Second)
		c.withCaps("2", "tools/call", `"name":"do",`+retry(t, asked, accepting(`{"port":8080}`)), caps)
		s.want("the end", "notifications/elicitation/complete")
		call.answer(`{}`)
		c.wantID("the result, and nothing before it", "2")
		c.leave()
		<-c.left
	})
}

// R109: a form that can be shown to nobody gets its handle all the same, and its end
// behind that, never before.
func TestHandleBeforeItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly("1", "completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}`)
		completion := s.want("the request", "completion/complete")
		completion.conn.send(defines, "0")
		id := string(wire.Get(s.want("the handle", "").Result(), "elicitationId"))
		s.wantComplete(id, `"status":"abandoned","reason":"client_disconnected"`)
		completion.answer(`{"completion":{"values":[]}}`)
		c.wantID("the completion", "1")
		c.leave()
		<-c.left
	})
}

// R109, R111: whatever happens to a form at the same time, the backend hears of one end,
// and the client that knows forms of the same.
func TestOneEndOfAForm(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, "a")
			s.attributes = true
			c, _ := knowing(t, gateway(t, relay.Options{}, s))
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
			call := s.want("the call", "tools/call")
			call.sendOn(defines, "0")
			asked := c.want("the question", "elicitation/create")
			id := string(wire.Get(asked.Params(), "elicitationId"))
			s.want("the handle", "")
			var all sync.WaitGroup
			all.Go(func() {
				for i, m := range []string{
					`"id":%[1]d,"method":"elicitation/submit","params":{"elicitationId":%[2]s,"responses":{"port":8080}}`,
					`"id":%[1]d,"method":"elicitation/extend_timeout","params":{"elicitationId":%[2]s}`,
					`"id":%[3]s,"result":{"action":"decline"}`,
					`"id":%[1]d,"method":"elicitation/cancel","params":{"elicitationId":%[2]s}`,
				} {
					c.send(`{"jsonrpc":"2.0",%s}`, fmt.Sprintf(m+"%.0[1]d%.0[2]s%.0[3]s", 10+i, id, asked.ID()))
				}
			})
			all.Go(func() { call.answer(`{}`) })
			all.Wait()
			time.Sleep(time.Hour)
			synctest.Wait()
			var ends []string
			for len(s.got) > 0 {
				if m := <-s.got; m.Method() == "notifications/elicitation/complete" {
					ends = append(ends, string(wire.Get(m.Params(), "status")))
				}
			}
			for len(c.got) > 0 {
				if m := <-c.got; m.Method() == "notifications/elicitation/complete" {
					ends = append(ends, string(wire.Get(m.Params(), "status")))
				}
			}
			if len(ends) != 2 || ends[0] != ends[1] {
				t.Errorf("the form ended with %v", ends)
			}
			c.leave()
			<-c.left
		})
	}
}

// C12: a form says its terms; where it does not its backend does, and else the gateway.
func TestTermsOfAForm(t *testing.T) {
	const plain = `{"id":"f","title":"F","fields":[{"id":"a","type":"text","label":"A"}]`
	o := relay.Options{Forms: map[string]relay.Policy{"a": {Terms: forms.Terms{Timeout: 20 * time.Second, MaxAttempts: 1}}}}
	for _, tt := range []struct {
		name, definition, want string
		o                      relay.Options
	}{
		{"the form", plain + `,"timeout":90000,"max_attempts":5}`, "90000 5", o},
		{"the backend", plain + `}`, "20000 1", o},
		{"the gateway", plain + `}`, "300000 3", relay.Options{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, "a")
			c, _ := connect(t, gateway(t, tt.o, s))
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
			s.want("the call", "tools/call").conn.send(`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"formDefinition":%s}}`, tt.definition)
			handle := s.want("the handle", "").Result()
			if got := fmt.Sprintf("%s %s", wire.Get(handle, "timeout_config", "initial_timeout"), wire.Get(handle, "retry_limit")); got != tt.want {
				t.Errorf("the terms are %s, want %s", got, tt.want)
			}
		})
	}
}
