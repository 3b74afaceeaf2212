package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON-RPC error codes.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603

	CodeConnectionClosed = -32000 // nobody is there, or nobody answered in time
	CodeRequestTimeout   = -32001 // timeout in the error profile "mcp-sdk"
	CodeResourceNotFound = -32002 // legacy resources/read
	CodeValidation       = -32007 // an answer does not fit its form
	CodeRateLimited      = -32010
	CodeURLRequired      = -32042 // 2025-11-25: the call needs a URL elicitation first

	CodeHeaderMismatch      = -32020 // modern: headers and body differ
	CodeMissingCapability   = -32021 // modern: the request needs a capability that its client did not declare
	CodeUnsupportedRevision = -32022 // modern: the revision is not spoken here
)

// Reason is why Beckon itself refuses or ends something. It is stable, and
// travels in error.data.reason, so that programs need not read messages.
type Reason string

const (
	ReasonNoClient    Reason = "no_client"    // nobody is connected who could be asked
	ReasonCapability  Reason = "capability"   // the client did not declare that it can be asked this
	ReasonMode        Reason = "mode"         // the client can be asked, but not in this mode
	ReasonSchema      Reason = "schema"       // the form, or an answer to it, breaks the rules
	ReasonSensitive   Reason = "sensitive"    // the form asks for a secret
	ReasonParams      Reason = "params"       // params are missing or malformed
	ReasonTimeout     Reason = "timeout"      // nobody answered in time
	ReasonLimit       Reason = "limit"        // too many are open at once
	ReasonRate        Reason = "rate"         // too many in too short a time
	ReasonDisabled    Reason = "disabled"     // switched off in the configuration
	ReasonWithdrawn   Reason = "withdrawn"    // whoever asked no longer wants to know
	ReasonCancelled   Reason = "cancelled"    // the client cancelled
	ReasonClientGone  Reason = "client_gone"  // the client left with the question open
	ReasonBackendGone Reason = "backend_gone" // the backend exited or its connection broke
	ReasonBackendDown Reason = "backend_down" // the backend cannot be reached at present
	ReasonMethod      Reason = "method"       // no such method here
	ReasonUnknown     Reason = "unknown"      // no such tool, prompt or resource here
	ReasonStopping    Reason = "stopping"     // Beckon is shutting down
	ReasonInvalid     Reason = "invalid"      // the message breaks the protocol
	ReasonHeader      Reason = "header"       // the headers do not say what the message says
	ReasonRevision    Reason = "revision"     // the revision is not spoken here
	ReasonState       Reason = "state"        // the requestState is not one that can be resumed
	ReasonInternal    Reason = "internal"     // a fault of Beckon's own

	// Of forms.
	ReasonValidation      Reason = "validation"            // the answer does not fit its form, and may be given again
	ReasonAttempts        Reason = "too_many_attempts"     // the answer did not fit its form too often
	ReasonUnrepresentable Reason = "unrepresentable_field" // the client has no way to show a field of the form
	ReasonNotFound        Reason = "not_found"             // there is no such form, or it is somebody else's
	ReasonCompleted       Reason = "already_completed"     // the form has been answered
	ReasonEnded           Reason = "already_cancelled"     // the form has been declined, cancelled or withdrawn
	ReasonExpired         Reason = "already_timeout"       // the form has timed out
	ReasonNotExtendable   Reason = "not_extendable"        // the terms of the form do not allow extensions
	ReasonNoExtensions    Reason = "no_extensions_left"    // the form was extended as often, or for as long, as it may be
	ReasonSessionExpired  Reason = "session_expired"       // the session of whoever was asked has ended by its idleness
)

// Code returns the JSON-RPC code that goes with r toward a legacy peer.
func (r Reason) Code() int {
	switch r {
	case ReasonNoClient, ReasonTimeout, ReasonLimit, ReasonWithdrawn, ReasonCancelled,
		ReasonClientGone, ReasonBackendGone, ReasonBackendDown, ReasonStopping, ReasonSessionExpired:
		return CodeConnectionClosed
	case ReasonCapability, ReasonDisabled, ReasonMethod:
		return CodeMethodNotFound
	case ReasonMode, ReasonSchema, ReasonSensitive, ReasonParams, ReasonUnknown, ReasonState,
		ReasonUnrepresentable, ReasonNotFound, ReasonCompleted, ReasonEnded, ReasonExpired,
		ReasonNotExtendable, ReasonNoExtensions:
		return CodeInvalidParams
	case ReasonHeader:
		return CodeHeaderMismatch
	case ReasonRevision:
		return CodeUnsupportedRevision
	case ReasonValidation, ReasonAttempts:
		return CodeValidation
	case ReasonRate:
		return CodeRateLimited
	case ReasonInvalid:
		return CodeInvalidRequest
	}
	return CodeInternal
}

// Modern returns e with the code that it has toward a peer of the modern era,
// where nobody may use the codes from -32000 to -32019 any more: the reason in the
// data is what tells them apart. A code that the modern era knows stays.
//
// "new implementations SHOULD NOT use codes from this sub-range at all." "-32002 —
// resource not found (2025-11-25 and earlier; replaced by -32602)."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
func (e Error) Modern() *Error {
	switch {
	case e.Code == CodeResourceNotFound, e.Code == CodeValidation:
		e.Code = CodeInvalidParams
	case -32019 <= e.Code && e.Code <= -32000, e.Code == CodeURLRequired:
		e.Code = CodeInternal
	}
	return &e
}

// Error is an error that Beckon itself gives to a peer. Errors of peers are
// relayed as messages and never become one.
type Error struct {
	Code    int
	Message string         // one sentence for a person, without inner causes
	Reason  Reason         // data.reason; "" means ReasonInternal
	Data    map[string]any // further members of data; a "hint" says what to do next
}

// Errorf returns an error with the code of its reason.
func Errorf(reason Reason, format string, args ...any) *Error {
	return &Error{Code: reason.Code(), Message: fmt.Sprintf(format, args...), Reason: reason}
}

// With returns a copy of e with one more member in its data. A value that
// encoding/json cannot encode makes [NewFailure] panic.
func (e Error) With(name string, value any) *Error {
	e.Data = maps.Clone(e.Data)
	if e.Data == nil {
		e.Data = make(map[string]any)
	}
	e.Data[name] = value
	return &e
}

// Hint returns a copy of e that tells what to do next.
func (e Error) Hint(hint string) *Error { return e.With("hint", hint) }

func (e *Error) Error() string { return e.Message }

func (e *Error) json() []byte {
	data := make(map[string]any, len(e.Data)+1)
	maps.Copy(data, e.Data)
	data["reason"] = cmp.Or(e.Reason, ReasonInternal)
	b, err := json.Marshal(struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	}{e.Code, e.Message, data})
	if err != nil {
		panic(fmt.Sprintf("wire: error data is not JSON: %v", err))
	}
	return b
}

// ErrorFrom returns the *Error in err's chain, or an internal one that tells the
// peer nothing about the cause.
func ErrorFrom(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*ParseError](err); ok {
		return &Error{Code: e.Code, Message: e.Error(), Reason: ReasonInvalid}
	}
	if errors.Is(err, ErrTooLong) {
		return Errorf(ReasonInvalid, "invalid request: %v", ErrTooLong)
	}
	return Errorf(ReasonInternal, "internal error")
}

// ParseError says why bytes are no message.
type ParseError struct {
	Code   int    // CodeParse or CodeInvalidRequest
	Detail string // what is wrong, and where

	// ID is the id of a refused request, for the reply to it. It is empty when
	// it could not be read, or when it is not certain that this is a request:
	// the id of a response is one of ours, and a reply to it would reach some
	// request of the peer that has the same id.
	ID ID
	// Answers is the id of a refused response: whose request will have no other.
	Answers ID
}

func (e *ParseError) Error() string {
	if e.Code == CodeParse {
		return "parse error: " + e.Detail
	}
	return "invalid request: " + e.Detail
}

// syntaxError translates what the tokenizer says about m. The place of a fault
// is told, the text around it is not: it may be a secret.
func (m *Message) syntaxError(err error) *ParseError {
	s, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		return m.refuse(CodeParse, "the message ends too early")
	case errors.Is(s.Err, jsontext.ErrDuplicateName):
		if s.JSONPointer == "/id" {
			m.id = "" // which of the two is meant cannot be told
		}
		return m.refuse(CodeInvalidRequest, fmt.Sprintf("duplicate member name at byte %d", s.ByteOffset))
	}
	return m.refuse(CodeParse, fmt.Sprintf("not valid JSON at byte %d", s.ByteOffset))
}

// refuse says what is wrong with m, of which all or a part was read, to the one
// whom it concerns.
func (m *Message) refuse(code int, detail string) *ParseError {
	e := &ParseError{Code: code, Detail: detail}
	asks := m.methodAt.End != 0
	answers := m.resultAt.End != 0 || m.errorAt.End != 0
	switch {
	case asks && !answers:
		e.ID = m.id
	case answers && !asks:
		e.Answers = m.id
	}
	return e
}
