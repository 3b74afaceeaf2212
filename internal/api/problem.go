package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Reasons that only REST has. Those of the checks before it are the front's own.
const (
	reasonOrigin    wire.Reason = "origin"        // the web page of another site sent the request
	reasonHTTP      wire.Reason = "http"          // there is no such path, method, or type of body
	reasonSize      wire.Reason = "size"          // the body is too long
	reasonSlow      wire.Reason = "slow"          // the body did not come in time
	reasonMalformed wire.Reason = "malformed"     // the body is not what the endpoint takes
	reasonForm      wire.Reason = "form_mismatch" // the answer is to another form
	reasonAsker     wire.Reason = "not_asker"     // only who asked may do that
)

// Problem is an error, as RFC 9457 has it. Programs read reason, and people title,
// detail and hint.
type Problem struct {
	Type     string `json:"type" doc:"Names the kind of problem. It is stable, and no address."`
	Title    string `json:"title" doc:"The kind of problem, in words that do not change."`
	Status   int    `json:"status" doc:"The HTTP status."`
	Detail   string `json:"detail" doc:"What happened this time, in a sentence."`
	Instance string `json:"instance" doc:"The path of the request."`

	Reason wire.Reason `json:"reason" doc:"Why, in a word that programs can rely on."`
	Hint   string      `json:"hint,omitempty" doc:"What to do next."`
	Family string      `json:"family" enum:"validation,timeout,submission,system" doc:"Who has to do something about it."`

	Errors       form.Errors `json:"errors,omitempty" doc:"Everything that is wrong with the answers, at most one for each field."`
	RetryAllowed *bool       `json:"retry_allowed,omitempty" doc:"Whether the question may be answered again."`
	RetryLimit   *int        `json:"retry_limit,omitempty" doc:"How many invalid answers end the question."`
	RetryCount   *int        `json:"retry_count,omitempty" doc:"How many there were."`
	Faults       form.Faults `json:"faults,omitempty" doc:"Everything that is wrong with the definition of a form."`
	ElapsedMs    *int64      `json:"elapsed_ms,omitempty" doc:"How long the question was open."`
	TimeoutMs    *int64      `json:"timeout_ms,omitempty" doc:"How long it could be."`
	Limit        *int64      `json:"limit,omitempty" doc:"The limit that was reached."`
}

// failure is a request that cannot be served.
type failure struct {
	status int
	err    *wire.Error
}

func fault(status int, reason wire.Reason, format string, args ...any) *failure {
	return &failure{status, wire.Errorf(reason, format, args...)}
}

// Hint says what to do next.
func (f *failure) Hint(hint string) *failure { return &failure{f.status, f.err.Hint(hint)} }

// failed is what an error of the domain is over HTTP.
func failed(err *wire.Error) *failure { return &failure{statusOf(err.Reason), err} }

// statusOf is the one table from reasons to statuses.
func statusOf(reason wire.Reason) int {
	switch reason {
	case reasonMalformed, wire.ReasonParams, wire.ReasonInvalid:
		return http.StatusBadRequest
	case wire.ReasonDisabled, reasonAsker:
		return http.StatusForbidden
	case wire.ReasonNotFound:
		return http.StatusNotFound
	case wire.ReasonCompleted, wire.ReasonEnded, wire.ReasonExpired,
		wire.ReasonNotExtendable, wire.ReasonNoExtensions, reasonForm:
		return http.StatusConflict
	case wire.ReasonSchema, wire.ReasonMode, wire.ReasonSensitive, wire.ReasonUnrepresentable,
		wire.ReasonValidation, wire.ReasonAttempts:
		return http.StatusUnprocessableEntity
	case wire.ReasonRate, wire.ReasonLimit:
		return http.StatusTooManyRequests
	case wire.ReasonStopping:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// titles name the kind of problem that a reason is.
var titles = map[wire.Reason]string{
	"auth":                   "Authentication is required",
	reasonOrigin:             "Not allowed from there",
	reasonHTTP:               "Not possible here",
	reasonSize:               "Too long",
	reasonSlow:               "Too slow",
	reasonMalformed:          "Malformed request",
	wire.ReasonParams:        "Malformed request",
	wire.ReasonInvalid:       "Malformed request",
	reasonForm:               "Answer to another form",
	reasonAsker:              "Only for whoever asked",
	wire.ReasonDisabled:      "Switched off",
	wire.ReasonNotFound:      "No such question",
	wire.ReasonCompleted:     "Answered before",
	wire.ReasonEnded:         "Ended before",
	wire.ReasonExpired:       "Timed out before",
	wire.ReasonNotExtendable: "Cannot be extended",
	wire.ReasonNoExtensions:  "Cannot be extended any more",
	wire.ReasonSchema:        "Invalid form definition",
	wire.ReasonValidation:    "Form validation failed",
	wire.ReasonAttempts:      "Form validation failed too often",
	wire.ReasonRate:          "Too many in too short a time",
	wire.ReasonLimit:         "Too many at once",
	wire.ReasonStopping:      "Shutting down",
}

// titleOf names the kind of problem that a reason is.
func titleOf(reason wire.Reason) string { return cmp.Or(titles[reason], "Not possible") }

// familyOf sorts reasons by who has to do something about them.
func familyOf(reason wire.Reason, status int) string {
	switch {
	case reason == wire.ReasonValidation, reason == wire.ReasonAttempts, reason == wire.ReasonSchema:
		return "validation"
	case reason == wire.ReasonExpired, reason == wire.ReasonTimeout:
		return "timeout"
	case status >= http.StatusInternalServerError:
		return "system"
	}
	return "submission"
}

// problem is the failure as it is written.
func (f *failure) problem(path string) Problem {
	e := f.err
	reason := cmp.Or(e.Reason, wire.ReasonInternal)
	p := Problem{
		Type: "urn:beckon:problem:" + string(reason), Title: titleOf(reason), Status: f.status,
		Detail: e.Message, Instance: path, Reason: reason, Family: familyOf(reason, f.status),
		RetryAllowed: datum[bool](e, "retry_allowed"), RetryLimit: datum[int](e, "retry_limit"), RetryCount: datum[int](e, "retry_count"),
		ElapsedMs: datum[int64](e, "elapsed_ms"), TimeoutMs: datum[int64](e, "timeout_ms"), Limit: datum[int64](e, "limit"),
	}
	if hint := datum[string](e, "hint"); hint != nil {
		p.Hint = *hint
	}
	if errs := datum[form.Errors](e, "errors"); errs != nil {
		p.Errors = *errs
	}
	if faults := datum[form.Faults](e, "faults"); faults != nil {
		p.Faults = *faults
	}
	return p
}

// datum is a member of the data of an error, nil when it is not there. It may have
// another Go type that is the same in JSON.
func datum[T any](e *wire.Error, name string) *T {
	v, ok := e.Data[name]
	if !ok {
		return nil
	}
	if t, ok := v.(T); ok {
		return &t
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	t := new(T)
	if json.Unmarshal(b, t) != nil {
		return nil
	}
	return t
}

// retryAfter is how many seconds somebody who was refused should wait.
func (f *failure) retryAfter() int64 {
	const usual = 5
	if f.status != http.StatusTooManyRequests && f.status != http.StatusServiceUnavailable {
		return 0
	}
	if ms := datum[int64](f.err, "retryAfterMs"); ms != nil {
		return max(1, (*ms+999)/1000)
	}
	return usual
}

// refuse answers a request with the failure.
func (v *visit) refuse(f *failure) {
	if after := f.retryAfter(); after > 0 {
		v.w.Header().Set("Retry-After", strconv.FormatInt(after, 10))
	}
	v.reply(f.status, "application/problem+json", f.problem(v.r.URL.EscapedPath()))
}
