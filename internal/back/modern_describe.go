package back

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// asInitializeResult makes of a DiscoverResult what a legacy client reads: the
// revision that it offered in its initialize, the capabilities without what cannot be
// said in its era, and the server's name, for which a backend that has none gets the
// one that it is configured with.
func asInitializeResult(discovered, params []byte, backend string) []byte {
	revision, _ := wire.Text(params, "protocolVersion")
	result := wire.Set(nil, wire.Quote(cmp.Or(revision, string(wire.Latest))), "protocolVersion")
	caps := wire.Get(discovered, "capabilities")
	if !isObject(caps) {
		caps = []byte("{}")
	}
	caps = wire.Drop(caps, "extensions", wire.ExtensionTasks)
	result = wire.Set(result, wire.Drop(caps, "tasks"), "capabilities")
	info := wire.Get(discovered, "_meta", wire.MetaServerInfo)
	if !isObject(info) {
		info = wire.Set([]byte(`{"version":""}`), wire.Quote(backend), "name")
	}
	result = wire.Set(result, info, "serverInfo")
	if text := wire.Get(discovered, "instructions"); len(text) > 0 && text[0] == '"' {
		result = wire.Set(result, text, "instructions")
	}
	return result
}

// forLegacy gives the response of a modern backend to req the form that a legacy
// client knows. What it does not know may stay.
func (l *link) forLegacy(req, resp wire.Message) wire.Message {
	switch {
	case resp.Kind() == wire.Failure && modernCode(code(resp)):
		return wire.NewFailure(req.ID(), l.unbridged(resp))
	case resp.Kind() != wire.Result:
		return resp
	}
	switch req.Method() {
	case "tools/list":
		return l.tools(resp, true)
	case "tools/call":
		if v := wire.Get(resp.Result(), "structuredContent"); v != nil && !isObject(v) {
			return resp.WithResult(wire.Drop(resp.Result(), "structuredContent"))
		}
	}
	return resp
}

// unbridged is what a legacy client is told of an error that only the modern era
// knows.
func (l *link) unbridged(failure wire.Message) *wire.Error {
	name := l.session.backend.Name
	if code(failure) != wire.CodeMissingCapability {
		return internal(wire.ReasonInvalid, "backend %s and this gateway do not understand each other: %s", name, ErrorText(failure)).
			With("backend", name)
	}
	var names [][]byte
	for capability := range wire.Members(wire.Get(failure.Error(), "data", "requiredCapabilities")) {
		names = append(names, []byte(capability))
	}
	what := "a capability"
	if len(names) > 0 {
		what = "the capability " + string(bytes.Join(names, []byte(", ")))
	}
	e := internal(wire.ReasonCapability, "backend %s needs %s, which the client did not declare", name, what).With("backend", name)
	if required := wire.Get(failure.Error(), "data", "requiredCapabilities"); required != nil {
		e = e.With("requiredCapabilities", json.RawMessage(required))
	}
	return e
}

// internal returns an error with the code -32603, whatever its reason: it is the
// backend's doing and not the client's.
func internal(reason wire.Reason, format string, args ...any) *wire.Error {
	e := wire.Errorf(reason, format, args...)
	e.Code = wire.CodeInternal
	return e
}

func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }
