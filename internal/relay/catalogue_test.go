package relay_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// lister is a server with tools, prompts, resources and templates of its own
// name.
func lister(t *testing.T, name string) *server {
	s := newServer(t, name)
	s.hello = fmt.Sprintf(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{}},"serverInfo":{"name":%q,"version":"1"},"instructions":"use %s"}`, name, name)
	return s.
		lists("tools/list", fmt.Sprintf(`{"tools":[{"x":1.0,"name":"do","title":"Do"},{"name":%q}]}`, name)).
		lists("prompts/list", `{"prompts":[{"name":"say"}]}`).
		lists("resources/list", fmt.Sprintf(`{"resources":[{"uri":"%s:///one","name":"one"}]}`, name)).
		lists("resources/templates/list", fmt.Sprintf(`{"resourceTemplates":[{"uriTemplate":"%s:///t/{id}","name":"t"}]}`, name)).
		lists("logging/setLevel", `{}`)
}

// Two backends are one server: lists merged, names with their backend, every
// request where it belongs under the name that the backend knows.
func TestCatalogue(t *testing.T) {
	a, b := lister(t, "a"), lister(t, "b")
	c, hello := connect(t, gateway(t, relay.Options{Version: "v"}, a, b))
	wantResult(t, "handshake", hello, `{"capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{},"experimental":{"dev.beckon/form":{}}},"instructions":"# a\n\nuse a\n\n# b\n\nuse b","serverInfo":{"name":"beckon","title":"Beckon","version":"v"},"protocolVersion":"2025-11-25"}`)
	wantResult(t, "tools", c.call("1", "tools/list", `{}`), `{"tools":[{"x":1.0,"name":"a__do","title":"Do"},{"name":"a__a"},{"x":1.0,"name":"b__do","title":"Do"},{"name":"b__b"}]}`)
	wantResult(t, "prompts", c.call("2", "prompts/list", `{}`), `{"prompts":[{"name":"a__say"},{"name":"b__say"}]}`)
	wantResult(t, "resources", c.call("3", "resources/list", `{}`), `{"resources":[{"uri":"a:///one","name":"one"},{"uri":"b:///one","name":"one"}]}`)

	for i, tt := range []struct {
		method, params, backend, sent string
	}{
		{"tools/call", `{"arguments":{"k":1.0},"name":"b__do"}`, "b", `{"arguments":{"k":1.0},"name":"do"}`},
		{"prompts/get", `{"name":"a__say"}`, "a", `{"name":"say"}`},
		{"resources/read", `{"uri":"b:///one"}`, "b", `{"uri":"b:///one"}`},
		{"resources/subscribe", `{"uri":"a:///one"}`, "a", `{"uri":"a:///one"}`},
		{"resources/read", `{"uri":"b:///t/7"}`, "b", `{"uri":"b:///t/7"}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"b__say"},"argument":{}}`, "b", `{"ref":{"type":"ref/prompt","name":"say"},"argument":{}}`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"a:///t/{id}"},"argument":{}}`, "a", `{"ref":{"type":"ref/resource","uri":"a:///t/{id}"},"argument":{}}`},
	} {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i, tt.method, tt.params)
		s := map[string]*server{"a": a, "b": b}[tt.backend]
		got := s.want(tt.params, tt.method)
		if string(got.Params()) != tt.sent {
			t.Errorf("%s %s: backend %s got %s, want %s", tt.method, tt.params, tt.backend, got.Params(), tt.sent)
		}
		got.answer(`{"i":%d}`, i)
		wantResult(t, tt.method, c.wantID(tt.method, fmt.Sprint(i)), fmt.Sprintf(`{"i":%d}`, i))
	}
	wantResult(t, "log level", c.call("9", "logging/setLevel", `{"level":"info"}`), `{}`)
}

// What nobody has is an error that helps, and nothing else.
func TestCatalogueUnknown(t *testing.T) {
	a, b := lister(t, "a"), lister(t, "b")
	unknown := func(m wire.Message) string { return "" }
	a.answers["resources/read"], b.answers["resources/read"] = unknown, unknown
	c, _ := connect(t, gateway(t, relay.Options{}, a, b))
	for _, params := range []string{`{"name":"do"}`, `{"name":"c__do"}`, `{"name":"__do"}`} {
		wantError(t, params, c.call("1", "tools/call", params), -32602, wire.ReasonUnknown)
	}
	for _, params := range []string{`{}`, `{"name":1}`, `null`} {
		wantError(t, params, c.call("2", "tools/call", params), -32602, wire.ReasonParams)
	}
	wantError(t, "cursor", c.call("3", "tools/list", `{"cursor":"nonsense"}`), -32602, wire.ReasonParams)
	c.send(`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"c:///x"}}`)
	for _, s := range []*server{a, b} {
		m := s.want("is asked for a URI that nobody lists", "resources/read")
		m.conn.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"not found","data":{"of":%q}}}`, m.ID(), s.name)
	}
	if got := string(c.wantID("not found", "4").Error()); got != `{"code":-32002,"message":"not found","data":{"of":"b"}}` {
		t.Errorf("the client got %s, want the last backend's own words", got)
	}
}

// A method that the catalogue does not know goes to the backends that declare
// its family, or to all in turn; method not found passes it on.
func TestCatalogueOtherMethods(t *testing.T) {
	a, b := lister(t, "a"), lister(t, "b")
	b.hello = `{"protocolVersion":"2025-11-25","capabilities":{"acme":{}}}`
	c, _ := connect(t, gateway(t, relay.Options{}, a, b))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"acme/do","params":{}}`)
	b.want("declares it", "acme/do").answer(`{"by":"b"}`)
	wantResult(t, "declared", c.wantID("declared", "1"), `{"by":"b"}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"other/do","params":{}}`)
	m := a.want("comes first", "other/do")
	m.conn.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID())
	b.want("comes next", "other/do").answer(`{"by":"b"}`)
	wantResult(t, "in turn", c.wantID("in turn", "2"), `{"by":"b"}`)
}

// Pages: each page of the merged list holds the next page of every backend that
// has one.
func TestCataloguePages(t *testing.T) {
	a, b := lister(t, "a"), lister(t, "b")
	a.answers["tools/list"] = func(m wire.Message) string {
		switch cursor, _ := wire.Text(m.Params(), "cursor"); cursor {
		case "":
			return `{"tools":[{"name":"1"}],"nextCursor":"two"}`
		case "two":
			return `{"tools":[{"name":"2"}],"nextCursor":"three"}`
		default:
			return `{"tools":[{"name":"3"}]}`
		}
	}
	c, _ := connect(t, gateway(t, relay.Options{}, a, b))
	want := []string{"a__1 b__do b__b", "a__2", "a__3"}
	params := `{}`
	for i := range want {
		m := c.call(fmt.Sprint(i), "tools/list", params)
		if got := names(m, "tools", "name"); got != want[i] {
			t.Errorf("page %d: %s, want %s", i, got, want[i])
		}
		cursor := wire.Get(m.Result(), "nextCursor")
		if (cursor == nil) != (i == len(want)-1) {
			t.Errorf("page %d: cursor %s", i, cursor)
		}
		params = fmt.Sprintf(`{"cursor":%s}`, cursor)
	}
}

// Without prefixes, of equal names the first backend's counts, and each name
// leads to its owner even before anything was listed.
func TestCatalogueWithoutPrefix(t *testing.T) {
	a, b := lister(t, "a"), lister(t, "b")
	c, _ := connect(t, gateway(t, relay.Options{Prefix: relay.PrefixNever}, a, b))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b"}}`)
	b.want("owns b", "tools/call").answer(`{}`)
	c.wantID("call", "1")
	if got := names(c.call("2", "tools/list", `{}`), "tools", "name"); got != "do a b" {
		t.Errorf("tools %s, want do a b", got)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"do"}}`)
	a.want("owns do", "tools/call").answer(`{}`)
	c.wantID("call", "3")
}

// A prefix can be had for one backend too.
func TestPrefixAlways(t *testing.T) {
	c, _ := connect(t, gateway(t, relay.Options{Prefix: relay.PrefixAlways}, lister(t, "a")))
	if got := names(c.call("1", "tools/list", `{}`), "tools", "name"); got != "a__do a__a" {
		t.Errorf("tools %s", got)
	}
}

// A backend that is down harms no other: it is missing from the lists, its own
// calls say why, and everything else goes on.
func TestCatalogueWithoutABackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lister(t, "a"), lister(t, "b")
		a.dial = func(context.Context) error { return errors.New("no such program") }
		c, _ := connect(t, gateway(t, relay.Options{}, a, b))
		if got := names(c.call("1", "tools/list", `{}`), "tools", "name"); got != "b__do b__b" {
			t.Errorf("tools %s, want those of b", got)
		}
		wantError(t, "a call to it", c.call("2", "tools/call", `{"name":"a__do"}`), -32000, wire.ReasonBackendDown)
		c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"b__do"}}`)
		b.want("the other", "tools/call").answer(`{}`)
		c.wantID("the other", "3")
		c.leave()
		<-c.left
	})
}

// A backend that is slow to start holds nobody up for longer than the wait, and
// announces itself when it comes.
func TestCatalogueSlowBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lister(t, "a"), lister(t, "b")
		a.dial = func(ctx context.Context) error {
			select {
			case <-time.After(12 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		began := time.Now()
		c, hello := connect(t, gateway(t, relay.Options{}, a, b))
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("the handshake took %v, want 5s", waited)
		}
		if string(wire.Get(hello.Result(), "capabilities", "prompts", "listChanged")) != "true" {
			t.Error("the handshake does not say that lists may change")
		}
		for _, l := range []string{"tools", "prompts", "resources"} {
			c.want("the slow one has come", "notifications/"+l+"/list_changed")
		}
		if got := names(c.call("1", "tools/list", `{}`), "tools", "name"); got != "a__do a__a b__do b__b" {
			t.Errorf("tools %s", got)
		}
		c.leave()
		<-c.left
	})
}

// A backend that never answers costs the first list some time and the others
// next to none, for as long as the session lives.
func TestCatalogueMuteBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lister(t, "a"), lister(t, "b")
		a.dial = func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		o := relay.Options{OpenWait: 3 * time.Second, ListWait: 6 * time.Second}
		c, _ := connect(t, gateway(t, o, a, b))
		for _, want := range []time.Duration{6 * time.Second, 0, 0} {
			wantTools(t, c, "b__do b__b", want)
		}
		time.Sleep(time.Minute) // the attempt has failed by now
		for _, want := range []time.Duration{time.Second, 0, 0} {
			wantTools(t, c, "b__do b__b", want)
		}
		c.leave()
		<-c.left
	})
}

// A backend that could not be reached at first is tried again for the next list,
// and is part of it if it is there at once. If it takes longer, it joins later.
// The client is told in either case: there are more lists than one.
func TestCatalogueBackendComesBack(t *testing.T) {
	for _, tt := range []struct {
		takes, waits time.Duration
		list         string
	}{
		{0, 0, "a__do a__a b__do b__b"},
		{3 * time.Second, time.Second, "b__do b__b"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, b := lister(t, "a"), lister(t, "b")
			tries := 0
			a.dial = func(context.Context) error {
				if tries++; tries == 1 {
					return errors.New("no such program")
				}
				time.Sleep(tt.takes)
				return nil
			}
			c, _ := connect(t, gateway(t, relay.Options{}, a, b))
			changed := wantTools(t, c, tt.list, tt.waits)
			for range 3 - changed {
				c.next("it has come back")
			}
			wantTools(t, c, "a__do a__a b__do b__b", 0)
			c.leave()
			<-c.left
		})
	}
}

// wantTools wants a list of tools after some time, and returns how many
// notifications came before it.
func wantTools(t *testing.T, c *client, want string, after time.Duration) (before int) {
	t.Helper()
	began := time.Now()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	m := c.next("a list")
	for ; !m.IsResponse(); before++ {
		m = c.next("a list")
	}
	if got := names(m, "tools", "name"); got != want {
		t.Errorf("tools %s, want %s", got, want)
	}
	if took := time.Since(began); took != after {
		t.Errorf("the list took %v, want %v", took, after)
	}
	return before
}

// R18: two backends that ask one client at the same time, under the same id and
// with the same progress token, each get their own answer and progress; the
// client is told which of them asks (D10).
func TestTwoBackendsAsk(t *testing.T) {
	a, b := lister(t, "a"), lister(t, "b")
	c, _ := connect(t, gateway(t, relay.Options{}, a, b))
	const ask = `{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"messages":[],"of":%q,"_meta":{"progressToken":0}}}`
	asked := map[string]wire.Message{}
	for _, s := range []*server{a, b} {
		c.send(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"%s__do"}}`, s.name, s.name)
		call := s.want("the call", "tools/call")
		call.conn.send(ask, s.name)
		asked[s.name] = c.want("the question", "sampling/createMessage")
		if got, _ := wire.Text(asked[s.name].Params(), "_meta", "beckon/backend"); got != s.name {
			t.Errorf("the question of %s says that %q asks", s.name, got)
		}
	}
	for _, s := range []*server{b, a} {
		q := asked[s.name]
		c.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, wire.Get(q.Params(), "_meta", "progressToken"))
		if got := s.want("progress", "notifications/progress"); string(wire.Get(got.Params(), "progressToken")) != "0" {
			t.Errorf("backend %s got %s", s.name, got.Raw())
		}
		c.send(`{"jsonrpc":"2.0","id":%s,"result":{"for":%q}}`, q.ID(), s.name)
		if got := s.want("the answer", ""); string(got.Raw()) != fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"result":{"for":%q}}`, s.name) {
			t.Errorf("backend %s got %s", s.name, got.Raw())
		}
	}
}

// When no backend lists, the client is told why.
func TestCatalogueListFails(t *testing.T) {
	a, b := newServer(t, "a"), newServer(t, "b")
	c, _ := connect(t, gateway(t, relay.Options{}, a, b))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, s := range []*server{a, b} {
		m := s.want("the list", "tools/list")
		m.conn.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no disk"}}`, m.ID())
	}
	got := c.wantID("the reason", "1")
	wantError(t, "the reason", got, -32000, wire.ReasonBackendGone)
	if text, _ := wire.Text(got.Error(), "message"); text != "backend b does not list: no disk" {
		t.Errorf("told %s", text)
	}
}
