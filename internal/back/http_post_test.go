package back

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// "The client MUST include an Accept header, listing both application/json and
// text/event-stream as supported content types." "If an MCP-Session-Id is returned
// by the server during initialization, clients […] MUST include it in the
// MCP-Session-Id header on all of their subsequent HTTP requests." "The client MUST
// include the MCP-Protocol-Version […] header on all subsequent requests."
func TestHTTPSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		if !ht.Attributes() {
			t.Error("streamable HTTP does not tell which request a message belongs to")
		}
		ht.handshake()
		done := ht.send(initialized)
		ht.web.want("initialized", "POST", sessionHeader, "s1", revisionHeader, "2025-11-25").answer(http.StatusAccepted, "", "")
		ht.wantSent("initialized", done)
		ht.web.want("the GET stream", "GET", sessionHeader, "s1", revisionHeader, "2025-11-25",
			"Accept", "text/event-stream", "Authorization", "Bearer secret", eventHeader, "").
			answer(http.StatusMethodNotAllowed, "", "")

		done = ht.send(callOne)
		ask := ht.web.want("a call", "POST", sessionHeader, "s1", revisionHeader, "2025-11-25",
			"Accept", "application/json, text/event-stream", "Content-Type", "application/json", "Authorization", "Bearer secret")
		if ask.body != callOne {
			t.Errorf("posted %s, want %s", ask.body, callOne)
		}
		ask.answer(http.StatusOK, "application/json; charset=utf-8", oneAnswer)
		ht.wantSent("a call", done)
		ht.recorder.want("the response", "1", oneAnswer)

		// Answers to what the backend asked, in whatever way it takes them.
		for _, status := range []int{http.StatusAccepted, http.StatusOK, http.StatusNoContent} {
			done = ht.send(`{"jsonrpc":"2.0","id":"q","result":{}}`)
			ht.web.want("a response of ours", "POST").answer(status, "", "")
			ht.wantSent("a response of ours", done)
		}
		ht.close()
		ht.Close() // again; it says no second goodbye
		if err := ht.Send(t.Context(), parse(callOne)); !errors.Is(err, ErrClosed) {
			t.Errorf("Send after Close: %v", err)
		}
		ht.wantQuiet("nothing else")
	})
}

// A backend without session is not told that one ends.
func TestHTTPWithoutSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		done := ht.send(hello)
		ht.web.want("initialize", "POST").answer(http.StatusOK, "application/json", helloAnswer)
		ht.wantSent("initialize", done)
		done = ht.send(callOne)
		ht.web.want("a call", "POST", sessionHeader, "").answer(http.StatusNotFound, "text/plain", "no such page")
		err := <-done
		wantTold(t, err, wire.ReasonBackendDown, "the backend refused the message with HTTP status 404")
		if errors.Is(err, ErrSessionLost) {
			t.Error("a session is lost that never was")
		}
		ht.Close()
	})
}

func TestHTTPInvalidSessionID(t *testing.T) {
	for _, id := range []string{"two words", "\u00e4", "a\tb"} {
		synctest.Test(t, func(t *testing.T) {
			ht := dialHTTP(t, nil)
			done := ht.send(hello)
			ht.web.want("initialize", "POST").answer(http.StatusOK, "application/json", helloAnswer, sessionHeader, id)
			wantTold(t, <-done, wire.ReasonBackendGone, "the backend assigns an invalid session id")
			ht.Close()
		})
	}
}

func TestHTTPStatus(t *testing.T) {
	const null = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no","data":{"b":1.50,"a":[]}}}`
	tests := []struct {
		name, send  string
		status      int
		contentType string
		body        string
		received    string // the response that the client gets
		told        string // or what it is told
	}{
		{name: "error with id", status: 400, body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad"}}`,
			received: `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad"}}`},
		{name: "error with null id", status: 400, body: null,
			received: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":{"b":1.50,"a":[]}}}`},
		{name: "an error about a session", status: 400, body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no session ID"}}`,
			received: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no session ID"}}`},
		{name: "error without id", status: 500, body: `{ "error":{"code":-1,"message":"x"}, "jsonrpc":"2.0" }`,
			received: `{ "error":{"code":-1,"message":"x"}, "jsonrpc":"2.0","id":1 }`},
		{name: "error of another request", status: 400, body: `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x"}}`,
			told: "the backend refused the message with HTTP status 400"},
		{name: "a result is no error", status: 500, body: oneAnswer, told: "the backend refused the message with HTTP status 500"},
		{name: "text", status: 503, body: "secret", told: "the backend refused the message with HTTP status 503"},
		{name: "no credentials", status: 401, body: null, told: "the backend refuses our credentials (HTTP status 401)"},
		{name: "other credentials", status: 403, body: "secret", told: "the backend refuses our credentials (HTTP status 403)"},
		{name: "notification", send: `{"jsonrpc":"2.0","method":"x"}`, status: 400, body: null,
			told: "the backend refused the message with HTTP status 400"},
		{name: "accepted, but not answered", status: 202, told: "the backend's answer is neither JSON nor an event stream"},
		{name: "a page", status: 200, contentType: "text/html", body: "<p>secret", told: "the backend's answer is neither JSON nor an event stream"},
		{name: "no JSON", status: 200, contentType: "application/json", body: `{"secret`, told: "the backend's answer is no message"},
		{name: "trailing data", status: 200, contentType: "application/json", body: oneAnswer + "{}", told: "the backend's answer is no message"},
		{name: "two kinds at once", status: 200, contentType: "application/json",
			body: `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, told: "the backend's answer is no message"},
		{name: "null id in order", status: 200, contentType: "application/json", body: null,
			received: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":{"b":1.50,"a":[]}}}`},
		{name: "too long", status: 200, contentType: "application/json", body: `"` + strings.Repeat("x", 1000) + `"`,
			told: "the backend's answer is too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ht := dialHTTP(t, func(o *HTTPOptions) { o.MaxMessage = 1000 })
				ht.open()
				if tt.send == "" {
					tt.send = callOne
				}
				done := ht.send(tt.send)
				ht.web.want("the message", "POST").answer(tt.status, tt.contentType, tt.body)
				err := <-done
				wantNoSecret(t, err)
				if tt.told != "" {
					reason := wire.ReasonBackendGone
					if tt.status >= 400 {
						reason = wire.ReasonBackendDown
					}
					wantTold(t, err, reason, tt.told)
				} else if err != nil {
					t.Error(err)
				} else {
					ht.recorder.want("the response", "1", tt.received)
				}

				// Whatever happened, the connection is alive.
				done = ht.send(callOne)
				ht.web.want("another call", "POST").answer(http.StatusOK, "application/json", oneAnswer)
				ht.wantSent("another call", done)
				ht.recorder.want("its response", "1", oneAnswer)
				ht.close()
			})
		})
	}
}

// The response to another request does not end this one.
func TestHTTPAnswerOfAnother(t *testing.T) { // D1
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		ht.open()
		done := ht.send(callOne)
		other := `{"jsonrpc":"2.0","id":2,"result":{}}`
		ht.web.want("a call", "POST").answer(http.StatusOK, "application/json", other)
		wantTold(t, <-done, wire.ReasonBackendGone, "the backend's answer does not belong to the request")
		ht.recorder.want("for the session to judge", "1", other)
		ht.close()
	})
}

// "When a client receives HTTP 404 in response to a request containing an
// MCP-Session-Id, it MUST start a new session."
func TestHTTPSessionLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		ht.open()
		for _, tt := range []struct {
			raw    string
			status int
			body   string
		}{
			{callOne, http.StatusNotFound, ""},
			{callOne, http.StatusNotFound, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`},
			{`{"jsonrpc":"2.0","method":"x"}`, http.StatusNotFound, ""},
			{callOne, http.StatusBadRequest, // server-everything 2026.8.31
				`{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`},
		} {
			done := ht.send(tt.raw)
			ht.web.want("a message", "POST", sessionHeader, "s1").answer(tt.status, "application/json", tt.body)
			err := <-done
			if !errors.Is(err, ErrSessionLost) {
				t.Errorf("%v, want the session to be lost", err)
			}
			wantTold(t, err, wire.ReasonBackendGone, "the backend has lost the session")
		}
		ht.Close() // without DELETE, which nobody would answer
		ht.wantQuiet("nothing is received")
	})
}

func TestHTTPUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		ht.open()
		done := ht.send(callOne)
		ht.web.want("a call", "POST").reset()
		err := <-done
		wantTold(t, err, wire.ReasonBackendGone, "the connection to the backend broke before it answered")
		wantNoSecret(t, err)
		if err := ht.Err(); err != nil {
			t.Errorf("an unreachable backend ended the connection: %v", err)
		}
		ht.close()
	})
}

// A context that ends abandons the request, before or after the answer began.
func TestHTTPAbandon(t *testing.T) {
	reason := errors.New("the client gave up")
	for _, begun := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ht := dialHTTP(t, nil)
			ht.open()
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error)
			go func() { done <- ht.Send(ctx, parse(callOne)) }()
			ask := ht.web.want("a call", "POST")
			if begun {
				ask.stream().write("id: 1\ndata:\n\n")
				synctest.Wait()
			}
			cancel(reason)
			if err := <-done; !errors.Is(err, reason) {
				t.Errorf("Send: %v, want the cause of its context", err)
			}
			<-ask.Context().Done()
			ht.web.wantIdle("the backend is not told", time.Minute)
			ht.close()
		})
	}
}

// Close ends what is under way, and does not wait for a backend that hangs.
func TestHTTPCloseBesideSend(t *testing.T) { // R78
	synctest.Test(t, func(t *testing.T) {
		ht := dialHTTP(t, nil)
		ht.open()
		waiting := ht.send(callOne)
		ht.web.want("a call", "POST")
		streaming := ht.send(callOne)
		events := ht.web.want("another call", "POST").stream()
		events.message(`{"jsonrpc":"2.0","method":"x"}`)
		ht.recorder.want("a notification", "1", `{"jsonrpc":"2.0","method":"x"}`)
		began, done := time.Now(), make(chan struct{})
		for range 2 {
			go func() {
				ht.Close()
				done <- struct{}{}
			}()
		}
		for _, sent := range []<-chan error{waiting, streaming} {
			if err := <-sent; !errors.Is(err, ErrClosed) {
				t.Errorf("Send beside Close: %v", err)
			}
		}
		ht.web.want("the goodbye, which hangs", "DELETE")
		<-done
		<-done
		if took := time.Since(began); took != deleteTimeout {
			t.Errorf("Close took %v, want %v", took, deleteTimeout)
		}
		events.wantAbandoned(t)
	})
}
