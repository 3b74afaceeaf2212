//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"github.com/beckon-mcp/beckon/internal/api"
	"github.com/beckon-mcp/beckon/internal/input"
)

// A question at a terminal has an end, and the end of the process is another. Neither
// is an answer.
func TestAskHereEnds(t *testing.T) {
	for _, tt := range []struct {
		name    string
		until   func(context.CancelFunc)
		flags   []string
		code    int
		outcome string
	}{
		{"the time is over", func(context.CancelFunc) {}, []string{"--timeout", "1s"}, exitNobody, `{"outcome":"timeout","reason":"timeout","detail":"1s were over"}`},
		{"interrupted", func(stop context.CancelFunc) { stop() }, nil, exitFailed, `{"outcome":"abandoned",`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			master, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			var watching sync.WaitGroup
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			seen := make(chan struct{})
			watching.Go(func() {
				b := make([]byte, 1000)
				for once := sync.OnceFunc(func() { close(seen) }); ; once() {
					if _, err := master.Read(b); err != nil {
						return
					}
				}
			})
			watching.Go(func() { <-seen; tt.until(stop) })
			var out bytes.Buffer
			args := append([]string{"ask", "--plain", "--json", "Who?"}, tt.flags...)
			code := run(ctx, args, streams{tty, &out, tty}, []string{"TERM=xterm"})
			tty.Close()
			watching.Wait()
			master.Close()
			if code != tt.code || !strings.HasPrefix(out.String(), tt.outcome) {
				t.Errorf("exit code %d, output %s; want %d, %s", code, out.String(), tt.code, tt.outcome)
			}
		})
	}
}

// script is a gateway that answers one request after the other.
type script struct {
	t     *testing.T
	steps []step
	at    time.Time
}

// step is one request that is wanted, and how it is answered.
type step struct {
	want   string // method, path and Last-Event-ID
	after  time.Duration
	status int
	body   string // of an event stream, a question or a problem
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(s.steps) == 0 {
		s.t.Errorf("nobody waits for %s %s", r.Method, r.URL.Path)
		return nil, io.ErrUnexpectedEOF
	}
	one := s.steps[0]
	s.steps = s.steps[1:]
	got := strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, r.Header.Get("Last-Event-ID")))
	if took := time.Since(s.at); got != one.want || took != one.after || r.Header.Get("Authorization") != "Bearer t" {
		s.t.Errorf("after %v got %s, want %s after %v", took, got, one.want, one.after)
	}
	s.at = time.Now()
	if one.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	kind := "text/event-stream"
	switch {
	case one.status >= 400:
		kind = "application/problem+json"
	case strings.HasPrefix(one.body, "{"):
		kind = "application/json"
	}
	return &http.Response{
		StatusCode: one.status, Status: fmt.Sprint(one.status, " ", http.StatusText(one.status)),
		Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(one.body)), Request: r,
	}, nil
}

func event(id, name string, q api.Question) string {
	b, _ := json.Marshal(q)
	return fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", id, name, b)
}

// Whoever waits for an answer bears a connection that breaks, and knows when to give
// up.
func TestFollow(t *testing.T) {
	const path = "GET /api/v1/questions/e/events"
	open, done := api.Question{ID: "e", Status: input.Active}, api.Question{ID: "e", Status: input.Declined}
	for _, tt := range []struct {
		name  string
		steps []step
		err   string // "" for none
	}{
		{"at once", []step{{path, 0, 200, event("ended", "ended", done)}}, ""},
		{"broken twice", []step{
			{path, 0, 200, event("1", "rejected", open)},
			{path + " 1", 250 * time.Millisecond, 0, ""},
			{path + " 1", 500 * time.Millisecond, 200, event("2", "extended", open)},
			{path + " 2", 250 * time.Millisecond, 503, `{"status":503,"reason":"stopping","detail":"d"}`},
			{path + " 2", 500 * time.Millisecond, 200, event("ended", "ended", done)},
		}, ""},
		{"half an event", []step{
			{path, 0, 200, "id: ended\nevent: ended\ndata: {}"},
			{path, 250 * time.Millisecond, 200, event("ended", "ended", done)},
		}, ""},
		{"not there any more", []step{{path, 0, 404, `{"status":404,"reason":"not_found","detail":"there is no such form"}`}}, "there is no such form"},
		{"somebody else", []step{{path, 0, 302, ""}, {path, 250 * time.Millisecond, 302, ""}, {path, 500 * time.Millisecond, 302, ""},
			{path, time.Second, 302, ""}, {path, 2 * time.Second, 302, ""}, {path, 4 * time.Second, 302, ""},
			{path, 5 * time.Second, 302, ""}, {path, 5 * time.Second, 302, ""}, {path, 5 * time.Second, 302, ""},
			{path, 5 * time.Second, 302, ""}, {path, 5 * time.Second, 302, ""}}, "cannot be reached any more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t, tt.steps, time.Now()}
				q, err := s.questioner().follow(t.Context(), "e", func() {})
				switch {
				case tt.err == "" && (err != nil || q.Status != input.Declined):
					t.Errorf("got %+v, %v", q, err)
				case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
					t.Errorf("got %v, want %q", err, tt.err)
				}
				if len(s.steps) > 0 {
					t.Errorf("%d requests did not come", len(s.steps))
				}
			})
		})
	}
}

func (s *script) questioner() *questioner {
	base, _ := url.Parse("http://gateway.example/api/v1")
	return &questioner{base: base, token: "t", http: &http.Client{Transport: s, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// An answer that came just before Ctrl-C is not lost.
func TestTakeBack(t *testing.T) {
	answered := `{"id":"e","status":"completed","response":{"form_id":"ask","responses":{"answer":"Ada"},"metadata":{"submitted_at":1}}}`
	const withdraw = "POST /api/v1/questions/e/withdraw"
	for _, tt := range []struct {
		name  string
		steps []step
		want  asked
		err   error
	}{
		{"in time", []step{{withdraw, 0, 200, `{"id":"e","status":"withdrawn","reason":"form_invalidated","detail":"x"}`}},
			asked{Outcome: input.Withdrawn, ID: "e", Reason: "form_invalidated", Detail: "interrupted"}, nil},
		{"too late", []step{{withdraw, 0, 409, `{"status":409,"reason":"already_completed","detail":"d"}`}, {"GET /api/v1/questions/e", 0, 200, answered}},
			asked{Outcome: input.Accept, ID: "e", Content: json.RawMessage(`{"answer":"Ada"}`)}, nil},
		{"the gateway is gone", []step{{withdraw, 0, 0, ""}}, asked{}, errInterrupted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				stop()
				s := &script{t, tt.steps, time.Now()}
				got, err := s.questioner().takeBack(ctx, api.Question{ID: "e"})
				if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tt.want) || !errors.Is(err, tt.err) {
					t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
				}
			})
		})
	}
}
