package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// deploy is the form of most tests.
const deploy = exampleForm

// R102, R103, R107: a question is open until somebody answers it, and then has the
// record of that.
func TestAskAndAnswer(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		start := time.Now()
		got := d.do("ada", "POST", "/questions", `{"form":`+deploy+`,"message":"The tests are <green>."}`)
		q := got.question(http.StatusCreated)
		if loc := got.header.Get("Location"); loc != Root+"/questions/"+q.ID || !strings.HasPrefix(q.ID, "elic_") {
			t.Errorf("the question %s is at %s", q.ID, loc)
		}
		want := Question{
			ID: q.ID, Status: input.Pending, CreatedAt: start.UnixMilli(), TimeoutAt: start.Add(5 * time.Minute).UnixMilli(),
			Message: "The tests are <green>.", Form: json.RawMessage(deploy),
			RetryLimit: 3, RetryAllowed: true, ExtensionsRemaining: 10,
			TimeoutConfig: input.TimeoutConfig{InitialTimeout: 300_000, ExtensionAllowed: true, ExtensionDuration: 300_000, MaxExtensions: 10, MaxTotal: 3_600_000, WarnBefore: 60_000},
		}
		if diff := cmp.Diff(want, q); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, d.show("ada", q.ID)); diff != "" {
			t.Errorf("shown (-want +got):\n%s", diff)
		}
		time.Sleep(time.Second)
		after := d.post("ada", q.ID, "answer", `{"form_id":"deploy","responses":{"version":"v7"}}`).question(http.StatusOK)
		want.Status, want.EndedAt, want.RetryAllowed, want.ExtensionsRemaining = input.Completed, start.Add(time.Second).UnixMilli(), false, after.ExtensionsRemaining
		want.Response = &form.Response{
			FormID: "deploy", Responses: json.RawMessage(`{"version":"v7","region":"eu"}`),
			Metadata: form.ResponseMetadata{SubmittedAt: want.EndedAt, UserAgent: "desk/1", SessionID: Session},
		}
		if diff := cmp.Diff(want, after); diff != "" {
			t.Errorf("answered (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, d.show("ada", q.ID)); diff != "" {
			t.Errorf("shown after that (-want +got):\n%s", diff)
		}
		// D13: what comes later changes nothing, and is told so.
		for what, body := range map[string]string{
			"answer": `{"responses":{"version":"v8"}}`, "extend": ``, "withdraw": `{}`,
		} {
			d.post("ada", q.ID, what, body).problem(http.StatusConflict, wire.ReasonCompleted)
		}
		d.post("ada", q.ID, "answer", `{"action":"decline"}`).problem(http.StatusConflict, wire.ReasonCompleted)
		if diff := cmp.Diff(want, d.show("ada", q.ID)); diff != "" {
			t.Errorf("shown at last (-want +got):\n%s", diff)
		}
		if log := d.log.String(); log != "" {
			t.Errorf("it was logged:\n%s", log)
		}
	})
}

// R124: one question without a form is one with one field.
func TestPrompt(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.do("", "POST", "/questions", `{"prompt":"Who are you?"}`).question(http.StatusCreated)
		after := d.post("", q.ID, "answer", `{"responses":{"answer":"Ada"}}`).question(http.StatusOK)
		if after.Status != input.Completed || string(after.Response.Responses) != `{"answer":"Ada"}` {
			t.Errorf("got %+v", after)
		}
		q = d.do("", "POST", "/questions", `{"formDefinition":`+deploy+`}`).question(http.StatusCreated)
		if q.Status != input.Pending {
			t.Errorf("got %+v", q)
		}
	})
}

// R104, R105, R108, R121: everything that is wrong is told, what is right is kept,
// and the third time is the last.
func TestInvalidAnswers(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		for n := 1; n <= 3; n++ {
			reason, again := wire.ReasonValidation, n < 3
			if !again {
				reason = wire.ReasonAttempts
			}
			p := d.post("ada", q.ID, "answer", `{"responses":{"version":"seven","region":"us"}}`).problem(http.StatusUnprocessableEntity, reason)
			if len(p.Errors) != 1 || p.Errors[0].Field != "version" || p.Errors[0].Constraint != "pattern" || p.Errors[0].Code != form.CodeConstraint ||
				len(p.Errors[0].Path) != 1 || p.Family != "validation" {
				t.Errorf("attempt %d: the problem is %+v", n, p)
			}
			if p.RetryAllowed == nil || *p.RetryAllowed != again || p.RetryLimit == nil || *p.RetryLimit != 3 || p.RetryCount == nil || *p.RetryCount != n {
				t.Errorf("attempt %d: the problem is %+v", n, p)
			}
			s := d.show("ada", q.ID)
			if s.RetryCount != n || s.RetryAllowed != again || len(s.Errors) != 1 {
				t.Errorf("attempt %d: the question is %+v", n, s)
			}
			switch {
			case again && (s.Status != input.Active || string(s.Partial) != `{"region":"us"}`):
				t.Errorf("attempt %d: the question is %+v", n, s)
			case !again && (s.Status != input.Cancelled || s.Reason != "max_retries_exceeded" || s.Partial != nil || s.Response != nil):
				t.Errorf("at last the question is %+v", s)
			}
		}
		d.post("ada", q.ID, "answer", `{"responses":{"version":"v7"}}`).problem(http.StatusConflict, wire.ReasonEnded)
	})
}

// A person's decline and cancel are their own, and no answers.
func TestDeclineAndCancel(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		for action, state := range map[string]input.State{"decline": input.Declined, "cancel": input.Cancelled} {
			q := d.ask("ada", deploy)
			after := d.post("ada", q.ID, "answer", `{"action":"`+action+`"}`).question(http.StatusOK)
			if after.Status != state || after.Response != nil || after.Reason != "user_cancelled" || after.EndedAt == 0 {
				t.Errorf("%s: got %+v", action, after)
			}
			d.post("ada", q.ID, "answer", `{"responses":{"version":"v7"}}`).problem(http.StatusConflict, wire.ReasonEnded)
		}
	})
}

// R113: the end can be put off as often as the terms say.
func TestExtend(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		start := time.Now()
		ends := func(w whole, after time.Duration, left int) {
			t.Helper()
			var e Extension
			if w.status != 200 || json.Unmarshal([]byte(w.body), &e) != nil || e.NewTimeoutAt != start.Add(after).UnixMilli() || e.ExtensionsRemaining != left {
				t.Errorf("got %d %s, want the end after %v and %d left", w.status, w.body, after, left)
			}
		}
		q := d.do("ada", "POST", "/questions", `{"prompt":"?","terms":{"timeout":60000,"extension_duration":30000,"max_extensions":2}}`).question(201)
		ends(d.post("ada", q.ID, "extend", ``), 90*time.Second, 1)
		ends(d.post("ada", q.ID, "extend", `{"extensionDuration":1000}`), 91*time.Second, 0)
		d.post("ada", q.ID, "extend", `{}`).problem(http.StatusConflict, wire.ReasonNoExtensions)
		if s := d.show("ada", q.ID); s.Status != input.Prolonged || s.ExtensionsRemaining != 0 || s.TimeoutAt != start.Add(91*time.Second).UnixMilli() {
			t.Errorf("the question is %+v", s)
		}
		q = d.do("ada", "POST", "/questions", `{"prompt":"?","terms":{"extension_allowed":false}}`).question(201)
		d.post("ada", q.ID, "extend", `{}`).problem(http.StatusConflict, wire.ReasonNotExtendable)
	})
}

// D13: a question that has timed out says so, just after and not just before.
func TestTimeout(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.do("ada", "POST", "/questions", `{"prompt":"?","terms":{"timeout":2000}}`).question(201)
		time.Sleep(2*time.Second - time.Millisecond)
		synctest.Wait()
		if s := d.show("ada", q.ID); s.Status != input.Pending {
			t.Errorf("just before: %+v", s)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if s := d.show("ada", q.ID); s.Status != input.TimedOut || s.Reason != "timeout" || s.Detail == "" || s.EndedAt != s.TimeoutAt {
			t.Errorf("just after: %+v", s)
		}
		p := d.post("ada", q.ID, "answer", `{"responses":{"answer":"late"}}`).problem(http.StatusConflict, wire.ReasonExpired)
		if p.Family != "timeout" {
			t.Errorf("the problem is %+v", p)
		}
	})
}

// A question is withdrawn by who asked it, with the reason.
func TestWithdraw(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		after := d.post("ada", q.ID, "withdraw", `{"reason":"it was decided elsewhere"}`).question(200)
		if after.Status != input.Dropped || after.Reason != "form_invalidated" || !strings.HasSuffix(after.Detail, ": it was decided elsewhere") {
			t.Errorf("got %+v", after)
		}
		d.post("ada", q.ID, "withdraw", ``).problem(http.StatusConflict, wire.ReasonEnded)

		r := d.asked("ada", "s")
		d.post("ada", r.ID, "withdraw", ``).problem(http.StatusForbidden, reasonAsker)
		if s := d.show("ada", r.ID); s.Status != input.Pending {
			t.Errorf("the question of a backend is %+v", s)
		}
		if after := d.post("ada", r.ID, "answer", `{"responses":{"version":"v7"}}`).question(200); after.Status != input.Completed {
			t.Errorf("the question of a backend is %+v", after)
		}
	})
}

// deaf is a client that shows nothing of what it is asked.
type deaf struct{}

func (deaf) Offer(*input.Request)           {}
func (deaf) Retract(*input.Request, string) {}

// asked opens a question over MCP: of a backend, to a client that knows forms.
func (d *desk) asked(principal, session string) *input.Request {
	d.t.Helper()
	r, err := d.broker.Open(input.Question{
		Message: wire.NewRequest(wire.IntID(1), "elicitation/create", []byte(`{"mode":"form","message":"m","formDefinition":`+deploy+`}`)),
		Backend: "b", Principal: principal, Session: session, Extended: true,
		Caps: wire.ParseClientCaps([]byte(`{"elicitation":{"form":{}}}`)),
	}, deaf{}, func(*input.Request, input.Answer) {})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// R75, D12: for everybody but its owner a question is not there, whatever they do.
func TestNobodyElsesBusiness(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		open := d.ask("", deploy)
		elsewhere := d.asked(input.Local, "session-of-a-client")
		routes := []struct{ method, what, body string }{
			{"GET", "", ""}, {"HEAD", "", ""}, {"GET", "/events", ""}, {"POST", "/answer", `{"responses":{"version":"v7"}}`},
			{"POST", "/answer", `{"action":"decline"}`}, {"POST", "/extend", `{}`}, {"POST", "/withdraw", `{}`},
			{"POST", "/answer", `not even JSON`},
		}
		for _, tt := range []struct{ name, who, id string }{
			{"another principal", "eve", q.ID},
			{"nobody", "", q.ID},
			{"a name for nobody", "local", q.ID},
			{"a principal, of a question that is everybody's", "eve", open.ID},
			{"nobody, of a question to a client", "", elsewhere.ID},
			{"a principal called as a session", "session-of-a-client", elsewhere.ID},
		} {
			for _, r := range routes {
				foreign := d.do(tt.who, r.method, "/questions/"+tt.id+r.what, r.body)
				never := d.do(tt.who, r.method, "/questions/elic_"+strings.Repeat("A", 26)+r.what, r.body)
				foreign.body = strings.ReplaceAll(foreign.body, tt.id, "ID")
				never.body = strings.ReplaceAll(never.body, "elic_"+strings.Repeat("A", 26), "ID")
				if foreign.status != 404 || foreign.body != never.body || foreign.status != never.status {
					t.Errorf("%s, %s %s: got %d %s, and %d %s for one that never was", tt.name, r.method, r.what, foreign.status, foreign.body, never.status, never.body)
				}
			}
		}
		if r, err := d.broker.Find(open.ID, input.Party{Principal: input.Local, Session: "session-of-a-client"}); err == nil {
			t.Errorf("a session of MCP finds the question %s", r.ID)
		}
		for _, s := range []Question{d.show("ada", q.ID), d.show("", open.ID)} {
			if s.Status != input.Pending || s.RetryCount != 0 {
				t.Errorf("the question is %+v", s)
			}
		}
	})
}

// Of two answers at once, one counts and the other is told so.
func TestTwoAnswersAtOnce(t *testing.T) {
	atDesk(t, input.Forms{PerMinute: -1, PerPrincipal: 1000}, Options{}, func(t *testing.T, d *desk) {
		for n := range 50 {
			q := d.ask("ada", deploy)
			const answerers = 4
			got := make(chan whole, answerers)
			for i := range answerers {
				go func() {
					got <- d.post("ada", q.ID, "answer", fmt.Sprintf(`{"responses":{"version":"v%d"}}`, i))
				}()
			}
			won := ""
			for range answerers {
				switch w := <-got; {
				case w.status == 200 && won == "":
					won = string(w.question(200).Response.Responses)
				case w.status == 200:
					t.Errorf("round %d: two answers were taken", n)
				default:
					w.problem(http.StatusConflict, wire.ReasonCompleted)
				}
			}
			if s := d.show("ada", q.ID); string(s.Response.Responses) != won || won == "" {
				t.Errorf("round %d: %s was taken, and the answer is %s", n, won, s.Response.Responses)
			}
		}
	})
}

// C14, R119, R120: who asks too much is told when to come back, and nobody else is
// concerned.
func TestLimits(t *testing.T) {
	atDesk(t, input.Forms{}, Options{}, func(t *testing.T, d *desk) {
		for range 10 {
			d.ask("ada", deploy)
		}
		w := d.do("ada", "POST", "/questions", `{"prompt":"?"}`)
		w.problem(http.StatusTooManyRequests, wire.ReasonRate)
		if after := w.header.Get("Retry-After"); after != "6" {
			t.Errorf("Retry-After is %q, want 6", after)
		}
		d.ask("eve", deploy)
		time.Sleep(6 * time.Second)
		d.ask("ada", deploy)
	})
	atDesk(t, input.Forms{PerMinute: -1, PerPrincipal: 2}, Options{}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		d.ask("ada", deploy)
		w := d.do("ada", "POST", "/questions", `{"prompt":"?"}`)
		if p := w.problem(http.StatusTooManyRequests, wire.ReasonLimit); p.Limit == nil || *p.Limit != 2 || w.header.Get("Retry-After") == "" {
			t.Errorf("the problem is %+v", p)
		}
		d.ask("eve", deploy)
		d.post("ada", q.ID, "answer", `{"action":"cancel"}`).question(200)
		d.ask("ada", deploy)
	})
}

// R122: what a secret field was answered is in no error, and a form may ask for a
// secret here: it passes no client.
func TestSecretsStay(t *testing.T) {
	const login = `{"id":"login","title":"Log in","fields":[{"id":"password","type":"text","label":"Password","required":true,` +
		`"validation":{"minLength":20},"rendering":{"inputType":"password"}},{"id":"name","type":"text","label":"Name"}]}`
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("ada", login)
		w := d.post("ada", q.ID, "answer", `{"responses":{"password":"hunter2-hunter2","name":"Ada"}}`)
		w.problem(http.StatusUnprocessableEntity, wire.ReasonValidation)
		shown := d.do("ada", "GET", "/questions/"+q.ID, "")
		if all := w.body + shown.body + d.log.String(); strings.Contains(all, "hunter2") {
			t.Errorf("the secret is told:\n%s", all)
		}
		d.post("ada", q.ID, "answer", `{"responses":{"password":"hunter2-hunter2-hunter2"}}`).question(200)
		q = d.ask("ada", login)
		d.post("ada", q.ID, "answer", `{"responses":{"password":"long enough, and right: hunter2","name":7}}`)
		if s := d.show("ada", q.ID); strings.Contains(string(s.Partial), "hunter2") {
			t.Errorf("what was valid is %s", s.Partial)
		}
	})
}

// Whoever polls is told when nothing is new.
func TestETag(t *testing.T) {
	atDesk(t, anyRate(), Options{}, func(t *testing.T, d *desk) {
		q := d.ask("ada", deploy)
		first := d.do("ada", "GET", "/questions/"+q.ID, "")
		tag := first.header.Get("ETag")
		if again := d.do("ada", "GET", "/questions/"+q.ID, "", "If-None-Match", tag); tag == "" || again.status != 304 || again.body != "" {
			t.Errorf("with the tag %s: got %d %s", tag, again.status, again.body)
		}
		d.post("ada", q.ID, "answer", `{"action":"decline"}`)
		if after := d.do("ada", "GET", "/questions/"+q.ID, "", "If-None-Match", tag); after.status != 200 || after.header.Get("ETag") == tag {
			t.Errorf("after the end: got %d %s", after.status, after.body)
		}
	})
}

// Once the gateway begins to stop, no question is taken, and those that are open can
// still be answered; at the end they are withdrawn.
func TestStopping(t *testing.T) {
	stopping := make(chan struct{})
	atDesk(t, anyRate(), Options{Stopping: stopping}, func(t *testing.T, d *desk) {
		first, second := d.ask("ada", deploy), d.ask("ada", deploy)
		overMCP := d.asked("ada", "s")
		close(stopping)
		w := d.do("ada", "POST", "/questions", `{"prompt":"?"}`)
		w.problem(http.StatusServiceUnavailable, wire.ReasonStopping)
		if w.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		d.post("ada", first.ID, "answer", `{"responses":{"version":"v7"}}`).question(200)
		stream, other := d.follow("ada", second.ID), d.follow("ada", overMCP.ID)
		d.api.Close()
		if q := stream.want("ended", "ended"); q.Status != input.Dropped {
			t.Errorf("at the end the question is %+v", q)
		}
		stream.wantEnd()
		other.wantEnd()
		if s := overMCP.Status(); s.State != input.Pending {
			t.Errorf("the question over MCP is %s", s.State)
		}
	})
}
