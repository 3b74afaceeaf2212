package relay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// examples are the examples in JSON of docs/forms.md, by their name.
func examples(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/forms.md")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, part := range strings.Split(string(text), "\n```json")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		body, _, ok := strings.Cut(rest, "\n```")
		if name = strings.TrimSpace(name); all[name] != "" || !ok {
			t.Fatalf("the example %q is there twice, or has no end", name)
		}
		all[name] = body
	}
	return all
}

// compact is JSON without the line breaks of a document, which a pipe does not take.
func compact(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b.Bytes()
}

// What docs/forms.md says that is sent is sent: the definition by a backend, to a plain
// client, and to one that submits. R98 R101 R102 R104 R109
func TestFormsDocument(t *testing.T) {
	doc := examples(t)
	if len(doc) != 7 {
		t.Fatalf("there are %d examples", len(doc))
	}
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c, _ := connect(t, gateway(t, relay.Options{}, s))
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
		call := s.want("the call", "tools/call")
		question := parse(t, doc["question"])
		question = question.WithParams(wire.Set(question.Params(), compact(t, doc[""]), "formDefinition"))
		call.conn.send("%s", question.Raw())
		handle := s.want("the handle", "")
		wantPrinted(t, "handle", handle.Result(), doc["handle"])
		asked := c.want("the question", "elicitation/create")
		wantPrinted(t, "shown", asked.Params(), doc["shown"])

		id := wire.Get(handle.Result(), "elicitationId")
		submit := wire.Set(compact(t, doc["submit"]), id, "elicitationId")
		wantPrinted(t, "refused", c.call("2", "elicitation/submit", string(submit)).Error(), doc["refused"])

		c.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID(), accepting(`{"replicas":3}`))
		wantPrinted(t, "end", s.want("the end", "notifications/elicitation/complete").Params(), doc["end"])
		call.answer(`{}`)
		c.wantID("the result", "1")
		c.leave()
		<-c.left
	})
}
