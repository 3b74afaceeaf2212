package back

import (
	"bytes"
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
