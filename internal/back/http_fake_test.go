package back

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// web is an HTTP backend in memory that the test plays: each request waits until
// the test answers it. It works in a synctest bubble.
type web struct {
	t    *testing.T
	asks chan *ask
}

// ask is one HTTP request on its way.
type ask struct {
	*http.Request
	body  string
	reply chan *http.Response
}

func newWeb(t *testing.T) *web { return &web{t, make(chan *ask)} }

func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	a := &ask{Request: req, reply: make(chan *http.Response, 1)}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body.Close()
		a.body = string(body)
	}
	select {
	case w.asks <- a:
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
	select {
	case resp := <-a.reply:
		if resp == nil {
			return nil, errors.New("connection reset by peer")
		}
		resp.Request = req
		return resp, nil
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
}

// want takes the next request, which must have the method and, for the headers
// given as name and value, these values; "" means none.
func (w *web) want(why, method string, headers ...string) *ask {
	w.t.Helper()
	// Longer than any pause, in the fake time of a bubble.
	limit := time.NewTimer(time.Hour)
	defer limit.Stop()
	select {
	case a := <-w.asks:
		if a.Method != method {
			w.t.Fatalf("%s: %s %s, want %s", why, a.Method, a.body, method)
		}
		for i := 0; i < len(headers); i += 2 {
			if got := a.Header.Get(headers[i]); got != headers[i+1] {
				w.t.Fatalf("%s: header %s is %q, want %q", why, headers[i], got, headers[i+1])
			}
		}
		return a
	case <-limit.C:
		w.t.Fatalf("%s: no %s came", why, method)
	}
	panic("unreachable")
}

// wantIdle checks that no request comes for d.
func (w *web) wantIdle(why string, d time.Duration) {
	w.t.Helper()
	select {
	case a := <-w.asks:
		w.t.Fatalf("%s: %s %s came", why, a.Method, a.body)
	case <-time.After(d):
	}
}

// answer answers a with a whole body; headers as for want.
func (a *ask) answer(status int, contentType, body string, headers ...string) {
	a.reply <- response(status, io.NopCloser(strings.NewReader(body)), append(headers, "Content-Type", contentType)...)
}

// reset breaks the connection instead of answering.
func (a *ask) reset() { a.reply <- nil }

// stream answers a with an event stream that the test writes.
func (a *ask) stream(headers ...string) *eventWriter {
	r, w := io.Pipe()
	stop := context.AfterFunc(a.Context(), func() { w.CloseWithError(context.Cause(a.Context())) })
	a.reply <- response(http.StatusOK, r, append(headers, "Content-Type", "text/event-stream; charset=utf-8")...)
	return &eventWriter{w, a, stop}
}

func response(status int, body io.ReadCloser, headers ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Body: body, Header: make(http.Header), ContentLength: -1}
	for i := 0; i < len(headers); i += 2 {
		resp.Header.Set(headers[i], headers[i+1])
	}
	return resp
}

type eventWriter struct {
	pipe *io.PipeWriter
	ask  *ask
	stop func() bool
}

// write writes raw bytes of the stream.
func (w *eventWriter) write(text string) { io.WriteString(w.pipe, text) }

// message writes one message.
func (w *eventWriter) message(raw string) { w.write("data: " + raw + "\n\n") }

// end ends the stream; nil is an end in order.
func (w *eventWriter) end(err error) {
	w.stop()
	w.pipe.CloseWithError(err)
}

// wantAbandoned waits until the gateway has given up the stream.
func (w *eventWriter) wantAbandoned(t *testing.T) {
	t.Helper()
	select {
	case <-w.ask.Context().Done():
	case <-time.After(time.Hour):
		t.Fatal("the stream is still open")
	}
}

const testURL = "https://backend.test/mcp?key=secret-in-url"

// httpTest is a connection to a [web].
type httpTest struct {
	*web
	*recorder
	Conn
	t *testing.T
}

func dialHTTP(t *testing.T, change func(*HTTPOptions)) *httpTest {
	t.Helper()
	o := HTTPOptions{URL: testURL, Header: http.Header{"Authorization": {"Bearer secret"}}}
	if change != nil {
		change(&o)
	}
	d, err := NewHTTP(slog.New(slog.DiscardHandler), o)
	if err != nil {
		t.Fatal(err)
	}
	ht := &httpTest{web: newWeb(t), recorder: record(t), t: t}
	d.site.http.Transport = ht.web
	if ht.Conn, err = d.Dial(t.Context(), ht.recorder); err != nil {
		t.Fatal(err)
	}
	return ht
}

// send sends raw beside the test, and returns where the end of Send shows.
func (ht *httpTest) send(raw string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- ht.Send(ht.t.Context(), parse(raw)) }()
	return done
}

const (
	hello       = `{"jsonrpc":"2.0","id":0,"method":"initialize"}`
	helloAnswer = `{"jsonrpc":"2.0","id":0,"result":{}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	callOne     = `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`
	oneAnswer   = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
)

// open plays the handshake: a session and a revision, but no GET stream.
func (ht *httpTest) open() {
	ht.t.Helper()
	ht.handshake()
	done := ht.send(initialized)
	ht.web.want("initialized", "POST").answer(http.StatusAccepted, "", "")
	ht.wantSent("initialized", done)
	ht.web.want("the GET stream", "GET").answer(http.StatusMethodNotAllowed, "", "")
}

// handshake plays initialize.
func (ht *httpTest) handshake() {
	ht.t.Helper()
	done := ht.send(hello)
	ht.web.want("initialize", "POST", sessionHeader, "", revisionHeader, "").
		answer(http.StatusOK, "application/json", helloAnswer, sessionHeader, "s1")
	ht.wantSent("initialize", done)
	ht.recorder.want("the answer to initialize", "0", helloAnswer)
	ht.Negotiated(wire.R20251125)
}

// wantSent waits for the end of a Send, which must have succeeded.
func (ht *httpTest) wantSent(why string, done <-chan error) {
	ht.t.Helper()
	if err := <-done; err != nil {
		ht.t.Fatalf("%s: %v", why, err)
	}
}

// close closes the connection and plays the end of the session.
func (ht *httpTest) close() {
	ht.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		ht.Close()
	}()
	ht.web.want("the end of the session", "DELETE", sessionHeader, "s1", revisionHeader, "2025-11-25").
		answer(http.StatusMethodNotAllowed, "", "")
	<-done
	if err := ht.Err(); !errors.Is(err, ErrClosed) {
		ht.t.Errorf("after Close: %v", err)
	}
}

// wantNoSecret checks that err, for whomever it is, names no secret.
func wantNoSecret(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells a secret: %v", err)
	}
}
