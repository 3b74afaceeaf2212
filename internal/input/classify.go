package input

import (
	"strings"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// classify tells what m asks, and returns it in the words of the specification:
// the older names of elicitation become elicitation/create.
func classify(m wire.Message) (wire.Message, Kind, *wire.Error) {
	switch m.Method() {
	case "roots/list":
		return m, Roots, nil
	case "sampling/createMessage":
		return m, Sampling, nil
	case "elicitation/requestInput", "elicitation/request":
		if m.Params() != nil {
			m = canonical(m)
		}
	case "elicitation/create":
	default:
		if !strings.HasPrefix(m.Method(), "elicitation/") {
			return m, Other, nil
		}
		return m, "", wire.Errorf(wire.ReasonMethod, "the method %s is not known here", m.Method()).
			Hint("the method to ask a person is elicitation/create")
	}
	mode := wire.Get(m.Params(), "mode")
	if mode == nil {
		// "Clients MUST treat requests without a mode field as form mode."
		// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#elicitation-requests
		return m, Form, nil
	}
	switch name, isText := wire.Text(mode); {
	case name == "url":
		return m, URL, nil
	case name == "form", name == "inline":
		return m, Form, nil
	case isText:
		return m, "", wire.Errorf(wire.ReasonMode, "the elicitation mode %q is not known", name).
			Hint(`the modes are "form" and "url"`)
	}
	return m, "", wire.Errorf(wire.ReasonParams, "the elicitation mode must be a string")
}

// canonical translates the aliases of elicitation/create. It adds the members
// that the specification wants and keeps all that were there, so that a client
// which knows the alias finds everything and one which does not finds enough.
func canonical(m wire.Message) wire.Message {
	m = m.WithMethod("elicitation/create")
	p := m.Params()
	supply := func(name string, from ...[]string) {
		for _, path := range from {
			if v := wire.Get(p, path...); wire.Get(p, name) == nil && v != nil {
				p = wire.Set(p, v, name)
			}
		}
	}
	supply("message", []string{"prompt"}, []string{"title"})
	supply("requestedSchema", []string{"schema"}, []string{"data", "schema"})
	mode, _ := wire.Text(p, "mode")
	if wire.Get(p, "requestedSchema") == nil && wire.Get(p, "url") == nil && mode != "inline" {
		p = wire.Set(p, []byte(`{"type":"object","properties":{}}`), "requestedSchema")
	}
	return m.WithParams(p)
}

// address prepares the request for the client: a progress token of its own,
// because two backends of one client may choose the same; the elicitationId that
// clients of 2025-11-25 insist on where the backend left it out; and who asks,
// where the client could not know.
func (r *Request) address(ask wire.Message) wire.Message {
	p := ask.Params()
	if wire.Get(p, "_meta", "progressToken") != nil {
		p = wire.Set(p, wire.Quote(r.ID), "_meta", "progressToken")
	}
	if r.Kind == URL && wire.Get(p, "elicitationId") == nil {
		p = wire.Set(p, wire.Quote(r.ID), "elicitationId")
	}
	if r.Tell {
		p = wire.Set(p, wire.Quote(r.Backend), "_meta", BackendKey)
	}
	if p == nil {
		return ask
	}
	return ask.WithParams(p)
}

// capable refuses what the client did not say it can be asked.
//
// "Servers MUST NOT send elicitation requests with modes that are not supported
// by the client."
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities
func capable(caps wire.ClientCaps, kind Kind, ask wire.Message) *wire.Error {
	lacks := func(what string) *wire.Error {
		return wire.Errorf(wire.ReasonCapability, "the client of this call cannot be asked: it did not declare %s", what).
			Hint("use a client that declares " + what)
	}
	switch kind {
	case Form, URL:
		if !caps.Form && !caps.URL {
			return lacks("elicitation")
		}
		if kind == Form && !caps.Form || kind == URL && !caps.URL {
			return wire.Errorf(wire.ReasonMode, "the client of this call does not support elicitation by %s", kind).
				With("mode", kind)
		}
	case Sampling:
		if !caps.Sampling {
			return lacks("sampling")
		}
		if !caps.SamplingTools && wire.Get(ask.Params(), "tools") != nil {
			return wire.Errorf(wire.ReasonMode, "the client of this call does not support tools in sampling").
				Hint("leave tools and toolChoice out, or use a client that declares sampling.tools")
		}
	case Roots:
		if !caps.Roots {
			return lacks("roots")
		}
	}
	return nil
}

// featureOf names the feature that a kind belongs to, as people know it.
func featureOf(k Kind) string {
	switch k {
	case Sampling:
		return "Sampling"
	case Roots:
		return "Roots"
	case Other:
		return "Request"
	}
	return "Elicitation"
}
