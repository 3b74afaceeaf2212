package relay_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// The form of the seed's exchanges (9.1 to 9.5), with the rules of its errors (6.3), and
// two extensions, as the seed has them.
const seedForm = `{"id":"api_key_form","title":"API Key Configuration","fields":[` +
	`{"id":"api_key","type":"text","label":"API key","required":true,"validation":{"minLength":%d}},` +
	`{"id":"region","type":"select","label":"Region","options":["us-east-1","us-west-2"]},` +
	`{"id":"enable_ssl","type":"boolean","label":"Enable SSL/TLS"},` +
	`{"id":"webhook_url","type":"url","label":"Webhook URL","validation":{"allowedSchemes":["https","http"]}}],` +
	`"timeout_config":{"initial_timeout":300000,"extension_allowed":true,"extension_duration":300000,"max_extensions":2,"warn_before":60000}}`

// wantPrinted compares what was sent with what the seed prints, member by member. More
// members than the seed has may be there; "…" stands for whatever the seed leaves open.
func wantPrinted(t *testing.T, section string, got []byte, printed string) {
	t.Helper()
	var have, want any
	if err := json.Unmarshal(got, &have); err != nil {
		t.Fatalf("%s: %s: %v", section, got, err)
	}
	if err := json.Unmarshal([]byte(printed), &want); err != nil {
		t.Fatalf("%s: %v", section, err)
	}
	if diff := cmp.Diff(want, printedPart(want, have)); diff != "" {
		t.Errorf("%s (-printed +got):\n%s", section, diff)
	}
}

// printedPart is what have says of the members that want has.
func printedPart(want, have any) any {
	switch w := want.(type) {
	case string:
		if w == "…" && have != nil {
			return w
		}
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return have
		}
		part := make(map[string]any)
		for name, v := range w {
			if there, ok := h[name]; ok {
				part[name] = printedPart(v, there)
			}
		}
		return part
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return have
		}
		part := make([]any, len(w))
		for i := range w {
			part[i] = printedPart(w[i], h[i])
		}
		return part
	}
	return have
}

// R102 R103 R104 R109 R112 R113 C10: the exchanges that the seed prints, between a client
// and Beckon: created, refused, warned, extended, submitted, completed.
func TestExchangesOfTheSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := connect(t, gateway(t, relay.Options{}, newServer(t, "a")))
		definition := fmt.Sprintf(seedForm, 32)
		began := time.Now().UnixMilli()
		made := c.call(`"req_123"`, "elicitation/create", `{"mode":"form","formDefinition":`+definition+`}`)
		wantPrinted(t, "9.1", made.Raw(), fmt.Sprintf(`{"jsonrpc":"2.0","id":"req_123","result":{"elicitationId":"…","mode":"form","status":"pending",`+
			`"createdAt":%d,"timeoutAt":%d,"formDefinition":%s}}`, began, began+300000, definition))
		id := string(wire.Get(made.Result(), "elicitationId"))

		bad := c.call(`"req_123"`, "elicitation/submit", `{"elicitationId":`+id+`,"responses":{"api_key":"sk-45678901234567890","webhook_url":"http://192.168.1.1/webhook"}}`)
		wantPrinted(t, "6.3, 9.2", bad.Raw(), `{"jsonrpc":"2.0","id":"req_123","error":{"code":-32007,"message":"Form validation failed","data":{"type":"validation","errors":[`+
			`{"field":"api_key","code":-32007,"message":"API key must be at least 32 characters long, and has 20","constraint":"minLength","expected":32,"actual":20,"path":["api_key"]},`+
			`{"field":"webhook_url","code":-32007,"message":"…","constraint":"blockPrivateIPs","expected":"public IP","actual":"192.168.1.1","path":["webhook_url"]}],`+
			`"retry_allowed":true,"retry_limit":3,"retry_count":1}}}`)

		time.Sleep(4*time.Minute - time.Millisecond)
		synctest.Wait()
		if len(c.got) > 0 {
			t.Errorf("warned early: %s", (<-c.got).Raw())
		}
		time.Sleep(time.Millisecond)
		wantPrinted(t, "7.3, 9.5", c.want("the warning", "notifications/elicitation/timeout_warning").Raw(),
			`{"jsonrpc":"2.0","method":"notifications/elicitation/timeout_warning","params":{"elicitationId":`+id+`,"remainingMs":60000,"extensionAllowed":true,"extensionDuration":300000}}`)
		more := c.call(`"req_456"`, "elicitation/extend_timeout", `{"elicitationId":`+id+`,"extensionDuration":300000}`)
		wantPrinted(t, "7.4, 9.3", more.Raw(), fmt.Sprintf(`{"jsonrpc":"2.0","id":"req_456","result":{"newTimeoutAt":%d,"extensionsRemaining":1}}`, began+600000))

		c.send(`{"jsonrpc":"2.0","id":"req_124","method":"elicitation/submit","params":{"elicitationId":%s,"responses":{"api_key":"sk-abcdefghijklmnopqrstuvwxyzabcdef","region":"us-east-1","enable_ssl":true}}}`, id)
		seen := map[string]wire.Message{}
		for range 2 {
			m := c.next("what follows")
			seen[m.Method()] = m
		}
		wantPrinted(t, "9.2", seen[""].Raw(), `{"jsonrpc":"2.0","id":"req_124","result":{"status":"completed"}}`)
		told := seen["notifications/elicitation/complete"]
		wantPrinted(t, "9.4", told.Raw(), `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":`+id+
			`,"status":"completed","result":{"region":"us-east-1","enable_ssl":true},"redacted":["api_key"]}}`)
		if wire.Get(told.Params(), "result", "api_key") != nil {
			t.Errorf("the client is told a secret: %s", told.Raw())
		}
		c.leave()
		<-c.left
	})
}

// asking is a relay over s that lets it ask for secrets, or not.
func asking(t *testing.T, s *server, secrets bool) *relay.Relay {
	t.Helper()
	limits := input.Limits{Timeout: time.Minute, Total: 10, PerSession: 10, Rules: input.Rules{Check: true, Secrets: !secrets}}
	return gateway(t, relay.Options{Broker: input.NewBroker(limits, ignore{})}, s)
}

// R102, R109: the same with a backend that asks: it gets the handle that the seed prints,
// and then the answers, all of them.
func TestBackendOfTheSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		c, _ := connect(t, asking(t, s, true))
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
		call, began := s.want("the call", "tools/call"), time.Now().UnixMilli()
		definition := fmt.Sprintf(seedForm, 1)
		call.conn.send(`{"jsonrpc":"2.0","id":"req_123","method":"elicitation/create","params":{"mode":"form","formDefinition":%s}}`, definition)
		handle := s.want("the handle", "")
		wantPrinted(t, "9.1", handle.Raw(), fmt.Sprintf(`{"jsonrpc":"2.0","id":"req_123","result":{"elicitationId":"…","mode":"form","status":"pending",`+
			`"createdAt":%d,"timeoutAt":%d,"formDefinition":%s}}`, began, began+300000, definition))
		asked := c.want("the question", "elicitation/create")
		c.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID(), accepting(`{"api_key":"sk-abc123...","region":"us-east-1","enable_ssl":true}`))
		s.wantComplete(string(wire.Get(handle.Result(), "elicitationId")),
			`"status":"completed","result":{"api_key":"sk-abc123...","region":"us-east-1","enable_ssl":true}`)
		call.answer(`{}`)
		c.wantID("the result", "1")
		c.leave()
		<-c.left
	})
}

// R124: the older mode, as the seed prints it (13.1). Its text asks for an API key, which
// a client is asked for only where the operator lets it (C11).
func TestInlineOfTheSeed(t *testing.T) {
	for _, secrets := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, "a")
			c, _ := connect(t, asking(t, s, secrets))
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`)
			call := s.want("the call", "tools/call")
			call.conn.send(`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"mode":"inline","prompt":"Enter API key:"}}`)
			if !secrets {
				wantError(t, "a secret", s.want("the refusal", "").Message, -32602, wire.ReasonSensitive)
			} else {
				asked := c.want("the question", "elicitation/create")
				wantPrinted(t, "13.1", asked.Params(), `{"mode":"form","message":"Enter API key:","requestedSchema":{"required":["answer"]}}`)
				c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"sk-1"}}}`, asked.ID())
				wantResult(t, "the answer", s.want("the answer", "").Message, `{"action":"accept","content":{"answer":"sk-1"}}`)
			}
			call.answer(`{}`)
			c.wantID("the result", "1")
			c.leave()
			<-c.left
		})
	}
}
