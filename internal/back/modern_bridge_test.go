package back

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// injected is what a request of the client in legacyHello gets for its _meta.
const injected = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"old","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}}`

// R6, R9, R17, D1, D9: the questions of a modern backend reach a legacy client beside each
// other, its answers go back byte for byte, and the call is made again with what the
// backend wants for that and nothing else.
func TestPushAndRetry(t *testing.T) {
	wt := openWeb(t, false, legacyHello)
	wt.backend.mirrors.set("t", nil)
	c := newClient("call")
	done := callIn(t.Context(), wt.Session, parse(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{ "name":"t","task":{"ttl":1},"_meta":{"k":1.0},"arguments":{"n":1.0}}}`), c)
	first := wt.want("tools/call")
	base := `{ "name":"t","_meta":{"k":1.0,` + injected + `},"arguments":{"n":1.0}`
	if got := string(first.m.Params()); got != base+`}` {
		t.Fatalf("the backend got %s, want %s}", got, base)
	}
	first.result(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"A","z":1.0}},` +
		`"b\u0021":{"method":"roots/list"}},"requestState":"s\u0031"}`)
	a, b := receive(t, "first question", c.asked), receive(t, "second question", c.asked)
	if string(a.Message.Params()) != `{"message":"A","z":1.0}` || b.Message.Method() != "roots/list" || a.Message.ID() == b.Message.ID() || a.Inferred {
		t.Errorf("asked %s and %s", a.Message.Raw(), b.Message.Raw())
	}
	b.Reply(parse(`{"jsonrpc":"2.0","id":9,"result":{"roots":[ ]}}`))
	a.Reply(parse(`{"jsonrpc":"2.0","id":8,"result":{"action":"accept","content":{"n":1.0}}}`))
	a.Reply(parse(`{"jsonrpc":"2.0","id":8,"result":{"action":"decline"}}`))
	second := wt.want("tools/call")
	want := base + `,"inputResponses":{"a":{"action":"accept","content":{"n":1.0}},"b!":{"roots":[ ]}},"requestState":"s\u0031"}`
	if got := string(second.m.Params()); got != want || second.m.ID() == first.m.ID() {
		t.Errorf("the backend got %s, want %s", second.m.Raw(), want)
	}
	second.result(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}`)
	receive(t, "question of the second round", c.asked).Reply(parse(`{"jsonrpc":"2.0","id":8,"result":{"action":"cancel"}}`))
	third := wt.want("tools/call")
	if got := string(third.m.Params()); got != base+`,"inputResponses":{"a":{"action":"cancel"}}}` {
		t.Errorf("the backend got %s: state and answers are those of the last round", got)
	}
	third.result(`{"resultType":"complete","content":[ ]}`)
	if got := receive(t, "result", done); string(got.m.Raw()) != `{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","content":[ ]}}` {
		t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
	}
	if len(c.withdrawn) > 0 {
		t.Error("an answered question was taken back")
	}
}

// A state is echoed exactly if it is there, the empty one included.
func TestStateIsEchoed(t *testing.T) {
	for _, state := range []string{`"requestState":"",`, `"requestState":"a b",`, ``} {
		ts, conn := openModern(t, false, legacyHello)
		c := newClient("call")
		done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"requestState":"mine","inputResponses":{}}}`), c)
		req := conn.want("call", "prompts/get")
		if wire.Get(req.Params(), "requestState") != nil || wire.Get(req.Params(), "inputResponses") != nil {
			t.Errorf("a legacy client answered for itself: %s", req.Params())
		}
		conn.answer(req, `{`+state+`"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`)
		receive(t, "question", c.asked).Reply(wire.NewResult("1", []byte(`{}`)))
		req = conn.want("retry", "prompts/get")
		got := wire.Get(req.Params(), "requestState")
		if want := wire.Get([]byte(`{`+state+`"z":0}`), "requestState"); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("state %s, want %s", got, want)
		}
		conn.answer(req, `{}`)
		receive(t, "call", done)
	}
}

// D7: an error in place of an answer ends the call with that error; the other questions
// are taken back, and the backend is not called again.
func TestQuestionFails(t *testing.T) {
	two := `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}},"requestState":"s"}`
	ts, conn := openModern(t, false, legacyHello)
	for _, failure := range []string{
		`{"code":-32000,"message":"nobody answered","data":{"reason":"timeout"}}`,
		`{"code":-1, "message":"User rejected","k":1.0}`,
	} {
		c := newClient("call")
		done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{}}`), c)
		conn.answer(conn.want("call", "tools/call"), two)
		receive(t, "question", c.asked)
		receive(t, "question", c.asked).Reply(parse(`{"jsonrpc":"2.0","id":5,"error":` + failure + `}`))
		if got := receive(t, "call", done); string(got.m.Error()) != failure || got.m.ID() != `"x"` {
			t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
		}
		if err := receive(t, "withdrawal", c.withdrawn); err.Reason != wire.ReasonWithdrawn || len(c.withdrawn) > 0 {
			t.Errorf("withdrawn because of %v, and %d more", err, len(c.withdrawn))
		}
	}

	c := newClient("call")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := callIn(ctx, ts.Session, parse(`{"jsonrpc":"2.0","id":"x","method":"tools/call"}`), c)
	conn.answer(conn.want("call", "tools/call"), two)
	receive(t, "question", c.asked)
	receive(t, "question", c.asked)
	cancel(cancelled{})
	if got := receive(t, "call", done); !errors.As(got.err, &cancelled{}) {
		t.Errorf("the call ended with %v, want the cause", got.err)
	}
	receive(t, "withdrawal", c.withdrawn)
	receive(t, "withdrawal", c.withdrawn)
	done = callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), c)
	conn.answer(conn.want("the next call, and nothing before it", "tools/list"), `{}`)
	receive(t, "call", done)
}

// A backend that wants the call again and asks nothing gets it ever more rarely,
// and no more than ten times.
func TestRoundsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts, conn := openModern(t, false, legacyHello)
		done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), newClient("call"))
		wait := time.Duration(0)
		for range maxRounds {
			began := time.Now()
			req := conn.want("call", "tools/call")
			if took := time.Since(began); took < wait || took > wait+wait/10 {
				t.Errorf("the next round after %v, want %v and a tenth at most", took, wait)
			}
			wait = min(max(2*wait, firstPause), maxPause)
			conn.answer(req, `{"resultType":"input_required","requestState":"s"}`)
		}
		if got := receive(t, "call", done); code(got.m) != wire.CodeInternal || !strings.Contains(ErrorText(got.m), "again and again (10 times)") {
			t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
		}

		ctx, cancel := context.WithTimeoutCause(t.Context(), firstPause/2, errors.New("enough"))
		defer cancel()
		done = callIn(ctx, ts.Session, parse(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), newClient("call"))
		conn.answer(conn.want("call", "tools/call"), `{"resultType":"input_required","requestState":"s","inputRequests":{}}`)
		if got := receive(t, "call", done); got.err == nil || got.err.Error() != "enough" {
			t.Errorf("the call ended with %v", got.err)
		}
	})
}

// Progress only grows, though each round begins from the start; a round's token is
// its own on a pipe.
func TestProgressGrows(t *testing.T) {
	ts, conn := openModern(t, false, legacyHello)
	c := newClient("call")
	done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"p"}}}`), c)
	progress := func(token wire.ID, value string) {
		conn.send("", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s}}`, token, value)
	}
	first := conn.want("call", "tools/call")
	for _, v := range []string{"0", "1", "1.0", "0.5", "2", `"3"`, "1e999"} {
		progress(first.ID(), v)
	}
	conn.answer(first, `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`)
	receive(t, "question", c.asked).Reply(wire.NewResult("1", []byte(`{}`)))
	second := conn.want("retry", "tools/call")
	progress(first.ID(), "7") // late
	for _, v := range []string{"1", "2", "2.5", "3"} {
		progress(second.ID(), v)
	}
	conn.answer(second, `{}`)
	receive(t, "call", done)
	var got []string
	for len(c.notes) > 0 {
		p := (<-c.notes).Params()
		got = append(got, string(wire.Get(p, "progressToken"))+string(wire.Get(p, "progress")))
	}
	if want := `"p"0 "p"1 "p"2 "p"2.5 "p"3`; strings.Join(got, " ") != want {
		t.Errorf("the client got %v, want %s", got, want)
	}
}

// What a legacy client wants and a modern backend does not know is done here.
func TestAnsweredLocally(t *testing.T) {
	ts, conn := openModern(t, false, legacyHello)
	local := func(method, params, want string) {
		t.Helper()
		got, err := ts.Call(t.Context(), wire.NewRequest(`"x"`, method, []byte(params)), newClient("call"))
		if err != nil || string(got.Result()) != want || got.ID() != `"x"` {
			t.Errorf("%s: %s, %v, want %s", method, got.Raw(), err, want)
		}
	}
	local("ping", `{}`, `{}`)
	local("logging/setLevel", `{"level":"loud"}`, ``)
	for _, m := range []string{"notifications/roots/list_changed", "notifications/cancelled", "notifications/progress"} {
		if err := ts.Notify(t.Context(), wire.NewNotification(m, nil)); err != nil {
			t.Error(err)
		}
	}
	level := func(want string) {
		t.Helper()
		done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), newClient("call"))
		req := conn.want("the call, and nothing before it", "tools/list")
		if got := wire.ParseMeta(req.Params()).LogLevel; got != want {
			t.Errorf("log level %q, want %q", got, want)
		}
		conn.answer(req, `{}`)
		receive(t, "call", done)
	}
	level("")
	local("logging/setLevel", `{"level":"notice"}`, `{}`)
	level("notice")
}

// What only the modern era knows is put in terms of the legacy one.
func TestErrorsForLegacyClients(t *testing.T) {
	ts, conn := openModern(t, false, legacyHello)
	for _, tt := range []struct{ answer, want string }{
		{`"error":{"code":-32021,"message":"no","data":{"requiredCapabilities":{"sampling":{"tools":{}},"roots":{}}}}`,
			`{"code":-32603,"message":"backend b needs the capability sampling, roots, which the client did not declare",` +
				`"data":{"backend":"b","reason":"capability","requiredCapabilities":{"sampling":{"tools":{}},"roots":{}}}}`},
		{`"error":{"code":-32021,"message":"no"}`, `{"code":-32603,"message":"backend b needs a capability, which the client did not declare",` +
			`"data":{"backend":"b","reason":"capability"}}`},
		{`"error":{"code":-32020,"message":"headers"}`, `{"code":-32603,"message":"backend b and this gateway do not understand each other: headers",` +
			`"data":{"backend":"b","reason":"invalid"}}`},
		{`"error":{"code":-32002,"message":"gone"}`, `{"code":-32002,"message":"gone"}`},
		{`"error":{"code":-32602, "message":"Unknown"}`, `{"code":-32602, "message":"Unknown"}`},
		{`"result":{"resultType":"task"}`, `{"code":-32603,"message":"backend b answers tools/call with a result of an unknown type","data":{"backend":"b","reason":"invalid"}}`},
	} {
		done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":"x","method":"tools/call"}`), newClient("call"))
		conn.send("", `{"jsonrpc":"2.0","id":%s,%s}`, conn.want("call", "tools/call").ID(), tt.answer)
		if got := receive(t, "call", done); string(got.m.Error()) != tt.want || got.m.ID() != `"x"` {
			t.Errorf("the client got %s, %v, want %s", got.m.Raw(), got.err, tt.want)
		}
	}
}

// C5: a question by URL gets the id that the legacy era demands.
func TestElicitationID(t *testing.T) {
	ts, conn := openModern(t, false, `{"capabilities":{"elicitation":{"url":{}}}}`)
	c := newClient("call")
	done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":"x","method":"tools/call"}`), c)
	conn.answer(conn.want("call", "tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","url":"https://x.test/"}}}}`)
	q := receive(t, "question", c.asked)
	if id, _ := wire.Text(q.Message.Params(), "elicitationId"); len(id) < 20 {
		t.Errorf("asked %s", q.Message.Raw())
	}
	q.Reply(wire.NewResult("1", []byte(`{"action":"accept"}`)))
	conn.answer(conn.want("retry", "tools/call"), `{}`)
	receive(t, "call", done)
}

// A backend over a pipe that leaves while a person thinks is started again for the
// retry; one that leaves during a round fails the call, which is not begun anew.
func TestBackendLeavesBetweenRounds(t *testing.T) {
	ts, conn := openModern(t, false, legacyHello)
	c := newClient("call")
	done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":"x","method":"tools/call"}`), c)
	conn.answer(conn.want("call", "tools/call"), `{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"roots/list"}}}`)
	q := receive(t, "question", c.asked)
	conn.fail(errors.New("killed"))
	q.Reply(wire.NewResult("1", []byte(`{}`)))
	conn = receive(t, "second connection", ts.conns)
	conn.want("retry", "tools/call")
	conn.fail(errors.New("killed"))
	if got := receive(t, "call", done); wire.ErrorFrom(got.err).Reason != wire.ReasonBackendGone {
		t.Errorf("the call ended with %s, %v", got.m.Raw(), got.err)
	}
	if len(ts.conns) > 0 {
		t.Error("the call was begun again")
	}
}

// A session that ends takes its open questions back.
func TestCloseTakesBack(t *testing.T) {
	ts, conn := openModern(t, false, legacyHello)
	c := newClient("call")
	done := callIn(t.Context(), ts.Session, parse(`{"jsonrpc":"2.0","id":"x","method":"tools/call"}`), c)
	conn.answer(conn.want("call", "tools/call"), `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`)
	q := receive(t, "question", c.asked)
	ts.Close()
	if got := receive(t, "call", done); wire.ErrorFrom(got.err).Reason != wire.ReasonClientGone {
		t.Errorf("the call ended with %s, %v", got.m.Raw(), got.err)
	}
	receive(t, "withdrawal", c.withdrawn)
	q.Reply(wire.NewResult("1", []byte(`{}`))) // late: nobody is there
}

// FuzzRetry puts any params and any result through one round: nothing panics, what
// the client sent stays as it was around what is added, and answers are what the
// client said.
func FuzzRetry(f *testing.F) {
	f.Add([]byte(`{"name":"t","arguments":{"n":1.0}}`), []byte(asking1), []byte(`{"action":"accept"}`))
	f.Add([]byte(` { "_meta" : { "a":1 } } `), []byte(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"\u0062":{"method":"roots/list","params":{}}}}`), []byte(`[]`))
	f.Add([]byte(`{"_meta":7,"requestState":"x"}`), []byte(`{"inputRequests":{"":{"method":"sampling/createMessage"}},"requestState":null}`), []byte(`"x"`))
	f.Fuzz(func(t *testing.T, params, result, answer []byte) {
		req, err := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":%s}`, params))
		if err != nil {
			return
		}
		resp, err := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":%s}`, result))
		if err != nil {
			return
		}
		said, err := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":%s}`, answer))
		if err != nil {
			return
		}
		l := newLink(New("b", nil, Options{}, quietLog()).NewSession(Hello{Params: []byte(legacyHello)}, nil), true)
		base := l.base(req)
		caps := wire.ClientCaps{Form: true, URL: true, Sampling: true, SamplingTools: true, Roots: true}
		if l.wrongInput("prompts/get", resp.Result(), caps) != nil {
			return
		}
		requests, state := wire.Get(resp.Result(), "inputRequests"), wire.Get(resp.Result(), "requestState")
		answers, failed, err := l.gather(t.Context(), echoing{said}, requests)
		if err != nil || failed.Kind() != wire.Invalid {
			t.Fatalf("gathering: %s, %v", failed.Raw(), err)
		}
		got := retried(base, answers, state)
		if !json.Valid(got) {
			t.Fatalf("the retry is no JSON: %s", got)
		}
		for name, v := range wire.Members(req.Params()) {
			if name != "_meta" && name != "inputResponses" && name != "requestState" && !bytes.Equal(wire.Get(got, name), v) {
				t.Errorf("%s became %s", v, wire.Get(got, name))
			}
		}
		for name, v := range wire.Members(wire.Get(req.Params(), "_meta")) {
			if !strings.HasPrefix(name, "io.modelcontextprotocol/") && !bytes.Equal(wire.Get(got, "_meta", name), v) {
				t.Errorf("_meta: %s became %s", v, wire.Get(got, "_meta", name))
			}
		}
		if left := wire.Drop(wire.Drop(got, "inputResponses"), "requestState"); !bytes.Equal(left, base) {
			t.Errorf("without what was added: %s, want %s", left, base)
		}
		if !bytes.Equal(wire.Get(got, "requestState"), state) {
			t.Errorf("state %s, want %s", wire.Get(got, "requestState"), state)
		}
		n := 0
		for key := range wire.Members(requests) {
			n++
			if v := wire.Get(got, "inputResponses", key); !bytes.Equal(v, said.Result()) {
				t.Errorf("answer to %q: %s, want %s", key, v, said.Result())
			}
		}
		if (n > 0) != (answers != nil) {
			t.Errorf("%d questions and answers %s", n, answers)
		}
	})
}

// echoing is a Caller that gives the same answer to everything.
type echoing struct{ answer wire.Message }

func (e echoing) Notify(wire.Message) {}
func (e echoing) Ask(a Asked) func(*wire.Error) {
	a.Reply(e.answer)
	return nil
}
