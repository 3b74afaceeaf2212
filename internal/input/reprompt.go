package input

import (
	"slices"
	"strings"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// retry is what a person is shown who is asked again. The zero retry is that of the
// first time.
type retry struct {
	values form.Values // valid answers: the new defaults
	errors form.Errors
}

// retry returns what is to be shown with the form. broker.mu is held.
func (s *sheet) retry() retry {
	if !s.endedAt.IsZero() {
		return retry{}
	}
	return retry{s.record.values, s.record.errors}
}

// original returns the request as it was first to go to the client, in the words of
// the specification.
func (r *Request) original() wire.Message {
	ask, _, _ := classify(r.Message) // it was admitted
	if definitionIn(ask) == nil {
		ask = inline(ask)
	}
	return ask
}

// compose makes the request of the form lane as it goes to the client. It is not
// kept, so that an open form costs no more than what is known of it. The mode is
// always named, and requestedSchema is the form as far as the specification can say it;
// what it cannot say stands in _meta, where a client that does not know it does not
// look.
//
// "Form mode elicitation requests MUST either specify mode: "form" or omit the mode
// field, and include these additional parameters:"
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-elicitation-requests
func (r *Request) compose(again retry) wire.Message {
	f := r.sheet.form
	d := f.Definition()
	flat := f.FlattenWith(again.values)
	ask := r.original()
	p := ask.Params()
	message, ok := wire.Text(p, "message")
	if !ok {
		message = strings.TrimSpace(d.Title + "\n\n" + d.Description)
	}
	p = wire.Set(p, []byte(`"form"`), "mode")
	p = wire.Set(p, wire.Quote(message+again.plea(f)), "message")
	p = wire.Set(p, flat.Schema, "requestedSchema")
	p = wire.Set(p, wire.Quote(r.ID), "elicitationId")
	if flat.Hints != nil {
		p = wire.Set(p, flat.Hints, "_meta", form.HintsKey)
	}
	if !r.Extended {
		p = wire.Drop(p, "formDefinition")
	}
	return r.address(ask.WithParams(p))
}

// corrected makes a relayed request for asking again: the same, but for the message,
// which tells what to correct, and the defaults, which are what was right.
func (r *Request) corrected(again retry) wire.Message {
	f := r.sheet.form
	ask := r.original()
	p := ask.Params()
	message, _ := wire.Text(p, "message")
	p = wire.Set(p, wire.Quote(message+again.plea(f)), "message")
	secret := f.Sensitive()
	for name, value := range wire.Members(again.values.JSON()) {
		if !slices.Contains(secret, name) && wire.Get(p, "requestedSchema", "properties", name) != nil {
			p = wire.Set(p, value, "requestedSchema", "properties", name, "default")
		}
	}
	return r.address(ask.WithParams(p))
}

// told is how many errors a person is told at once.
const told = 10

// plea asks a person in plain words to correct what is wrong.
func (again retry) plea(f *form.Form) string {
	if len(again.errors) == 0 {
		return ""
	}
	labels := make(map[string]string)
	for _, field := range f.Definition().Fields {
		labels[field.ID] = field.Label
	}
	var b strings.Builder
	b.WriteString("\n\nPlease correct:")
	for i, e := range again.errors {
		if i == told {
			b.WriteString("\n- and more")
			break
		}
		b.WriteString("\n- ")
		if label := labels[e.Field]; label != "" && !strings.Contains(e.Message, label) {
			b.WriteString(label + ": ")
		}
		b.WriteString(e.Message)
	}
	return b.String()
}
