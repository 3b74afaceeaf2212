package relay

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// What a client is told of a form, if it is one that knows the form extension.
const (
	formWarning  = "notifications/elicitation/timeout_warning"
	formComplete = "notifications/elicitation/complete"
)

// forServers reports whether a notification is of the family in which only servers
// speak. Of a client, the end of a form would be believed by the backend that waits for
// it, whatever was answered.
func forServers(m wire.Message) bool {
	return strings.HasPrefix(m.Method(), "notifications/elicitation/")
}

// extension is where both sides declare that they know forms, beneath their
// capabilities: the extension has the name of the hints.
//
// experimental: "Describes support for non-standard experimental features"
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
func extension() []string { return []string{"capabilities", "experimental", form.HintsKey} }

// declares reports whether a client with these capabilities knows the form extension.
func declares(caps wire.ClientCaps) bool {
	return isObject(wire.Get(caps.Raw, extension()[1:]...))
}

// extended reports whether the client is one that is shown form definitions and told
// what becomes of forms. The modern era has no notifications for that.
func (s *session) extended() bool { return !s.hello.Modern && s.declares }

// advertise adds the form extension to the capabilities in the result of a handshake.
// What a catalogue says of itself says it to everybody. What a backend said stays as
// it was written, but for a client that declared that it knows the extension.
func (s *session) advertise(result []byte) []byte {
	at := extension()
	if s.relay.opts.Off[input.Form] || s.via != nil && !s.declares || wire.Get(result, at...) != nil {
		return result
	}
	return wire.Set(result, []byte("{}"), at...)
}

// policy is what the operator wants done with the forms of the backend.
func (r *route) policy() Policy { return r.session.relay.opts.Forms[r.backend.Name] }

// tell sends the client a notification about a question of this call: on the stream of
// the call, and on that of the session when the call is over, or is none.
func (c *caller) tell(m wire.Message) {
	if c.news == nil || !c.news.take(m) {
		c.route.session.news.Notify(m)
	}
}

// tellWarning tells a client that knows forms that one ends soon.
func (c *caller) tellWarning(r *input.Request, e input.Event) {
	if e.What == input.WasWarned {
		c.tell(warning(r, e.Status))
	}
}

// tellEnd tells a client that knows forms how one ended.
func (c *caller) tellEnd(r *input.Request) {
	if r.Extended && r.Lane() {
		c.tell(completion(r))
	}
}

// warning is the notification that a form ends soon.
func warning(r *input.Request, now input.Status) wire.Message {
	terms := r.Terms()
	return wire.NewNotification(formWarning, encode(struct {
		ID               string `json:"elicitationId"`
		Remaining        int64  `json:"remainingMs"`
		ExtensionAllowed bool   `json:"extensionAllowed"`
		Extension        int64  `json:"extensionDuration"`
	}{r.ID, time.Until(now.TimeoutAt).Milliseconds(), now.ExtensionsLeft > 0, terms.Extension.Milliseconds()}))
}

// completion is the notification that a form has ended, for a client: the answers
// without those to fields that ask for a secret, which do not pass through clients.
func completion(r *input.Request) wire.Message {
	return wire.NewNotification(formComplete, outcome(r, r.Status()))
}

// outcome tells what became of a form, to a client.
func outcome(r *input.Request, now input.Status) []byte {
	p := ended(r, now)
	if now.State != input.Completed {
		return p
	}
	values, secrets := now.Values.Redacted()
	p = wire.Set(p, values, "result")
	if len(secrets) > 0 {
		p = wire.Set(p, encode(secrets), "redacted")
	}
	return p
}

// ended names a form and how it stands, and why there is no answer if that is so.
func ended(r *input.Request, now input.Status) []byte {
	return encode(struct {
		ID     string            `json:"elicitationId"`
		Status input.State       `json:"status"`
		Reason input.Abandonment `json:"reason,omitempty"`
	}{r.ID, now.State, now.Abandonment()})
}

// handleOf tells that a form is open, under which id and which terms. All times are in
// milliseconds, of the Unix epoch where they are instants.
func handleOf(r *input.Request) []byte {
	t := r.Terms()
	handle := encode(struct {
		ID        string              `json:"elicitationId"`
		Mode      string              `json:"mode"`
		Status    input.State         `json:"status"`
		CreatedAt int64               `json:"createdAt"`
		TimeoutAt int64               `json:"timeoutAt"`
		Terms     input.TimeoutConfig `json:"timeout_config"`
		Attempts  int                 `json:"retry_limit"`
	}{
		r.ID, "form", input.Pending, r.OpenedAt.UnixMilli(), r.OpenedAt.Add(t.Timeout).UnixMilli(),
		t.Config(), t.Attempts,
	})
	return wire.Set(handle, definitionOf(r), "formDefinition")
}

// definitionOf is the definition of a form as it was written, or, for one that was made
// of a prompt, as it would be.
func definitionOf(r *input.Request) []byte {
	if d := wire.Get(r.Message.Params(), "formDefinition"); isObject(d) {
		return d
	}
	return encode(r.Form())
}

// encode returns v, which is made for it, in JSON.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("relay: %T does not marshal: %v", v, err))
	}
	return b
}

func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }
