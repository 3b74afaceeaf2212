package wire

import "testing"

func TestBuild(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  Message
		kind Kind
		id   ID
		want string
	}{
		{"request", NewRequest("7", "ping", nil), Request, "7", `{"jsonrpc":"2.0","id":7,"method":"ping"}`},
		{"request with params", NewRequest(`"a"`, "x/y", []byte(`{"n":1.50}`)), Request, `"a"`,
			`{"jsonrpc":"2.0","id":"a","method":"x/y","params":{"n":1.50}}`},
		{"method that needs quoting", NewRequest("7", "a\"b", nil), Request, "7", `{"jsonrpc":"2.0","id":7,"method":"a\"b"}`},
		{"notification", NewNotification("x", nil), Notification, "", `{"jsonrpc":"2.0","method":"x"}`},
		{"notification with params", NewNotification("x", []byte(`{}`)), Notification, "", `{"jsonrpc":"2.0","method":"x","params":{}}`},
		{"result", NewResult("7", []byte(`{"a":[]}`)), Result, "7", `{"jsonrpc":"2.0","id":7,"result":{"a":[]}}`},
		{"error", NewFailure("7", Errorf(ReasonMode, "no")), Failure, "7",
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no","data":{"reason":"mode"}}}`},
		{"error without id", NewFailure("", Errorf(ReasonInvalid, "no")), Failure, "",
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no","data":{"reason":"invalid"}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.got.Raw()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if tt.got.Kind() != tt.kind || tt.got.ID() != tt.id {
				t.Errorf("it is a %v with id %s, want a %v with id %s", tt.got.Kind(), tt.got.ID(), tt.kind, tt.id)
			}
		})
	}
}

// mustPanic calls f, which a programmer's mistake must not survive.
func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// A change that the message has no place for would give bytes that are no
// message; that it cannot happen is the caller's to know.
func TestImpossibleChangesPanic(t *testing.T) {
	request := NewRequest("1", "x", nil)
	result := NewResult("1", []byte(`{}`))
	failure := NewFailure("", Errorf(ReasonInternal, "x"))
	for name, f := range map[string]func(){
		"WithID on a notification":           func() { NewNotification("x", nil).WithID("2") },
		"WithID on an error that has no id":  func() { failure.WithID("2") },
		"WithID on nothing":                  func() { Message{}.WithID("2") },
		"WithID without id":                  func() { request.WithID("") },
		"WithMethod on a result":             func() { result.WithMethod("y") },
		"WithMethod on an error":             func() { failure.WithMethod("y") },
		"WithMethod on nothing":              func() { Message{}.WithMethod("y") },
		"WithParams on a result":             func() { result.WithParams([]byte(`{}`)) },
		"WithParams on nothing":              func() { Message{}.WithParams([]byte(`{}`)) },
		"WithResult on a request":            func() { request.WithResult([]byte(`{}`)) },
		"WithResult on an error":             func() { failure.WithResult([]byte(`{}`)) },
		"NewRequest without id":              func() { NewRequest("", "x", nil) },
		"NewRequest with params that are []": func() { NewRequest("1", "x", []byte(`[]`)) },
		"NewRequest with two params":         func() { NewRequest("1", "x", []byte(`{},"params":{}`)) },
		"NewNotification with no JSON":       func() { NewNotification("x", []byte(`{`)) },
		"NewResult without id":               func() { NewResult("", []byte(`{}`)) },
		"NewResult without result":           func() { NewResult("1", nil) },
		"NewFailure with data that is no JSON": func() {
			NewFailure("1", Errorf(ReasonInternal, "x").With("f", func() {}))
		},
	} {
		t.Run(name, func(t *testing.T) { mustPanic(t, name, f) })
	}
}
