//go:build !race

package front

import (
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"testing"
)

// A held leg costs less than 64 KiB, with all that net/http holds for it: one whose
// client waits in silence, and one whose stream is open.
func TestHeldLegBudget(t *testing.T) {
	for _, method := range []string{"block", methodListen} {
		if got := heldLegs(t, method, 300); got > 64<<10 {
			t.Errorf("%s: a held leg takes %d bytes", method, got)
		}
	}
}

// BenchmarkHeldLegs holds many legs at a time and tells what one takes.
func BenchmarkHeldLegs(b *testing.B) {
	for _, method := range []string{"block", methodListen} {
		b.Run(method, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(heldLegs(b, method, 4000)), "bytes/leg")
			}
		})
	}
}

// heldLegs holds n legs over the loopback interface and returns what each takes, in
// bytes of heap and stacks; the client's side has next to nothing.
func heldLegs(tb testing.TB, method string, n int) uint64 {
	relay := newFakeRelay(nil)
	relay.legs, relay.causes = make(chan *Leg, n), make(chan error, n)
	h := NewHTTP(relay, Options{}, discard)
	server := httptest.NewServer(h)
	defer server.Close()
	defer h.Close(tb.Context())
	conns := make([]net.Conn, 0, n)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
		for range conns {
			<-relay.causes
		}
	}()
	post := rawPost(modern("1", method, ""))
	before := memory()
	for range n {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			tb.Fatal(err)
		}
		conns = append(conns, c)
		if _, err := io.WriteString(c, post); err != nil {
			tb.Fatal(err)
		}
		<-relay.legs
		if method == methodListen {
			if _, err := c.Read(make([]byte, 1)); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return (memory() - before) / uint64(n)
}

// memory returns the bytes of heap and stacks in use.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
