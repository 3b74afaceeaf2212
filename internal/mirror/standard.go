package mirror

import (
	"net/http"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// The headers that mirror the message, as net/http spells them.
const (
	HeaderRevision = "Mcp-Protocol-Version"
	HeaderMethod   = "Mcp-Method"
	HeaderName     = "Mcp-Name"
)

// named tells which member of params stands in Mcp-Name; "" for none.
//
// "Mcp-Name | params.name or params.uri | tools/call, resources/read, prompts/get
// requests"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
//
// "When tasks/get, tasks/update, or tasks/cancel is sent over the Streamable HTTP
// transport, the client MUST set the Mcp-Name header to the value of params.taskId."
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/2026-07-28/tasks.md#streamable-http-routing-headers
func named(method string) string {
	switch method {
	case "tools/call", "prompts/get":
		return "name"
	case "resources/read":
		return "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		return "taskId"
	}
	return ""
}

// SetStandard sets the standard headers for a request or notification.
func SetStandard(h http.Header, m wire.Message) {
	h.Set(HeaderRevision, revision(m))
	h.Set(HeaderMethod, m.Method())
	h.Del(HeaderName)
	if key := named(m.Method()); key != "" {
		if name, ok := wire.Text(m.Params(), key); ok {
			h.Set(HeaderName, Encode(name))
		}
	}
}

// CheckStandard refuses a request whose standard headers do not say what it says.
//
// "Servers that process the request body MUST reject requests where the values
// specified in the headers do not match the corresponding values in the request
// body." "A required standard header (MCP-Protocol-Version, Mcp-Method, Mcp-Name)
// is missing."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
func CheckStandard(h http.Header, m wire.Message) *wire.Error {
	if err := check(h, HeaderRevision, revision(m), false); err != nil {
		return err
	}
	if err := check(h, HeaderMethod, m.Method(), false); err != nil {
		return err
	}
	key := named(m.Method())
	if key == "" {
		return nil
	}
	name, ok := wire.Text(m.Params(), key)
	switch {
	case !ok:
		return nil // the request itself is malformed, and is told so
	case key == "taskId" && len(h.Values(HeaderName)) == 0:
		return nil // the extension asks for it, for those who route; the standard does not
	}
	return check(h, HeaderName, name, true)
}

func revision(m wire.Message) string {
	r, _ := wire.Text(m.Params(), "_meta", wire.MetaRevision)
	return r
}

// check compares one header with what the message says.
func check(h http.Header, name, want string, encodable bool) *wire.Error {
	values := h.Values(name)
	if len(values) != 1 {
		if len(values) == 0 {
			return mismatch("the header %s is missing", name)
		}
		return mismatch("the header %s is there more than once", name)
	}
	got := values[0]
	if encodable {
		var err error
		if got, err = Decode(got); err != nil {
			return mismatch("the header %s is malformed: %v", name, err)
		}
	}
	if got != want {
		return mismatch("the header %s does not say what the message says", name)
	}
	return nil
}

func mismatch(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.ReasonHeader, format, args...).
		Hint("MCP-Protocol-Version, Mcp-Method, Mcp-Name and Mcp-Param-* repeat what stands in the body")
}
