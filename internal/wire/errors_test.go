package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// failure is an error response as a peer decodes it.
type failure struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

func decodeFailure(t *testing.T, m Message) failure {
	t.Helper()
	var f struct {
		Error failure `json:"error"`
	}
	if err := json.Unmarshal(m.Raw(), &f); err != nil {
		t.Fatalf("decoding %s: %v", m.Raw(), err)
	}
	return f.Error
}

// Programs read data.reason; it is always there and always Beckon's own.
func TestErrorReason(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  *Error
		want failure
	}{
		{"plain", Errorf(ReasonTimeout, "nobody answered in %d s", 60),
			failure{-32000, "nobody answered in 60 s", map[string]any{"reason": "timeout"}}},
		{"with data", Errorf(ReasonTimeout, "late").With("timeoutMs", 60000).Hint("answer sooner"),
			failure{-32000, "late", map[string]any{"reason": "timeout", "timeoutMs": 60000.0, "hint": "answer sooner"}}},
		{"reason is not overwritten", Errorf(ReasonTimeout, "late").With("reason", "whatever"),
			failure{-32000, "late", map[string]any{"reason": "timeout"}}},
		{"reason left out", &Error{Code: CodeURLRequired, Message: "visit"},
			failure{-32042, "visit", map[string]any{"reason": "internal"}}},
		{"message that is no UTF-8", Errorf(ReasonInternal, "a\xffb"),
			failure{-32603, "a\ufffdb", map[string]any{"reason": "internal"}}},
		{"message with markup and quotes", Errorf(ReasonInternal, `<b>&"\`),
			failure{-32603, `<b>&"\`, map[string]any{"reason": "internal"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := NewFailure("7", tt.err)
			if diff := gocmp.Diff(tt.want, decodeFailure(t, m)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if m.Kind() != Failure || m.ID() != "7" {
				t.Errorf("built %s", m.Raw())
			}
		})
	}
}

// A refused message is told as what it is, and a cause of our own is not told.
func TestErrorFrom(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.7:4222: password hunter2 refused")
	own := Errorf(ReasonMode, "the client shows no forms")
	for _, tt := range []struct {
		name   string
		err    error
		code   int
		reason Reason
		text   string
	}{
		{"own", own, CodeInvalidParams, ReasonMode, own.Message},
		{"own, wrapped", fmt.Errorf("asking %w: %w", secret, own), CodeInvalidParams, ReasonMode, own.Message},
		{"own, joined", errors.Join(secret, own), CodeInvalidParams, ReasonMode, own.Message},
		{"unknown", secret, CodeInternal, ReasonInternal, "internal error"},
		{"unknown, wrapped", fmt.Errorf("relaying: %w", secret), CodeInternal, ReasonInternal, "internal error"},
		{"end of file", io.ErrUnexpectedEOF, CodeInternal, ReasonInternal, "internal error"},
		{"context", context.DeadlineExceeded, CodeInternal, ReasonInternal, "internal error"},
		{"no JSON", refusal(t, `{"hunter2`), CodeParse, ReasonInvalid, "parse error: not valid JSON at byte 9"},
		{"no message", fmt.Errorf("reading: %w", refusal(t, `{}`)), CodeInvalidRequest, ReasonInvalid,
			`invalid request: member "jsonrpc" must be "2.0"`},
		{"too long", fmt.Errorf("reading from client 7: %w", ErrTooLong), CodeInvalidRequest, ReasonInvalid,
			"invalid request: the message is too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ErrorFrom(tt.err)
			if got.Code != tt.code || got.Reason != tt.reason || got.Message != tt.text {
				t.Errorf("ErrorFrom = %d %q %q, want %d %q %q", got.Code, got.Reason, got.Message, tt.code, tt.reason, tt.text)
			}
			if wire := string(NewFailure("", got).Raw()); strings.Contains(wire, "hunter2") {
				t.Errorf("the cause is told to the peer: %s", wire)
			}
		})
	}
}

// Each reason has one code toward legacy peers.
func TestReasonCode(t *testing.T) {
	for _, tt := range []struct {
		code    int
		reasons []Reason
	}{
		{-32000, []Reason{ReasonNoClient, ReasonTimeout, ReasonLimit, ReasonWithdrawn, ReasonCancelled,
			ReasonClientGone, ReasonBackendGone, ReasonBackendDown, ReasonStopping}},
		{-32601, []Reason{ReasonCapability, ReasonDisabled, ReasonMethod}},
		{-32602, []Reason{ReasonMode, ReasonSchema, ReasonSensitive, ReasonParams, ReasonUnknown}},
		{-32010, []Reason{ReasonRate}},
		{-32600, []Reason{ReasonInvalid}},
		{-32603, []Reason{ReasonInternal, "", "no_such_reason"}},
	} {
		for _, r := range tt.reasons {
			if got := r.Code(); got != tt.code {
				t.Errorf("%s: code %d, want %d", r, got, tt.code)
			}
			f := decodeFailure(t, NewFailure("1", Errorf(r, "why")))
			if want := cmp.Or(r, ReasonInternal); f.Code != tt.code || f.Data["reason"] != string(want) {
				t.Errorf("%s: the peer gets code %d, reason %v", r, f.Code, f.Data["reason"])
			}
		}
	}
}

// An error is shared by many calls: additions are to a copy.
func TestErrorWithCopies(t *testing.T) {
	base := Errorf(ReasonLimit, "too many").With("limit", 100)
	a, b := base.With("open", 1), base.Hint("raise the limit")
	if diff := gocmp.Diff(map[string]any{"limit": 100}, base.Data); diff != "" {
		t.Errorf("the original was changed (-want +got):\n%s", diff)
	}
	if len(a.Data) != 2 || len(b.Data) != 2 || b.Data["hint"] != "raise the limit" {
		t.Errorf("copies have %v and %v", a.Data, b.Data)
	}
	if a.Error() != "too many" || a.Code != base.Code || a.Reason != base.Reason {
		t.Errorf("the copy is %+v", a)
	}
}
