package back

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// dialling is an SSE dial under way.
type dialling struct {
	*httpTest
	done   chan error
	cancel context.CancelCauseFunc
}

func dialSSE(t *testing.T) *dialling {
	t.Helper()
	s, err := NewSSE(slog.New(slog.DiscardHandler), HTTPOptions{
		URL: testURL, Header: http.Header{"Authorization": {"Bearer secret"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := &dialling{httpTest: &httpTest{web: newWeb(t), recorder: record(t), t: t}, done: make(chan error, 1)}
	s.site.http.Transport = d.web
	ctx, cancel := context.WithCancelCause(t.Context())
	d.cancel = cancel
	go func() {
		var err error
		d.Conn, err = s.Dial(ctx, d.recorder)
		d.done <- err
	}()
	return d
}

// endpoint sends the endpoint event.
func (w *eventWriter) endpoint(at string) { w.write("event: endpoint\ndata: " + at + "\n\n") }

// "When a client connects, the server MUST send an endpoint event containing a URI
// for the client to use for sending messages. All subsequent client messages MUST
// be sent as HTTP POST requests to this endpoint." "Server messages are sent as SSE
// message events."
func TestSSE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dialSSE(t)
		events := d.web.want("the stream", "GET", "Accept", "text/event-stream", "Authorization", "Bearer secret").stream()
		events.write(": hello\n\n")
		events.endpoint("/messages?session=1")
		d.wantSent("the dial", d.done)
		d.cancel(errors.New("the dial is over")) // ends nothing any more
		synctest.Wait()
		if d.Attributes() {
			t.Error("HTTP+SSE claims to tell which request a message belongs to")
		}

		done := d.send(callOne)
		ask := d.web.want("a call", "POST", "Content-Type", "application/json", "Authorization", "Bearer secret")
		if got, want := ask.URL.String(), "https://backend.test/messages?session=1"; got != want || ask.body != callOne {
			t.Errorf("posted %s to %s, want it at %s", ask.body, got, want)
		}
		ask.answer(http.StatusAccepted, "text/plain", "Accepted")
		d.wantSent("Send returns when the message is taken", done)
		events.write("event: message\ndata: " + question + "\n\n")
		d.recorder.want("a question", "", question)
		events.message("hello")
		d.wantParseError("no message")
		events.message(oneAnswer)
		d.recorder.want("the response", "", oneAnswer)

		d.Close()
		d.Close()
		events.wantAbandoned(t)
		if err := d.Err(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if err := d.Send(t.Context(), parse(callOne)); !errors.Is(err, ErrClosed) {
			t.Errorf("Send after Close: %v", err)
		}
	})
}

// The headers for the backend go nowhere else.
func TestSSEEndpointIsOfTheSameOrigin(t *testing.T) { // endpoint same-origin only
	tests := []struct{ at, want string }{
		{"/m", "https://backend.test/m"},
		{"m", "https://backend.test/m"},
		{"?session=1", "https://backend.test/mcp?session=1"},
		{"https://backend.test/m", "https://backend.test/m"},
		{"https://BACKEND.test:443/m", "https://BACKEND.test:443/m"},
		{"//backend.test/m", "https://backend.test/m"},
		{"https://someone@backend.test/m", "https://backend.test/m"},
		{"https://evil.test/m", ""},
		{"//evil.test/m", ""},
		{`\\evil.test/m`, "https://backend.test/%5C%5Cevil.test/m"}, // a path, for us
		{"http://backend.test/m", ""},
		{"https://backend.test:8443/m", ""},
		{"https://backend.test.evil.test/m", ""},
		{"https://backend.test@evil.test/m", ""},
		{"file:///etc/passwd", ""},
		{"javascript:alert(1)", ""},
		{"https://backend.test:x/m", ""},
	}
	for _, tt := range tests {
		t.Run(tt.at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := dialSSE(t)
				events := d.web.want("the stream", "GET").stream()
				events.endpoint(tt.at)
				err := <-d.done
				if tt.want == "" {
					if err == nil {
						t.Fatal("the endpoint was taken")
					}
					wantNoSecret(t, err)
					events.wantAbandoned(t)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := d.Conn.(*sseConn).endpoint; got != tt.want {
					t.Errorf("messages go to %s, want %s", got, tt.want)
				}
				d.Close()
			})
		})
	}
}

func TestSSEDialFails(t *testing.T) {
	tests := []struct {
		name   string
		play   func(d *dialling, a *ask)
		reason wire.Reason
		told   string
		took   time.Duration
	}{
		{"no stream", func(_ *dialling, a *ask) { a.answer(http.StatusNotFound, "", "") },
			wire.ReasonBackendDown, "the backend refused the message with HTTP status 404", 0},
		{"no credentials", func(_ *dialling, a *ask) { a.answer(http.StatusUnauthorized, "", "") },
			wire.ReasonBackendDown, "the backend refuses our credentials (HTTP status 401)", 0},
		{"a page", func(_ *dialling, a *ask) { a.answer(http.StatusOK, "text/html", "") },
			wire.ReasonBackendDown, "the backend has no event stream at its URL", 0},
		{"ends at once", func(_ *dialling, a *ask) { a.stream().end(nil) },
			wire.ReasonBackendGone, "the backend ended its event stream at once", 0},
		{"no endpoint", func(_ *dialling, a *ask) { a.stream().message(note) },
			wire.ReasonBackendDown, "the backend does not tell where to send messages", 10 * time.Second},
		{"another origin", func(_ *dialling, a *ask) { a.stream().endpoint("https://evil.test/") },
			wire.ReasonBackendGone, "the backend wants messages sent to another origin, which is refused", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := dialSSE(t)
				began := time.Now()
				tt.play(d, d.web.want("the stream", "GET"))
				wantTold(t, <-d.done, tt.reason, tt.told)
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

func TestSSEDialAbandoned(t *testing.T) {
	reason := errors.New("no patience")
	for _, begun := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := dialSSE(t)
			ask := d.web.want("the stream", "GET")
			if begun {
				ask.stream().write(": hello\n\n")
			}
			d.cancel(reason)
			if err := <-d.done; !errors.Is(err, reason) {
				t.Errorf("dial: %v, want the cause of its context", err)
			}
		})
	}
}

// connectSSE plays a dial that succeeds.
func connectSSE(t *testing.T) (*dialling, *eventWriter) {
	t.Helper()
	d := dialSSE(t)
	events := d.web.want("the stream", "GET").stream()
	events.endpoint("/m")
	d.wantSent("the dial", d.done)
	return d, events
}

// The stream is the connection.
func TestSSEStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, events := connectSSE(t)
		events.message(note)
		events.end(nil)
		<-d.Done()
		d.recorder.want("what came before the end", "", note)
		wantTold(t, d.Err(), wire.ReasonBackendGone, "the backend ended its event stream")
		wantTold(t, d.Send(t.Context(), parse(callOne)), wire.ReasonBackendGone, "the backend ended its event stream")
		d.Close()
		wantTold(t, d.Err(), wire.ReasonBackendGone, "the backend ended its event stream")
	})
}

func TestSSERefusesAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := connectSSE(t)
		done := d.send(callOne)
		d.web.want("a call", "POST").answer(http.StatusInternalServerError, "text/plain", "secret")
		err := <-done
		wantTold(t, err, wire.ReasonBackendDown, "the backend refused the message with HTTP status 500")
		wantNoSecret(t, err)

		done = d.send(callOne)
		d.web.want("a call", "POST").answer(http.StatusBadRequest, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`)
		d.wantSent("the backend's own error is the response", done)
		d.recorder.want("the error", "1", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`)

		done = d.send(callOne)
		d.web.want("a call", "POST").answer(http.StatusNotFound, "text/plain", "Session not found")
		if err := <-done; !errors.Is(err, ErrSessionLost) {
			t.Errorf("%v, want the session to be lost", err)
		}
		d.Close()
	})
}
