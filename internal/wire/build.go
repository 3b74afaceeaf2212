package wire

import "fmt"

// NewRequest returns a request that Beckon makes itself. A nil params leaves the
// member out. It panics when params is no JSON object, or id no id.
func NewRequest(id ID, method string, params []byte) Message {
	return build(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s%s}`, id, Quote(method), optionalParams(params)))
}

// NewNotification returns a notification that Beckon makes itself; params as for
// [NewRequest].
func NewNotification(method string, params []byte) Message {
	return build(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s%s}`, Quote(method), optionalParams(params)))
}

// NewResult returns the response that answers id with result. It panics when
// result is no JSON value: bytes from elsewhere must be validated before.
func NewResult(id ID, result []byte) Message {
	return build(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

// NewFailure returns the response that answers id with err. The zero id becomes
// null, for a message whose id could not be read.
func NewFailure(id ID, err *Error) Message {
	if id == "" {
		id = "null"
	}
	return build(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, err.json()))
}

func optionalParams(params []byte) []byte {
	if params == nil {
		return nil
	}
	return append([]byte(`,"params":`), params...)
}

func build(raw []byte) Message {
	m, err := Parse(raw)
	if err != nil {
		panic(fmt.Sprintf("wire: built an invalid message: %v", err))
	}
	return m
}
