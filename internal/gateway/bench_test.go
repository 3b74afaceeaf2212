package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/internal/config"
)

// echoBackend is a streamable HTTP server that answers every call on an event
// stream, as the SDKs do, and costs next to nothing itself.
func echoBackend(b *testing.B, size int) string {
	result := strings.Repeat("x", size)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case bytes.Contains(body, []byte(`"initialize"`)):
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "s")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
		case bytes.Contains(body, []byte(`"tools/call"`)):
			_, rest, _ := bytes.Cut(body, []byte(`"id":`))
			id := rest[:bytes.IndexAny(rest, ",}")]
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":%q}]}}\n\n", id, result)
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	b.Cleanup(s.Close)
	return s.URL
}

// BenchmarkRelayedCall is one call through the whole gateway, HTTP to HTTP, with
// client and backend in the same process. `make bench` compares it with a reverse
// proxy, in processes of their own.
func BenchmarkRelayedCall(b *testing.B) {
	for _, size := range []int{100, 16 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			cfg := config.Default()
			be := config.DefaultBackend()
			be.Name, be.URL, be.Transport = "echo", config.NewURL(echoBackend(b, size)), config.TransportHTTP
			cfg.Backends = []config.Backend{be}
			g, err := New(cfg, "bench", slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(b.Context())
			served := make(chan error, 1)
			go func() { served <- g.ServeHTTP(ctx, ln) }()
			url := "http://" + ln.Addr().String() + "/mcp"
			session := post(b, url, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
			call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + strings.Repeat("x", size) + `"}}}`
			b.ReportAllocs()
			for b.Loop() {
				post(b, url, session, call)
			}
			stop()
			<-served
			g.Close()
		})
	}
}

func post(b *testing.B, url, session, body string) (newSession string) {
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(text, []byte(`"result"`)) {
		b.Fatalf("%v: %s", err, text)
	}
	return resp.Header.Get("Mcp-Session-Id")
}
