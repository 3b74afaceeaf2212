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
	mu     sync.Mutex
	of     map[string]tool // guarded by mu; by the backend's own names
	listed bool            // guarded by mu; a list has passed, or was tried
}

// tool is what calls of a tool depend on.
type tool struct {
	params mirror.Params // arguments that headers repeat
	task   bool          // it can only be run as a task of 2025-11-25
}

// maxTools bounds what is remembered of the tools of one backend.
const maxTools = 10_000

// learn takes note of a list of tools.
func (b *toolbook) learn(result []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listed = true
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

// get returns what is known of a tool. unlisted says that no list has passed yet;
// it does so once.
func (b *toolbook) get(name string) (t tool, unlisted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	unlisted = !b.listed
	b.listed = true
	return b.of[name], unlisted
}

// tool returns what is known of a tool, and asks the backend for its list when
// nobody has done that before. A backend that has none has its reasons.
func (r *route) tool(ctx context.Context, x *exchange, name string) tool {
	t, unlisted := r.tools.get(name)
	if !unlisted || !r.has("tools") {
		return t
	}
	const maxPages = 100
	ctx, cancel := context.WithTimeoutCause(ctx, r.session.relay.opts.ListWait, errors.New("the backend did not list in time"))
	defer cancel()
	params := ownParams(x)
	for range maxPages {
		resp, err := r.work(ctx, &exchange{Asker: nobodyHears{}}, wire.NewRequest(wire.IntID(0), "tools/list", params), r.back)
		cursor := wire.Get(resp.Result(), "nextCursor")
		if err != nil || cursor == nil {
			break
		}
		params = wire.Set(params, cursor, "cursor")
	}
	t, _ = r.tools.get(name)
	return t
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
