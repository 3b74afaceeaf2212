package relay_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// as sends a request of a client with other capabilities, and returns the response.
func (c *client) as(id, caps string) wire.Message {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`, id, caps)
	return c.wantID("a list", id)
}

// Requests that say the same of their client, however they spell it, share a session
// with each backend; others do not, and no backend hears more than the client said.
// D8
func TestProfiles(t *testing.T) {
	s := lister(t, "a")
	c := attach(t, gateway(t, relay.Options{}, s))
	for _, tt := range []struct {
		caps, offered string // "" for a session that is there already
	}{
		{`{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true}}`, `{"elicitation":{"form":{},"url":{}},"roots":{}}`},
		{`{"roots":{},"elicitation":{"url":{}, "form":{}}}`, ``},
		{`{"elicitation":{}}`, `{"elicitation":{}}`},
		{`{"extensions":{"io.modelcontextprotocol/tasks":{},"x.y/z":{}},"tasks":{}}`, `{"extensions":{"x.y/z":{}}}`},
		{`{}`, `{}`},
		{`{"elicitation":null,"sampling":true,"roots":null,"experimental":{}}`, `{"experimental":{}}`}, // which declares nothing
	} {
		c.as("1", tt.caps)
		offered := ""
		select {
		case hello := <-s.offered:
			offered = string(wire.Get(hello.Params(), "capabilities"))
		default:
		}
		if offered != tt.offered {
			t.Errorf("%s: the backend was offered %q, want %q", tt.caps, offered, tt.offered)
		}
	}
}

// Capabilities of any length are no way to fill the memory.
func TestProfilesLongCapabilities(t *testing.T) {
	c := attach(t, gateway(t, relay.Options{}, lister(t, "a")))
	long := fmt.Sprintf(`{"experimental":{"x":%q}}`, strings.Repeat("x", 64<<10))
	wantError(t, "capabilities of more than 64 KiB", c.as("1", long), -32602, wire.ReasonParams)
	c.as("2", fmt.Sprintf(`{"experimental":{"x":%q}}`, strings.Repeat("x", 32<<10)))
}

// A session that nobody uses ends, and its backends with it; not a moment before
// its time, and not while a call is parked in it.
func TestProfilesIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lister(t, "a")
		c := attach(t, gateway(t, relay.Options{SessionIdle: time.Minute}, s))
		c.ask("1", "tools/list", "")
		time.Sleep(time.Minute - time.Millisecond)
		synctest.Wait()
		if s.open.Load() != 1 {
			t.Fatal("the session has ended early")
		}
		c.modernly("2", "tools/call", `"name":"do"`)
		call := s.want("the call", "tools/call")
		call.conn.send(form, "0")
		c.wantID("the question", "2")
		time.Sleep(59 * time.Second) // the question has its own minute
		call.answer(`{}`)
		time.Sleep(time.Minute - time.Millisecond)
		synctest.Wait()
		if s.open.Load() != 1 {
			t.Fatal("the session has ended although a call was parked in it")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if s.open.Load() != 0 {
			t.Error("the session has not ended")
		}
		c.leave()
		<-c.left
	})
}

// There are only so many sessions: for one more, the one that was not used for
// longest goes; if all are in use, the request is refused.
func TestProfilesLimit(t *testing.T) {
	s := lister(t, "a")
	c := attach(t, gateway(t, relay.Options{MaxSessions: 2}, s))
	c.as("1", `{"experimental":{"x":1}}`)
	c.as("2", `{"experimental":{"x":2}}`)
	c.as("3", `{"experimental":{"x":3}}`)
	for range 3 {
		<-s.offered
	}
	c.as("4", `{"experimental":{"x":2}}`)
	if len(s.offered) > 0 {
		t.Error("not the oldest session went")
	}
	c.modernly("5", "tools/call", `"name":"do"`) // takes the place of the third
	s.want("the call", "tools/call")
	c.send(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"do","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"experimental":{"x":2}}}}}`)
	s.want("another call", "tools/call")
	wantError(t, "one too many", c.as("7", `{"experimental":{"x":4}}`), -32603, wire.ReasonLimit)
}

// An instance that nothing needs any more is closed after a while; the first stays.
func TestInstancesIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, "a")
		s.instances = 3
		c := attach(t, gateway(t, relay.Options{InstanceIdle: time.Minute}, s))
		var calls []arrived
		for _, id := range []string{"1", "2", "3"} {
			c.modernly(id, "tools/call", `"name":"do"`)
			calls = append(calls, s.want("the call", "tools/call"))
		}
		for range calls {
			call := calls[0]
			calls = calls[1:]
			call.answer(`{}`)
			c.next("the result")
		}
		time.Sleep(time.Minute - time.Millisecond)
		synctest.Wait()
		if n := s.open.Load(); n != 3 {
			t.Errorf("%d processes, want 3", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n := s.open.Load(); n != 1 {
			t.Errorf("%d processes, want 1", n)
		}
		c.leave()
		<-c.left
	})
}

// A call that cannot ask, because of its client or of the revision that the backend
// speaks, shares a process with others.
func TestInstancesShared(t *testing.T) {
	for _, tt := range []struct {
		caps, revision string
		shared         bool
	}{
		{`{}`, "2025-11-25", true},
		{`{"experimental":{}}`, "2025-11-25", true},
		{`{"elicitation":{}}`, "2025-03-26", true},
		{`{"elicitation":{"url":{}}}`, "2025-06-18", true},
		{`{"elicitation":{}}`, "2025-06-18", false},
		{`{"elicitation":{"url":{}}}`, "2025-11-25", false},
		{`{"sampling":{}}`, "2024-11-05", false},
		{`{"roots":{}}`, "2024-11-05", false},
	} {
		s := newServer(t, "a")
		s.instances = 2
		s.hello = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}`, tt.revision)
		c := attach(t, gateway(t, relay.Options{}, s))
		var calls []arrived
		for _, id := range []string{"1", "2"} {
			c.send(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"do","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`, id, tt.caps)
			calls = append(calls, s.want("a call", "tools/call"))
		}
		if shared := calls[0].conn == calls[1].conn; shared != tt.shared {
			t.Errorf("%s at a backend of %s: shared %v, want %v", tt.caps, tt.revision, shared, tt.shared)
		}
	}
}
