package front

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// echoRelay answers each request with its params.
type echoRelay struct{}

func (echoRelay) Open(_ context.Context, _ *Client, m wire.Message) (Session, wire.Message) {
	return echoRelay{}, wire.NewResult(m.ID(), []byte(`{"protocolVersion":"2025-11-25"}`))
}

func (echoRelay) Answer(_ context.Context, leg *Leg) wire.Message {
	return wire.NewResult(leg.Request().ID(), leg.Request().Params())
}

func (echoRelay) Serve(_ context.Context, call *Call) wire.Message {
	return wire.NewResult(call.Request().ID(), call.Request().Params())
}

func (echoRelay) Notify(context.Context, wire.Message) {}
func (echoRelay) Close()                               {}

// sink is a response that goes nowhere.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header              { return s.header }
func (s *sink) WriteHeader(status int)           { s.status = status }
func (s *sink) SetReadDeadline(time.Time) error  { return nil }
func (s *sink) SetWriteDeadline(time.Time) error { return nil }
func (s *sink) Write(b []byte) (int, error)      { s.bytes += len(b); return len(b), nil }

// echoFront returns a front, the header of a client with a session, and a request
// body of about 100 bytes.
func echoFront(tb testing.TB) (*HTTP, http.Header, []byte) {
	h := NewHTTP(echoRelay{}, Options{}, discard)
	w := httptest.NewRecorder()
	r := request("POST", initializeAs(wire.Latest))
	h.ServeHTTP(w, r)
	r.Header.Set(headerSession, w.Header().Get(headerSession))
	r.Header.Set(headerVersion, string(wire.Latest))
	tb.Cleanup(func() { h.Close(context.Background()) })
	return h, r.Header, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`)
}

// modernPOST returns the header and the body of the same request by a modern client.
func modernPOST() (http.Header, []byte) {
	data := modern("1", "tools/call", `"name":"echo","arguments":{"message":"hello"}`)
	return modernRequest(data).Header, []byte(data)
}

// body is a request body without a copy.
type body struct{ bytes.Reader }

func (*body) Close() error { return nil }

// inMemory returns a function that makes one legacy call without any network, and
// another that makes one of the modern era.
func inMemory(tb testing.TB) (legacy, modern func()) {
	h, header, data := echoFront(tb)
	legacy = callInMemory(tb, h, header, data)
	header, data = modernPOST()
	return legacy, callInMemory(tb, h, header, data)
}

func callInMemory(tb testing.TB, h *HTTP, header http.Header, data []byte) func() {
	r := request("POST", "").WithContext(context.Background())
	r.Header, r.ContentLength = header, int64(len(data))
	w := &sink{header: make(http.Header)}
	b := new(body)
	r.Body = b
	return func() {
		b.Reset(data)
		clear(w.header)
		w.bytes = 0
		h.ServeHTTP(w, r)
		if w.bytes < 70 {
			tb.Fatalf("got %d bytes, status %d", w.bytes, w.status)
		}
	}
}

func BenchmarkPostInMemory(b *testing.B) {
	legacy, modern := inMemory(b)
	for _, era := range []struct {
		name string
		call func()
	}{{"legacy", legacy}, {"modern", modern}} {
		b.Run(era.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				era.call()
			}
		})
	}
}

// BenchmarkPost makes calls over the loopback interface, of a session and of the
// modern era; bare is what net/http takes for reading a body and echoing it.
func BenchmarkPost(b *testing.B) {
	h, header, data := echoFront(b)
	modernHeader, modernData := modernPOST()
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", typeJSON)
		w.Write(body)
	})
	for _, size := range []int{5, 16 << 10} {
		grown := func(data []byte) []byte {
			return bytes.Replace(data, []byte("hello"), []byte(strings.Repeat("x", size)), 1)
		}
		for _, c := range []struct {
			name string
			http.Handler
			header http.Header
			data   []byte
		}{
			{"legacy", h, header, data}, {"modern", h, modernHeader, modernData}, {"bare", bare, header, data},
		} {
			b.Run(fmt.Sprintf("%dB/%s", size, c.name), func(b *testing.B) { post(b, c.Handler, c.header, grown(c.data)) })
		}
	}
}

func post(b *testing.B, h http.Handler, header http.Header, data []byte) {
	server := httptest.NewServer(h)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{}).DialContext}}
	defer client.CloseIdleConnections()
	b.ReportAllocs()
	for b.Loop() {
		r, err := http.NewRequest("POST", server.URL+"/mcp", bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		r.Header = header
		res, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatal(res.Status)
		}
	}
}
