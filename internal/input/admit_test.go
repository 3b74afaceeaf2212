package input

import (
	"fmt"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

func ask(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
}

func formAsking(properties string) string {
	return ask("elicitation/create", `{"message":"m","requestedSchema":{"type":"object","properties":`+properties+`}}`)
}

// What is refused, and with which code and reason.
func TestRefusals(t *testing.T) {
	const url = `{"mode":"url","message":"m","url":"https://x.example/","elicitationId":"e"}`
	for _, tt := range []struct {
		name, caps, ask string
		code            int
		reason          wire.Reason
	}{
		// R62: missing or invalid params.
		{"no params", "", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create"}`, -32602, wire.ReasonParams},
		{"no message", "", ask("elicitation/create", `{"requestedSchema":{"type":"object","properties":{}}}`), -32602, wire.ReasonParams},
		{"message no string", "", ask("elicitation/create", `{"message":7,"requestedSchema":{"type":"object","properties":{}}}`), -32602, wire.ReasonParams},
		{"no schema", "", ask("elicitation/create", `{"message":"m"}`), -32602, wire.ReasonParams},
		{"mode no string", "", ask("elicitation/create", `{"mode":1}`), -32602, wire.ReasonParams},
		{"unknown mode", "", ask("elicitation/create", `{"mode":"voice"}`), -32602, wire.ReasonMode},
		{"url missing", "", ask("elicitation/create", `{"mode":"url","message":"m"}`), -32602, wire.ReasonParams},
		{"sampling without messages", "", ask("sampling/createMessage", `{}`), -32602, wire.ReasonParams},
		// R60, R61: a form is a flat object of primitives.
		{"schema no object", "", ask("elicitation/create", `{"message":"m","requestedSchema":[]}`), -32602, wire.ReasonSchema},
		{"schema of another type", "", ask("elicitation/create", `{"message":"m","requestedSchema":{"type":"array"}}`), -32602, wire.ReasonSchema},
		{"no properties", "", ask("elicitation/create", `{"message":"m","requestedSchema":{"type":"object"}}`), -32602, wire.ReasonSchema},
		{"field no object", "", formAsking(`{"a":1}`), -32602, wire.ReasonSchema},
		{"nested object", "", formAsking(`{"a":{"type":"object","properties":{}}}`), -32602, wire.ReasonSchema},
		{"nested in a string", "", formAsking(`{"a":{"type":"string","properties":{}}}`), -32602, wire.ReasonSchema},
		{"array of objects", "", formAsking(`{"a":{"type":"array","items":{"type":"object"}}}`), -32602, wire.ReasonSchema},
		{"null alone", "", formAsking(`{"a":{"type":["null"]}}`), -32602, wire.ReasonSchema},
		{"no type", "", formAsking(`{"a":{"title":"A"}}`), -32602, wire.ReasonSchema},
		{"one of objects", "", formAsking(`{"a":{"anyOf":[{"type":"string"},{"type":"object"}]}}`), -32602, wire.ReasonSchema},
		{"one of nothing known", "", formAsking(`{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/x"}]}}`), -32602, wire.ReasonSchema},
		{"optional object", "", formAsking(`{"a":{"type":["object","null"],"properties":{}}}`), -32602, wire.ReasonSchema},
		{"unknown type", "", formAsking(`{"a":{"type":"date"}}`), -32602, wire.ReasonSchema},
		// R63: the client cannot be asked. D2: one that can only be sent to a URL gets no form.
		{"no capability", `{}`, formAsk, -32601, wire.ReasonCapability},
		{"form for url-only client", `{"elicitation":{"url":{}}}`, formAsk, -32602, wire.ReasonMode},
		{"url for form-only client", `{"elicitation":{}}`, ask("elicitation/create", url), -32602, wire.ReasonMode},
		{"no sampling", `{"elicitation":{}}`, ask("sampling/createMessage", `{"messages":[]}`), -32601, wire.ReasonCapability},
		{"no tools in sampling", `{"sampling":{}}`, ask("sampling/createMessage", `{"messages":[],"tools":[]}`), -32602, wire.ReasonMode},
		{"no roots", `{}`, ask("roots/list", `{}`), -32601, wire.ReasonCapability},
		// R83: no silence for methods that only look like elicitation.
		{"unknown elicitation method", "", ask("elicitation/poll", `{}`), -32601, wire.ReasonMethod},
		// R71: secrets do not pass the client.
		{"password format", "", formAsking(`{"a":{"type":"string","format":"password"}}`), -32602, wire.ReasonSensitive},
		{"password field", "", formAsking(`{"dbPassword":{"type":"string"}}`), -32602, wire.ReasonSensitive},
		{"api key", "", formAsking(`{"api_key":{"type":"string"}}`), -32602, wire.ReasonSensitive},
		{"secret by title", "", formAsking(`{"a":{"type":"string","title":"Access token"}}`), -32602, wire.ReasonSensitive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &desk{}
			q := question(t, tt.ask)
			if tt.caps != "" {
				q.Caps = wire.ParseClientCaps([]byte(tt.caps))
			}
			_, err := NewBroker(limits(), d).Open(q, d, func(*Request, Answer) { t.Error("done was called") })
			if err == nil || err.Code != tt.code || err.Reason != tt.reason {
				t.Fatalf("error %+v, want code %d and reason %s", err, tt.code, tt.reason)
			}
			if len(d.offered) != 0 || len(d.refused) != 1 {
				t.Errorf("offered %d, observed %d refusals; want none and one", len(d.offered), len(d.refused))
			}
		})
	}
}

// What is admitted reaches the client as the backend wrote it (R3, R8, R21, R26).
func TestAdmitted(t *testing.T) {
	for name, m := range map[string]string{
		"odd spelling":      `{ "id":"a", "params" : {"requestedSchema":{"properties":{"z":{"type":"number","maximum":1.50},"a":{"type":"string"}},"type":"object"},"message":"m","x":1e2}, "method":"elicitation/create","jsonrpc":"2.0","extra":[]}`,
		"no mode":           formAsk,
		"choices":           formAsking(`{"a":{"type":"array","items":{"type":"string","enum":["x"]}},"b":{"type":"array","items":{"anyOf":[{"const":"x"}]}},"c":{"type":"string","oneOf":[{"const":"x","title":"X"}]}}`),
		"older choices":     formAsking(`{"a":{"type":"array","items":{"oneOf":[{"const":"x"}]}},"b":{"enum":["x"]}}`),
		"optional fields":   formAsking(`{"a":{"anyOf":[{"type":"string","maxLength":5},{"type":"null"}],"default":null},"b":{"type":["integer","null"]},"c":{"anyOf":[{"type":"integer"},{"type":"number"}]}}`),
		"no fields":         formAsking(`{}`),
		"harmless names":    formAsking(`{"max_tokens":{"type":"integer"},"keyboard":{"type":"string"},"tokens_left":{"type":"number"}}`),
		"url":               ask("elicitation/create", `{"mode":"url","message":"m","url":"https://x.example/","elicitationId":"e"}`),
		"sampling":          ask("sampling/createMessage", `{"messages":[],"temperature":0.10,"modelPreferences":{"b":1,"a":2}}`),
		"roots":             `{"jsonrpc":"2.0","id":7,"method":"roots/list"}`,
		"of another family": ask("tasks/get", `{"taskId":"t"}`),
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{}
			r, _ := mustOpen(t, NewBroker(limits(), d), question(t, m), d)
			if got := string(r.Ask().Raw()); got != m {
				t.Errorf("the client gets\n%s, want\n%s", got, m)
			}
			r.Dismiss()
		})
	}
}

// R2, R3, C1: the older names become the one that clients know; nothing of what
// was said is lost.
func TestAliases(t *testing.T) {
	for _, tt := range []struct{ name, ask, want string }{
		{
			"requestInput with schema",
			ask("elicitation/requestInput", `{"prompt":"p","title":"t","action":"a","kind":"k","schema":{"type":"object","properties":{}},"data":{"x":1}}`),
			ask("elicitation/create", `{"prompt":"p","title":"t","action":"a","kind":"k","schema":{"type":"object","properties":{}},"data":{"x":1},"message":"p","requestedSchema":{"type":"object","properties":{}}}`),
		},
		{
			"request with schema in data",
			ask("elicitation/request", `{"prompt":"p","data":{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}}`),
			ask("elicitation/create", `{"prompt":"p","data":{"schema":{"type":"object","properties":{"a":{"type":"string"}}}},"message":"p","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`),
		},
		{
			"prompt alone",
			ask("elicitation/requestInput", `{"prompt":"p"}`),
			ask("elicitation/create", `{"prompt":"p","message":"p","requestedSchema":{"type":"object","properties":{}}}`),
		},
		{
			"already in the words of the specification",
			ask("elicitation/requestInput", `{"message":"m","requestedSchema":{"type":"object","properties":{}},"prompt":"p"}`),
			ask("elicitation/create", `{"message":"m","requestedSchema":{"type":"object","properties":{}},"prompt":"p"}`),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &desk{}
			r, _ := mustOpen(t, NewBroker(limits(), d), question(t, tt.ask), d)
			if got := string(r.Ask().Raw()); got != tt.want {
				t.Errorf("the client gets\n%s, want\n%s", got, tt.want)
			}
			r.Dismiss()
		})
	}
}

// Two backends of one client may choose the same progress token; the client sees
// one of ours. A URL elicitation without an id gets one (C5).
func TestAddressing(t *testing.T) {
	d := &desk{}
	b := NewBroker(limits(), d)
	r, _ := mustOpen(t, b, question(t, ask("sampling/createMessage", `{"messages":[],"_meta":{"progressToken":0,"x":1}}`)), d)
	if got, want := string(r.Ask().Params()), `{"messages":[],"_meta":{"progressToken":"`+r.ID+`","x":1}}`; got != want {
		t.Errorf("params %s, want %s", got, want)
	}
	r.Dismiss()
	r, _ = mustOpen(t, b, question(t, ask("elicitation/create", `{"mode":"url","message":"m","url":"https://x.example/"}`)), d)
	if id, _ := wire.Text(r.Ask().Params(), "elicitationId"); id != r.ID {
		t.Errorf("elicitationId %q, want %q", id, r.ID)
	}
	r.Dismiss()
}

// R66: what is switched off is refused; the rest is not.
func TestDisabled(t *testing.T) {
	d := &desk{}
	l := limits()
	l.Off = map[Kind]bool{Form: true, URL: true}
	b := NewBroker(l, d)
	if _, err := b.Open(question(t, formAsk), d, nil); err == nil || err.Code != -32601 || err.Reason != wire.ReasonDisabled {
		t.Errorf("error %v, want -32601 disabled", err)
	}
	r, _ := mustOpen(t, b, question(t, `{"jsonrpc":"2.0","id":7,"method":"roots/list"}`), d)
	r.Dismiss()
}

// C3: the strict profile refuses what revision 2025-06-18 did not have.
func TestPrimitiveProfile(t *testing.T) {
	d := &desk{}
	l := limits()
	l.Rules.Primitive = true
	for _, field := range []string{
		`{"type":"array","items":{"type":"string","enum":["x"]}}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"type":["string","null"]}`,
	} {
		q := question(t, formAsking(`{"a":`+field+`}`))
		if _, err := NewBroker(l, d).Open(q, d, nil); err == nil || err.Reason != wire.ReasonSchema {
			t.Errorf("%s: error %v, want reason schema", field, err)
		}
	}
}

// With the checks off, the relay has no opinion.
func TestUnchecked(t *testing.T) {
	d := &desk{}
	l := limits()
	l.Rules = Rules{}
	r, _ := mustOpen(t, NewBroker(l, d), question(t, formAsking(`{"password":{"type":"object"}}`)), d)
	r.Dismiss()
}
