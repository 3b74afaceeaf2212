package back

import (
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// autoTest is an [Auto] with a [web].
type autoTest struct {
	*httpTest
	dialer *Auto
}

func newAuto(t *testing.T) *autoTest {
	t.Helper()
	d, err := NewAuto(slog.New(slog.DiscardHandler), HTTPOptions{URL: testURL})
	if err != nil {
		t.Fatal(err)
	}
	at := &autoTest{&httpTest{web: newWeb(t), recorder: record(t), t: t}, d}
	d.http.site.http.Transport = at.web
	return at
}

func (at *autoTest) dial() {
	at.t.Helper()
	var err error
	if at.Conn, err = at.dialer.Dial(at.t.Context(), at.recorder); err != nil {
		at.t.Fatal(err)
	}
}

// "If it succeeds, the client can assume this is a server supporting the new
// Streamable HTTP transport."
func TestAutoNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newAuto(t)
		for range 2 {
			at.dial()
			at.open()
			if !at.Attributes() {
				t.Error("streamable HTTP does not tell which request a message belongs to")
			}
			done := at.send(callOne)
			at.web.want("a call", "POST", sessionHeader, "s1").answer(http.StatusOK, "application/json", oneAnswer)
			at.wantSent("a call", done)
			at.recorder.want("the response", "1", oneAnswer)

			// Only the answer to initialize says what the backend speaks.
			done = at.send(callOne)
			at.web.want("a call", "POST").answer(http.StatusMethodNotAllowed, "", "")
			wantTold(t, <-done, wire.ReasonBackendDown, "the backend refused the message with HTTP status 405")
			at.close()
		}
	})
}

// "If it fails with the following HTTP status codes "400 Bad Request", "404 Not
// Found" or "405 Method Not Allowed": Issue a GET request to the server URL,
// expecting that this will open an SSE stream and return an endpoint event as the
// first event."
func TestAutoOld(t *testing.T) {
	for _, status := range []int{400, 404, 405} {
		synctest.Test(t, func(t *testing.T) {
			at := newAuto(t)
			at.dial()
			over := at.Done()
			done := at.send(hello)
			at.web.want("initialize", "POST").answer(status, "text/plain", "Cannot POST /mcp")
			events := at.web.want("the stream", "GET", "Accept", "text/event-stream").stream()
			events.endpoint("/m")
			ask := at.web.want("initialize again", "POST")
			if ask.URL.Path != "/m" || ask.body != hello {
				t.Errorf("posted %s to %s, want initialize at /m", ask.body, ask.URL)
			}
			ask.answer(http.StatusAccepted, "", "")
			at.wantSent("initialize", done)
			if at.Attributes() {
				t.Error("HTTP+SSE claims to tell which request a message belongs to")
			}
			at.Negotiated(wire.R20241105)
			events.message(helloAnswer)
			at.recorder.want("the answer to initialize", "", helloAnswer)
			done = at.send(initialized)
			at.web.want("initialized", "POST").answer(http.StatusAccepted, "", "")
			at.wantSent("initialized", done)
			events.end(nil)
			<-over // the channel is the same as before
			wantTold(t, at.Err(), wire.ReasonBackendGone, "the backend ended its event stream")
			at.Close()

			// The next dial knows.
			dialled := make(chan struct{})
			go func() {
				at.dial()
				close(dialled)
			}()
			at.web.want("the stream at once", "GET").stream().endpoint("/m")
			<-dialled
			at.Close()
		})
	}
}

// What was found out is found out again when it is not true any more.
func TestAutoForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newAuto(t)
		at.dialer.old.Store(true)
		dialled := make(chan struct{})
		go func() {
			at.dial()
			close(dialled)
		}()
		at.web.want("the stream", "GET").answer(http.StatusBadRequest, "text/plain", "")
		<-dialled
		at.open()
		at.close()

		// A backend that is down has not changed its mind.
		at.dialer.old.Store(true)
		failed := make(chan error)
		go func() {
			_, err := at.dialer.Dial(t.Context(), at.recorder)
			failed <- err
		}()
		at.web.want("the stream", "GET").reset()
		wantTold(t, <-failed, wire.ReasonBackendGone, "the connection to the backend broke before it answered")
		if !at.dialer.old.Load() {
			t.Error("a backend that was down for a moment is probed again")
		}
	})
}

// A backend that speaks neither is reported by what it said first.
func TestAutoNeither(t *testing.T) {
	tests := []struct {
		name     string
		status   int
		body     string
		sse      bool   // HTTP+SSE is tried
		received string // the response, or
		told     string
	}{
		{"nothing there", 404, "", true, "", "the backend refused the message with HTTP status 404"},
		{"an error without id", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"x"}}`, true,
			`{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"x"}}`, ""},
		{"an error with the id", 400, `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"x"}}`, false,
			`{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"x"}}`, ""},
		{"no credentials", 401, "", false, "", "the backend refuses our credentials (HTTP status 401)"},
		{"out of order", 503, "", false, "", "the backend refused the message with HTTP status 503"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := newAuto(t)
				at.dial()
				done := at.send(hello)
				at.web.want("initialize", "POST").answer(tt.status, "application/json", tt.body)
				if tt.sse {
					at.web.want("the stream", "GET").answer(http.StatusMethodNotAllowed, "", "")
				}
				err := <-done
				if tt.told != "" {
					wantTold(t, err, wire.ReasonBackendDown, tt.told)
				} else if err != nil {
					t.Error(err)
				} else {
					at.recorder.want("the response", "0", tt.received)
				}
				if at.dialer.old.Load() {
					t.Error("HTTP+SSE is remembered")
				}
				at.Close()
				if err := at.Err(); !errors.Is(err, ErrClosed) {
					t.Errorf("after Close: %v", err)
				}
			})
		})
	}
}
