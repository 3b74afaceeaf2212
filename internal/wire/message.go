package wire

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind tells what a message is.
type Kind uint8

const (
	Invalid      Kind = iota // the zero Message
	Request                  // has a method and an id
	Notification             // has a method and no id
	Result                   // answers a request with a result
	Failure                  // answers a request with an error; its id may be absent or null
)

func (k Kind) String() string {
	return [...]string{"invalid", "request", "notification", "result", "error"}[k]
}

// Message is one JSON-RPC message, valid and immutable. The zero Message is
// Invalid and carries nothing. Byte slices that its methods return alias the
// message and must not be changed.
type Message struct {
	raw    []byte
	kind   Kind
	id     ID
	method string

	// Places of the members' values in raw; zero when absent.
	idAt, methodAt, paramsAt, resultAt, errorAt Span
}

// Span is a range of bytes, start included and end not. The zero Span is empty.
type Span struct{ Start, End int }

func (s Span) of(b []byte) []byte {
	if s.End == 0 {
		return nil
	}
	return b[s.Start:s.End:s.End]
}

// Kind tells what m is.
func (m Message) Kind() Kind { return m.kind }

// IsResponse reports whether m answers a request.
func (m Message) IsResponse() bool { return m.kind == Result || m.kind == Failure }

// ID returns the id, or the zero ID for a notification and for an error that
// answers nothing in particular.
func (m Message) ID() ID { return m.id }

// Method returns the method of a request or notification, unescaped.
func (m Message) Method() string { return m.method }

// Raw returns the message as it was read or last rewritten, without white space
// around it.
func (m Message) Raw() []byte { return m.raw }

// Params returns the value of params, or nil when there is none.
func (m Message) Params() []byte { return m.paramsAt.of(m.raw) }

// Result returns the value of result, or nil when there is none.
func (m Message) Result() []byte { return m.resultAt.of(m.raw) }

// Error returns the error object of a Failure, or nil.
func (m Message) Error() []byte { return m.errorAt.of(m.raw) }

// Line returns the message on one line, as stdio and SSE frames need it. Only a
// message that has line breaks between its tokens is compacted; every other
// keeps its bytes.
func (m Message) Line() []byte {
	if bytes.IndexByte(m.raw, '\n') < 0 && bytes.IndexByte(m.raw, '\r') < 0 {
		return m.raw
	}
	v := jsontext.Value(bytes.Clone(m.raw))
	if err := v.Compact(); err != nil {
		panic(fmt.Sprintf("wire: valid message does not compact: %v", err))
	}
	return v
}

// WithID returns m with another id. It panics when m has no id to replace, and
// when id is the zero ID.
func (m Message) WithID(id ID) Message {
	if m.idAt.End == 0 || id == "" {
		panic("wire: WithID without an id")
	}
	m.splice(m.idAt, []byte(id))
	m.id = id
	return m
}

// WithMethod returns the request or notification m with another method. It
// panics on a response.
func (m Message) WithMethod(method string) Message {
	if m.methodAt.End == 0 {
		panic("wire: WithMethod on a message without method")
	}
	m.splice(m.methodAt, Quote(method))
	m.method = method
	return m
}

// WithParams returns the request or notification m with other params. They must
// be a valid JSON object. A message that had none gets the member at its end. It
// panics on a response.
func (m Message) WithParams(params []byte) Message {
	if m.methodAt.End == 0 {
		panic("wire: WithParams on a message without method")
	}
	if m.paramsAt.End != 0 {
		m.splice(m.paramsAt, params)
		return m
	}
	end := bytes.LastIndexByte(m.raw, '}')
	const name = `,"params":`
	m.raw = Splice(m.raw, Edit{Span{end, end}, slices.Concat([]byte(name), params)})
	m.paramsAt = Span{end + len(name), end + len(name) + len(params)}
	return m
}

// WithResult returns the response m with another result, a valid JSON value. It
// panics when m has no result to replace.
func (m Message) WithResult(result []byte) Message {
	if m.resultAt.End == 0 {
		panic("wire: WithResult on a message without result")
	}
	m.splice(m.resultAt, result)
	return m
}

// splice replaces one place in raw and moves the places behind it.
func (m *Message) splice(at Span, with []byte) {
	m.raw = Splice(m.raw, Edit{at, with})
	shift := len(with) - (at.End - at.Start)
	for _, s := range []*Span{&m.idAt, &m.methodAt, &m.paramsAt, &m.resultAt, &m.errorAt} {
		switch {
		case *s == at:
			s.End += shift
		case s.Start >= at.End:
			s.Start += shift
			s.End += shift
		}
	}
}

// Parse reads one message. It keeps data, which must not be changed afterwards.
// The error is always a *[ParseError].
func Parse(data []byte) (Message, error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	data = bytes.Trim(data, " \t\r\n")
	d.reset(data)
	m := Message{raw: data}
	if err := d.envelope(&m); err != nil {
		return Message{}, err
	}
	return m, nil
}

// decoder is a reusable jsontext decoder over bytes.
type decoder struct {
	buf bytes.Buffer
	dec jsontext.Decoder
	src []byte
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func (d *decoder) reset(data []byte) {
	d.src = data
	d.buf = *bytes.NewBuffer(data)
	d.dec.Reset(&d.buf)
}

func (d *decoder) release() {
	d.reset(nil)
	decoders.Put(d)
}

// value reads the next value and returns its place.
func (d *decoder) value() (Span, error) {
	v, err := d.dec.ReadValue()
	if err != nil {
		return Span{}, err
	}
	end := int(d.dec.InputOffset())
	return Span{end - len(v), end}, nil
}

func (d *decoder) envelope(m *Message) error {
	begin, err := d.dec.ReadToken()
	switch {
	case err != nil:
		return m.syntaxError(err)
	case begin.Kind() != '{' && !jsontext.Value(d.src).IsValid():
		return m.refuse(CodeParse, "not valid JSON")
	case begin.Kind() != '{':
		return m.refuse(CodeInvalidRequest, "a message is a JSON object")
	}
	var version Span
	for d.dec.PeekKind() == '"' {
		name, err := d.value()
		if err != nil {
			return m.syntaxError(err)
		}
		at := new(Span)
		switch text := unescape(name.of(d.src)); string(text) {
		case "jsonrpc":
			at = &version
		case "id":
			at = &m.idAt
		case "method":
			at = &m.methodAt
		case "params":
			at = &m.paramsAt
		case "result":
			at = &m.resultAt
		case "error":
			at = &m.errorAt
		default:
			if misspelt(text) {
				return m.refuse(CodeInvalidRequest, "a member of the envelope differs in case from what it should be")
			}
		}
		*at = name // the member is there, even when there is a fault in its value
		value, err := d.value()
		if err != nil {
			return m.syntaxError(err)
		}
		*at = value
		if at == &m.idAt {
			// Known as soon as it is read, so that a fault behind it can be
			// told to whom it concerns.
			m.id, _ = ParseID(at.of(d.src))
		}
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return m.syntaxError(err)
	}
	if int(d.dec.InputOffset()) != len(d.src) {
		return m.refuse(CodeParse, "data after the end of the message")
	}
	if string(version.of(d.src)) != `"2.0"` {
		return m.refuse(CodeInvalidRequest, `member "jsonrpc" must be "2.0"`)
	}
	return m.classify()
}

// misspelt reports whether a reader that ignores case, as Go's encoding/json
// does, takes name for a member of the envelope.
func misspelt(name []byte) bool {
	for _, known := range [...]string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if bytes.EqualFold(name, []byte(known)) {
			return true
		}
	}
	return false
}

// classify decides what m is from the members that are there, and refuses what
// two readers could take for different things.
func (m *Message) classify() error {
	refuse := func(detail string) error { return m.refuse(CodeInvalidRequest, detail) }
	null := string(m.idAt.of(m.raw)) == "null"
	if m.idAt.End != 0 && m.id == "" && !null {
		return refuse("an id is a string or an integer")
	}
	has := func(s Span) bool { return s.End != 0 }
	switch {
	case has(m.methodAt) && (has(m.resultAt) || has(m.errorAt)):
		return refuse("a message is a request or a response, not both")
	case has(m.resultAt) && has(m.errorAt):
		return refuse("a response has a result or an error, not both")
	case has(m.methodAt):
		v := m.methodAt.of(m.raw)
		if v[0] != '"' {
			return refuse("a method is a string")
		}
		m.method = string(unescape(v))
		if p := m.Params(); p != nil && p[0] != '{' && string(p) != "null" {
			return refuse("params must be an object")
		}
		switch {
		case null:
			return refuse("the id of a request is not null")
		case has(m.idAt):
			m.kind = Request
		default:
			m.kind = Notification
		}
	case has(m.resultAt):
		if m.id == "" {
			return refuse("a result needs the id of its request")
		}
		m.kind = Result
	case has(m.errorAt):
		if m.raw[m.errorAt.Start] != '{' {
			return refuse("an error is an object")
		}
		m.kind = Failure
		if null {
			m.idAt = Span{}
		}
	default:
		return refuse("a message has a method, a result or an error")
	}
	return nil
}

// unescape returns the text of a JSON string; it copies only when there is an
// escape. Of bytes that were not read strictly before it gives what it can.
func unescape(quoted []byte) []byte {
	if len(quoted) >= 2 && bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return text
}

// Quote returns s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func Quote(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s) // its only error is the invalid UTF-8 that it replaces
	return b
}
