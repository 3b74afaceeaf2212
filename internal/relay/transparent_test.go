package relay_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

const form = `{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"requestedSchema":{"properties":{"b":{"type":"number","minimum":1.0},"a":{"type":"string"}},"type":"object"},"message":"who?","x":[1.10]}}`

// R1, R19, R57, D8: a backend of a client sees that client's capabilities, and
// the client sees the backend's handshake, byte for byte.
func TestHandshakeIsTransparent(t *testing.T) {
	s := newServer(t, "one")
	s.hello = `{ "serverInfo":{"version":"1.0","name":"x"},"capabilities":{"z":{},"tools":{}}, "protocolVersion":"2025-06-18","instructions":"do" }`
	_, hello := connect(t, gateway(t, relay.Options{}, s))
	wantResult(t, "handshake", hello, s.hello)
	want := `{"protocolVersion":"2025-11-25","capabilities":` + capable + `,"clientInfo":{"name":"c","version":"1"}}`
	if got := string((<-s.offered).Params()); got != want {
		t.Errorf("the backend was offered\n%s, want\n%s", got, want)
	}
}

// R66, R84: what is switched off is not advertised to the backend.
func TestOffIsNotAdvertised(t *testing.T) {
	s := newServer(t, "one")
	r := gateway(t, relay.Options{Off: map[input.Kind]bool{input.Form: true, input.URL: true}}, s)
	c := attach(t, r)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s}}`, capable)
	c.wantID("handshake", "1")
	got := (<-s.offered).Params()
	if wire.Get(got, "capabilities", "elicitation") != nil || wire.Get(got, "capabilities", "sampling") == nil {
		t.Errorf("the backend was offered %s, want sampling and no elicitation", got)
	}
}

// R2 to R10, R20 to R28, R56, D9: a question reaches the client whose call caused
// it as the backend wrote it, and the answer goes back as the client wrote it,
// under the backend's id.
func TestQuestionAndAnswer(t *testing.T) {
	s := newServer(t, "one")
	c, _ := connect(t, gateway(t, relay.Options{}, s))
	for _, tt := range []struct{ name, ask, answer string }{
		{"form", form, `{"content":{"b":1.50,"a":"\u0041"},"action":"accept","y":{}}`},
		{"partial", form, `{"action":"accept","content":{}}`},
		{"declined", form, `{"action":"decline"}`},
		{"cancelled", form, `{"action":"cancel"}`},
		{"url", `{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"mode":"url","url":"https://x.example/?q=1","message":"m","elicitationId":"e"}}`, `{"action":"accept"}`},
		{"sampling", `{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"temperature":0.10,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1e2}}`, `{"role":"assistant","content":{"type":"text","text":"ho"},"model":"m","stopReason":"endTurn"}`},
		{"roots", `{"jsonrpc":"2.0","id":%s,"method":"roots/list"}`, `{"roots":[{"uri":"file:///a"}]}`},
		{"of another family", `{"jsonrpc":"2.0","id":%s,"method":"acme/ask","params":{"x":1}}`, `{"y":2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
			call := s.want("the call", "tools/call")
			call.conn.send(tt.ask, `"q"`)
			sent := parse(t, sprintf(tt.ask, `"q"`))
			asked := c.want("the question", sent.Method())
			if got, want := string(asked.WithID(`"q"`).Raw()), string(sent.Raw()); got != want {
				t.Errorf("the client is asked\n%s, want\n%s", got, want)
			}
			c.send(`{"result":%s, "id":%s, "jsonrpc":"2.0"}`, tt.answer, asked.ID())
			back := s.want("the answer", "")
			if got, want := string(back.Raw()), `{"result":`+tt.answer+`, "id":"q", "jsonrpc":"2.0"}`; got != want {
				t.Errorf("the backend is answered\n%s, want\n%s", got, want)
			}
			call.answer(`{}`)
			c.wantID("the call", "1")
		})
	}
}

// R24, D7: a refusal in the form of an error goes back at once, as it is.
func TestClientError(t *testing.T) {
	s := newServer(t, "one")
	c, _ := connect(t, gateway(t, relay.Options{}, s))
	_, asked := askForm(c, s, `1`, `0`)
	c.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"User rejected","data":{"k":1.0}}}`, asked.ID())
	if got := s.want("the error", ""); string(got.Raw()) != `{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"User rejected","data":{"k":1.0}}}` {
		t.Errorf("the backend got %s", got.Raw())
	}
}

// R11, R12, R29, R30: what the backend cancels is cancelled at the client under
// the client's id; an answer that comes all the same goes nowhere, and the
// connection lives on (D1).
func TestBackendCancelsQuestion(t *testing.T) {
	s := newServer(t, "one")
	c, _ := connect(t, gateway(t, relay.Options{}, s))
	call, asked := askForm(c, s, `1`, `7`)
	call.conn.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"too late"}}`)
	gone := c.want("the cancellation", "notifications/cancelled")
	if id := string(wire.Get(gone.Params(), "requestId")); id != string(asked.ID()) {
		t.Errorf("cancelled %s, want %s", id, asked.ID())
	}
	c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, asked.ID())
	call.answer(`{}`)
	c.wantID("the call goes on", "1")
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}`)
	s.want("nothing of the late answer", "tools/call").answer(`{}`)
	c.wantID("the next call", "2")
}

// R13, D3: a client that cancels its call takes the questions of the call along;
// the backend hears of both under its own ids, whatever their type.
func TestClientCancelsCall(t *testing.T) {
	for _, id := range []string{`5`, `"five"`} {
		t.Run(id, func(t *testing.T) {
			s := newServer(t, "one")
			c, _ := connect(t, gateway(t, relay.Options{}, s))
			call, _ := askForm(c, s, id, `7`)
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"enough"}}`, id)
			c.want("the question is taken back", "notifications/cancelled")
			first := s.want("the cancellation comes first", "notifications/cancelled")
			if got := string(first.Params()); got != `{"requestId":`+string(call.ID())+`,"reason":"enough"}` {
				t.Errorf("the backend hears %s", got)
			}
			wantError(t, "the question", s.want("its question comes after", "").Message, -32000, wire.ReasonWithdrawn)
		})
	}
}

// C15: a client that cancels our question instead of answering means cancel.
func TestClientCancelsQuestion(t *testing.T) {
	s := newServer(t, "one")
	c, _ := connect(t, gateway(t, relay.Options{}, s))
	_, asked := askForm(c, s, `1`, `7`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, asked.ID())
	wantResult(t, "the answer", s.want("the answer", "").Message, `{"action":"cancel"}`)
}

// R5, R23, R64, D11: a client that leaves with a question open is an error for the
// backend, at once; it is no decline.
func TestClientLeaves(t *testing.T) {
	s := newServer(t, "one")
	c, _ := connect(t, gateway(t, relay.Options{}, s))
	askForm(c, s, `1`, `7`)
	c.leave()
	for {
		if m := s.next("the question fails"); m.Kind() == wire.Failure {
			wantError(t, "the question", m.Message, -32000, wire.ReasonClientGone)
			break
		}
	}
	<-c.left
}

// R14, R15, R65: nobody answers.
func TestQuestionTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "one")
		c, _ := connect(t, gateway(t, relay.Options{TimeoutCode: -32001}, s))
		askForm(c, s, `1`, `7`)
		time.Sleep(time.Minute - time.Millisecond)
		synctest.Wait()
		if len(s.got) > 0 {
			t.Error("the question ends early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if len(s.got) == 0 {
			t.Error("the question ends late")
		}
		c.want("the question is taken back", "notifications/cancelled")
		wantError(t, "the backend is told", s.want("the timeout", "").Message, -32001, wire.ReasonTimeout)
		c.leave()
		<-c.left
	})
}

// D4: a call that works too long is cancelled; one that waits for a person is
// not.
func TestCallTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "one")
		s.limit = 10 * time.Second
		c, _ := connect(t, gateway(t, relay.Options{}, s))
		_, asked := askForm(c, s, `1`, `7`)
		time.Sleep(30 * time.Second)
		c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, asked.ID())
		s.want("the answer", "")
		time.Sleep(11 * time.Second)
		wantError(t, "the call", c.wantID("the call", "1"), -32000, wire.ReasonTimeout)
		s.want("the backend is told", "notifications/cancelled")
		c.leave()
		<-c.left
	})
}

// R16, R17: several questions at once, answered in another order.
func TestQuestionsOutOfOrder(t *testing.T) {
	s := newServer(t, "one")
	c, _ := connect(t, gateway(t, relay.Options{}, s))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
	call := s.want("the call", "tools/call")
	ids := []string{`0`, `"0"`, `1`, `"x"`}
	asked := map[string]wire.ID{}
	for _, id := range ids {
		call.conn.send(form, id)
		asked[id] = c.want("question "+id, "elicitation/create").ID()
	}
	for _, i := range []int{2, 0, 3, 1} {
		c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"of":%s}}}`, asked[ids[i]], ids[i])
		got := s.want("answer "+ids[i], "")
		if string(got.ID()) != ids[i] || string(wire.Get(got.Result(), "content", "of")) != ids[i] {
			t.Errorf("question %s is answered %s", ids[i], got.Raw())
		}
	}
}

// R18, R75, D12: two clients that use the same ids at the same time each get
// their own questions and answers, and cannot answer for each other.
func TestNothingCrosses(t *testing.T) {
	s := newServer(t, "one")
	r := gateway(t, relay.Options{}, s)
	type pair struct {
		c    *client
		call arrived
		id   wire.ID
	}
	var pairs []pair
	for range 2 {
		c, _ := connect(t, r)
		call, asked := askForm(c, s, `1`, `0`)
		pairs = append(pairs, pair{c, call, asked.ID()})
	}
	for i, p := range pairs {
		p.c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"i":%d}}}`, p.id, i)
		got := s.want("the answer", "")
		if got.conn != p.call.conn || string(wire.Get(got.Result(), "content", "i")) != string('0'+rune(i)) {
			t.Errorf("client %d's answer crossed: %s", i, got.Raw())
		}
		p.call.answer(`{"i":%d}`, i)
		wantResult(t, "the call", p.c.wantID("the call", "1"), sprintf(`{"i":%d}`, i))
	}
}

// Progress, both ways, and logging; -32042 with its data; the notification that
// a URL elicitation is complete; methods and notifications that nobody knows.
func TestEverythingElsePasses(t *testing.T) {
	s := newServer(t, "one")
	c, _ := connect(t, gateway(t, relay.Options{}, s))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"acme/do","params":{"_meta":{"progressToken":"p"}}}`)
	call := s.want("an unknown method", "acme/do")
	for _, note := range []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.0}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1e1}}`,
		`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","method":"acme/note","params":{},"x":1}`,
	} {
		call.conn.send("%s", note)
		if got := string(c.next("notification").Raw()); got != note {
			t.Errorf("the client got %s, want %s", got, note)
		}
	}
	failure := `{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x.example/","message":"m"}]}}`
	call.conn.send(`{"jsonrpc":"2.0","id":%s,"error":%s}`, call.ID(), failure)
	if got := string(c.wantID("the error", "1").Error()); got != failure {
		t.Errorf("the client got %s, want %s", got, failure)
	}

	for _, note := range []string{
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"acme/note","params":{"y":1.0}}`,
	} {
		c.send("%s", note)
		if got := string((<-s.got).Raw()); got != note {
			t.Errorf("the backend got %s, want %s", got, note)
		}
	}
	call.conn.send(`{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{"messages":[],"_meta":{"progressToken":0}}}`)
	token := string(wire.Get(c.want("the question", "sampling/createMessage").Params(), "_meta", "progressToken"))
	c.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":2}}`, token)
	if got := string(s.want("progress", "notifications/progress").Params()); got != `{"progressToken":0,"progress":2}` {
		t.Errorf("the backend got progress %s", got)
	}
}
