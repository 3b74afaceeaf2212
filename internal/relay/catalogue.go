package relay

import (
	"context"
	"strings"
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// separator stands between the name of a backend and the name of its tool or
// prompt. No backend name contains it.
const separator = "__"

// catalogue makes one server of several backends, for one session.
type catalogue struct {
	session  *session
	prefixed bool // names carry their backend; otherwise the owner of a name is looked up

	names     map[*listing]*owners // who has which name, URI or template
	level     setting              // the log level that the client set
	opened    chan struct{}        // closed when open waits for no backend any more
	announced chan struct{}        // closed when the client has sent initialized
	once      sync.Once            // closes announced
}

// listing is one of the lists that a server offers.
type listing struct {
	method     string // that lists it
	capability string // of a server that has it; also the prefix of its list_changed
	member     string // of the result
	key        string // of an item: its name or URI
	prefixed   bool   // the key gets the prefix of the backend
}

var (
	tools     = &listing{"tools/list", "tools", "tools", "name", true}
	prompts   = &listing{"prompts/list", "prompts", "prompts", "name", true}
	resources = &listing{"resources/list", "resources", "resources", "uri", false}
	templates = &listing{"resources/templates/list", "resources", "resourceTemplates", "uriTemplate", false}
)

func newCatalogue(s *session) *catalogue {
	return &catalogue{
		session:  s,
		prefixed: s.relay.opts.Prefix != PrefixNever,
		names: map[*listing]*owners{
			tools: newOwners(), prompts: newOwners(), resources: newOwners(), templates: newOwners(),
		},
		opened:    make(chan struct{}),
		announced: make(chan struct{}),
	}
}

// open connects all backends at the same time and describes what they are
// together. A backend that needs longer than the configured wait joins later.
func (c *catalogue) open(ctx context.Context) []byte {
	o := c.session.relay.opts
	wait, cancel := context.WithTimeout(ctx, o.OpenWait)
	defer cancel()
	var attempts []*attempt
	for _, r := range c.session.routes {
		attempts = append(attempts, c.connect(r, o.OpenWait+o.ListWait))
	}
	for _, a := range attempts {
		select {
		case <-a.over:
		case <-wait.Done():
		}
	}
	close(c.opened)
	return c.describe()
}

// join tells the client, once it is ready, that a backend has come late.
func (c *catalogue) join(r *route) {
	s := c.session
	select {
	case <-c.announced:
	case <-s.ctx.Done():
		return
	}
	if m := c.level.get(); m.Kind() != wire.Invalid && r.has("logging") {
		if _, err := r.back.Call(s.ctx, m, newCaller(r, s.asker, wire.Message{})); err != nil {
			s.log.Warn("log level not set", "backend", r.backend.Name, "err", err)
		}
	}
	for _, l := range []*listing{tools, prompts, resources} {
		if r.has(l.capability) {
			s.asker.Notify(wire.NewNotification("notifications/"+l.capability+"/list_changed", nil))
		}
	}
}

// initialized notes that the client may be notified from now on.
func (c *catalogue) initialized() { c.once.Do(func() { close(c.announced) }) }

// has reports whether the backend, as far as it is known, declared a capability.
func (r *route) has(capability string) bool {
	return wire.Get(r.back.Result(), "capabilities", capability) != nil
}

// serve answers one request of the client, and tells which backend did.
func (c *catalogue) serve(ctx context.Context, call *exchange) (wire.Message, *route, error) {
	req := call.Request()
	switch req.Method() {
	case tools.method:
		return c.list(ctx, call, tools)
	case prompts.method:
		return c.list(ctx, call, prompts)
	case resources.method:
		return c.list(ctx, call, resources)
	case templates.method:
		return c.list(ctx, call, templates)
	case "tools/call":
		return c.named(ctx, call, tools, "name")
	case "prompts/get":
		return c.named(ctx, call, prompts, "name")
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return c.located(ctx, call, "uri")
	case "completion/complete":
		if kind, _ := wire.Text(req.Params(), "ref", "type"); kind == "ref/prompt" {
			return c.named(ctx, call, prompts, "ref", "name")
		}
		return c.located(ctx, call, "ref", "uri")
	case "logging/setLevel":
		return c.setLevel(ctx, call)
	}
	return c.other(ctx, call)
}

// named carries a request about a tool or prompt to the backend that has it.
func (c *catalogue) named(ctx context.Context, call *exchange, l *listing, path ...string) (wire.Message, *route, error) {
	req := call.Request()
	name, ok := wire.Text(req.Params(), path...)
	if !ok {
		return wire.Message{}, nil, wire.Errorf(wire.ReasonParams, "%s needs %s, a string", req.Method(), strings.Join(path, "."))
	}
	r, own, err := c.resolve(ctx, call, l, name)
	if err != nil {
		return wire.Message{}, nil, err
	}
	if own != name {
		req = req.WithParams(wire.Set(req.Params(), wire.Quote(own), path...))
	}
	resp, err := r.call(ctx, call, req)
	return resp, r, err
}

// resolve finds the backend of a name, and the name as that backend knows it.
func (c *catalogue) resolve(ctx context.Context, call *exchange, l *listing, name string) (*route, string, error) {
	if c.prefixed {
		prefix, own, ok := strings.Cut(name, separator)
		for _, r := range c.session.routes {
			if ok && r.backend.Name == prefix {
				return r, own, nil
			}
		}
		return nil, "", c.unknown(l, name)
	}
	if r := c.owner(ctx, call, l, name); r != nil {
		return r, name, nil
	}
	return nil, "", c.unknown(l, name)
}

func (c *catalogue) unknown(l *listing, name string) *wire.Error {
	what := strings.TrimSuffix(l.capability, "s")
	err := wire.Errorf(wire.ReasonUnknown, "Unknown %s: %s", what, name)
	if c.prefixed && l.prefixed {
		return err.Hint("names begin with their backend, as " + l.method + " shows them")
	}
	return err.Hint(l.method + " shows what there is")
}

// setLevel sets the log level at every backend that logs, and keeps it for those
// that come later.
func (c *catalogue) setLevel(ctx context.Context, call *exchange) (wire.Message, *route, error) {
	req := call.Request()
	c.level.set(req)
	var wg sync.WaitGroup
	results := make([]wire.Message, len(c.session.routes))
	for i, r := range c.session.routes {
		if r.has("logging") {
			wg.Go(func() { results[i], _ = r.call(ctx, call, req) })
		}
	}
	wg.Wait()
	for _, m := range results {
		if m.Kind() == wire.Failure {
			return m, nil, nil
		}
	}
	return wire.NewResult(req.ID(), []byte("{}")), nil, nil
}

// other carries a request that the catalogue does not know to the backends that
// declare its capability, or else to all, one after the other, until one knows
// it. Only that one runs it: method not found is said before anything is done.
func (c *catalogue) other(ctx context.Context, call *exchange) (wire.Message, *route, error) {
	req := call.Request()
	family, _, _ := strings.Cut(req.Method(), "/")
	var declared, all []*route
	for _, r := range c.session.routes {
		if r.back.Result() == nil {
			continue
		}
		all = append(all, r)
		if r.has(family) {
			declared = append(declared, r)
		}
	}
	if len(declared) > 0 {
		all = declared
	}
	for _, r := range all {
		resp, err := r.call(ctx, call, req)
		if err != nil || string(wire.Get(resp.Error(), "code")) != "-32601" {
			return resp, r, err
		}
	}
	return wire.Message{}, nil, wire.Errorf(wire.ReasonMethod, "no backend knows the method %s", req.Method())
}

// setting is a request of the client that backends which come later must see.
type setting struct {
	mu sync.Mutex
	m  wire.Message // guarded by mu
}

func (s *setting) set(m wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m = m
}

func (s *setting) get() wire.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m
}
