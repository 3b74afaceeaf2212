package back

import (
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Whoever owns a dialer closes it as such.
var _, _, _ io.Closer = (*HTTP)(nil), (*SSE)(nil), (*Auto)(nil)

// serve starts a server on loopback that counts its network connections.
func serve(t *testing.T, h http.HandlerFunc) (url string, conns *atomic.Int64) {
	t.Helper()
	conns = new(atomic.Int64)
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, conns
}

// connectTo dials url over a real network.
func connectTo(t *testing.T, url string) *httpTest {
	t.Helper()
	d, err := NewHTTP(slog.New(slog.DiscardHandler), HTTPOptions{URL: url, Header: http.Header{"Authorization": {"Bearer secret"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	ht := &httpTest{recorder: record(t), t: t}
	if ht.Conn, err = d.Dial(t.Context(), ht.recorder); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ht.Conn.Close)
	return ht
}

// Calls in a row share one network connection, whichever way they are answered.
func TestNetworkConnectionIsReused(t *testing.T) {
	url, conns := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), `"stream"`):
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", oneAnswer)
		case strings.Contains(string(body), `"id"`):
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, oneAnswer)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	ht := connectTo(t, url)
	for _, raw := range []string{callOne, `{"jsonrpc":"2.0","method":"x"}`, `{"jsonrpc":"2.0","id":1,"method":"stream"}`} {
		for range 5 {
			m := parse(raw)
			if err := ht.Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			if m.Kind() == wire.Request {
				ht.recorder.want("the response", "1", oneAnswer)
			}
		}
	}
	// A call may begin before the end of the stream before it was read.
	if n := conns.Load(); n > 3 {
		t.Errorf("15 messages took %d network connections", n)
	}
}

func TestCompressedAnswers(t *testing.T) {
	for _, contentType := range []string{"application/json", "text/event-stream"} {
		url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("Accept-Encoding: %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			if contentType == "text/event-stream" {
				fmt.Fprintf(z, "data: %s\n\n", oneAnswer)
			} else {
				io.WriteString(z, oneAnswer)
			}
		})
		ht := connectTo(t, url)
		if err := ht.Send(t.Context(), parse(callOne)); err != nil {
			t.Fatal(err)
		}
		ht.recorder.want("the response", "1", oneAnswer)
	}
}

// Headers travel to one origin only, and a message is not lost on the way.
func TestRedirects(t *testing.T) {
	var stolen atomic.Int64
	evil, _ := serve(t, func(http.ResponseWriter, *http.Request) { stolen.Add(1) })
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
		case "/found":
			http.Redirect(w, r, "/mcp", http.StatusFound)
		case "/away":
			http.Redirect(w, r, evil+"/mcp?key=secret", http.StatusPermanentRedirect)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusTemporaryRedirect)
		case "/mcp":
			if body, _ := io.ReadAll(r.Body); string(body) != callOne || r.Header.Get("Authorization") != "Bearer secret" {
				t.Errorf("%s %s arrived, credentials %q", r.Method, body, r.Header.Get("Authorization"))
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, oneAnswer)
		}
	})
	tests := []struct{ path, told string }{
		{"/moved", ""},
		{"/found", "the backend answers with a redirect that loses the message"},
		{"/away", "the backend redirects to another origin, which is not followed"},
		{"/round", "the backend redirects for ever"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			ht := connectTo(t, url+tt.path)
			err := ht.Send(t.Context(), parse(callOne))
			wantNoSecret(t, err)
			if tt.told != "" {
				wantTold(t, err, wire.ReasonBackendDown, tt.told)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			ht.recorder.want("the response", "1", oneAnswer)
		})
	}
	if n := stolen.Load(); n != 0 {
		t.Errorf("%d requests went to another origin", n)
	}
}

// A backend that was not reached is told apart from one that broke off: only the
// latter may have done something.
func TestUnreached(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String() + "/?key=secret"
	l.Close()
	plain, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
	breaks, _ := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	strange := httptest.NewUnstartedServer(http.NotFoundHandler())
	strange.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	strange.StartTLS()
	defer strange.Close()
	tests := []struct {
		name, url string
		reason    wire.Reason
		told      string
	}{
		{"nobody listens", nobody, wire.ReasonBackendDown, "the backend cannot be reached"},
		{"no TLS there", strings.Replace(plain, "http:", "https:", 1), wire.ReasonBackendDown, "the backend cannot be reached"},
		{"unknown certificate", strange.URL, wire.ReasonBackendDown, "the backend cannot be reached"},
		{"breaks off", breaks, wire.ReasonBackendGone, "the connection to the backend broke before it answered"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ht := connectTo(t, tt.url)
			err := ht.Send(t.Context(), parse(callOne))
			wantTold(t, err, tt.reason, tt.told)
			wantNoSecret(t, err)
		})
	}
}

func TestURLs(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	dialers := map[string]func(HTTPOptions) error{
		"http": func(o HTTPOptions) error { _, err := NewHTTP(log, o); return err },
		"sse":  func(o HTTPOptions) error { _, err := NewSSE(log, o); return err },
		"auto": func(o HTTPOptions) error { _, err := NewAuto(log, o); return err },
	}
	for name, make := range dialers {
		for _, url := range []string{"", "backend.test/secret", "ftp://backend.test/secret", "http:///secret", "http://b:x/secret", "http://secret\x7f"} {
			err := make(HTTPOptions{URL: url})
			if err == nil {
				t.Errorf("%s: %q was taken", name, url)
			}
			wantNoSecret(t, err)
		}
		for _, url := range []string{"http://127.0.0.1:1/mcp", "https://user:pw@backend.test"} {
			if err := make(HTTPOptions{URL: url}); err != nil {
				t.Errorf("%s: %q: %v", name, url, err)
			}
		}
	}
}
