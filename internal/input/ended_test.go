package input

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// D12, R75: a form is found by its owner alone; to everybody else it is as if it had
// never been.
func TestFind(t *testing.T) {
	b, _ := newFormBroker(t)
	open := func(principal, session string) *Request {
		q := managed(t, settings(""))
		q.Principal, q.Session = principal, session
		r, _ := mustOpen(t, b, q, nil)
		return r
	}
	_, unknown := b.Find("elic_AAAAAAAAAAAAAAAAAAAAAAAAAA", me)
	for _, tt := range []struct {
		of, who Party
		finds   bool
	}{
		{Party{"ada", "1"}, Party{"ada", "1"}, true},
		{Party{"ada", "1"}, Party{"ada", "2"}, true}, // the principal owns it
		{Party{"ada", "1"}, Party{"ada", ""}, true},
		{Party{"ada", "1"}, Party{"bob", "1"}, false},
		{Party{"ada", "1"}, Party{"", "1"}, false},
		{Party{"ada", "1"}, Party{Local, "1"}, false},
		{Party{"", "1"}, Party{"", "1"}, true}, // nobody is authenticated: the session owns it
		{Party{"", "1"}, Party{"", "2"}, false},
		{Party{"", "1"}, Party{"", ""}, false},
		{Party{"", "1"}, Party{"ada", "1"}, false},
		{Party{Local, "1"}, Party{"", "1"}, true},
		{Party{"", "1"}, Party{Local, "1"}, true},
		{Party{Local, "1"}, Party{Local, "2"}, false},
		{Party{Local, "1"}, Party{Local, "rest"}, false},
		{Party{Local, ""}, Party{Local, ""}, true},
	} {
		r := open(tt.of.Principal, tt.of.Session)
		for _, state := range []string{"open", "ended"} {
			got, err := b.Find(r.ID, tt.who)
			if found := got == r && err == nil; found != tt.finds {
				t.Errorf("%s form of %+v: %+v finds it: %v", state, tt.of, tt.who, found)
			}
			if err != nil && string(wire.NewFailure("1", err).Raw()) != string(wire.NewFailure("1", unknown).Raw()) {
				t.Errorf("somebody else's form gives %+v, an unknown one %+v", err, unknown)
			}
			r.Reply(Cancel)
		}
	}
	relayed, _ := mustOpen(t, b, question(t, formAsk), &desk{})
	if _, err := b.Find(relayed.ID, me); err == nil {
		t.Error("a relayed question was found as if it were a form")
	}
}

// R74, R78, R115: an end is remembered for ten minutes, not longer, and not before the
// end; then nothing is left of it.
func TestEndsAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		found := func(r *Request) bool { _, err := b.Find(r.ID, me); return err == nil }
		first, _ := mustOpen(t, b, managed(t, settings("")), nil)
		second, _ := mustOpen(t, b, managed(t, settings("")), nil)
		until(first, time.Minute)
		first.Reply(Cancel)
		until(first, 2*time.Minute)
		second.Submit([]byte(good), Submitter{})

		until(first, 11*time.Minute-time.Nanosecond)
		if !found(first) || !found(second) {
			t.Fatal("forgotten too soon")
		}
		until(first, 11*time.Minute)
		if found(first) || !found(second) {
			t.Fatal("the first should be forgotten now, and the second not")
		}
		until(first, 12*time.Minute-time.Nanosecond)
		if !found(second) {
			t.Fatal("forgotten too soon")
		}
		until(first, 12*time.Minute)
		if found(second) || len(b.forms.byID)+len(b.forms.ended)+len(b.forms.byOwner)+b.forms.bytes != 0 {
			t.Fatalf("something is left: %+v", b.forms)
		}
		// The janitor comes again.
		third, _ := mustOpen(t, b, managed(t, settings("")), nil)
		third.Reply(Decline)
		until(third, 10*time.Minute-time.Nanosecond)
		if !found(third) {
			t.Error("forgotten too soon")
		}
		until(third, 10*time.Minute)
		if found(third) {
			t.Error("not forgotten")
		}
	})
}

// What is remembered is bounded by number and by size; the oldest go.
func TestEndsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := roomy()
		l.Forms.MaxEnded = 3
		b := NewBroker(l, &desk{})
		defer b.Close()
		var all []*Request
		for range 5 {
			r, _ := mustOpen(t, b, managed(t, settings("")), nil)
			r.Submit([]byte(good), Submitter{})
			all = append(all, r)
		}
		for i, r := range all {
			if _, err := b.Find(r.ID, me); (err == nil) != (i >= 2) {
				t.Errorf("number %d: %v", i, err)
			}
		}
		if len(b.forms.ended) != 3 || len(b.forms.byID) != 3 {
			t.Errorf("%d ends are remembered", len(b.forms.ended))
		}
	})
	b, _ := newFormBroker(t)
	b.forms.maxBytes = 64 << 10
	big := strings.Repeat("x", 4<<10)
	var last *Request
	for range 20 {
		last, _ = mustOpen(t, b, managed(t, `{"id":"f","title":"T","fields":[`+field("a", "text")+`]}`), nil)
		wantReason(t, last.Submit(fmt.Appendf(nil, `{"a":%q}`, big), Submitter{}), "")
		if b.forms.bytes > 64<<10 {
			t.Fatalf("%d bytes are kept", b.forms.bytes)
		}
	}
	if n := len(b.forms.ended); n != 15 {
		t.Errorf("%d ends of a little more than 4 KiB are remembered in 64 KiB", n)
	}
	if got := last.Status().Values.Get("a").Text(); got != big {
		t.Errorf("the newest has %d bytes left", len(got))
	}
	for range 20 { // what was asked counts as well
		q := question(t, ask("elicitation/create", `{"message":"`+big+`","formDefinition":`+settings("")+`}`))
		q.Managed = true
		r, _ := mustOpen(t, b, q, nil)
		r.Reply(Decline)
	}
	if n := len(b.forms.ended); n != 14 {
		t.Errorf("%d ends of questions of a little more than 4.5 KiB are remembered in 64 KiB", n)
	}
	last, _ = mustOpen(t, b, managed(t, `{"id":"f","title":"T","fields":[`+field("a", "text")+`]}`), nil)
	wantReason(t, last.Submit(fmt.Appendf(nil, `{"a":%q}`, big), Submitter{}), "")
	b.forms.maxBytes = 1
	last, _ = mustOpen(t, b, managed(t, settings("")), nil)
	last.Submit([]byte(good), Submitter{})
	if _, err := b.Find(last.ID, me); err != nil || len(b.forms.ended) != 1 {
		t.Errorf("the newest is not remembered, or others are: %d", len(b.forms.ended))
	}
}

// An end need not be remembered at all.
func TestEndsNotRemembered(t *testing.T) {
	l := roomy()
	l.Forms.KeepEnded = -1
	b := NewBroker(l, &desk{})
	r, _ := mustOpen(t, b, managed(t, settings("")), nil)
	if _, err := b.Find(r.ID, me); err != nil {
		t.Error("an open form is not found")
	}
	r.Reply(Cancel)
	if _, err := b.Find(r.ID, me); err == nil {
		t.Error("an end is remembered")
	}
}

// Close drops what is open, and what is remembered.
func TestCloseForgets(t *testing.T) {
	bubble(t, func(t *testing.T, b *Broker, d *desk) {
		ended, _ := mustOpen(t, b, managed(t, settings("")), nil)
		ended.Reply(Cancel)
		open, e := mustOpen(t, b, managed(t, settings("")), nil)
		b.Close()
		wantEnd(t, e, Withdrawn)
		wantState(t, open, Dropped)
		if got := open.Status().Abandonment(); got != "form_invalidated" {
			t.Errorf("abandoned for %q", got)
		}
		for _, r := range []*Request{ended, open} {
			if _, err := b.Find(r.ID, me); err == nil {
				t.Error("it is still found")
			}
		}
		if len(b.forms.byID) != 0 || b.forms.ended != nil {
			t.Errorf("left: %+v", b.forms)
		}
	})
}

// What ends during Close but is told of only later is not remembered either.
func TestEndAfterClose(t *testing.T) {
	b := NewBroker(roomy(), idle{})
	ch := &slow{offered: make(chan struct{}), goOn: make(chan struct{})}
	e := new(ends)
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		b.Open(of(t, settings("")), ch, e.add)
	}()
	<-ch.offered
	b.Close()
	close(ch.goOn)
	<-opened
	wantEnd(t, e, Withdrawn)
	if len(b.forms.byID) != 0 || b.forms.ended != nil || b.forms.janitor != nil {
		t.Errorf("left after Close: %+v", b.forms)
	}
}

// slow is a channel that takes its time to show something.
type slow struct {
	idle
	offered, goOn chan struct{}
}

func (s *slow) Offer(*Request) {
	close(s.offered)
	<-s.goOn
}

// R123, R122: what ended forms were answered lies there sealed, the wrong answers
// included. Only the status of the form opens it.
func TestNothingReadableIsKept(t *testing.T) {
	const secret, typo = "correct horse battery", "1234567"
	b := NewBroker(roomy(), idle{})
	definition := `{"id":"f","title":"T","fields":[` + field("password", "text") + `,{"id":"port","type":"number","label":"Port","validation":{"maximum":9}}]}`
	answers := func(port string) []byte { return fmt.Appendf(nil, `{"password":%q,"port":%s}`, secret, port) }

	answered, _ := mustOpen(t, b, managed(t, definition), nil)
	answered.Submit(answers(typo), Submitter{})
	if where := find(b, secret); where == "" {
		t.Fatal("the search does not find what an open form was answered")
	}
	if where := find(b, typo); where == "" {
		t.Fatal("the search does not find what is wrong with an open form")
	}
	wantReason(t, answered.Submit(answers("8"), Submitter{UserAgent: "curl"}), "")
	rejected, _, _ := watched(t, b, managed(t, definition), nil)
	for range 3 {
		rejected.Submit(answers(typo), Submitter{})
	}
	for _, text := range []string{secret, typo} {
		if where := find(b, text); where != "" {
			t.Errorf("%q can be read at %s", text, where)
		}
		if where := find(answered, text) + find(rejected, text); where != "" {
			t.Errorf("%q can be read at %s", text, where)
		}
	}
	if rejected.done != nil || rejected.channel != nil || rejected.sheet.watch != nil {
		t.Error("what was to be told of the end is still held")
	}

	st := answered.Status()
	if got := string(st.Values.JSON()); got != `{"password":"`+secret+`","port":8}` || st.By.UserAgent != "curl" {
		t.Errorf("the owner reads %s by %+v", got, st.By)
	}
	if got := string(wire.Get(st.Answer.Response.Result(), "content")); got != string(st.Values.JSON()) {
		t.Errorf("the answer is %s", got)
	}
	st = rejected.Status()
	if len(st.Errors) != 1 || st.Errors[0].Field != "port" || fmt.Sprint(st.Errors[0].Expected) != "9" || st.Values.Get("password").Text() != secret {
		t.Errorf("the owner reads %+v", st)
	}
	if st.Answer.Err == nil || st.Answer.Err.Reason != wire.ReasonAttempts || st.Answer.Err.Data["errors"] == nil || st.Answer.Err.Data["retry_count"] != 3 {
		t.Errorf("the owner reads the error %+v", st.Answer.Err)
	}
	var none Status
	rejected.unseal(answered.sheet.kept, &none)
	if none.Answer.Response.IsResponse() {
		t.Error("what was sealed for one form opens for another")
	}
}

// find looks for text in everything that can be reached from root, but for what
// functions hold. It returns where it is.
func find(root any, text string) string {
	seen := make(map[uintptr]bool)
	var look func(v reflect.Value, path string) string
	look = func(v reflect.Value, path string) string {
		switch v.Kind() {
		case reflect.String:
			if strings.Contains(v.String(), text) {
				return path
			}
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() || v.Kind() == reflect.Pointer && seen[v.Pointer()] {
				return ""
			}
			if v.Kind() == reflect.Pointer {
				seen[v.Pointer()] = true
			}
			return look(v.Elem(), path)
		case reflect.Struct:
			for i := range v.NumField() {
				if at := look(v.Field(i), path+"."+v.Type().Field(i).Name); at != "" {
					return at
				}
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				if at := look(k, path+"[key]") + look(v.MapIndex(k), path+"[]"); at != "" {
					return at
				}
			}
		case reflect.Slice, reflect.Array:
			if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
				if strings.Contains(string(v.Bytes()), text) {
					return path
				}
				return ""
			}
			for i := range v.Len() {
				if at := look(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); at != "" {
					return at
				}
			}
		}
		return ""
	}
	return look(reflect.ValueOf(root), "root")
}

// What is relayed and judged leaves nothing readable either.
func TestRelayedRecordIsSealed(t *testing.T) {
	b := NewBroker(roomy(), idle{})
	q := question(t, formAsk)
	q.Validate = ValidateWarn
	r, _ := mustOpen(t, b, q, idle{})
	r.Settle(accepting(t, `{"name":"correct horse"}`))
	if where := find(r, "correct horse") + find(b, "correct horse"); where != "" {
		t.Errorf("the answer can be read at %s", where)
	}
	if got := r.Status().Values.Get("name").Text(); got != "correct horse" {
		t.Errorf("the status has %q", got)
	}
}
