package formtest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/form/formtest"
)

// question is one that ends with valid answers, or at its deadline.
type question struct {
	form *form.Form

	mu       sync.Mutex // guards the fields below
	deadline time.Time
	answered bool
	seen     int
}

func (q *question) Form() *form.Form { return q.form }

func (q *question) Deadline() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.deadline
}

func (q *question) extend(by time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deadline = q.deadline.Add(by)
}

var errLate = errors.New("it has ended")

func (q *question) Submit(answers []byte) error {
	_, err := q.form.Read(answers, form.Coerce)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen++
	switch {
	case q.answered, !time.Now().Before(q.deadline):
		return errLate
	case err == nil:
		q.answered = true
	}
	return err
}

func ask(tb testing.TB, d form.Definition) *question {
	tb.Helper()
	f, err := form.Compile(d)
	if err != nil {
		tb.Fatal(err)
	}
	return &question{form: f, deadline: time.Now().Add(d.Terms.Timeout)}
}

// R126: the three people of the seed, and one more.
func TestPeople(t *testing.T) {
	t.Run("at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := ask(t, formtest.Comprehensive())
			m, err := formtest.Person{}.Meet(t.Context(), q)
			if err != nil || !m.Answered || len(m.Attempts) != 1 || m.Attempts[0].Err != nil || !q.answered {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	})
	t.Run("errs, then answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for seed := range uint64(40) {
				q := ask(t, formtest.Comprehensive())
				begun := time.Now()
				m, err := formtest.Person{Manner: formtest.Careless, Errors: 2, Thinks: time.Second, Seed: seed}.Meet(t.Context(), q)
				if err != nil || !m.Answered || len(m.Attempts) != 3 {
					t.Fatalf("got %+v, %v", m, err)
				}
				for i, a := range m.Attempts {
					if wrong := i < 2; a.Wrong != wrong || (a.Err != nil) != wrong || a.At.Sub(begun) != time.Duration(i+1)*time.Second {
						t.Errorf("attempt %d is %+v", i, a)
					}
				}
			}
		})
	})
	t.Run("never answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := ask(t, formtest.Minimal())
			begun := time.Now()
			time.AfterFunc(29*time.Second, func() { q.extend(time.Minute) })
			m, err := formtest.Person{Manner: formtest.Absent}.Meet(t.Context(), q)
			if err != nil || m.Answered || !m.Ended || len(m.Attempts) != 0 {
				t.Errorf("got %+v, %v", m, err)
			}
			if waited := m.Until.Sub(begun); waited < 90*time.Second || waited > 91*time.Second {
				t.Errorf("left after %v, want 90s", waited)
			}
		})
	})
	t.Run("answers too late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := ask(t, formtest.Minimal())
			m, err := formtest.Person{Manner: formtest.Late}.Meet(t.Context(), q)
			if err != nil || m.Answered || !m.Ended || len(m.Attempts) != 1 || !errors.Is(m.Attempts[0].Err, errLate) {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	})
	t.Run("is called away", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			away := errors.New("dinner is ready")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, away)
			defer cancel()
			q := ask(t, formtest.Minimal())
			m, err := formtest.Person{Manner: formtest.Absent}.Meet(ctx, q)
			if !errors.Is(err, away) || m.Ended {
				t.Errorf("got %+v, %v", m, err)
			}
			m, err = formtest.Person{}.Meet(ctx, q)
			if !errors.Is(err, away) || m.Answered || q.seen != 0 {
				t.Errorf("answered all the same: %+v, %v", m, err)
			}
		})
	})
	t.Run("cannot err", func(t *testing.T) {
		f, err := form.Lift([]byte(`{"type":"object"}`))
		if err != nil {
			t.Fatal(err)
		}
		m, err := formtest.Person{Manner: formtest.Careless}.Meet(t.Context(), &question{form: f, deadline: time.Now().Add(time.Hour)})
		if err == nil || len(m.Attempts) != 0 {
			t.Errorf("got %+v, %v", m, err)
		}
	})
}

// recorder is a test that fails in silence.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.failed = append(r.failed, format) }

func TestAssertions(t *testing.T) {
	f := ask(t, formtest.Comprehensive()).form
	good := []byte(`{"username":"ada","port":"8080","webhook_url":"https://example.com"}`)
	bad := []byte(`{"username":"a","port":80,"webhook_url":"https://10.0.0.1"}`)
	tests := []struct {
		name   string
		assert func(tb testing.TB)
		fails  bool
	}{
		{"valid", func(tb testing.TB) { formtest.AssertValid(tb, f, good) }, false},
		{"not valid", func(tb testing.TB) { formtest.AssertValid(tb, f, bad) }, true},
		{"some of the errors", func(tb testing.TB) {
			formtest.AssertErrors(tb, f, bad, formtest.Want{Field: "username", Constraint: "minLength"}, formtest.Want{Field: "webhook_url", Constraint: "blockPrivateIPs"})
		}, false},
		{"by code", func(tb testing.TB) {
			formtest.AssertErrors(tb, f, bad, formtest.Want{Field: "port", Code: form.CodeConstraint})
		}, false},
		{"any", func(tb testing.TB) { formtest.AssertErrors(tb, f, bad) }, false},
		{"another constraint", func(tb testing.TB) {
			formtest.AssertErrors(tb, f, bad, formtest.Want{Field: "username", Constraint: "pattern"})
		}, true},
		{"another code", func(tb testing.TB) {
			formtest.AssertErrors(tb, f, bad, formtest.Want{Field: "username", Code: form.CodeType})
		}, true},
		{"another field", func(tb testing.TB) { formtest.AssertErrors(tb, f, bad, formtest.Want{Field: "log_level"}) }, true},
		{"none wanted and none there", func(tb testing.TB) { formtest.AssertErrors(tb, f, good) }, true},
		{"wanted and not there", func(tb testing.TB) { formtest.AssertErrors(tb, f, good, formtest.Want{Field: "port"}) }, true},
	}
	for _, tt := range tests {
		r := &recorder{TB: t}
		if tt.assert(r); (len(r.failed) > 0) != tt.fails {
			t.Errorf("%s: failed with %q, want failed %t", tt.name, strings.Join(r.failed, "; "), tt.fails)
		}
	}
	if v := formtest.AssertValid(t, f, good); v.Get("port").Text() != "8080" {
		t.Errorf("the port is %q", v.Get("port").Text())
	}
}
