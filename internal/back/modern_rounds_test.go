package back

import (
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// C18: a conversation goes on from a response in hand: the client's own params, with its
// own _meta, the answers and the state of this round and not those of the one before.
// The result is the backend's, byte for byte.
func TestContinue(t *testing.T) {
	wt := openWeb(t, true, legacyHello)
	wt.backend.mirrors.set("t", nil)
	c := newClient("call")
	req := parse(modernRequest(`"x"`, "tools/call", `{"name":"t","arguments":{"n":1.0},"inputResponses":{"old":{}},"requestState":"old"}`))
	asked := parse(`{"jsonrpc":"2.0","id":5,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"A"}}},"requestState":"s1"}}`)
	done := make(chan outcome, 1)
	go func() {
		m, err := wt.Continue(t.Context(), req, asked, c)
		done <- outcome{m, err}
	}()
	q := receive(t, "question", c.asked)
	if q.Promise != nil || string(q.Message.Params()) != `{"message":"A"}` {
		t.Errorf("asked %s, with a promise: %v", q.Message.Raw(), q.Promise != nil)
	}
	q.Reply(parse(`{"jsonrpc":"2.0","id":8,"result":{"action":"accept","content":{"n":1.0}}}`))
	retry := wt.want("tools/call")
	base := wire.Drop(wire.Drop(req.Params(), "inputResponses"), "requestState")
	want := wire.Set(wire.Set(base, []byte(`{"a":{"action":"accept","content":{"n":1.0}}}`), "inputResponses"), []byte(`"s1"`), "requestState")
	if got := string(retry.m.Params()); got != string(want) {
		t.Errorf("the backend got %s, want %s", got, want)
	}
	retry.result(`{"content":[ ], "structuredContent":[1], "resultType":"complete"}`)
	if got := receive(t, "result", done); string(got.m.Raw()) != `{"jsonrpc":"2.0","id":"x","result":{"content":[ ], "structuredContent":[1], "resultType":"complete"}}` {
		t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
	}
}

// An error of the backend in a later round is what a modern client gets of any.
func TestContinueFails(t *testing.T) {
	wt := openWeb(t, true, legacyHello)
	wt.backend.mirrors.set("t", nil)
	c := newClient("call")
	req := parse(modernRequest(`1`, "tools/call", `{"name":"t"}`))
	asked := parse(`{"jsonrpc":"2.0","id":5,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}}`)
	done := make(chan outcome, 1)
	go func() {
		m, err := wt.Continue(t.Context(), req, asked, c)
		done <- outcome{m, err}
	}()
	receive(t, "question", c.asked).Reply(parse(`{"jsonrpc":"2.0","id":8,"result":{"action":"decline"}}`))
	wt.want("tools/call").failure(400, `{"code":-32021,"message":"more","data":{"requiredCapabilities":{"x":{}}}}`)
	if got := receive(t, "result", done); string(got.m.Error()) != `{"code":-32021,"message":"more","data":{"requiredCapabilities":{"x":{}}}}` || got.m.ID() != "1" {
		t.Errorf("the client got %s, %v", got.m.Raw(), got.err)
	}
}
