package input

import (
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// C12, R110: what the form says comes before what its backend says, and that before
// the defaults; each within its bounds.
func TestTerms(t *testing.T) {
	yes, no, none, four := true, false, 0, 4
	defaults := DefaultTerms()
	change := func(f func(*Terms)) Terms {
		t := defaults
		f(&t)
		return t
	}
	for _, tt := range []struct {
		name         string
		gateway      Terms
		own, backend form.Terms
		want         Terms
	}{
		{"nobody says anything", Terms{}, form.Terms{}, form.Terms{}, defaults},
		{"the gateway", Terms{Timeout: time.Minute, Attempts: 5}, form.Terms{}, form.Terms{},
			Terms{Timeout: time.Minute, Extension: 5 * time.Minute, MaxTotal: time.Hour, Attempts: 5}},
		{"the backend", Terms{}, form.Terms{}, form.Terms{Timeout: time.Minute, MaxAttempts: 2, MaxExtensions: &four},
			change(func(t *Terms) {
				t.Timeout, t.WarnBefore, t.Attempts, t.MaxExtensions = time.Minute, 30*time.Second, 2, 4
			})},
		{"the form above its backend", Terms{}, form.Terms{Timeout: 2 * time.Minute, ExtensionAllowed: &no},
			form.Terms{Timeout: time.Minute, ExtensionAllowed: &yes, Extension: time.Minute},
			change(func(t *Terms) { t.Timeout, t.ExtensionAllowed, t.Extension = 2*time.Minute, false, time.Minute })},
		{"no extensions is a number too", Terms{}, form.Terms{MaxExtensions: &none}, form.Terms{MaxExtensions: &four},
			change(func(t *Terms) { t.MaxExtensions = 0 })},
		{"the warning", Terms{}, form.Terms{WarnBefore: 10 * time.Second}, form.Terms{WarnBefore: 20 * time.Second},
			change(func(t *Terms) { t.WarnBefore = 10 * time.Second })},
		{"a warning in the first half", Terms{}, form.Terms{Timeout: 30 * time.Second}, form.Terms{},
			change(func(t *Terms) { t.Timeout, t.WarnBefore = 30*time.Second, 15*time.Second })},
		{"too short", Terms{}, form.Terms{Timeout: time.Millisecond, Extension: time.Millisecond}, form.Terms{},
			change(func(t *Terms) { t.Timeout, t.Extension, t.WarnBefore = time.Second, time.Second, time.Second/2 })},
		{"too long", Terms{MaxTotal: 24 * time.Hour}, form.Terms{Timeout: 2 * time.Hour, Extension: 2 * time.Hour}, form.Terms{},
			Terms{Timeout: time.Hour, Extension: time.Hour, MaxTotal: 24 * time.Hour, Attempts: 3}},
		{"longer than the gateway allows", Terms{MaxTotal: time.Minute, Extension: time.Minute}, form.Terms{Timeout: time.Hour}, form.Terms{},
			Terms{Timeout: time.Minute, Extension: time.Minute, MaxTotal: time.Minute, Attempts: 3}},
		{"no time left to extend", Terms{}, form.Terms{Timeout: time.Hour}, form.Terms{},
			change(func(t *Terms) { t.Timeout, t.ExtensionAllowed = time.Hour, false })},
		{"nonsense", Terms{Timeout: -1, WarnBefore: -1, MaxExtensions: -1, Attempts: -1, MaxTotal: -1}, form.Terms{}, form.Terms{},
			Terms{Timeout: time.Second, Extension: 5 * time.Minute, MaxTotal: time.Second, Attempts: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (Forms{Terms: tt.gateway}).terms(tt.own, tt.backend); got != tt.want {
				t.Errorf("terms\n%+v, want\n%+v", got, tt.want)
			}
		})
	}
}

// R114: each end has its word in the form API, and an answer has none.
func TestAbandonment(t *testing.T) {
	ended := func(s State, o Outcome, reason wire.Reason) Status {
		st := Status{State: s, Answer: Answer{Outcome: o}}
		if reason != "" {
			st.Answer.Err = wire.Errorf(reason, "why")
		}
		return st
	}
	for _, tt := range []struct {
		status Status
		want   Abandonment
	}{
		{Status{State: Pending}, ""},
		{Status{State: Active}, ""},
		{Status{State: Prolonged}, ""},
		{ended(Completed, Accept, ""), ""},
		{ended(Completed, Answered, ""), ""},
		{ended(Declined, Decline, ""), "user_cancelled"},
		{ended(Cancelled, Cancel, ""), "user_cancelled"},
		{ended(Cancelled, Rejected, wire.ReasonAttempts), "max_retries_exceeded"},
		{ended(TimedOut, Timeout, wire.ReasonTimeout), "timeout"},
		{ended(Dropped, Withdrawn, wire.ReasonWithdrawn), "form_invalidated"},
		{ended(Dropped, Withdrawn, wire.ReasonStopping), "form_invalidated"},
		{ended(Dropped, Withdrawn, wire.ReasonBackendGone), "form_invalidated"},
		{ended(Dropped, Withdrawn, wire.ReasonSessionExpired), "session_expired"},
		{ended(Dropped, Withdrawn, wire.ReasonClientGone), "client_disconnected"},
		{ended(Forsaken, Abandoned, wire.ReasonClientGone), "client_disconnected"},
		{ended(Forsaken, Abandoned, wire.ReasonSessionExpired), "session_expired"},
		{ended(Forsaken, Abandoned, wire.ReasonTimeout), "timeout"},
		{ended(Forsaken, Unseen, wire.ReasonNoClient), "client_disconnected"},
		{ended(Forsaken, Failed, ""), "form_invalidated"},
		{ended(Forsaken, Answered, ""), "form_invalidated"},
	} {
		if got := tt.status.Abandonment(); got != tt.want {
			t.Errorf("%s by %s: %q, want %q", tt.status.State, tt.status.Answer.Outcome, got, tt.want)
		}
	}
}
