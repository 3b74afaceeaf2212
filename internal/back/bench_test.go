package back

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// BenchmarkSend is a call over loopback, beside the same exchange by a bare
// http.Client; the server's part is in both.
func BenchmarkSend(b *testing.B) {
	stream := []byte("data: " + oneAnswer + "\n\n")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Write(stream)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, oneAnswer)
	}))
	defer s.Close()
	for _, path := range []string{"/json", "/stream"} {
		b.Run("conn"+path, func(b *testing.B) {
			d, err := NewHTTP(slog.New(slog.DiscardHandler), HTTPOptions{URL: s.URL + path})
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			conn, err := d.Dial(b.Context(), deaf{})
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			m := parse(callOne)
			b.ReportAllocs()
			for b.Loop() {
				if err := conn.Send(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("bare"+path, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			b.ReportAllocs()
			for b.Loop() {
				resp, err := client.Post(s.URL+path, "application/json", bytes.NewReader([]byte(callOne)))
				if err != nil {
					b.Fatal(err)
				}
				io.ReadAll(resp.Body)
				resp.Body.Close()
			}
		})
	}
}

// deaf is a Receiver that does nothing.
type deaf struct{}

func (deaf) Receive(wire.Message, wire.ID) {}
func (deaf) Noise(error)                   {}

// prompt is a Dialer and a Conn that answers each request at once.
type prompt struct{ receiver Receiver }

func (p *prompt) Dial(_ context.Context, r Receiver) (Conn, error) { return &prompt{r}, nil }

func (p *prompt) Send(_ context.Context, m wire.Message) error {
	answer := `{"content":[]}`
	switch m.Method() {
	case "initialize":
		answer = initializeResult
	case "server/discover":
		answer = discoverResult
	}
	p.receiver.Receive(wire.NewResult(m.ID(), []byte(answer)), "")
	return nil
}

func (p *prompt) Attributes() bool         { return false }
func (p *prompt) Negotiated(wire.Revision) {}
func (p *prompt) Close()                   {}
func (p *prompt) Done() <-chan struct{}    { return nil }
func (p *prompt) Err() error               { return nil }

// BenchmarkCall is what a session adds to a call, in each pairing of the eras.
func BenchmarkCall(b *testing.B) {
	old := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"text":"0123456789"}}}`
	for _, bm := range []struct {
		name   string
		era    Era
		modern bool
	}{
		{"legacy", EraLegacy, false}, {"modern", EraModern, true},
		{"modern to legacy", EraLegacy, true}, {"legacy to modern", EraModern, false},
	} {
		b.Run(bm.name, func(b *testing.B) {
			s := New("b", new(prompt), Options{Era: bm.era}, slog.New(slog.DiscardHandler)).
				NewSession(Hello{Params: []byte(legacyHello), Modern: bm.modern}, unheard{})
			defer s.Close()
			req := parse(old)
			if bm.modern {
				req = parse(modernRequest("1", "tools/call", string(req.Params())))
			}
			b.ReportAllocs()
			for b.Loop() {
				if resp, err := s.Call(b.Context(), req, unheard{}); err != nil || resp.Kind() != wire.Result {
					b.Fatal(string(resp.Raw()), err)
				}
			}
		})
	}
}
