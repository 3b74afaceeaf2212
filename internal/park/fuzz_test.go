package park

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// parked is a lot with one parked call that asks two things, and the state of it.
func parked(f *testing.F) (*stand, string) {
	f.Helper()
	key := make([]byte, minKey) // of this process: the states of other fuzz workers are not ours
	rand.Read(key)
	s := newStand(f, Options{Gather: 50 * time.Millisecond, Keys: [][]byte{key}})
	l := &leg{request: request(f, 1, deploy)}
	m := s.Begin(f.Context(), l, partyOf(someone), func(ctx context.Context, c *Call) wire.Message {
		s.openForm(c)
		s.open(c, "sampling/createMessage", `"messages":[]`)
		<-ctx.Done()
		return result("stopped")
	})
	state, _ := wire.Text(m.Result(), "requestState")
	return s, state
}

// Whatever comes as a requestState, only the one that was given is taken, and no
// other gets more than the constant text.
func FuzzRequestState(f *testing.F) {
	s, state := parked(f)
	for _, seed := range []string{state, "", "bk1.", "bk1.x.y", state[:40], state + "\n", "bs1" + state[3:]} {
		f.Add(seed)
	}
	sealed := s.Seal("inner", partyOf(someone), request(f, 1, deploy))
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, text string) {
		p := partyOf(someone)
		if _, ok := s.Peek(text); ok && text != state {
			t.Errorf("Peek takes %q", text)
		}
		req := request(t, 2, retry(deploy, "", "")).WithParams(wire.Set([]byte(`{}`), wire.Quote(text), "requestState"))
		if _, err := s.Open(text, p, req); err == nil {
			t.Errorf("Open takes %q, for another request", text)
		}
		m := s.Resume(t.Context(), &leg{request: req}, p)
		if got, _ := wire.Text(m.Error(), "message"); got != invalidText {
			t.Errorf("%q is answered with %s", text, m.Raw())
		}
	})
}

// Whatever is in a sealed state, reading it does no harm, and what is read is what
// was written.
func FuzzHandle(f *testing.F) {
	keys, err := newKeyring([][]byte{testKey})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(handle{owner: "o", bond: bond{backend: "b"}}.append(nil))
	f.Fuzz(func(t *testing.T, plain []byte) {
		if h, ok := keys.openHandle(keys.seal(calls, plain)); ok && string(h.append(nil)) != string(plain) {
			t.Errorf("%x is read as %+v", plain, h)
		}
	})
}

// Whatever comes as inputResponses is an error of that leg, or an answer as the
// backend can take it.
func FuzzInputResponses(f *testing.F) {
	s, _ := parked(f)
	var c *Call
	for _, c = range s.calls {
	}
	for _, seed := range []string{
		`{}`, `[]`, `null`, `{"r1":{"action":"accept"}}`, `{"r2":{}}`, `{"r1":{"action":"accept"},"r2":5}`,
		`{"\u00721":{"action":"decline"}}`, `{"r1":{"action":"accept"},"r1":{}}`, `{"r3":1}`, `{"r1":{"\u0061ction":"cancel"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, responses []byte) {
		m, err := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"inputResponses":%s}}`, responses))
		if err != nil || m.Method() != "tools/call" {
			return
		}
		c.mu.Lock()
		answers, refused := c.answers(m)
		c.mu.Unlock()
		if refused != nil && (len(answers) > 0 || refused.Code != wire.CodeInvalidParams) {
			t.Errorf("%s gives %v and %v", responses, answers, refused)
		}
		for _, a := range answers {
			r := wire.NewResult("1", a.value) // does not panic
			action, _ := wire.Text(r.Result(), "action")
			if a.ask.request.Kind == input.Form && action != "accept" && action != "decline" && action != "cancel" {
				t.Errorf("%s is taken for an answer", a.value)
			}
		}
	})
}

// Whatever a backend asks is refused, or fits into a response that says the same.
func FuzzInputRequired(f *testing.F) {
	for _, seed := range []string{
		`{"message":"m","requestedSchema":{}}`, `null`, `{}`, `{"_meta":{"progressToken":1},"elicitationId":"e","message":"m"}`,
		`{"_meta":{},"x":"}"}`, "{\n \"_meta\" : { \"progressToken\":1 , \"a\":2 } }", `{"elicitationId":1}`, `{"mode":"url","url":"u"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		m, err := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":%s}`, params))
		if err != nil || m.Method() != "elicitation/create" {
			return
		}
		s := newStand(t, Options{})
		asked := make(chan *input.Request, 1)
		response := s.Begin(t.Context(), &leg{request: request(t, 1, deploy)}, partyOf(someone), func(ctx context.Context, c *Call) wire.Message {
			done := make(chan input.Answer, 1)
			q := input.Question{Message: m, Caps: partyOf("").Caps}
			r, err := s.broker.Open(q, c, func(_ *input.Request, a input.Answer) { done <- a })
			if err != nil {
				return wire.NewFailure("1", err)
			}
			asked <- r
			select {
			case <-ctx.Done():
			case <-done:
			}
			return result("stopped")
		})
		got := wire.Get(response.Result(), "inputRequests", "r1", "params")
		if got == nil {
			return // refused
		}
		for _, gone := range [][]string{{"elicitationId"}, {"_meta", "progressToken"}} {
			if wire.Get(got, gone...) != nil {
				t.Errorf("%s still has %v", got, gone)
			}
		}
		for name, value := range wire.Members((<-asked).Ask().Params()) {
			if name != "elicitationId" && name != "_meta" && string(wire.Get(got, name)) != string(value) {
				t.Errorf("%q is %s, was %s", name, wire.Get(got, name), value)
			}
		}
	})
}

// Every request has a digest, which is that of all its spellings.
func FuzzRequestDigest(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"b":1,"a":{"d":1.0,"c":"\u0061"}}`, `{"n":1e999,"m":-0,"k":9007199254740993}`, `{"_meta":5,"requestState":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		m, err := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":%s}`, params))
		if err != nil || m.Method() != "tools/call" || m.Params()[0] != '{' {
			return
		}
		again := m.WithParams(wire.Set(wire.Canonical(m.Params()), []byte(`{"x":1}`), "inputResponses"))
		if requestDigest(m) != requestDigest(again) {
			t.Errorf("%s and %s differ", m.Raw(), again.Raw())
		}
	})
}
