package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// openModern sends a request and returns the event stream with which it is answered.
func (p *webPeer) openModern(body string) *events {
	p.t.Helper()
	return p.open("POST", body, standard(body)...)
}

// reasonOf returns the reason in a cause, or "".
func reasonOf(cause error) wire.Reason {
	if e, ok := errors.AsType[*wire.Error](cause); ok {
		return e.Reason
	}
	return ""
}

// What is said before the response opens an event stream, without anything by which
// it could be resumed; the response ends it.
func TestModernStream(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		body := modern("1", "progress", "")
		e := h.peer().openModern(body)
		if e.header.Get("X-Accel-Buffering") != "no" || e.header.Get(headerSession) != "" || e.status != 200 {
			t.Errorf("got %d %v", e.status, e.header)
		}
		first, err := e.next()
		if err != nil || string(first.Data) != `{"jsonrpc":"2.0","method":"notifications/progress"}` || first.ID != "" || first.Retry != 0 {
			t.Errorf("got %+v, %v", first, err)
		}
		h.relay.release <- struct{}{}
		last, err := e.next()
		if err != nil || string(last.Data) != `{"jsonrpc":"2.0","id":1,"result":"progressed"}` || last.ID != "" {
			t.Errorf("got %+v, %v", last, err)
		}
		e.wantEnd("the response ends the stream")
	})
}

// A stream that has begun tells an error in its last event.
func TestModernErrorOnStream(t *testing.T) {
	onWeb(t, Options{KeepAlive: time.Second}, func(t *testing.T, h *web) {
		body := modern("1", "wait", "")
		e := h.peer().openModern(body) // once it has been silent
		h.relay.release <- struct{}{}
		e.want("the response", `{"jsonrpc":"2.0","id":1,"result":"waited"}`)
		e.wantEnd("the response ends the stream")
	})
}

// A leg that is silent for long opens its stream, and keeps it alive by comments.
func TestModernKeepAlive(t *testing.T) {
	onWeb(t, Options{KeepAlive: 15 * time.Second}, func(t *testing.T, h *web) {
		body := modern("1", "wait", "")
		client := h.connect()
		defer client.Close()
		began := time.Now()
		if _, err := io.WriteString(client, rawPost(body)); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(client)
		after := func(want string, at time.Duration) {
			t.Helper()
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatalf("reading up to %q: %v", want, err)
				}
				if strings.HasPrefix(line, want) {
					break
				}
			}
			if took := time.Since(began); took != at {
				t.Errorf("%q came after %v, want %v", want, took, at)
			}
		}
		after("HTTP/1.1 200", 15*time.Second)
		after(": keepalive", 30*time.Second)
		after(": keepalive", 45*time.Second)
		h.relay.release <- struct{}{}
		after("data: {", 45*time.Second)
	})
}

// rawPost is a request of a modern client as it goes over the wire.
func rawPost(body string) string {
	pairs := standard(body)
	var b strings.Builder
	b.WriteString("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s: %s\r\n", pairs[i], pairs[i+1])
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return b.String()
}

// A client that takes only JSON gets the response alone.
func TestModernWithoutEvents(t *testing.T) {
	onWeb(t, Options{KeepAlive: time.Second}, func(t *testing.T, h *web) {
		body := modern("1", "progress", "")
		got := h.peer().background(body, append(standard(body), "Accept", "application/json")...)
		time.Sleep(time.Minute)
		h.relay.release <- struct{}{}
		if r := <-got; r.body != `{"jsonrpc":"2.0","id":1,"result":"progressed"}` || r.header.Get("Content-Type") != typeJSON {
			t.Errorf("got %+v", r)
		}
	})
}

// "Closing the SSE response stream MUST be treated by the server as cancellation of
// that request." So is closing the connection before there is a stream, and while
// the front is blocked in writing; each at once.
func TestModernClientLeaves(t *testing.T) {
	tests := []struct{ name, method string }{
		{"before anything was written", "block"},
		{"with a relay that then says nothing", "ignore"},
		{"in the middle of a stream", methodListen},
		{"while it does not read", "flood"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onWeb(t, Options{}, func(t *testing.T, h *web) {
				client := h.connect()
				if _, err := io.WriteString(client, rawPost(modern("1", test.method, ""))); err != nil {
					t.Fatal(err)
				}
				if test.method == methodListen {
					if _, err := client.Read(make([]byte, 1000)); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				select {
				case cause := <-h.relay.causes:
					t.Fatalf("ended early: %v", cause)
				default:
				}
				left := time.Now()
				client.Close()
				if cause := <-h.relay.causes; reasonOf(cause) != wire.ReasonClientGone {
					t.Errorf("cause %v", cause)
				}
				if took := time.Since(left); took != 0 {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// "and MUST NOT send any further messages for it": a client that closes its side
// alone hears nothing any more, whatever the relay still says.
func TestModernNothingAfterLeaving(t *testing.T) {
	relay := newFakeRelay(t)
	h := NewHTTP(relay, Options{}, discard)
	server := httptest.NewServer(h)
	defer server.Close()
	defer h.Close(t.Context())
	for range 20 {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, rawPost(modern("1", "block", ""))); err != nil {
			t.Fatal(err)
		}
		<-relay.legs
		conn.(*net.TCPConn).CloseWrite()
		<-relay.causes
		if got, err := io.ReadAll(conn); len(got) > 0 {
			t.Fatalf("got %q, %v", got, err)
		}
		conn.Close()
	}
}

// A client that closes its side alone, while the front is blocked in writing to it,
// has left at once, too.
func TestModernLeavesWhileBlocked(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		client, conn := net.Pipe()
		half := &halfConn{Conn: conn}
		if err := h.net.Hand(t.Context(), half); err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, err := io.WriteString(client, rawPost(modern("1", "flood", ""))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		left := time.Now()
		half.end()
		if cause := <-h.relay.causes; reasonOf(cause) != wire.ReasonClientGone || time.Since(left) != 0 {
			t.Errorf("cause %v after %v", cause, time.Since(left))
		}
	})
}

// halfConn is a connection whose peer can close its side alone.
type halfConn struct {
	net.Conn
	ended atomic.Bool
}

func (c *halfConn) end() {
	c.ended.Store(true)
	c.Conn.SetReadDeadline(time.Now())
}

func (c *halfConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.ended.Load() {
		err = io.EOF
	}
	return n, err
}

// A connection that cannot be written to ends the leg, whatever net/http knows of it.
func TestModernWriteFails(t *testing.T) {
	relay := newFakeRelay(t)
	h := NewHTTP(relay, Options{}, discard)
	defer h.Close(t.Context())
	body := modern("1", "flood", "")
	r := modernRequest(body)
	h.ServeHTTP(&brokenWriter{sink{header: make(http.Header)}}, r)
	if cause := <-relay.causes; reasonOf(cause) != wire.ReasonClientGone {
		t.Errorf("cause %v", cause)
	}
}

// brokenWriter is a response that nobody can take.
type brokenWriter struct{ sink }

func (*brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A client that takes nothing is cut when WriteTimeout is over, and not before.
func TestModernClientDoesNotRead(t *testing.T) {
	onWeb(t, Options{WriteTimeout: 20 * time.Second}, func(t *testing.T, h *web) {
		client := h.connect()
		defer client.Close()
		if _, err := io.WriteString(client, rawPost(modern("1", "flood", ""))); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		cause := <-h.relay.causes
		if took := time.Since(began); reasonOf(cause) != wire.ReasonClientGone || took != 20*time.Second {
			t.Errorf("cause %v after %v", cause, took)
		}
	})
}

// A sender waits while its client is behind; what a leg holds is bounded.
func TestModernBackPressure(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		client := h.connect()
		defer client.Close()
		if _, err := io.WriteString(client, rawPost(modern("1", "flood", ""))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		leg := <-h.relay.legs
		j := leg.stream.j
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.count < maxBacklog || j.count > 2*maxBacklog {
			t.Errorf("%d messages are held", j.count)
		}
	})
}

// What was sent is not kept: nobody can ask for it again.
func TestModernKeepsNothing(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		e := h.peer().openModern(modern("1", methodListen, ""))
		leg := <-h.relay.legs
		e.data("the acknowledgement")
		for range 3 * maxBacklog {
			h.relay.changed <- struct{}{}
			e.data("a change")
		}
		synctest.Wait()
		j := leg.stream.j
		j.mu.Lock()
		if j.count != 0 || j.bytes != 0 || len(leg.stream.events) != 0 {
			t.Errorf("%d messages of %d bytes are kept", j.count, j.bytes)
		}
		j.mu.Unlock()
		e.close()
		<-h.relay.causes
	})
}

// A notification that comes when the leg is over is dropped.
func TestModernLateNotification(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		body := modern("1", "echo", "")
		h.peer().send("POST", body, standard(body)...)
		leg := <-h.relay.legs
		for range 10 * maxBacklog {
			leg.Notify(note("late"))
		}
		if n := len(leg.stream.events); n > 0 {
			t.Errorf("%d messages are held", n)
		}
	})
}

// A subscription opens its stream with the acknowledgement, lives without a word for
// as long as the client wants, and is told its end when the gateway stops; it holds
// up no drain.
func TestModernListen(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		e := h.peer().openModern(modern(`"s"`, methodListen, ""))
		const mark = `"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}`
		e.want("the acknowledgement",
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+mark+`,"notifications":{"toolsListChanged":true}}}`)
		change := make(chan string)
		go func() { change <- e.data("a change") }() // it reads on, over the comments
		time.Sleep(time.Hour)
		h.relay.changed <- struct{}{}
		if got := <-change; got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+mark+`}}` {
			t.Errorf("a change: got %s", got)
		}
		stopped := time.Now()
		h.stop()
		e.want("the end", `{"jsonrpc":"2.0","id":"s","result":{"resultType":"complete",`+mark+`}}`)
		e.wantEnd("the response ends the stream")
		if took := time.Since(stopped); took != 0 {
			t.Errorf("it took %v", took)
		}
		if cause := <-h.relay.causes; reasonOf(cause) != wire.ReasonStopping {
			t.Errorf("cause %v", cause)
		}
	})
}

// While the front drains, what is in progress may finish and nothing begins. When
// the drain ends the contexts do, and what the relay then says is sent.
func TestModernDrain(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer()
		later := func(method string) <-chan whole {
			body := modern(`"`+method+`"`, method, "")
			return p.background(body, standard(body)...)
		}
		wait, block, ignore, listen := later("wait"), later("block"), later("ignore"), later(methodListen)
		h.stop() // with a second to drain
		time.Sleep(900 * time.Millisecond)
		h.relay.release <- struct{}{}
		if got := <-wait; got.body != `{"jsonrpc":"2.0","id":"wait","result":"waited"}` {
			t.Errorf("a call that finishes in time: got %+v", got)
		}
		if got := h.refusal(modern("1", "echo", "")); !strings.Contains(got, `503 {"jsonrpc":"2.0","id":1,"error":{"code":-32603`) || !strings.Contains(got, `"reason":"stopping"`) {
			t.Errorf("a new request: got %s", got)
		}
		time.Sleep(99 * time.Millisecond)
		synctest.Wait()
		if len(h.relay.causes) != 0 {
			t.Errorf("ended before the drain was over: %v", <-h.relay.causes)
		}
		time.Sleep(time.Millisecond)
		if got := <-block; got.status != 200 || !strings.HasSuffix(strings.TrimSpace(got.body), `{"jsonrpc":"2.0","id":"block","result":"after the end"}`) {
			t.Errorf("what the relay says at the end: got %+v", got)
		}
		if got := <-ignore; !strings.Contains(got.body, `"id":"ignore","error":{"code":-32603`) || !strings.Contains(got.body, `"reason":"stopping"`) {
			t.Errorf("a relay that says nothing: got %+v", got)
		}
		if got := <-listen; !strings.Contains(got.body, `"id":"subscriptions/listen","result"`) {
			t.Errorf("a subscription: got %+v", got)
		}
		for range 3 {
			if cause := <-h.relay.causes; reasonOf(cause) != wire.ReasonStopping {
				t.Errorf("cause %v", cause)
			}
		}
	})
}

// refusal posts a message without the network, on which nobody listens any more, and
// returns the status and the body of the response.
func (h *web) refusal(body string) string {
	r := modernRequest(body)
	w := httptest.NewRecorder()
	h.http.ServeHTTP(w, r)
	return fmt.Sprint(w.Code, " ", w.Body)
}

// Nothing begins while the calls of sessions are drained, either.
func TestModernDrainBesideSession(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		call := h.peer().shake(wire.Latest).background(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		h.stop()
		synctest.Wait()
		if got := h.refusal(modern("1", "echo", "")); !strings.Contains(got, `"reason":"stopping"`) {
			t.Errorf("got %s", got)
		}
		h.relay.release <- struct{}{}
		<-call
	})
}

// A relay that is blocked by a slow client goes on when the gateway stops.
func TestModernStopsSlowClient(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		client := h.connect()
		defer client.Close()
		if _, err := io.WriteString(client, rawPost(modern("1", "flood", ""))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		stopped := time.Now()
		h.stop()
		cause := <-h.relay.causes
		if took := time.Since(stopped); reasonOf(cause) != wire.ReasonStopping || took != time.Second {
			t.Errorf("cause %v after %v", cause, took)
		}
	})
}

// A panic of the relay ends its own request and no other.
func TestModernPanic(t *testing.T) {
	h := NewHTTP(panicRelay{}, Options{}, discard)
	defer h.Close(t.Context())
	body := modern("1", "echo", "")
	r := modernRequest(body)
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is hidden")
			}
		}()
		h.ServeHTTP(w, r)
	}()
	if !strings.Contains(w.Body.String(), `"id":1,"error":{"code":-32603`) {
		t.Errorf("got %s", w.Body)
	}
}

// panicRelay is broken.
type panicRelay struct{ echoRelay }

func (panicRelay) Answer(context.Context, *Leg) wire.Message { panic("broken") }
