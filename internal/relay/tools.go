package relay

import (
	"context"
	"errors"
	"sync"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// toolbook is what a route knows of the tools of its backend, from the lists that
// have passed.
type toolbook struct {
	turn chan struct{} // held, by the token in it, while the relay lists the tools for itself

	mu     sync.Mutex      // guards the fields below; held for moments
	of     map[string]tool // by the backend's own names
	listed bool            // a list has passed to its end, or was tried
}

// tool is what calls of a tool depend on.
type tool struct {
	params mirror.Params // arguments that headers repeat
	task   bool          // it can only be run as a task of 2025-11-25
}

// maxTools bounds what is remembered of the tools of one backend.
const maxTools = 10_000

// learn takes note of one page of a list of tools.
func (b *toolbook) learn(result []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, more := wire.Text(result, "nextCursor")
	b.listed = b.listed || !more
	if b.of == nil {
		b.of = make(map[string]tool)
	}
	for item := range wire.Elements(wire.Get(result, "tools")) {
		name, ok := wire.Text(item, "name")
		if !ok || len(b.of) >= maxTools {
			continue
		}
		params, _ := mirror.ParseParams(wire.Get(item, "inputSchema")) // a client does not offer the tool if that fails
		support, _ := wire.Text(item, "execution", "taskSupport")
		b.of[name] = tool{params: params, task: support == "required"}
	}
}

// get returns what is known of a tool, and whether that is all there is to know.
func (b *toolbook) get(name string) (t tool, sure bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, known := b.of[name]
	return t, known || b.listed
}

func (b *toolbook) setListed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listed = true
}

// tool returns what is known of a tool, and asks the backend for its list when
// nobody has done that before; who wants to know meanwhile waits for it. A backend
// that has none has its reasons, and is not asked again.
func (r *route) tool(caller context.Context, x *exchange, name string) tool {
	t, sure := r.tools.get(name)
	if sure || !r.has("tools") {
		return t
	}
	ctx, cancel := context.WithTimeoutCause(caller, r.session.relay.opts.ListWait, errors.New("the backend did not list in time"))
	defer cancel()
	select {
	case r.tools.turn <- struct{}{}:
		defer func() { <-r.tools.turn }()
	case <-ctx.Done():
		return t
	}
	if t, sure = r.tools.get(name); sure {
		return t
	}
	r.listTools(ctx, x)
	if caller.Err() == nil {
		r.tools.setListed()
	}
	t, _ = r.tools.get(name)
	return t
}

// listTools walks through the list of tools, so that it is learned.
func (r *route) listTools(ctx context.Context, x *exchange) {
	const maxPages = 100
	params := ownParams(x)
	for range maxPages {
		resp, err := r.work(ctx, &exchange{Asker: nobodyHears{}}, wire.NewRequest(wire.IntID(0), "tools/list", params), r.back)
		cursor, more := wire.Text(resp.Result(), "nextCursor")
		if err != nil || !more {
			return
		}
		params = wire.Set(params, wire.Quote(cursor), "cursor")
	}
}

// ownParams are the params of a request that the relay makes itself for the sake of
// one of a modern client: what that says about itself, and nothing else.
// For a legacy client there are none.
func ownParams(x *exchange) []byte {
	if x.leg == nil {
		return nil
	}
	params := []byte(`{}`)
	for name, value := range wire.Members(wire.Get(x.request.Params(), "_meta")) {
		switch name {
		case wire.MetaRevision, wire.MetaClientInfo, wire.MetaCapabilities:
			params = wire.Set(params, value, "_meta", name)
		}
	}
	return params
}

// nobodyHears is an Asker with nobody behind it.
type nobodyHears struct{ nobody }

func (nobodyHears) Notify(wire.Message) {}

// checkHeaders refuses a call whose Mcp-Param headers do not say what its arguments
// say, as far as the tool is known.
func (r *route) checkHeaders(ctx context.Context, x *exchange, req wire.Message) error {
	if x.leg.Header == nil {
		return nil
	}
	name, ok := wire.Text(req.Params(), "name")
	if !ok {
		return nil // the backend says so
	}
	if err := r.tool(ctx, x, name).params.Check(x.leg.Header, wire.Get(req.Params(), "arguments")); err != nil {
		return err
	}
	return nil
}
