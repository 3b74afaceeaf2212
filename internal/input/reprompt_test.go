package input

import (
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// script is a channel whose person gives one answer after the other, each when it is
// asked. An answer is the content of an accept, or a whole result.
type script struct {
	desk
	t       *testing.T
	answers []string
	asked   []wire.Message // what the client was shown
}

func (s *script) Offer(r *Request) {
	s.desk.Offer(r)
	s.asked = append(s.asked, r.Ask())
	if len(s.answers) == 0 {
		return
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	m := accepting(s.t, next)
	if strings.Contains(next, `"action"`) {
		m = response(s.t, `{"jsonrpc":"2.0","id":"ask-1","result":`+next+`}`)
	}
	if !r.Settle(m) {
		s.t.Error("an answer was too late")
	}
}

func (s *script) message(i int) string {
	text, _ := wire.Text(s.asked[i].Params(), "message")
	return text
}

func wantData(t *testing.T, err *wire.Error, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if err.Data[name] != value {
			t.Errorf("%s is %v, want %v", name, err.Data[name], value)
		}
	}
}

// R105, R108, R121, C9, C20: a person at any client is asked again, with what is wrong
// in words and what was right as defaults, under the same id; the values of the
// valid answer go to the backend, converted, with the defaults.
func TestAskedAgainInTheLane(t *testing.T) {
	b, d := newFormBroker(t)
	s := &script{t: t, answers: []string{`{"name":"Ada","port":80,"tls":false}`, `{"action":"accept","content":{"name":"A","port":"8080"},"x":1}`, `{"action":"accept","content":` + good + `,"x":1}`}}
	r, e, events := watched(t, b, of(t, settings("")), s)
	if got := string(wantEnd(t, e, Accept).Response.Result()); got != `{"action":"accept","content":`+goodJSON+`,"x":1}` {
		t.Errorf("answered %s", got)
	}
	if len(s.asked) != 3 || len(s.retracted) != 0 {
		t.Fatalf("asked %d times and taken back %d times, want 3 and none", len(s.asked), len(s.retracted))
	}
	for i, m := range s.asked {
		if id, _ := wire.Text(m.Params(), "elicitationId"); id != r.ID {
			t.Errorf("asked under the id %q the %d. time", id, i)
		}
	}
	first := s.message(0)
	if first != "Server settings\n\nHow it runs." {
		t.Errorf("asked first: %q", first)
	}
	for i, field := range map[int]string{1: "Port", 2: "Name"} {
		rest, ok := strings.CutPrefix(s.message(i), first+"\n\nPlease correct:\n- ")
		if !ok || !strings.Contains(rest, field) || strings.Count(rest, "\n") != 0 {
			t.Errorf("asked again: %q, which should tell what is wrong with %s", s.message(i), field)
		}
	}
	for _, tt := range []struct {
		asked       int
		field, want string
	}{
		{0, "name", ``}, {0, "port", ``}, {0, "tls", `true`},
		{1, "name", `"Ada"`}, {1, "port", ``}, {1, "tls", `false`},
		{2, "name", ``}, {2, "port", `8080`}, {2, "tls", `true`},
	} {
		if got := string(wire.Get(s.asked[tt.asked].Params(), "requestedSchema", "properties", tt.field, "default")); got != tt.want {
			t.Errorf("asked %d: the default of %s is %s, want %s", tt.asked, tt.field, got, tt.want)
		}
	}
	wantEvents(t, events(), WasRejected, WasRejected)
	if st := r.Status(); st.State != Completed || st.Attempts != 2 || st.AttemptsLeft != 1 || st.Errors != nil {
		t.Errorf("status %+v", st)
	}
	if len(d.events) != 2 || d.events[0].Status.State != Active || d.events[0].Status.Errors[0].Field != "port" {
		t.Errorf("the observer was told %+v", d.events)
	}
}

// R105, R121, R104: after the third there is no fourth, and the error has all errors.
func TestThreeAttempts(t *testing.T) {
	b, _ := newFormBroker(t)
	s := &script{t: t, answers: []string{bad, bad, `{"name":"","port":80}`}}
	r, e := mustOpen(t, b, of(t, settings("")), s)
	err := wantEnd(t, e, Rejected).Err
	wantReason(t, err, wire.ReasonAttempts)
	if err.Code != -32007 {
		t.Errorf("code %d", err.Code)
	}
	wantData(t, err, map[string]any{"type": "validation", "retry_allowed": false, "retry_limit": 3, "retry_count": 3})
	if errs, _ := err.Data["errors"].(form.Errors); len(errs) != 2 {
		t.Errorf("errors %v, want two", err.Data["errors"])
	}
	if len(s.asked) != 3 || len(s.retracted) != 0 {
		t.Errorf("asked %d times", len(s.asked))
	}
	st := r.Status()
	if st.State != Cancelled || st.Abandonment() != "max_retries_exceeded" || st.AttemptsLeft != 0 {
		t.Errorf("status %+v", st)
	}
}

// R104, R121: the error tells how often one may try, and has, by the terms of the form.
func TestRetriesAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		r, _ := mustOpen(t, b, managed(t, settings(`,"max_attempts":2`)), nil)
		for i, want := range []wire.Reason{wire.ReasonValidation, wire.ReasonAttempts} {
			err := r.Submit([]byte(bad), Submitter{})
			wantReason(t, err, want)
			if err.Data["retry_limit"] != 2 || err.Data["retry_count"] != i+1 || err.Data["retry_allowed"] != (i == 0) {
				t.Errorf("attempt %d: %v", i+1, err.Data)
			}
		}
	})
}

// A person's decline and cancel are never looked at, in whatever round.
func TestDeclineIsNotValidated(t *testing.T) {
	for _, o := range []Outcome{Decline, Cancel} {
		b, _ := newFormBroker(t)
		s := &script{t: t, answers: []string{bad, `{"action":"` + string(o) + `","content":{"port":1}}`}}
		r, e := mustOpen(t, b, of(t, settings("")), s)
		if got := string(wantEnd(t, e, o).Response.Result()); got != `{"action":"`+string(o)+`","content":{"port":1}}` {
			t.Errorf("answered %s", got)
		}
		if got := r.Status().Abandonment(); got != "user_cancelled" {
			t.Errorf("abandoned for %q", got)
		}
	}
}

// An accept without content is an answer with nothing in it.
func TestAcceptWithoutContent(t *testing.T) {
	b, _ := newFormBroker(t)
	s := &script{t: t, answers: []string{`{"action":"accept"}`, good}}
	_, e := mustOpen(t, b, of(t, settings("")), s)
	wantEnd(t, e, Accept)
	if len(s.asked) != 2 {
		t.Errorf("asked %d times", len(s.asked))
	}
}

// relayedForm is a spec request whose schema is spelt oddly.
const relayedForm = `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"who?","requestedSchema":` +
	`{"type":"object","properties":{"name":{"title":"Your name","type":"string","minLength":2,"default":"x y"},"age":{"type":"integer","maximum":1.5e2}},"required":["name","age"]},"x":1.50}}`

// C2: what becomes of an answer that does not fit a relayed schema.
func TestValidateRelayed(t *testing.T) {
	const (
		wrong = `{"action":"accept","content":{"name":"Ada","age":"36"},"x":1.0}`
		right = `{"action":"accept","content":{"name":"Ada","age":36.0},"x":1.0}`
	)
	for _, tt := range []struct {
		validate Validation
		answers  []string
		want     Outcome
		result   string
		reason   wire.Reason
		asked    int
		rejected int
	}{
		{"", []string{wrong}, Accept, wrong, "", 1, 0},
		{ValidateOff, []string{wrong}, Accept, wrong, "", 1, 0},
		{ValidateWarn, []string{wrong}, Accept, wrong, "", 1, 1},
		{ValidateWarn, []string{right}, Accept, right, "", 1, 0},
		{ValidateEnforce, []string{wrong}, Rejected, "", wire.ReasonValidation, 1, 0},
		{ValidateEnforce, []string{right}, Accept, right, "", 1, 0},
		{ValidateReprompt, []string{right}, Accept, right, "", 1, 0},
		{ValidateReprompt, []string{wrong, wrong, right}, Accept, right, "", 3, 2},
		{ValidateReprompt, []string{wrong, wrong, wrong}, Rejected, "", wire.ReasonAttempts, 3, 2},
	} {
		t.Run(string(tt.validate)+" "+string(tt.want), func(t *testing.T) {
			b, _ := newFormBroker(t)
			q := question(t, relayedForm)
			q.Validate = tt.validate
			s := &script{t: t, answers: tt.answers}
			r, e, events := watched(t, b, q, s)
			a := wantEnd(t, e, tt.want)
			if string(a.Response.Result()) != tt.result {
				t.Errorf("answered %s, want %s", a.Response.Result(), tt.result)
			}
			wantReason(t, a.Err, tt.reason)
			if a.Err != nil {
				wantData(t, a.Err, map[string]any{"type": "validation", "retry_allowed": false})
			}
			if len(s.asked) != tt.asked || len(s.retracted) != 0 || len(events()) != tt.rejected {
				t.Errorf("asked %d times, taken back %d times, %d rejections", len(s.asked), len(s.retracted), len(events()))
			}
			if got := string(s.asked[0].Raw()); got != relayedForm {
				t.Errorf("asked first\n%s, want\n%s", got, relayedForm)
			}
			if r.Lane() || !strings.HasPrefix(r.ID, "in_") {
				t.Error("a relayed form is of the form lane")
			}
		})
	}
}

// C2, D9: asked again, a relayed form changes in its message and its defaults and
// nothing else.
func TestAskedAgainRelayed(t *testing.T) {
	b, _ := newFormBroker(t)
	q := question(t, relayedForm)
	q.Validate, q.Tell = ValidateReprompt, true
	s := &script{t: t, answers: []string{`{"name":"Ada","age":"36"}`, `{"name":1,"age":36}`}}
	r, _ := mustOpen(t, b, q, s)
	plea := func(i int) string {
		text, ok := strings.CutPrefix(s.message(i), "who?\n\nPlease correct:\n- ")
		if !ok {
			t.Errorf("asked again: %q", s.message(i))
		}
		return string(wire.Quote("who?\n\nPlease correct:\n- " + text))
	}
	for i, want := range []string{
		`{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"title":"Your name","type":"string","minLength":2,"default":"x y"},"age":{"type":"integer","maximum":1.5e2}},"required":["name","age"]},"x":1.50,"_meta":{"beckon/backend":"b"}}`,
		`{"message":` + plea(1) + `,"requestedSchema":{"type":"object","properties":{"name":{"title":"Your name","type":"string","minLength":2,"default":"Ada"},"age":{"type":"integer","maximum":1.5e2}},"required":["name","age"]},"x":1.50,"_meta":{"beckon/backend":"b"}}`,
		`{"message":` + plea(2) + `,"requestedSchema":{"type":"object","properties":{"name":{"title":"Your name","type":"string","minLength":2,"default":"x y"},"age":{"type":"integer","maximum":1.5e2,"default":36}},"required":["name","age"]},"x":1.50,"_meta":{"beckon/backend":"b"}}`,
	}[:len(s.asked)] {
		if i == 0 {
			plea(1)
		}
		if got := string(s.asked[i].Params()); got != want {
			t.Errorf("asked %d\n%s, want\n%s", i, got, want)
		}
	}
	if len(s.asked) != 3 {
		t.Errorf("asked %d times", len(s.asked))
	}
	if wire.Get(r.Ask().Params(), "elicitationId") != nil {
		t.Error("a relayed form got an id that it had not")
	}
	r.Dismiss()
}

// What cannot be lifted cannot be judged: its answers pass.
func TestUnliftableSchemaIsLeftAlone(t *testing.T) {
	l := roomy()
	l.Rules = Rules{}
	d := &desk{}
	b := NewBroker(l, d)
	q := question(t, formAsking(`{"a":{"type":"object","properties":{}}}`))
	q.Validate = ValidateEnforce
	r, e := mustOpen(t, b, q, d)
	if r.Form() != nil {
		t.Error("there is a form")
	}
	r.Settle(accepting(t, `{"a":1}`))
	wantEnd(t, e, Accept)
}

// R103, R104, R107, R108: submissions beside the client's own form. What is wrong is
// told, and the client that still shows the form is told when it has ended.
func TestSubmit(t *testing.T) {
	b, d := newFormBroker(t)
	r, e, events := watched(t, b, of(t, settings("")), d)
	by := Submitter{UserAgent: "u", Session: "s"}
	for i := 1; i <= 2; i++ {
		err := r.Submit([]byte(bad), by)
		wantReason(t, err, wire.ReasonValidation)
		if err.Code != -32007 || err.Message != "Form validation failed" {
			t.Errorf("error %d %q", err.Code, err.Message)
		}
		wantData(t, err, map[string]any{"type": "validation", "retry_allowed": true, "retry_limit": 3, "retry_count": i})
	}
	st := r.Status()
	if st.State != Active || st.Attempts != 2 || st.AttemptsLeft != 1 || len(st.Errors) != 1 || st.By != by || st.Values.Get("name").Text() != "Ada" {
		t.Errorf("status %+v", st)
	}
	wantReason(t, r.Submit([]byte(good), by), "")
	if got := string(wantEnd(t, e, Accept).Response.Result()); got != `{"action":"accept","content":`+goodJSON+`}` {
		t.Errorf("answered %s", got)
	}
	if len(d.offered) != 1 || len(d.retracted) != 1 {
		t.Errorf("offered %d times and taken back %d times, want once and once", len(d.offered), len(d.retracted))
	}
	wantEvents(t, events(), WasRejected, WasRejected)
	if st := r.Status(); string(st.Values.JSON()) != goodJSON || st.Errors != nil || st.Answer.Outcome != Accept {
		t.Errorf("status %+v", st)
	}
	// D1: late answers, valid and not, change nothing and are told so.
	if r.Settle(accepting(t, good)) || r.Settle(accepting(t, bad)) || r.Dismiss() {
		t.Error("a late answer counted")
	}
	if now := r.Status(); now.Attempts != 2 || now.State != Completed || len(events()) != 2 || len(e.get()) != 1 {
		t.Errorf("a late answer changed the status to %+v", now)
	}
}

// R105: the third invalid submission ends a form, and takes it back from the client.
func TestSubmitTooOften(t *testing.T) {
	b, d := newFormBroker(t)
	r, e := mustOpen(t, b, of(t, settings("")), d)
	for range 2 {
		wantReason(t, r.Submit([]byte(`[]`), Submitter{}), wire.ReasonValidation)
	}
	wantReason(t, r.Submit([]byte(bad), Submitter{}), wire.ReasonAttempts)
	wantReason(t, wantEnd(t, e, Rejected).Err, wire.ReasonAttempts)
	wantReason(t, r.Submit([]byte(good), Submitter{}), wire.ReasonEnded)
	if len(d.retracted) != 1 {
		t.Errorf("taken back %d times", len(d.retracted))
	}
}

// What is no form cannot be submitted to.
func TestSubmitToNoForm(t *testing.T) {
	b, d := newFormBroker(t)
	r, e := mustOpen(t, b, question(t, `{"jsonrpc":"2.0","id":7,"method":"roots/list"}`), d)
	wantReason(t, r.Submit([]byte(`{}`), Submitter{}), wire.ReasonParams)
	wantReason(t, r.Reply(Decline), wire.ReasonParams)
	r.Touch()
	wantState(t, r, Pending)
	r.Settle(response(t, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`))
	wantEnd(t, e, Answered)
	wantState(t, r, Completed)
	r, _ = mustOpen(t, b, of(t, settings("")), d)
	wantReason(t, r.Reply(Accept), wire.ReasonParams)
	wantReason(t, r.Reply(Decline), "")
	wantState(t, r, Declined)
}

// What a program calls itself is kept with the end of a form, and so it is bounded; it is
// cut between characters.
func TestUserAgentIsBounded(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"curl/8", "curl/8"},
		{strings.Repeat("a", 1<<20), strings.Repeat("a", 256)},
		{strings.Repeat("a", 255) + "é", strings.Repeat("a", 255) + "�"},
		{"\xff", "�"},
	} {
		b, _ := newFormBroker(t)
		r, _ := mustOpen(t, b, managed(t, settings("")), nil)
		wantReason(t, r.Submit([]byte(good), Submitter{UserAgent: tt.name}), "")
		if got := r.Status().By.UserAgent; got != tt.want {
			t.Errorf("%.20q… is kept as %q", tt.name, got)
		}
	}
}

// A request that ends while it is offered is taken back, in either lane: the channel
// may have put it down after it was told of the end.
func TestEndWhileOffered(t *testing.T) {
	for name, text := range map[string]string{"relayed": formAsk, "form": ask("elicitation/create", `{"formDefinition":`+settings("")+`}`)} {
		t.Run(name, func(t *testing.T) {
			b, _ := newFormBroker(t)
			ch := &forgetful{end: func(r *Request) { r.Withdraw(Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "gone")) }}
			_, e := mustOpen(t, b, question(t, text), ch)
			wantEnd(t, e, Withdrawn)
			if ch.shown {
				t.Error("the channel still shows it")
			}
		})
	}
}

// forgetful is a channel that notes what it shows only after the request has ended.
type forgetful struct {
	end   func(*Request)
	shown bool
}

func (f *forgetful) Offer(r *Request) {
	f.end(r)
	f.shown = true
}

func (f *forgetful) Retract(*Request, string) { f.shown = false }

// A submission that was begun before the end and is read after it is late: reading
// holds no lock, so that the form may end meanwhile.
func TestEndWhileReading(t *testing.T) {
	for name, answers := range map[string]string{"valid": good, "invalid": bad} {
		t.Run(name, func(t *testing.T) {
			b, _ := newFormBroker(t)
			r, e := mustOpen(t, b, managed(t, settings("")), nil)
			sub := r.sheet.read([]byte(answers), Submitter{}, false)
			wantReason(t, r.Reply(Cancel), "")
			var err *wire.Error
			if sub.errors == nil {
				err = r.accept(sub, accepting(t, answers))
			} else {
				err, _ = r.reject(sub)
			}
			wantReason(t, err, wire.ReasonEnded)
			wantEnd(t, e, Cancel)
			if st := r.Status(); st.State != Cancelled || st.Attempts != 0 || st.Values.Form() != nil {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// R71, R122: asked again, a person types a secret again, in either lane.
func TestSecretsAreNotRepeated(t *testing.T) {
	const relayed = `{"type":"object","properties":{"password":{"type":"string"},"name":{"type":"string"},"age":{"type":"integer"}}}`
	definition := `{"id":"f","title":"T","fields":[` + field("password", "text") + `,` + field("name", "text") + `,` + field("age", "number") + `]}`
	for lane, params := range map[string]string{
		"relay": `{"message":"m","requestedSchema":` + relayed + `}`,
		"form":  `{"formDefinition":` + definition + `}`,
	} {
		t.Run(lane, func(t *testing.T) {
			l := roomy()
			l.Rules.Secrets = false
			b := NewBroker(l, idle{})
			q := question(t, ask("elicitation/create", params))
			q.Validate = ValidateReprompt
			s := &script{t: t, answers: []string{`{"password":"hunter2","name":"Ada","age":"x"}`}}
			r, _ := mustOpen(t, b, q, s)
			again := string(s.asked[1].Raw())
			if strings.Contains(again, "hunter2") || !strings.Contains(again, `"default":"Ada"`) {
				t.Errorf("asked again: %s", again)
			}
			r.Dismiss()
		})
	}
}

// Whoever is told of the end sees the question in it, not the answer.
func TestQuestionAfterTheEnd(t *testing.T) {
	b := NewBroker(roomy(), idle{})
	var told string
	r, err := b.Open(of(t, settings("")), idle{}, func(r *Request, _ Answer) { told = string(r.Ask().Raw()) })
	if err != nil {
		t.Fatal(err)
	}
	first := string(r.Ask().Raw())
	wantReason(t, r.Submit([]byte(bad), Submitter{}), wire.ReasonValidation)
	wantReason(t, r.Submit([]byte(good), Submitter{}), "")
	if told != first || string(r.Ask().Raw()) != first {
		t.Errorf("the question is\n%s, was\n%s", told, first)
	}
}
