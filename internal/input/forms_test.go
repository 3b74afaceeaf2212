package input

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// settings is a form definition; more are further members of it, each with a comma
// before it.
func settings(more string) string {
	return `{"id":"settings","title":"Server settings","description":"How it runs.","fields":[` +
		`{"id":"name","type":"text","label":"Name","required":true,"validation":{"minLength":2,"maxLength":20}},` +
		`{"id":"port","type":"number","label":"Port","required":true,"validation":{"minimum":1024,"maximum":65535,"multipleOf":1}},` +
		`{"id":"tls","type":"boolean","label":"TLS","default":true}]` + more + `}`
}

const (
	good      = `{"name":"Ada","port":"8080"}`
	goodJSON  = `{"name":"Ada","port":8080,"tls":true}`
	bad       = `{"name":"Ada","port":80}`
	acceptFor = `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":%s}}`
)

// of is a question with a form definition, by a backend.
func of(t testing.TB, definition string) Question {
	t.Helper()
	return question(t, ask("elicitation/create", `{"mode":"form","formDefinition":`+definition+`}`))
}

// managed is the same question, put to Beckon itself.
func managed(t testing.TB, definition string) Question {
	t.Helper()
	q := of(t, definition)
	q.Managed, q.Caps = true, wire.ClientCaps{}
	return q
}

// roomy are limits that are not reached by accident.
func roomy() Limits {
	l := limits()
	l.Total, l.PerSession = 100_000, 100_000
	l.Forms = Forms{PerPrincipal: 100_000, PerMinute: -1}
	return l
}

// newForms returns a broker with limits that are not reached by accident.
func newFormBroker(t testing.TB) (*Broker, *desk) {
	t.Helper()
	d := &desk{}
	b := NewBroker(roomy(), d)
	t.Cleanup(b.Close)
	return b, d
}

func accepting(t testing.TB, content string) wire.Message {
	t.Helper()
	return response(t, fmt.Sprintf(acceptFor, content))
}

func wantReason(t testing.TB, err *wire.Error, want wire.Reason) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("no error, want reason %s", want)
	case err != nil && err.Reason != want:
		t.Errorf("error %v with reason %s, want %q", err, err.Reason, want)
	}
}

func wantState(t testing.TB, r *Request, want State) {
	t.Helper()
	if got := r.Status().State; got != want {
		t.Errorf("state %s, want %s", got, want)
	}
}

// wantEnd demands that a request has ended once.
func wantEnd(t testing.TB, e *ends, want Outcome) Answer {
	t.Helper()
	all := e.get()
	if len(all) != 1 || all[0].Outcome != want {
		t.Fatalf("ended with %+v, want one %s", all, want)
	}
	return all[0]
}

// bubble runs f at a time that stands still unless f sleeps.
func bubble(t *testing.T, f func(t *testing.T, b *Broker, d *desk)) {
	synctest.Test(t, func(t *testing.T) {
		b, d := newFormBroker(t)
		f(t, b, d)
		b.Close()
	})
}

var me = Party{Principal: "p", Session: "s"}

// The cases of an older system's suite, each as it is here (R102, R111, R114, R119,
// R120, R124, D13).
func TestLifeCycle(t *testing.T) {
	urlForm := `{"id":"f","title":"T","fields":[{"id":"u","type":"url","label":"URL","required":true}]}`
	textForm := `{"id":"f","title":"T","fields":[{"id":"a","type":"text","label":"A","required":true,"validation":{"maxLength":10}}]}`
	answered := func(definition, answers string, want wire.Reason) func(*testing.T, *Broker, *desk) {
		return func(t *testing.T, b *Broker, d *desk) {
			r, _ := mustOpen(t, b, managed(t, definition), nil)
			wantReason(t, r.Submit([]byte(answers), Submitter{}), want)
		}
	}
	refused := func(params string, want wire.Reason) func(*testing.T, *Broker, *desk) {
		return func(t *testing.T, b *Broker, d *desk) {
			q := question(t, ask("elicitation/create", params))
			q.Managed = true
			_, err := b.Open(q, nil, nil)
			wantReason(t, err, want)
		}
	}
	// after ends a form and does something to it afterwards.
	after := func(end, then func(*Request) *wire.Error, state State, want wire.Reason) func(*testing.T, *Broker, *desk) {
		return func(t *testing.T, b *Broker, d *desk) {
			r, e := mustOpen(t, b, managed(t, settings("")), nil)
			wantReason(t, end(r), "")
			wantReason(t, then(r), want)
			wantState(t, r, state)
			if len(e.get()) != 1 {
				t.Errorf("told of %d ends", len(e.get()))
			}
		}
	}
	complete := func(r *Request) *wire.Error { return r.Submit([]byte(good), Submitter{}) }
	cancel := func(r *Request) *wire.Error { return r.Reply(Cancel) }
	wait := func(*Request) *wire.Error { pass(5 * time.Minute); return nil }
	touched := func(r *Request) *wire.Error { r.Touch(); return r.Reply(Cancel) }
	nothing := func(*Request) *wire.Error { return nil }

	for _, tt := range []struct {
		name string
		do   func(*testing.T, *Broker, *desk)
	}{
		{"create inline", func(t *testing.T, b *Broker, d *desk) {
			q := question(t, ask("elicitation/create", `{"mode":"inline","prompt":"Which branch?"}`))
			q.Managed = true
			r, e := mustOpen(t, b, q, nil)
			wantReason(t, r.Submit([]byte(`{"answer":"main"}`), Submitter{}), "")
			wantEnd(t, e, Accept)
		}},
		{"create url: that is no form", refused(`{"mode":"url","url":"https://x.example/","message":"m"}`, wire.ReasonMode)},
		{"create terminal: there is no such mode", refused(`{"mode":"terminal","prompt":"p"}`, wire.ReasonMode)},
		{"create form", func(t *testing.T, b *Broker, d *desk) {
			r, _ := mustOpen(t, b, managed(t, settings("")), nil)
			wantState(t, r, Pending)
		}},
		{"create with a timeout of its own", func(t *testing.T, b *Broker, d *desk) {
			r, _ := mustOpen(t, b, managed(t, settings(`,"timeout":60000`)), nil)
			if got := r.Status().TimeoutAt.Sub(r.OpenedAt); got != time.Minute {
				t.Errorf("ends after %v", got)
			}
		}},
		{"create with a size limit", answered(textForm, `{"a":"short"}`, "")},
		{"create with an invalid mode", refused(`{"mode":"telepathy","prompt":"p"}`, wire.ReasonMode)},
		{"create with nothing to ask", refused(`{"mode":"form"}`, wire.ReasonParams)},
		{"url required", answered(urlForm, `{}`, wire.ReasonValidation)},
		{"url blocks localhost", answered(urlForm, `{"u":"https://localhost/"}`, wire.ReasonValidation)},
		{"url blocks 10/8", answered(urlForm, `{"u":"https://10.1.2.3/"}`, wire.ReasonValidation)},
		{"url blocks 172.16/12", answered(urlForm, `{"u":"https://172.16.0.1/"}`, wire.ReasonValidation)},
		{"url blocks 192.168/16", answered(urlForm, `{"u":"https://192.168.1.1/"}`, wire.ReasonValidation)},
		{"url allows a public one", answered(urlForm, `{"u":"https://example.org/"}`, "")},
		{"url invalid", answered(urlForm, `{"u":"not a url"}`, wire.ReasonValidation)},
		{"url of a wrong type", answered(urlForm, `{"u":{"a":1}}`, wire.ReasonValidation)},
		{"rate allows 10, and refuses the 11th", func(t *testing.T, _ *Broker, d *desk) {
			l := roomy()
			l.Forms.PerMinute = 0
			b := NewBroker(l, d)
			defer b.Close()
			for range 10 {
				mustOpen(t, b, managed(t, settings("")), nil)
			}
			_, err := b.Open(managed(t, settings("")), nil, nil)
			wantReason(t, err, wire.ReasonRate)
			if err.Code != wire.CodeRateLimited || err.Data["retryAfterMs"] != int64(6000) {
				t.Errorf("error %+v does not tell to wait 6 s", err)
			}
			pass(6 * time.Second)
			mustOpen(t, b, managed(t, settings("")), nil)
		}},
		{"size within its limit", answered(textForm, `{"a":"0123456789"}`, "")},
		{"size beyond its limit", answered(textForm, `{"a":"0123456789a"}`, wire.ReasonValidation)},
		{"complete", after(complete, nothing, Completed, "")},
		{"complete twice", after(complete, complete, Completed, wire.ReasonCompleted)},
		{"cancel while pending", after(cancel, nothing, Cancelled, "")},
		{"cancel while active", after(touched, nothing, Cancelled, "")},
		{"cancel twice", after(cancel, cancel, Cancelled, wire.ReasonEnded)},
		{"cancel when completed", after(complete, cancel, Completed, wire.ReasonCompleted)},
		{"complete when cancelled", after(cancel, complete, Cancelled, wire.ReasonEnded)},
		{"timeout", after(wait, nothing, TimedOut, "")},
		{"complete after the timeout", after(wait, complete, TimedOut, wire.ReasonExpired)},
		{"cancel after the timeout", after(wait, cancel, TimedOut, wire.ReasonExpired)},
		{"none is open", func(t *testing.T, b *Broker, d *desk) {
			if b.Len() != 0 {
				t.Error("something is open")
			}
		}},
		{"many are open, each by itself", func(t *testing.T, b *Broker, d *desk) {
			ids := make(map[string]bool)
			for range 110 {
				r, _ := mustOpen(t, b, managed(t, settings("")), nil)
				ids[r.ID] = true
				if got, err := b.Find(r.ID, me); got != r || err != nil {
					t.Errorf("found %v, %v", got, err)
				}
			}
			if b.Len() != 110 || len(ids) != 110 {
				t.Errorf("%d open with %d ids", b.Len(), len(ids))
			}
		}},
		{"unknown id, whatever is wanted", func(t *testing.T, b *Broker, d *desk) {
			_, err := b.Find("elic_unknown", me)
			wantReason(t, err, wire.ReasonNotFound)
		}},
		{"many at once, and one too many", func(t *testing.T, _ *Broker, d *desk) {
			l := roomy()
			l.Forms.PerPrincipal = 0
			b := NewBroker(l, d)
			defer b.Close()
			var first *Request
			for range 20 {
				first, _ = mustOpen(t, b, managed(t, settings("")), nil)
			}
			_, err := b.Open(managed(t, settings("")), nil, nil)
			wantReason(t, err, wire.ReasonLimit)
			first.Reply(Cancel)
			mustOpen(t, b, managed(t, settings("")), nil) // what has ended no longer counts
		}},
		{"the client dies", func(t *testing.T, b *Broker, d *desk) {
			r, e := mustOpen(t, b, managed(t, settings("")), nil)
			r.Withdraw(Abandoned, wire.Errorf(wire.ReasonClientGone, "the client left"))
			wantEnd(t, e, Abandoned)
			wantState(t, r, Forsaken)
			if got := r.Status().Abandonment(); got != "client_disconnected" {
				t.Errorf("abandoned for %q", got)
			}
			if b.Len() != 0 {
				t.Error("it is still open")
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { bubble(t, tt.do) })
	}
}

// The boundaries of a timeout, in milliseconds as JSON has it.
func TestTimeoutBoundaries(t *testing.T) {
	for _, tt := range []struct {
		timeout string
		want    time.Duration // zero: refused
	}{
		{`999`, 0},
		{`1000`, time.Second},
		{`300000`, 5 * time.Minute},
		{`300001`, 5*time.Minute + time.Millisecond},
		{`3600000`, time.Hour},
		{`3600001`, 0},
		{`0`, 0},
		{`-1`, 0},
		{`1000000000`, 0},
		{`1500.5`, 0},
		{`"x"`, 0},
		{`null`, 0},
		{``, 5 * time.Minute},
	} {
		t.Run(tt.timeout, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *Broker, d *desk) {
				more := ""
				if tt.timeout != "" {
					more = `,"timeout":` + tt.timeout
				}
				e := new(ends)
				r, err := b.Open(managed(t, settings(more)), nil, e.add)
				if tt.want == 0 {
					wantReason(t, err, wire.ReasonSchema)
					if faults, _ := err.Data["faults"].(form.Faults); len(faults) != 1 || faults[0].Path != "$.timeout" || err.Data["hint"] != faults[0].Fix {
						t.Errorf("error %+v does not tell what is wrong with $.timeout", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.Terms().Timeout != tt.want || !r.Deadline.Equal(r.OpenedAt.Add(tt.want)) {
					t.Errorf("open for %v until %v", r.Terms().Timeout, r.Deadline.Sub(r.OpenedAt))
				}
				pass(tt.want - time.Nanosecond)
				wantState(t, r, Pending)
				pass(time.Nanosecond)
				wantEnd(t, e, Timeout)
			})
		})
	}
}

// Prompts of all kinds arrive as they are (R124).
func TestPrompts(t *testing.T) {
	for name, prompt := range map[string]string{
		"special characters": "a <b> & \"c\" \\ 'd' \t\r\n {x} %s \u0000 \u2028",
		"ten thousand":       strings.Repeat("long ", 2000),
		"unicode":            "Wie heißt du? 你叫什么？ ما اسمك؟ 👩‍🚀 e\u0301",
		"one character":      "?",
	} {
		t.Run(name, func(t *testing.T) {
			b, d := newFormBroker(t)
			params, err := json.Marshal(map[string]string{"mode": "inline", "prompt": prompt})
			if err != nil {
				t.Fatal(err)
			}
			q := question(t, ask("elicitation/create", string(params)))
			r, _ := mustOpen(t, b, q, d)
			p := r.Ask().Params()
			if message, _ := wire.Text(p, "message"); message != prompt {
				t.Errorf("the client sees %q", message)
			}
			if mode, _ := wire.Text(p, "mode"); mode != "form" {
				t.Errorf("the mode is %q", mode)
			}
			if title, _ := wire.Text(p, "requestedSchema", "properties", "answer", "title"); title == "" || len([]rune(title)) > longestTitle {
				t.Errorf("the field is called %q", title)
			}
			if r.Lane() || !strings.HasPrefix(r.ID, "in_") {
				t.Error("a prompt of a backend is not relayed")
			}
			r.Dismiss()

			q.Managed = true
			r, e := mustOpen(t, b, q, nil)
			if !r.Lane() {
				t.Fatal("a prompt to Beckon itself is no form")
			}
			answer, _ := json.Marshal(map[string]string{"answer": prompt})
			wantReason(t, r.Submit(answer, Submitter{}), "")
			if got := wire.Get(wantEnd(t, e, Accept).Response.Result(), "content", "answer"); !json.Valid(got) || textOf(got) != prompt {
				t.Errorf("answered %s", got)
			}
		})
	}
}

func textOf(quoted []byte) (s string) {
	json.Unmarshal(quoted, &s)
	return s
}

// R124: a prompt with a schema is asked with that schema; C1: the mode and nothing
// else is translated.
func TestInlineWithSchema(t *testing.T) {
	b, d := newFormBroker(t)
	r, _ := mustOpen(t, b, question(t, ask("elicitation/create", `{"mode":"inline","prompt":"p","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}},"x":1}`)), d)
	want := `{"mode":"form","prompt":"p","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}},"x":1,"message":"p"}`
	if got := string(r.Ask().Params()); got != want {
		t.Errorf("params %s, want %s", got, want)
	}
	r.Dismiss()
}

// C1: the older names of the method bring forms and prompts as the newer does.
func TestFormsByOlderNames(t *testing.T) {
	b, d := newFormBroker(t)
	for _, method := range []string{"elicitation/requestInput", "elicitation/request", "elicitation/create"} {
		r, _ := mustOpen(t, b, question(t, ask(method, `{"prompt":"p","formDefinition":`+settings("")+`}`)), d)
		if !r.Lane() || wire.Get(r.Ask().Params(), "requestedSchema", "properties", "port") == nil {
			t.Errorf("%s: asked %s", method, r.Ask().Raw())
		}
		r.Dismiss()
		r, _ = mustOpen(t, b, question(t, ask(method, `{"mode":"inline","prompt":"p"}`)), d)
		if r.Ask().Method() != "elicitation/create" || wire.Get(r.Ask().Params(), "requestedSchema", "properties", "answer") == nil {
			t.Errorf("%s: asked %s", method, r.Ask().Raw())
		}
		r.Dismiss()
	}
}

// 110 clients at once (R128): each has its own form, and nobody reaches another's.
func TestManyClients(t *testing.T) {
	const clients = 110
	b, _ := newFormBroker(t)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			q := managed(t, settings(""))
			q.Principal, q.Session = fmt.Sprint("p", i), fmt.Sprint("s", i)
			r, err := b.Open(q, nil, func(*Request, Answer) {})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := b.Find(r.ID, Party{Principal: fmt.Sprint("p", (i+1)%clients)}); err == nil {
				t.Error("found somebody else's form")
			}
			name := fmt.Sprint("client ", i)
			if err := r.Submit(fmt.Appendf(nil, `{"name":%q,"port":8080}`, name), Submitter{}); err != nil {
				t.Error(err)
			}
			if got := r.Status().Values.Get("name").Text(); got != name {
				t.Errorf("%s answered %q", name, got)
			}
		})
	}
	wg.Wait()
	if b.Len() != 0 {
		t.Errorf("%d are open", b.Len())
	}
}

// What a client sees of a form of the lane (C9, C10, R101, C25).
func TestWhatTheClientSees(t *testing.T) {
	b, d := newFormBroker(t)
	q := question(t, ask("elicitation/create", `{"mode":"form","x":[1.50],"formDefinition":`+settings("")+`,"_meta":{"progressToken":1,"k":"v"}}`))
	r, _ := mustOpen(t, b, q, d)
	if rest, ok := strings.CutPrefix(r.ID, "elic_"); !ok || len(rest) != 26 || strings.ToUpper(rest) != rest {
		t.Errorf("the id is %q, want elic_ and 26 characters", r.ID)
	}
	p := r.Ask().Params()
	for path, want := range map[string]string{
		"mode":                `"form"`,
		"x":                   `[1.50]`,
		"elicitationId":       `"` + r.ID + `"`,
		"_meta.k":             `"v"`,
		"_meta.progressToken": `"` + r.ID + `"`,

		"message":                  `"Server settings\n\nHow it runs."`,
		"requestedSchema.type":     `"object"`,
		"requestedSchema.required": `["name","port"]`,

		"formDefinition": ``,
	} {
		if got := string(wire.Get(p, strings.Split(path, ".")...)); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	flat := r.Form().Flatten()
	if got := wire.Get(p, "requestedSchema"); string(got) != string(flat.Schema) {
		t.Errorf("requestedSchema is %s, want %s", got, flat.Schema)
	}
	if got := wire.Get(p, "_meta", form.HintsKey); string(got) != string(flat.Hints) || flat.Hints == nil {
		t.Errorf("the hints are %s, want %s", got, flat.Hints)
	}
	if method := r.Ask().Method(); method != "elicitation/create" || len(d.offered) != 1 {
		t.Errorf("%s was offered %d times", method, len(d.offered))
	}
	r.Dismiss()

	q.Extended = true
	r, _ = mustOpen(t, b, q, d)
	if got := string(wire.Get(r.Ask().Params(), "formDefinition")); got != settings("") {
		t.Errorf("a client that knows forms gets the definition %s", got)
	}
	r.Dismiss()
}

// A message of the backend's own comes before the title.
func TestMessageOfTheForm(t *testing.T) {
	b, d := newFormBroker(t)
	for params, want := range map[string]string{
		`{"message":"Hello","formDefinition":` + settings("") + `}`:                       "Hello",
		`{"formDefinition":{"id":"f","title":"T","fields":[` + field("a", "text") + `]}}`: "T",
	} {
		r, _ := mustOpen(t, b, question(t, ask("elicitation/create", params)), d)
		if got, _ := wire.Text(r.Ask().Params(), "message"); got != want {
			t.Errorf("message %q, want %q", got, want)
		}
		r.Dismiss()
	}
}

func field(id, kind string) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"label":%q}`, id, kind, strings.ToUpper(id))
}

// What a form is refused for (R85, C11, C19).
func TestFormRefusals(t *testing.T) {
	of1 := func(fields string) string { return `{"id":"f","title":"T","fields":[` + fields + `]}` }
	noForms := `{"elicitation":{"url":{}}}`
	for _, tt := range []struct {
		name, caps, params string
		extended, lenient  bool
		want               wire.Reason
	}{
		{name: "a fault", params: `{"formDefinition":` + of1(`{"id":"a","type":"colour","label":"A"}`) + `}`, want: wire.ReasonSchema},
		{name: "no object", params: `{"formDefinition":"f"}`, want: wire.ReasonSchema},
		{name: "message no string", params: `{"message":1,"formDefinition":` + settings("") + `}`, want: wire.ReasonParams},
		{name: "no capability", caps: `{}`, params: `{"formDefinition":` + settings("") + `}`, want: wire.ReasonCapability},
		{name: "no forms", caps: noForms, params: `{"formDefinition":` + settings("") + `}`, want: wire.ReasonMode},
		{name: "a file", params: `{"formDefinition":` + of1(field("a", "text")+","+field("f", "file")) + `}`, want: wire.ReasonUnrepresentable},
		{name: "a file, for a client that knows forms", extended: true, params: `{"formDefinition":` + of1(field("f", "file")) + `}`},
		{name: "a secret by its name", params: `{"formDefinition":` + of1(field("api_key", "text")) + `}`, want: wire.ReasonSensitive},
		{name: "a secret, for a client that knows forms", extended: true, params: `{"formDefinition":` + of1(field("password", "text")) + `}`, want: wire.ReasonSensitive},
		{name: "a secret, where that is allowed", lenient: true, params: `{"formDefinition":` + of1(field("password", "text")) + `}`},
		{name: "null is no definition", params: `{"formDefinition":null,"message":"m","requestedSchema":{"type":"object","properties":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := roomy()
			l.Rules.Secrets = !tt.lenient
			d := &desk{}
			b := NewBroker(l, d)
			q := question(t, ask("elicitation/create", tt.params))
			q.Extended = tt.extended
			if tt.caps != "" {
				q.Caps = wire.ParseClientCaps([]byte(tt.caps))
			}
			judged := b.Judge(q)
			r, err := b.Open(q, d, func(*Request, Answer) {})
			wantReason(t, err, tt.want)
			wantReason(t, judged, tt.want)
			if r != nil {
				r.Dismiss()
			}
			if tt.want == wire.ReasonUnrepresentable {
				if fields, _ := err.Data["fields"].([]string); !slices.Equal(fields, []string{"f"}) || err.Code != -32602 {
					t.Errorf("error %+v does not name the field", err)
				}
			}
			if tt.want != "" && len(d.offered) != 0 {
				t.Error("it was offered")
			}
		})
	}
}

// What Beckon itself is asked may hold secrets and files, is shown to nobody, and
// needs no capability.
func TestManaged(t *testing.T) {
	b, d := newFormBroker(t)
	r, e := mustOpen(t, b, managed(t, `{"id":"f","title":"T","fields":[`+field("password", "text")+`,`+field("f", "file")+`]}`), d)
	wantReason(t, r.Submit([]byte(`{"password":"hunter2"}`), Submitter{UserAgent: "curl", Session: "x"}), "")
	a := wantEnd(t, e, Accept)
	if got := string(a.Response.Result()); got != `{"action":"accept","content":{"password":"hunter2"}}` {
		t.Errorf("ended with %s", got)
	}
	if a.Response.ID() != "7" {
		t.Errorf("the response has the id %s", a.Response.ID())
	}
	if by := r.Status().By; by.UserAgent != "curl" || by.Session != "x" {
		t.Errorf("answered by %+v", by)
	}
	if len(d.offered)+len(d.retracted) != 0 {
		t.Error("the channel was told of it")
	}
	l := roomy()
	l.Off = map[Kind]bool{Form: true}
	_, err := NewBroker(l, d).Open(managed(t, settings("")), nil, nil)
	wantReason(t, err, wire.ReasonDisabled)
	q := question(t, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	q.Managed = true
	_, err = b.Open(q, nil, nil)
	wantReason(t, err, wire.ReasonMode)
}

// R120: how many forms one principal may have open, in all its sessions; where nobody
// is authenticated, one session. The limits that hold for all questions hold besides.
func TestFormLimits(t *testing.T) {
	l := roomy()
	l.Forms.PerPrincipal = 2
	b := NewBroker(l, &desk{})
	open := func(principal, session string) (*Request, *wire.Error) {
		q := managed(t, settings(""))
		q.Principal, q.Session = principal, session
		return b.Open(q, nil, func(*Request, Answer) {})
	}
	for _, tt := range []struct {
		principal, session string
		want               wire.Reason
	}{
		{"ada", "1", ""}, {"ada", "2", ""}, {"ada", "3", wire.ReasonLimit}, {"bob", "3", ""},
		{"local", "1", ""}, {"", "1", ""}, {"local", "1", wire.ReasonLimit}, {"", "2", ""},
	} {
		r, err := open(tt.principal, tt.session)
		wantReason(t, err, tt.want)
		if err != nil && (err.Data["limit"] != 2 || err.Data["type"] != "system" || err.Code != -32000) {
			t.Errorf("error %+v", err)
		}
		if (r == nil) != (err != nil) {
			t.Errorf("request %v and error %v", r, err)
		}
	}
	l = roomy()
	l.Total, l.PerSession = 3, 2
	b = NewBroker(l, &desk{})
	for _, tt := range []struct {
		session string
		want    wire.Reason
	}{{"1", ""}, {"1", ""}, {"1", wire.ReasonLimit}, {"2", ""}, {"3", wire.ReasonLimit}} {
		_, err := open("ada", tt.session)
		wantReason(t, err, tt.want)
		if err != nil && err.Data["type"] != "system" {
			t.Errorf("error %+v is not of the family system (R116)", err)
		}
	}
	if len(b.forms.byOwner) != 1 || b.forms.byOwner[Party{Principal: "ada"}] != 3 || len(b.forms.byID) != 3 {
		t.Errorf("a refused form left something behind: %+v", b.forms)
	}
	b.Close()
	if len(b.forms.byOwner) != 0 {
		t.Errorf("left after Close: %v", b.forms.byOwner)
	}
}

// C3: the strict profile holds for what a form becomes, too.
func TestFormInPrimitiveProfile(t *testing.T) {
	l := roomy()
	l.Rules.Primitive = true
	d := &desk{}
	_, err := NewBroker(l, d).Open(of(t, `{"id":"f","title":"T","fields":[{"id":"a","type":"multi_select","label":"A","options":["x","y"]}]}`), d, nil)
	wantReason(t, err, wire.ReasonSchema)
}

// C21: for development, url fields may name this machine, unless their form says
// otherwise; nothing else changes.
func TestLoopback(t *testing.T) {
	const fields = `{"id":"f","title":"T","fields":[{"id":"a","type":"url","label":"A"},{"id":"b","type":"url","label":"B","validation":{"blockLocalhost":true}}]}`
	for _, tt := range []struct {
		answers     string
		plain, open wire.Reason
	}{
		{`{"a":"https://localhost:8443/"}`, wire.ReasonValidation, ""},
		{`{"a":"https://127.0.0.1/"}`, wire.ReasonValidation, ""},
		{`{"a":"https://[::1]/"}`, wire.ReasonValidation, ""},
		{`{"b":"https://localhost/"}`, wire.ReasonValidation, wire.ReasonValidation},
		{`{"a":"https://10.0.0.1/"}`, wire.ReasonValidation, wire.ReasonValidation},
		{`{"a":"http://localhost/"}`, wire.ReasonValidation, wire.ReasonValidation},
	} {
		for _, loopback := range []bool{false, true} {
			l := roomy()
			l.Forms.Loopback = loopback
			r, _ := mustOpen(t, NewBroker(l, &desk{}), managed(t, fields), nil)
			want := tt.plain
			if loopback {
				want = tt.open
			}
			if err := r.Submit([]byte(tt.answers), Submitter{}); (err == nil) != (want == "") {
				t.Errorf("%s, loopback %v: %v", tt.answers, loopback, err)
			}
		}
	}
}

// R127: one definition is compiled once, however many forms are made of it (C26).
func TestFormsShareTheirDefinition(t *testing.T) {
	b, d := newFormBroker(t)
	first, _ := mustOpen(t, b, of(t, settings("")), d)
	second, _ := mustOpen(t, b, managed(t, settings("")), nil)
	if first.Form() != second.Form() {
		t.Error("the same definition was compiled twice")
	}
}
