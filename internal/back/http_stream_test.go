package back

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const (
	note     = `{"jsonrpc":"2.0","method":"notifications/message","params":{"n":1.50}}`
	question = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}`
)

// What comes on the stream of a call is told to belong to it.
func TestStreamBelongsToItsCall(t *testing.T) { // D6
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		ht.open()
		one := ht.send(callOne)
		first := ht.web.want("a call", "POST").stream()
		two := ht.send(`{"jsonrpc":"2.0","id":"1","method":"tools/call"}`)
		second := ht.web.want("another call", "POST").stream()

		second.message(question)
		ht.recorder.want("a question of the second call", `"1"`, question)
		first.message(question)
		ht.recorder.want("a question of the first call", "1", question)
		first.message(note)
		ht.recorder.want("a notification of the first call", "1", note)

		second.message(`{"jsonrpc":"2.0","id":"1","result":{}}`)
		ht.recorder.want("the second response", `"1"`, `{"jsonrpc":"2.0","id":"1","result":{}}`)
		ht.wantSent("the second call ends first", two)
		first.message(oneAnswer)
		ht.recorder.want("the first response", "1", oneAnswer)
		ht.wantSent("the first call", one)
		second.end(nil)
		first.end(nil)
		ht.close()
	})
}

// Send does not wait for the end of a stream that has brought the response. The
// rest is read, for a moment.
func TestStreamGoesOnBehindTheResponse(t *testing.T) {
	for _, ends := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ht := dialHTTP(t, nil)
			ht.open()
			done := ht.send(callOne)
			events := ht.web.want("a call", "POST").stream()
			began := time.Now()
			events.message(oneAnswer)
			ht.wantSent("the call", done)
			ht.recorder.want("the response", "1", oneAnswer)
			events.message(oneAnswer)
			ht.recorder.want("a second response is for the session to judge", "1", oneAnswer) // D1
			want := tail
			if ends {
				events.end(nil)
				want = 0
			}
			events.wantAbandoned(t)
			if took := time.Since(began); took != want {
				t.Errorf("the stream was given up after %v, want %v", took, want)
			}
			ht.close()
		})
	}
}

func TestStreamWithoutResponse(t *testing.T) {
	const broke, ended = "the connection to the backend broke before the response", "the backend ended its answer without the response"
	tests := []struct {
		name, text string
		end        error
		told       string
	}{
		{"nothing", "", nil, ended},
		{"only comments", ": ping\n\n", nil, ended},
		{"broken", "data: {", errors.New("connection reset by peer"), broke},
		{"cut off", "data: " + oneAnswer, nil, ended},
		{"another kind of event", "event: ping\ndata: " + oneAnswer + "\n\n", nil, ended},
		{"the response of another call", "data: {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\n\n", nil, ended},
		{"no message", "data: {}\n\n", nil, ended},
		{"too long", "id: 7\ndata: " + strings.Repeat("x", 3000) + "\n\n", nil, "the backend's answer is too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ht := dialHTTP(t, func(o *HTTPOptions) { o.MaxMessage = 1000 })
				ht.open()
				done := ht.send(callOne)
				events := ht.web.want("a call", "POST").stream()
				events.write(tt.text)
				events.end(tt.end)
				wantTold(t, <-done, wire.ReasonBackendGone, tt.told)
				ht.close()
			})
		})
	}
}

// An error without id on the stream of a call can only mean that call.
func TestStreamErrorWithoutID(t *testing.T) {
	for _, raw := range []string{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x","data":{"z":1,"a":2}}}`,
		`{"jsonrpc":"2.0","error":{"code":-32603,"message":"x","data":{"z":1,"a":2}},"id":null}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			ht := dialHTTP(t, nil)
			ht.open()
			done := ht.send(callOne)
			events := ht.web.want("a call", "POST").stream()
			events.message(raw)
			ht.wantSent("the call has ended", done)
			ht.recorder.want("the error", "1", strings.Replace(raw, "null", "1", 1))
			events.end(nil)
			ht.close()
		})
	}
}

// What is no message is skipped; the stream goes on.
func TestStreamNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, func(o *HTTPOptions) { o.MaxMessage = 1000 })
		ht.open()
		done := ht.send(callOne)
		events := ht.web.want("a call", "POST").stream()
		events.message("hello")
		ht.wantParseError("no JSON")
		events.message(`{"jsonrpc":"2.0","id":1,"id":1,"result":{}}`)
		ht.wantParseError("duplicate id")
		events.message(strings.Repeat("x", 3000))
		ht.wantNoise("an event that is too long", wire.ErrTooLong)
		events.write("data: {\"jsonrpc\":\"2.0\",\r\ndata:\"id\":1,\rdata: \"result\":{}}\n\r\n")
		ht.recorder.want("a response over several lines", "1", "{\"jsonrpc\":\"2.0\",\n\"id\":1,\n\"result\":{}}")
		ht.wantSent("the call", done)
		events.end(nil)
		ht.close()
	})
}

// "The client MUST respect the retry field, waiting the given number of
// milliseconds before attempting to reconnect." "If the client wishes to resume
// after a disconnection […], it SHOULD issue an HTTP GET to the MCP endpoint, and
// include the Last-Event-ID header."
func TestStreamIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		ht.open()
		done := ht.send(callOne)
		events := ht.web.want("a call", "POST").stream()
		events.write("id: a\ndata:\n\n")
		events.message(note)
		ht.recorder.want("before the break", "1", note)

		// It breaks; the pause is ours.
		at := time.Now()
		events.end(errors.New("connection reset by peer"))
		events = ht.web.want("resumption", "GET", eventHeader, "a", sessionHeader, "s1", revisionHeader, "2025-11-25",
			"Accept", "text/event-stream", "Authorization", "Bearer secret").stream()
		if pause := time.Since(at); pause != defaultRetry {
			t.Errorf("resumed after %v, want %v", pause, defaultRetry)
		}

		// The backend wants to be polled; the pause is its own.
		for _, id := range []string{"b", "c", "d"} {
			events.write("id: " + id + "\nretry: 3500\ndata:\n\n")
			at = time.Now()
			events.end(nil)
			events = ht.web.want("poll", "GET", eventHeader, id).stream()
			if pause := time.Since(at); pause != 3500*time.Millisecond {
				t.Errorf("polled after %v, want 3.5 s", pause)
			}
		}
		events.message(question)
		ht.recorder.want("a question behind the break", "1", question)
		events.message(oneAnswer)
		ht.recorder.want("the response", "1", oneAnswer)
		ht.wantSent("the call", done)
		events.end(nil)
		ht.close()
	})
}

// A resumption that brings nothing is repeated with growing pauses, and in the
// end given up.
func TestStreamResumptionFails(t *testing.T) {
	fail := map[string]func(*ask){
		"no connection":    func(a *ask) { a.reset() },
		"server error":     func(a *ask) { a.answer(http.StatusBadGateway, "text/html", "secret") },
		"conflict":         func(a *ask) { a.answer(http.StatusConflict, "", "") },
		"ends at once":     func(a *ask) { a.stream().end(nil) },
		"breaks off":       func(a *ask) { a.stream().end(io.ErrUnexpectedEOF) },
		"comments at most": func(a *ask) { e := a.stream(); e.write(": ok\n\n"); e.end(nil) },
	}
	for name, f := range fail {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ht := dialHTTP(t, func(o *HTTPOptions) { o.ResumeAttempts = 7 })
				ht.open()
				done := ht.send(callOne)
				events := ht.web.want("a call", "POST").stream()
				events.write("id: a\ndata:\n\n")
				events.end(nil)
				for i, least := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
					at := time.Now()
					f(ht.web.want("resumption", "GET", eventHeader, "a"))
					least *= time.Second
					// The pause was over before the first; ask came in it.
					if pause := time.Since(at); i > 0 && (pause < least || pause > least*5/4) {
						t.Errorf("pause %d took %v, want %v to %v", i, pause, least, least*5/4)
					}
				}
				wantTold(t, <-done, wire.ReasonBackendGone, "the backend broke off its answer and does not go on with it")
				ht.close()
			})
		})
	}
}

// A connection that is held open for long and then cut, by an intermediary for
// instance, is no failure: a person may think for an hour.
func TestStreamHeldOpenIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, func(o *HTTPOptions) { o.ResumeAttempts = 2 })
		ht.open()
		done := ht.send(callOne)
		events := ht.web.want("a call", "POST").stream()
		events.write("id: a\ndata:\n\n")
		events.end(nil)
		for range 60 {
			events = ht.web.want("resumption", "GET", eventHeader, "a").stream()
			time.Sleep(time.Minute)
			events.end(io.ErrUnexpectedEOF)
		}
		events = ht.web.want("resumption", "GET").stream()
		events.message(oneAnswer)
		ht.wantSent("the call", done)
		ht.recorder.want("the response", "1", oneAnswer)
		events.end(nil)
		ht.close()
	})
}

// What a backend refuses for good is not asked again. A lost session is not
// reported as one: the call was processed, and must not be repeated.
func TestStreamResumptionRefused(t *testing.T) {
	tests := []struct {
		status      int
		contentType string
		told        string
	}{
		{http.StatusNotFound, "", "the backend lost the session during the call"},
		{http.StatusMethodNotAllowed, "", "the backend does not go on with its answer"},
		{http.StatusBadRequest, "text/plain", "the backend does not go on with its answer"},
		{http.StatusUnauthorized, "", "the backend does not go on with its answer"},
		{http.StatusOK, "text/html", "the backend does not go on with its answer"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			ht := dialHTTP(t, nil)
			ht.open()
			done := ht.send(callOne)
			events := ht.web.want("a call", "POST").stream()
			events.write("id: a\ndata:\n\n")
			events.end(nil)
			ht.web.want("resumption", "GET").answer(tt.status, tt.contentType, "")
			err := <-done
			wantTold(t, err, wire.ReasonBackendGone, tt.told)
			if errors.Is(err, ErrSessionLost) { // never run a tool twice
				t.Errorf("status %d: the call would be repeated: %v", tt.status, err)
			}
			ht.web.wantIdle("no further attempt", time.Hour)
			if tt.status == http.StatusNotFound {
				ht.Close()
				return
			}
			ht.close()
		})
	}
}

func TestStreamIsNotResumedWhenSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, func(o *HTTPOptions) { o.ResumeAttempts = -1 })
		ht.open()
		done := ht.send(callOne)
		events := ht.web.want("a call", "POST").stream()
		events.write("id: a\ndata:\n\n")
		events.end(nil)
		wantTold(t, <-done, wire.ReasonBackendGone, "the backend ended its answer without the response")
		ht.close()
	})
}

// Close ends a call that waits to be resumed.
func TestStreamCloseInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		ht.open()
		done := ht.send(callOne)
		events := ht.web.want("a call", "POST").stream()
		events.write("id: a\nretry: 3600000\ndata:\n\n")
		events.end(nil)
		synctest.Wait()
		ht.close()
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("Send beside Close: %v", err)
		}
	})
}

// "JSON-RPC batch […] These responses MAY be batched." (2025-03-26)
func TestStreamBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		ht.open()
		ht.Negotiated(wire.R20250326)
		done := ht.send(callOne)
		events := ht.web.want("a call", "POST", revisionHeader, "2025-03-26").stream()
		events.message("[" + note + "," + oneAnswer + "]")
		ht.recorder.want("a notification in the batch", "1", note)
		ht.recorder.want("the response in the batch", "1", oneAnswer)
		ht.wantSent("the call", done)
		events.end(nil)
		ht.Negotiated(wire.R20251125)
		ht.close()
	})
}
