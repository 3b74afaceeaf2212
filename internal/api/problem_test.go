package api

import (
	"encoding/json"
	"testing"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// R116: each reason has its status and its family, and what was told over MCP is told
// over HTTP.
func TestProblems(t *testing.T) {
	for _, tt := range []struct {
		reason wire.Reason
		status int
		family string
	}{
		{wire.ReasonSchema, 422, "validation"},
		{wire.ReasonValidation, 422, "validation"},
		{wire.ReasonAttempts, 422, "validation"},
		{wire.ReasonExpired, 409, "timeout"},
		{wire.ReasonCompleted, 409, "submission"},
		{wire.ReasonEnded, 409, "submission"},
		{wire.ReasonNotExtendable, 409, "submission"},
		{wire.ReasonNoExtensions, 409, "submission"},
		{wire.ReasonNotFound, 404, "submission"},
		{wire.ReasonParams, 400, "submission"},
		{wire.ReasonMode, 422, "submission"},
		{wire.ReasonSensitive, 422, "submission"},
		{wire.ReasonDisabled, 403, "submission"},
		{wire.ReasonRate, 429, "submission"},
		{wire.ReasonLimit, 429, "submission"},
		{wire.ReasonStopping, 503, "system"},
		{wire.ReasonInternal, 500, "system"},
		{"", 500, "system"},
		{"never heard of", 500, "system"},
	} {
		p := failed(&wire.Error{Reason: tt.reason, Message: "m"}).problem("/x")
		if p.Status != tt.status || p.Family != tt.family || p.Title == "" || p.Instance != "/x" || p.Reason == "" {
			t.Errorf("%s: got %+v, want %d %s", tt.reason, p, tt.status, tt.family)
		}
	}
}

// The data of an error arrive, whatever Go type they have, and what has no place is
// left out.
func TestProblemData(t *testing.T) {
	err := wire.Errorf(wire.ReasonValidation, "m").With("type", "validation").
		With("errors", []any{map[string]any{"field": "a", "code": -32007, "message": "x", "path": []string{"a"}}}).
		With("retry_allowed", true).With("retry_limit", int64(3)).With("retry_count", 1.0).With("hint", "h").
		With("elapsed_ms", 7).With("timeout_ms", "no number").With("else", "secret")
	got, _ := json.Marshal(failed(err).problem("/x"))
	const want = `{"type":"urn:beckon:problem:validation","title":"Form validation failed","status":422,"detail":"m","instance":"/x","reason":"validation","hint":"h","family":"validation",` +
		`"errors":[{"field":"a","code":-32007,"message":"x","constraint":"","expected":null,"actual":null,"path":["a"]}],"retry_allowed":true,"retry_limit":3,"retry_count":1,"elapsed_ms":7}`
	if string(got) != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	p := failed(wire.Errorf(wire.ReasonSchema, "m").With("faults", form.Faults{{Path: "$", Message: "m", Fix: "f"}})).problem("/x")
	if len(p.Faults) != 1 || p.Faults[0].Fix != "f" {
		t.Errorf("got %+v", p)
	}
}

// Who was refused for a moment is told for how long, in whole seconds and never none.
func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		err  *wire.Error
		want int64
	}{
		{wire.Errorf(wire.ReasonRate, "m").With("retryAfterMs", int64(1)), 1},
		{wire.Errorf(wire.ReasonRate, "m").With("retryAfterMs", int64(1000)), 1},
		{wire.Errorf(wire.ReasonRate, "m").With("retryAfterMs", 1001), 2},
		{wire.Errorf(wire.ReasonRate, "m").With("retryAfterMs", 0), 1},
		{wire.Errorf(wire.ReasonLimit, "m"), 5},
		{wire.Errorf(wire.ReasonStopping, "m"), 5},
		{wire.Errorf(wire.ReasonNotFound, "m").With("retryAfterMs", 9), 0},
	} {
		if got := failed(tt.err).retryAfter(); got != tt.want {
			t.Errorf("%s %v: got %d, want %d", tt.err.Reason, tt.err.Data, got, tt.want)
		}
	}
}
