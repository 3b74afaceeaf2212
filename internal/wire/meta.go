package wire

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Members of _meta that the modern era reserves.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
const (
	MetaRevision     = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// ExtensionTasks is the extension that the tasks of 2025-11-25 became. What it
// means in one era cannot be said in the other.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// Meta is what a request of the modern era says about itself in params._meta.
// Byte slices alias the message.
type Meta struct {
	Revision   Revision   // "" when it is missing
	ClientInfo []byte     // raw; nil when it is missing, which is allowed
	Caps       ClientCaps // Raw is nil when they are missing
	LogLevel   string     // "" when the client wants no log messages
	Progress   []byte     // the progress token, raw; nil when the client wants no progress
}

// ParseMeta reads params._meta. A value of another type than the specification
// wants counts as missing.
func ParseMeta(params []byte) Meta {
	var m Meta
	for name, value := range Members(Get(params, "_meta")) {
		switch name {
		case MetaRevision:
			m.Revision = Revision(stringOf(value))
		case MetaClientInfo:
			if isImplementation(value) {
				m.ClientInfo = value
			}
		case MetaCapabilities:
			if declared(value) {
				m.Caps = ParseClientCaps(value)
			}
		case MetaLogLevel:
			m.LogLevel = stringOf(value)
		case "progressToken":
			m.Progress = value
		}
	}
	return m
}

// isImplementation reports whether v names a program and its version. Backends hear
// it in the name of all clients that share a session, and refuse what does not.
func isImplementation(v []byte) bool {
	_, named := Text(v, "name")
	_, versioned := Text(v, "version")
	return named && versioned
}

func stringOf(v []byte) string {
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	return string(unescape(v))
}

// IsModern reports whether m says of itself which revision it speaks, which no
// message of the legacy era does.
//
// "A request carrying modern per-request _meta is served statelessly according to
// this revision. An initialize request selects legacy semantics"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
func IsModern(m Message) bool { return Get(m.Params(), "_meta", MetaRevision) != nil }

// Complete refuses a request that does not say what the modern era demands.
//
// "A request missing any required field is malformed; the server MUST reject it
// with JSON-RPC error code -32602 (Invalid params)."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
func (m Meta) Complete() *Error {
	var missing []string
	if m.Revision == "" {
		missing = append(missing, MetaRevision)
	}
	if m.Caps.Raw == nil {
		missing = append(missing, MetaCapabilities)
	}
	if len(missing) == 0 {
		return nil
	}
	return Errorf(ReasonParams, "the request does not say %s in its _meta", strings.Join(missing, " and ")).
		Hint("every request of the modern era carries protocolVersion and clientCapabilities in params._meta")
}

// WithoutModernMeta returns params without what only the modern era knows: the
// reserved members of _meta, and _meta itself when nothing is left in it.
func WithoutModernMeta(params []byte) []byte {
	at, ok := Locate(params, "_meta")
	if !ok || !declared(at.of(params)) {
		return params
	}
	meta, left := without(at.of(params), func(name []byte) bool {
		switch string(name) {
		case MetaRevision, MetaClientInfo, MetaCapabilities, MetaLogLevel:
			return true
		}
		return false
	})
	if left == 0 {
		return Drop(params, "_meta")
	}
	return Splice(params, Edit{at, meta})
}

// Canonical returns v, a part of a parsed message, in the one form that all
// spellings of the same value share (RFC 8785), so that digests of it compare. It
// departs from the RFC for integers, which keep their digits: rounded to a double,
// two large ones would be taken for the same.
func Canonical(v []byte) []byte {
	c := jsontext.Value(append([]byte(nil), v...))
	if err := c.Canonicalize(jsontext.CanonicalizeRawInts(false)); err != nil {
		panic(fmt.Sprintf("wire: valid JSON has no canonical form: %v", err))
	}
	return c
}
