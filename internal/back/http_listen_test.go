package back

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// listening plays the handshake up to the first GET.
func listening(t *testing.T) (*httpTest, *ask) {
	t.Helper()
	ht := dialHTTP(t, nil)
	ht.handshake()
	done := ht.send(initialized)
	ht.web.want("initialized", "POST").answer(http.StatusAccepted, "", "")
	ht.wantSent("initialized", done)
	return ht, ht.web.want("the GET stream", "GET", eventHeader, "")
}

// What comes on the GET stream belongs to no call.
func TestListenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht, ask := listening(t)
		events := ask.stream()
		events.message(question)
		ht.recorder.want("a question outside of calls", "", question)
		events.message(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`)
		ht.recorder.want("an error that answers nothing", "", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`)

		// A second initialized opens no second stream.
		done := ht.send(initialized)
		ht.web.want("initialized again", "POST").answer(http.StatusAccepted, "", "")
		ht.wantSent("initialized again", done)
		ht.web.wantIdle("one stream is enough", time.Hour)
		ht.close()
		events.wantAbandoned(t)
		ht.wantQuiet("nothing else")
	})
}

// "The server MAY close the SSE stream at any time." That it is away for long ends
// nothing, and it goes on where it was.
func TestListenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht, ask := listening(t)
		events := ask.stream()
		events.write("id: a\nretry: 2000\ndata: " + note + "\n\n")
		ht.recorder.want("a notification", "", note)
		at := time.Now()
		events.end(nil)
		ask = ht.web.want("reconnection", "GET", eventHeader, "a", sessionHeader, "s1", revisionHeader, "2025-11-25")
		if pause := time.Since(at); pause != 2*time.Second {
			t.Errorf("reconnected after %v, want 2 s", pause)
		}
		at = time.Now()
		for range 20 {
			ask.reset()
			ask = ht.web.want("reconnection", "GET", eventHeader, "a")
		}
		if took := time.Since(at); took < 15*maxRetry || took > 25*maxRetry {
			t.Errorf("20 reconnections in %v, want pauses that grow to %v", took, maxRetry)
		}
		if err := ht.Err(); err != nil {
			t.Errorf("the connection ended with the GET stream: %v", err)
		}
		events = ask.stream()
		events.message(note)
		ht.recorder.want("a notification on the new stream", "", note)
		ht.close()
	})
}

func TestListenRefused(t *testing.T) {
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusNotFound, http.StatusForbidden, http.StatusBadRequest} {
		synctest.Test(t, func(t *testing.T) {
			ht, ask := listening(t)
			ask.answer(status, "text/plain", "")
			ht.web.wantIdle("the backend has no stream", 24*time.Hour)
			if err := ht.Err(); err != nil {
				t.Errorf("the connection ended with the GET stream: %v", err)
			}
			if status == http.StatusNotFound {
				ht.Close() // the session is gone
				return
			}
			ht.close()
		})
	}
}

// A backend that cannot go on behind an event may begin anew.
func TestListenForgetsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ht, ask := listening(t)
		events := ask.stream()
		events.write("id: a\ndata:\n\n")
		events.end(nil)
		ht.web.want("reconnection", "GET", eventHeader, "a").answer(http.StatusBadRequest, "text/plain", "stream replay unsupported")
		events = ht.web.want("reconnection from now on", "GET", eventHeader, "").stream()
		events.message(note)
		ht.recorder.want("a notification", "", note)
		ht.close()
	})
}

func TestListenCloseInPause(t *testing.T) { // R78
	synctest.Test(t, func(t *testing.T) {
		ht, ask := listening(t)
		ask.reset()
		synctest.Wait()
		ht.close()
		if err := ht.Err(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
