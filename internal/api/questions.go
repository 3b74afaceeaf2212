package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

const typeJSON = "application/json"

// Asking is the body of a POST to /questions.
type Asking struct {
	Form           json.RawMessage `json:"form,omitempty" json-type:"object" doc:"The definition of the form to fill in."`
	FormDefinition json.RawMessage `json:"formDefinition,omitempty" json-type:"object" doc:"Another name for form."`
	Prompt         string          `json:"prompt,omitempty" maxLength:"10000" doc:"Instead of a form: one question that is answered by a text, in the field answer."`
	Message        string          `json:"message,omitempty" maxLength:"10000" doc:"What to tell the person beside the form."`
	Terms          *TermsOf        `json:"terms,omitempty" doc:"How long and how often, where the form says nothing."`
}

// params are what the broker is asked for.
func (a Asking) params() ([]byte, *failure) {
	definition := a.Form
	if definition == nil {
		definition = a.FormDefinition
	}
	ways := 0
	for _, there := range []bool{a.Form != nil, a.FormDefinition != nil, a.Prompt != ""} {
		if there {
			ways++
		}
	}
	if ways != 1 {
		return nil, malformed("%d of form, formDefinition and prompt are there", ways).Hint("send exactly one of them")
	}
	mode := "form"
	if a.Prompt != "" {
		mode = "inline"
	}
	p := wire.Set(nil, wire.Quote(mode), "mode")
	if a.Prompt != "" {
		p = wire.Set(p, wire.Quote(a.Prompt), "prompt")
	} else {
		p = wire.Set(p, definition, "formDefinition")
	}
	if a.Message != "" {
		p = wire.Set(p, wire.Quote(a.Message), "message")
	}
	return p, nil
}

// ask opens a question.
func (a *API) ask(v *visit) *failure {
	if a.stopping() {
		return failed(wire.Errorf(wire.ReasonStopping, "the gateway is shutting down"))
	}
	body, f := decode[Asking](v)
	if f != nil {
		return f
	}
	params, f := body.params()
	if f != nil {
		return f
	}
	r, err := a.broker.Open(input.Question{
		Message:   wire.NewRequest(wire.IntID(1), "elicitation/create", params),
		Principal: v.who.Principal,
		Session:   Session,
		Share:     Session + "/" + v.who.Principal,
		Call:      "REST",
		Managed:   true,
		Terms:     body.Terms.terms(),
	}, nil, func(*input.Request, input.Answer) {})
	if err != nil {
		return failed(err)
	}
	v.w.Header().Set("Location", Root+"/questions/"+r.ID)
	v.reply(http.StatusCreated, typeJSON, view(r))
	return nil
}

// find looks up the question that the path names.
func (a *API) find(v *visit) (*input.Request, *failure) {
	r, err := a.broker.Find(v.id, v.who)
	if err != nil {
		return nil, failed(err)
	}
	return r, nil
}

// show tells how a question stands. Nothing changes by it.
func (a *API) show(v *visit) *failure {
	r, f := a.find(v)
	if f != nil {
		return f
	}
	body := encode(view(r))
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	v.w.Header().Set("ETag", tag)
	if strings.Contains(v.r.Header.Get("If-None-Match"), tag) {
		v.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	v.send(http.StatusOK, typeJSON, body)
	return nil
}

// Answering is the body of a POST to /questions/{id}/answer.
type Answering struct {
	Responses json.RawMessage `json:"responses,omitempty" json-type:"object" doc:"The answers, by the id of their field."`
	Action    string          `json:"action,omitempty" enum:"decline,cancel" doc:"Instead of responses: the person will not answer, or closed the form."`
	FormID    string          `json:"form_id,omitempty" maxLength:"128" doc:"The id of the form that is answered. If it is there it must be that of the question."`
	Metadata  json.RawMessage `json:"metadata,omitempty" json-type:"object" doc:"Is not looked at, so that a whole response record can be sent."`
}

// answer takes what the person answered.
func (a *API) answer(v *visit) *failure {
	r, f := a.find(v)
	if f != nil {
		return f
	}
	body, f := decode[Answering](v)
	if f != nil {
		return f
	}
	if (body.Responses != nil) == (body.Action != "") {
		return malformed("an answer is either responses or an action").
			Hint(`send {"responses": {"field": "answer"}}, or {"action": "decline"}, or {"action": "cancel"}`)
	}
	if want := r.Form().Definition().ID; body.FormID != "" && body.FormID != want {
		return failed(wire.Errorf(reasonForm, "the question is not about the form %.128q", body.FormID).
			Hint(`fetch the question and fill in its form, "` + want + `"`))
	}
	var err *wire.Error
	if body.Action != "" {
		err = r.Reply(input.Outcome(body.Action))
	} else {
		err = r.Submit(body.Responses, input.Submitter{UserAgent: v.r.UserAgent(), Session: Session})
	}
	if err != nil {
		return failed(err)
	}
	v.reply(http.StatusOK, typeJSON, view(r))
	return nil
}

// Extending is the body of a POST to /questions/{id}/extend.
type Extending struct {
	ExtensionDuration int64 `json:"extensionDuration,omitempty" minimum:"1" maximum:"3600000" doc:"By how many milliseconds; by extension_duration if it is not there."`
}

// Extension is what came of it.
type Extension struct {
	NewTimeoutAt        int64 `json:"newTimeoutAt" doc:"When the question ends now if nobody answers."`
	ExtensionsRemaining int   `json:"extensionsRemaining" doc:"How often its end can still be put off."`
}

// extend puts the end of a question off.
func (a *API) extend(v *visit) *failure {
	r, f := a.find(v)
	if f != nil {
		return f
	}
	body, f := decode[Extending](v)
	if f != nil {
		return f
	}
	s, err := r.Extend(time.Duration(body.ExtensionDuration) * time.Millisecond)
	if err != nil {
		return failed(err)
	}
	v.reply(http.StatusOK, typeJSON, Extension{s.TimeoutAt.UnixMilli(), s.ExtensionsLeft})
	return nil
}

// Withdrawing is the body of a POST to /questions/{id}/withdraw.
type Withdrawing struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why, for people."`
}

// withdraw ends a question that nobody wants to know the answer to any more. A
// question of a backend is not for the person who is asked to withdraw.
func (a *API) withdraw(v *visit) *failure {
	r, f := a.find(v)
	if f != nil {
		return f
	}
	body, f := decode[Withdrawing](v)
	if f != nil {
		return f
	}
	if !r.Managed {
		return failed(wire.Errorf(reasonAsker, "this question can be withdrawn by the backend that asked it alone").
			Hint(`decline it, or cancel it, by {"action": "decline"} or {"action": "cancel"} to its answer`))
	}
	why := "the question was withdrawn"
	if body.Reason != "" {
		why += ": " + body.Reason
	}
	if !r.Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "%s", why)) {
		return failed(r.TooLate())
	}
	v.reply(http.StatusOK, typeJSON, view(r))
	return nil
}
