package relay_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/park"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// definition asks for a port, and says its own terms.
const definition = `{"id":"ports","title":"Which port?","fields":[{"id":"port","type":"number","label":"Port","required":true,` +
	`"validation":{"minimum":1024,"multipleOf":1}},{"id":"name","type":"text","label":"Name"}],` +
	`"timeout_config":{"initial_timeout":120000,"extension_duration":60000,"max_extensions":2,"warn_before":30000}}`

// ports asks for the same in the words of the specification.
const ports = `{"message":"Which port?","requestedSchema":{"type":"object","properties":{"port":{"type":"integer","minimum":1024},"name":{"type":"string"}},"required":["port"]}}`

// beside is a definition with a schema beside it: a question of the specification.
const beside = `{"mode":"form","message":"Which port?","formDefinition":` + definition + `,"requestedSchema":{"type":"object","properties":{}}}`

// asksFor lets the backend ask with params, and returns the question at the client.
func (p *pairing) asksFor(call arrived, params string) wire.Message {
	p.t.Helper()
	if p.backYoung {
		call.answer(`{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":%s}},"requestState":"s"}`, params)
	} else {
		call.conn.send(`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":%s}`, params)
	}
	return p.asked()
}

// asked returns the next question at the client.
func (p *pairing) asked() wire.Message {
	p.t.Helper()
	if p.young {
		return p.c.wantID("the question", fmt.Sprint(p.legs+1))
	}
	return p.c.want("the question", "elicitation/create")
}

// shows returns the params of a question at the client.
func (p *pairing) shows(asked wire.Message) []byte {
	p.t.Helper()
	if !p.young {
		return asked.Params()
	}
	for _, request := range wire.Members(wire.Get(asked.Result(), "inputRequests")) {
		return wire.Get(request, "params")
	}
	p.t.Fatalf("nothing is asked: %s", asked.Raw())
	return nil
}

// gives lets the client answer a question.
func (p *pairing) gives(asked wire.Message, answer string) {
	p.t.Helper()
	if p.young {
		p.legs++
		p.c.modernly(fmt.Sprint(p.legs+1), "tools/call", retry(p.t, asked, answer)+`,"name":"do"`)
		return
	}
	p.c.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID(), answer)
}

// told returns what the backend is answered, and the call to answer now.
func (p *pairing) told(call arrived) ([]byte, arrived) {
	p.t.Helper()
	if p.backYoung {
		again := p.s.want("the retry", "tools/call")
		if state := string(wire.Get(again.Params(), "requestState")); state != `"s"` {
			p.t.Errorf("the retry has the state %s", state)
		}
		return wire.Get(again.Params(), "inputResponses", "q"), again
	}
	return p.s.want("the answer", "").Result(), call
}

// finish ends the call with a result, which is the next that the client gets.
func (p *pairing) finish(call arrived) {
	p.t.Helper()
	call.answer(`{"content":[],"resultType":"complete"}`)
	p.c.wantID("the result", fmt.Sprint(p.legs+1))
}

func accepting(content string) string { return `{"action":"accept","content":` + content + `}` }

func message(params []byte) string {
	text, _ := wire.Text(params, "message")
	return text
}

// R101, R106, R108, C9, C20: a form definition with a schema beside it is a question of
// the specification. A plain client sees the flat schema and the hints, is asked again
// until the answer fits, with what was right as defaults and in words what was wrong;
// the answer is coerced, and is the response to the question.
func TestFormIsAskedUntilItFits(t *testing.T) {
	pairings(t, 0, func(p *pairing) {
		call := p.call("1", "")
		asked := p.asksFor(call, beside)
		first := p.shows(asked)
		if wire.Get(first, "formDefinition") != nil || string(wire.Get(first, "requestedSchema", "properties", "port", "type")) != `"integer"` ||
			wire.Get(first, "_meta", "dev.beckon/form") == nil {
			p.t.Errorf("the client is asked %s", first)
		}
		for i, wrong := range []string{`{"port":80,"name":"web"}`, `{"port":"many","name":"web"}`} {
			p.gives(asked, accepting(wrong))
			asked = p.asked()
			again := p.shows(asked)
			if !strings.Contains(message(again), "Port") || string(wire.Get(again, "requestedSchema", "properties", "name", "default")) != `"web"` {
				p.t.Errorf("attempt %d: asked again with %s", i, again)
			}
			if string(wire.Get(again, "elicitationId")) != string(wire.Get(first, "elicitationId")) {
				p.t.Errorf("attempt %d: another elicitationId", i)
			}
		}
		p.gives(asked, accepting(`{"port":"8080"}`))
		got, call := p.told(call)
		if string(got) != `{"action":"accept","content":{"port":8080}}` {
			p.t.Errorf("the backend got %s", got)
		}
		p.finish(call)
		if len(p.s.got) > 0 {
			p.t.Errorf("the backend got %s too", (<-p.s.got).Raw())
		}
	})
}

// R105, R121: the third wrong answer is the last: a backend that waits gets the error,
// and at one that does not the call ends with it, in the words of the client's era.
func TestFormIsGivenUp(t *testing.T) {
	pairings(t, 0, func(p *pairing) {
		call := p.call("1", "")
		asked := p.asksFor(call, beside)
		for i := range 3 {
			p.gives(asked, accepting(`{"port":1}`))
			if i < 2 {
				asked = p.asked()
			}
		}
		var got wire.Message
		code := -32007
		switch {
		case !p.backYoung:
			got = p.s.want("the error", "").Message
		case p.young:
			code = -32602
			fallthrough
		default:
			got = p.c.wantID("the error", fmt.Sprint(p.legs+1))
		}
		wantError(p.t, "the third time", got, code, wire.ReasonAttempts)
		data := wire.Get(got.Error(), "data")
		for name, want := range map[string]string{"type": `"validation"`, "retry_allowed": "false", "retry_limit": "3", "retry_count": "3"} {
			if v := string(wire.Get(data, name)); v != want {
				p.t.Errorf("data.%s is %s, want %s", name, v, want)
			}
		}
		if !p.backYoung {
			p.finish(call)
		}
		synctest.Wait()
		if len(p.s.got)+len(p.c.got) > 0 {
			p.t.Error("something was said besides")
		}
	})
}

// C2: what becomes of an answer that does not fit the schema of a backend is the
// operator's to say; what fits passes byte for byte in any case.
func TestValidateInEachPairing(t *testing.T) {
	for _, validate := range []input.Validation{input.ValidateOff, input.ValidateWarn, input.ValidateEnforce, input.ValidateReprompt} {
		t.Run(string(validate), func(t *testing.T) {
			o := relay.Options{Forms: map[string]relay.Policy{"a": {Validate: validate}}}
			pairingsWith(t, o, 0, func(p *pairing) {
				const good, bad = `{"content":{"port":8080, "name":"\u0041"},"action":"accept","x":1.0}`, `{"action":"accept", "content":{"port":"8080"}}`
				call := p.call("1", "")
				asked := p.asksFor(call, ports)
				if got := message(p.shows(asked)); got != "Which port?" {
					p.t.Errorf("the client is asked %s", got)
				}
				p.gives(asked, good)
				got, call := p.told(call)
				if string(got) != good {
					p.t.Errorf("the backend got %s, want %s", got, good)
				}
				p.finish(call)

				p.legs++
				call = p.call(fmt.Sprint(p.legs+1), "")
				asked = p.asksFor(call, ports)
				p.gives(asked, bad)
				switch validate {
				case input.ValidateEnforce:
					p.wantInvalid(wire.ReasonValidation)
					return
				case input.ValidateReprompt:
					asked = p.asked()
					if text := message(p.shows(asked)); !strings.HasPrefix(text, "Which port?") || !strings.Contains(text, "port") {
						p.t.Errorf("asked again: %s", text)
					}
					p.gives(asked, good)
					got, call = p.told(call)
					if string(got) != good {
						p.t.Errorf("the backend got %s, want %s", got, good)
					}
				default:
					got, call = p.told(call)
					if string(got) != bad {
						p.t.Errorf("the backend got %s, want %s", got, bad)
					}
				}
				if p.young {
					p.finish(call)
				}
			})
		})
	}
}

// wantInvalid takes the error of an answer that did not fit, from where it goes.
func (p *pairing) wantInvalid(reason wire.Reason) {
	p.t.Helper()
	switch {
	case !p.backYoung:
		wantError(p.t, "the error", p.s.want("the error", "").Message, -32007, reason)
	case p.young:
		wantError(p.t, "the error", p.c.wantID("the error", fmt.Sprint(p.legs+1)), -32602, reason)
	default:
		wantError(p.t, "the error", p.c.next("the error"), -32007, reason)
	}
}

// C10, C18, D9: between two of the modern era, what asks no form that concerns Beckon
// passes as before, state and all, whatever the operator wants done with forms.
func TestModernToModernStillPasses(t *testing.T) {
	s := newModern(t, "a").lists("server/discover", `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	c := attach(t, gateway(t, relay.Options{Forms: map[string]relay.Policy{"a": {Validate: input.ValidateReprompt}}}, s))
	for i, asks := range []string{
		`{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}},"requestState":"s\u0031"}`,
		`{"resultType":"input_required", "inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x.example/"}}}}`,
		`{"resultType":"input_required","requestState":""}`,
		`{"resultType":"complete","content":[ ]}`,
	} {
		id := fmt.Sprint(i)
		c.modernly(id, "tools/call", `"name":"do"`)
		s.want("the call", "tools/call").answer("%s", asks)
		wantResult(t, asks, c.wantID("the result", id), asks)
	}
	c.modernly("9", "tools/call", `"name":"do","inputResponses":{"q":{"roots":[ ]}},"requestState":"s\u0031"`)
	again := s.want("the retry", "tools/call")
	if string(wire.Get(again.Params(), "requestState")) != `"s\u0031"` || string(wire.Get(again.Params(), "inputResponses")) != `{"q":{"roots":[ ]}}` {
		t.Errorf("the backend got %s", again.Raw())
	}
	again.answer(`{"resultType":"complete"}`)
	c.wantID("the result", "9")
}

// D4, D13: the clock of a call stands while its form is open, through every time that it
// is asked; and the form ends at its own time, after which no answer counts.
func TestFormAndClockInEachPairing(t *testing.T) {
	pairings(t, 10*time.Second, func(p *pairing) {
		call := p.call("1", "")
		time.Sleep(4 * time.Second)
		began := time.Now()
		asked := p.asksFor(call, beside)
		time.Sleep(50 * time.Second)
		p.gives(asked, accepting(`{"port":1}`))
		asked = p.asked()
		time.Sleep(time.Until(began.Add(2*time.Minute - time.Millisecond)))
		synctest.Wait()
		if len(p.c.got)+len(p.s.got) > 0 {
			p.t.Fatal("the form ends early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if !p.backYoung {
			wantError(p.t, "the backend", p.s.want("the timeout", "").Message, -32000, wire.ReasonTimeout)
		}
		if !p.young {
			p.c.want("the question is taken back", "notifications/cancelled")
		}
		p.gives(asked, accepting(`{"port":8080}`))
		synctest.Wait()
		if len(p.s.got) > 0 {
			p.t.Errorf("the backend got %s", (<-p.s.got).Raw())
		}
		switch {
		case !p.backYoung: // what is left of the clock is what was left of it
			time.Sleep(6*time.Second - time.Millisecond)
			synctest.Wait()
			if len(p.c.got) > 0 {
				p.t.Fatal("the call ends early")
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if len(p.c.got) == 0 {
				p.t.Fatal("the call goes on: its clock still stands")
			}
			wantError(p.t, "the call", p.c.wantID("the call", fmt.Sprint(p.legs+1)), map[bool]int{true: -32603, false: -32000}[p.young], wire.ReasonTimeout)
			p.s.want("the end of the call", "notifications/cancelled")
		case p.young:
			wantError(p.t, "the call", p.c.wantID("the call", "3"), -32603, wire.ReasonTimeout)
		default:
			wantError(p.t, "the call", p.c.wantID("the call", "1"), -32000, wire.ReasonTimeout)
		}
	})
}

// D1: a right answer to what was asked before is no answer to what is asked now: the
// person has not seen what was wrong. It changes nothing.
func TestAnswerToWhatWasAskedBefore(t *testing.T) {
	pairings(t, 0, func(p *pairing) {
		call := p.call("1", "")
		first := p.asksFor(call, beside)
		p.gives(first, accepting(`{"port":80}`))
		second := p.asked()
		p.gives(first, accepting(`{"port":1111}`))
		synctest.Wait()
		if len(p.s.got) > 0 {
			p.t.Fatalf("the backend got %s", (<-p.s.got).Raw())
		}
		if p.young {
			second = p.asked() // which is asked again, as of every leg that answers nothing
		}
		p.gives(second, accepting(`{"port":2222}`))
		got, call := p.told(call)
		if string(got) != accepting(`{"port":2222}`) {
			p.t.Errorf("the backend got %s", got)
		}
		p.finish(call)
	})
}

// C18: between two of the modern era, all that is asked beside a form goes the same way;
// names, sealed states and what the client said of itself are as they were.
func TestTakenOverAsAWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newModern(t, "a"), newModern(t, "b")
		for _, s := range []*server{a, b} {
			s.seal = true
			s.lists("server/discover", `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		}
		c := attach(t, gateway(t, relay.Options{}, a, b))
		c.modernly("1", "tools/call", `"name":"b__do","arguments":{"n":1.0}`, `"progressToken":"mine","k":1.0`)
		call := b.want("the call", "tools/call")
		call.answer(`{"resultType":"input_required","requestState":"one"}`)
		passed := c.wantID("a round that only passes", "1")
		if state, _ := wire.Text(passed.Result(), "requestState"); !strings.HasPrefix(state, "bs1.") {
			t.Errorf("the state is %s", state)
		}
		c.modernly("2", "tools/call", `"name":"b__do","arguments":{"n":1.0},"requestState":`+string(wire.Get(passed.Result(), "requestState")), `"progressToken":"mine","k":1.0`)
		call = b.want("the retry", "tools/call")
		if got := string(wire.Get(call.Params(), "requestState")); got != `"one"` {
			t.Errorf("the backend gets the state %s", got)
		}
		call.answer(`{"resultType":"input_required","inputRequests":{"f":{"method":"elicitation/create","params":%s},"r":{"method":"roots/list"}},"requestState":"two"}`, beside)
		asked := c.wantID("the questions", "2")
		state, _ := wire.Text(asked.Result(), "requestState")
		if !strings.HasPrefix(state, "bk1.") {
			t.Errorf("the state is %s", state)
		}
		answers := map[string]string{"elicitation/create": accepting(`{"port":"8080"}`), "roots/list": `{"roots":[ ]}`}
		var given []string
		for key, request := range wire.Members(wire.Get(asked.Result(), "inputRequests")) {
			method, _ := wire.Text(request, "method")
			given = append(given, fmt.Sprintf("%q:%s", key, answers[method]))
		}
		c.modernly("3", "tools/call", `"name":"b__do","arguments":{"n":1.0},"inputResponses":{`+strings.Join(given, ",")+`},"requestState":"`+state+`"`, `"progressToken":"other"`)
		call = b.want("the second retry", "tools/call")
		if got := string(wire.Get(call.Params(), "inputResponses")); got != `{"f":{"action":"accept","content":{"port":8080}},"r":{"roots":[ ]}}` {
			t.Errorf("the backend gets the answers %s", got)
		}
		if got := string(wire.Get(call.Params(), "requestState")); got != `"two"` || string(wire.Get(call.Params(), "name")) != `"do"` ||
			string(wire.Get(call.Params(), "arguments")) != `{"n":1.0}` || string(wire.Get(call.Params(), "_meta", "k")) != "1.0" {
			t.Errorf("the backend gets %s", call.Raw())
		}
		call.conn.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, wire.Get(call.Params(), "_meta", "progressToken"))
		if got := c.want("progress", "notifications/progress"); string(wire.Get(got.Params(), "progressToken")) != `"other"` {
			t.Errorf("progress is %s", got.Raw())
		}
		call.answer(`{"resultType":"complete", "content":[ ]}`)
		wantResult(t, "the result", c.wantID("the result", "3"), `{"resultType":"complete", "content":[ ]}`)
		c.leave()
		<-c.left
	})
}

// The state of a call that was taken over is Beckon's, and the backend never sees it: not
// even when it comes in a request that says something else of its client, whose session
// has not been at the backend yet.
func TestTakenOverAndGoneOnElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newModern(t, "a")
		c := attach(t, gateway(t, relay.Options{}, s))
		c.modernly("1", "tools/call", `"name":"do"`)
		s.want("the call", "tools/call").answer(`{"resultType":"input_required","inputRequests":{"f":{"method":"elicitation/create","params":%s}},"requestState":"one"}`, beside)
		asked := c.wantID("the question", "1")
		c.withCaps("2", "tools/call", `"name":"do",`+retry(t, asked, accepting(`{"port":"8080"}`)), `{"elicitation":{"form":{}}}`)
		call := s.want("the retry", "tools/call")
		if got := string(wire.Get(call.Params(), "requestState")); got != `"one"` {
			t.Errorf("the backend gets the state %s", got)
		}
		if got := string(wire.Get(call.Params(), "inputResponses")); got != `{"f":{"action":"accept","content":{"port":8080}}}` {
			t.Errorf("the backend gets the answers %s", got)
		}
		call.answer(`{"resultType":"complete","content":[]}`)
		c.wantID("the result", "2")
		c.leave()
		<-c.left
	})
}

// A client of the modern era that cancels, or never comes back, ends a call that was taken
// over as any that is parked: the backend is told nothing, because it does not wait.
func TestTakenOverAndLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newModern(t, "a").lists("server/discover", `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		b := input.NewBroker(input.Limits{Timeout: time.Minute, Total: 10, PerSession: 10}, ignore{})
		r := gateway(t, relay.Options{Broker: b}, s)
		c := attach(t, r)
		c.modernly("1", "tools/call", `"name":"do"`)
		s.want("the call", "tools/call").answer(`{"resultType":"input_required","inputRequests":{"f":{"method":"elicitation/create","params":%s}}}`, beside)
		asked := c.wantID("the question", "1")
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if b.Len()+r.Parked() != 0 || len(s.got) > 0 {
			t.Errorf("%d questions are open, %d calls parked; the backend got %d messages", b.Len(), r.Parked(), len(s.got))
		}
		got := c.ask("2", "tools/call", `"name":"do",`+retry(t, asked, accepting(`{"port":8080}`)))
		if got.Kind() != wire.Failure || len(s.got) > 0 {
			t.Errorf("a late answer: %s", got.Raw())
		}
		c.leave()
		<-c.left
	})
}

// C18: questions that a modern backend asks together are asked together, and wait for no
// others; and none of them is asked when one is refused.
func TestTakenOverRoundIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newModern(t, "a").lists("server/discover", `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		const gather = 100 * time.Millisecond
		c := attach(t, gateway(t, relay.Options{Park: park.Options{Gather: gather}}, s))
		asks := func(id, requests string) wire.Message {
			c.modernly(id, "tools/call", `"name":"do"`)
			s.want("the call", "tools/call").answer(`{"resultType":"input_required","inputRequests":{%s}}`, requests)
			return c.wantID("the questions", id)
		}
		form := `{"method":"elicitation/create","params":` + beside + `}`
		roots := `{"method":"roots/list"}`
		for i, tt := range []struct {
			requests string
			want     int
			took     time.Duration
		}{
			{`"f":` + form, 1, gather},
			{`"r":` + roots + `,"f":` + form + `,"q":` + roots, 3, 0},
		} {
			got, began := 0, time.Now()
			for range wire.Members(wire.Get(asks(strconv.Itoa(i), tt.requests).Result(), "inputRequests")) {
				got++
			}
			if took := time.Since(began); got != tt.want || took != tt.took {
				t.Errorf("%s: %d questions after %v, want %d after %v", tt.requests, got, took, tt.want, tt.took)
			}
		}
		bad := asks("9", `"r":`+roots+`,"f":{"method":"elicitation/create","params":{"mode":"form","formDefinition":{}}},"q":`+roots)
		wantError(t, "one is refused", bad, -32603, wire.ReasonSchema)
		c.leave()
		<-c.left
	})
}
