package relay

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// managed reports whether a request of a client is for Beckon itself. In the
// specification it is servers that send requests of this family, so that no backend
// expects one.
func managed(req wire.Message) bool { return strings.HasPrefix(req.Method(), "elicitation/") }

// manage answers a request of a client that is about forms: one that it wants Beckon to
// ask, or one that is open and the client's to answer.
func (s *session) manage(x *exchange) (wire.Message, error) {
	req := x.request
	do := map[string]func(*exchange) ([]byte, *wire.Error){
		"elicitation/create":         s.createForm,
		"elicitation/submit":         s.submitForm,
		"elicitation/extend_timeout": s.extendForm,
		"elicitation/cancel":         s.cancelForm,
		"elicitation/status":         s.formStatus,
	}[req.Method()]
	if do == nil {
		return wire.Message{}, wire.Errorf(wire.ReasonMethod, "the method %s is not known here", req.Method()).
			Hint("forms are created, submitted, extended and cancelled, and their status told: elicitation/create, submit, extend_timeout, cancel, status")
	}
	if s.relay.opts.Off[input.Form] {
		return wire.Message{}, wire.Errorf(wire.ReasonDisabled, "Elicitation is disabled in this gateway").
			Hint("switch it on under input in the configuration of the gateway")
	}
	result, err := do(x)
	if err != nil {
		return wire.Message{}, err
	}
	if x.leg != nil {
		result = complete(req.Method(), result, s.relay.serverInfo())
	}
	return wire.NewResult(req.ID(), result), nil
}

// keptForm is a form that a client had Beckon ask, and that goes with its session.
type keptForm struct {
	request *input.Request // nil before it is open
	ended   bool
}

// createForm opens a form that the client defines, and returns its handle.
func (s *session) createForm(x *exchange) ([]byte, *wire.Error) {
	if err := creatable(x.request.Params()); err != nil {
		return nil, err
	}
	q := input.Question{
		Message: x.request, Principal: s.principal, Session: s.id, Call: x.request.Method(), Caps: s.caps, Managed: true,
	}
	if s.news != nil {
		q.Watch = func(r *input.Request, e input.Event) {
			if e.What == input.WasWarned {
				s.news.Notify(warning(r, e.Status))
			}
		}
	}
	f := &keptForm{}
	r, err := s.relay.opts.Broker.Open(q, nil, func(r *input.Request, _ input.Answer) {
		s.letGo(f)
		if s.news != nil {
			s.news.Notify(completion(r))
		}
	})
	if err != nil {
		return nil, err
	}
	if s.owns() {
		s.keep(f, r)
	}
	return handleOf(r), nil
}

// creatable refuses what is no form, with what to send instead. The form itself is
// looked at by the broker.
func creatable(p []byte) *wire.Error {
	mode, _ := wire.Text(p, "mode")
	switch {
	case mode == "inline", isObject(wire.Get(p, "formDefinition")) && (mode == "form" || wire.Get(p, "mode") == nil):
		return nil
	case mode == "form", mode == "":
		return wire.Errorf(wire.ReasonParams, "elicitation/create of a client needs formDefinition, an object").
			Hint(`send {"mode":"form","formDefinition":{…}}; questions by requestedSchema are for servers to ask`)
	}
	return wire.Errorf(wire.ReasonMode, "a client cannot have Beckon ask in mode %q", mode).
		Hint(`the modes are "form", with formDefinition, and "inline", with prompt`)
}

// owns reports whether forms end with the session. Those of a principal that is known
// outlive requests of the modern era, which have no session.
func (s *session) owns() bool { return !s.hello.Modern || s.principal == input.Local }

func (s *session) keep(f *keptForm, r *input.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.request = r; f.ended {
		return
	}
	if s.forms == nil {
		s.forms = make(map[*keptForm]struct{})
	}
	s.forms[f] = struct{}{}
}

func (s *session) letGo(f *keptForm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ended = true
	delete(s.forms, f)
}

// dropForms ends the forms that go with the session.
func (s *session) dropForms() {
	why := wire.Errorf(wire.ReasonSessionExpired, "the session was not used any more")
	if c, ok := s.asker.(*front.Client); ok {
		why = c.Ended()
	}
	s.mu.Lock()
	left := make([]*input.Request, 0, len(s.forms))
	for f := range s.forms {
		left = append(left, f.request)
	}
	s.mu.Unlock()
	for _, r := range left {
		r.Withdraw(input.Abandoned, why)
	}
}

// party is the client, as the owner of forms.
func (s *session) party() input.Party {
	return input.Party{Principal: s.principal, Session: s.id}
}

// find returns the form that a request names, if it is the client's.
func (s *session) find(x *exchange) (*input.Request, *wire.Error) {
	id, ok := wire.Text(x.request.Params(), "elicitationId")
	if !ok {
		return nil, wire.Errorf(wire.ReasonParams, "%s needs elicitationId, a string", x.request.Method())
	}
	return s.relay.opts.Broker.Find(id, s.party())
}

// submitForm answers a form.
func (s *session) submitForm(x *exchange) ([]byte, *wire.Error) {
	r, err := s.find(x)
	if err != nil {
		return nil, err
	}
	responses := wire.Get(x.request.Params(), "responses")
	if !isObject(responses) {
		return nil, wire.Errorf(wire.ReasonParams, "elicitation/submit needs responses, an object by field")
	}
	if err := r.Submit(responses, s.submitter(x)); err != nil {
		return nil, err
	}
	return []byte(`{"status":"completed"}`), nil
}

// submitter is what is known of who submits.
func (s *session) submitter(x *exchange) input.Submitter {
	info := wire.Get(s.hello.Params, "clientInfo")
	if x.leg != nil {
		info = x.leg.Meta.ClientInfo
	}
	name, _ := wire.Text(info, "name")
	version, _ := wire.Text(info, "version")
	return input.Submitter{UserAgent: strings.Trim(name+"/"+version, "/"), Session: s.id}
}

// extendForm moves the end of a form.
func (s *session) extendForm(x *exchange) ([]byte, *wire.Error) {
	r, err := s.find(x)
	if err != nil {
		return nil, err
	}
	var by time.Duration
	if v := wire.Get(x.request.Params(), "extensionDuration"); v != nil {
		ms, bad := strconv.ParseInt(string(v), 10, 64)
		if bad != nil || ms <= 0 || ms > math.MaxInt64/int64(time.Millisecond) {
			return nil, wire.Errorf(wire.ReasonParams, "extensionDuration must be a whole number of milliseconds, more than zero").
				Hint("leave it out to extend by as much as the form allows")
		}
		by = time.Duration(ms) * time.Millisecond
	}
	now, err := r.Extend(by)
	if err != nil {
		return nil, err
	}
	return encode(struct {
		TimeoutAt int64 `json:"newTimeoutAt"`
		Left      int   `json:"extensionsRemaining"`
	}{now.TimeoutAt.UnixMilli(), now.ExtensionsLeft}), nil
}

// cancelForm ends a form with the person's own cancel or decline.
func (s *session) cancelForm(x *exchange) ([]byte, *wire.Error) {
	r, err := s.find(x)
	if err != nil {
		return nil, err
	}
	outcome := input.Cancel
	if v := wire.Get(x.request.Params(), "action"); v != nil {
		action, _ := wire.Text(v)
		outcome = input.Outcome(action)
	}
	if outcome != input.Cancel && outcome != input.Decline {
		return nil, wire.Errorf(wire.ReasonParams, `the action of elicitation/cancel must be "cancel" or "decline"`)
	}
	if err := r.Reply(outcome); err != nil {
		return nil, err
	}
	return encode(struct {
		Status input.State `json:"status"`
	}{r.Status().State}), nil
}

// formStatus tells how a form stands, or stood when it ended.
func (s *session) formStatus(x *exchange) ([]byte, *wire.Error) {
	r, err := s.find(x)
	if err != nil {
		return nil, err
	}
	now := r.Status()
	p := outcome(r, now)
	more := encode(struct {
		CreatedAt int64 `json:"createdAt"`
		TimeoutAt int64 `json:"timeoutAt"`
		Attempts  int   `json:"retry_count"`
		Limit     int   `json:"retry_limit"`
		Left      int   `json:"extensionsRemaining"`
	}{now.CreatedAt.UnixMilli(), now.TimeoutAt.UnixMilli(), now.Attempts, r.Terms().Attempts, now.ExtensionsLeft})
	for name, value := range wire.Members(more) {
		p = wire.Set(p, value, name)
	}
	if !now.EndedAt.IsZero() {
		p = wire.Set(p, strconv.AppendInt(nil, now.EndedAt.UnixMilli(), 10), "endedAt")
	}
	if len(now.Errors) > 0 {
		p = wire.Set(p, encode(now.Errors), "errors")
	}
	return p, nil
}
