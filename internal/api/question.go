package api

import (
	"encoding/json"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Question is a question as it stands. Instants are milliseconds since 1970 (Unix
// time), durations milliseconds.
type Question struct {
	ID        string      `json:"id" doc:"Names the question. Whoever may see it can do so by this id alone."`
	Status    input.State `json:"status" enum:"pending,active,extended,completed,declined,cancelled,timeout,withdrawn,abandoned" doc:"The first three are open; the others never change any more."`
	CreatedAt int64       `json:"createdAt" doc:"When it was asked."`
	TimeoutAt int64       `json:"timeoutAt" doc:"When it ends if nobody answers, or would have ended."`
	EndedAt   int64       `json:"endedAt,omitempty" doc:"When it ended; not there while it is open."`

	Message string          `json:"message,omitempty" doc:"What to tell the person beside the form."`
	Form    json.RawMessage `json:"form" json-type:"object" doc:"The definition of the form."`

	RetryLimit          int                 `json:"retry_limit" doc:"How many invalid answers end the question."`
	RetryCount          int                 `json:"retry_count" doc:"How many there were."`
	RetryAllowed        bool                `json:"retry_allowed" doc:"Whether it can be answered."`
	ExtensionsRemaining int                 `json:"extensionsRemaining" doc:"How often its end can still be put off."`
	TimeoutConfig       input.TimeoutConfig `json:"timeout_config" doc:"The terms under which it is open."`

	Errors   form.Errors     `json:"errors,omitempty" doc:"What was wrong with the newest answers, if they were invalid."`
	Partial  json.RawMessage `json:"partial,omitempty" json-type:"object" doc:"What was valid in the newest answers, while the question is open, for filling the form in again; without secrets."`
	Response *form.Response  `json:"response,omitempty" doc:"The answers, once there are."`

	Reason input.Abandonment `json:"reason,omitempty" enum:"user_cancelled,client_disconnected,timeout,session_expired,form_invalidated,max_retries_exceeded" doc:"Why it ended without answers."`
	Detail string            `json:"detail,omitempty" doc:"The same in a sentence."`
}

// view is r as it stands, for its owner.
func view(r *input.Request) Question { return viewAt(r, r.Status()) }

// viewAt is r as it stood.
func viewAt(r *input.Request, s input.Status) Question {
	t := r.Terms()
	q := Question{
		ID: r.ID, Status: s.State, CreatedAt: s.CreatedAt.UnixMilli(), TimeoutAt: s.TimeoutAt.UnixMilli(),
		RetryLimit: t.Attempts, RetryCount: s.Attempts, RetryAllowed: s.EndedAt.IsZero() && s.AttemptsLeft > 0,
		ExtensionsRemaining: s.ExtensionsLeft, Errors: s.Errors, Reason: s.Abandonment(),
		TimeoutConfig: t.Config(),
	}
	q.Message, _ = wire.Text(r.Message.Params(), "message")
	q.Form, _ = r.Form().MarshalJSON()
	switch {
	case s.State == input.Completed:
		q.Response = response(r, s)
	case s.EndedAt.IsZero() && s.Attempts > 0 && s.Values.Form() != nil:
		q.Partial, _ = s.Values.Redacted()
	}
	if !s.EndedAt.IsZero() {
		q.EndedAt = s.EndedAt.UnixMilli()
		if s.Answer.Err != nil {
			q.Detail = s.Answer.Err.Message
		}
	}
	return q
}

// response is the record of the answers to r.
func response(r *input.Request, s input.Status) *form.Response {
	return &form.Response{
		FormID:    r.Form().Definition().ID,
		Responses: s.Values.JSON(),
		Metadata: form.ResponseMetadata{
			SubmittedAt: s.EndedAt.UnixMilli(), UserAgent: s.By.UserAgent, SessionID: s.By.Session,
		},
	}
}

// TermsOf are the terms that whoever asks may set, where the form says nothing. All
// are milliseconds, and a member that is not there leaves the number to the gateway.
type TermsOf struct {
	Timeout           int64 `json:"timeout,omitempty" minimum:"1000" maximum:"3600000" doc:"How long the question is open."`
	ExtensionAllowed  *bool `json:"extension_allowed,omitempty" doc:"Whether its end can be put off."`
	ExtensionDuration int64 `json:"extension_duration,omitempty" minimum:"1000" maximum:"3600000" doc:"By how much at a time, and at most."`
	MaxExtensions     *int  `json:"max_extensions,omitempty" minimum:"0" maximum:"100" doc:"How often."`
	WarnBefore        int64 `json:"warn_before,omitempty" minimum:"1000" maximum:"3600000" doc:"How long before the end the warning comes."`
	MaxAttempts       int   `json:"max_attempts,omitempty" minimum:"1" maximum:"100" doc:"How many invalid answers end the question."`
}

func (t *TermsOf) terms() form.Terms {
	if t == nil {
		return form.Terms{}
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return form.Terms{
		Timeout: ms(t.Timeout), ExtensionAllowed: t.ExtensionAllowed, Extension: ms(t.ExtensionDuration),
		MaxExtensions: t.MaxExtensions, WarnBefore: ms(t.WarnBefore), MaxAttempts: t.MaxAttempts,
	}
}
