package relay

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// owners knows which backend a name or URI belongs to: the first that listed it.
type owners struct {
	mu sync.Mutex
	of map[string]*route // guarded by mu
}

// maxOwned bounds what a session remembers of each list; names beyond it are
// looked up again each time.
const maxOwned = 10_000

func newOwners() *owners { return &owners{of: make(map[string]*route)} }

// claim notes that r has key, and reports whether the key is r's.
func (o *owners) claim(key string, r *route) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if owner := o.of[key]; owner != nil {
		return owner == r
	}
	if len(o.of) < maxOwned {
		o.of[key] = r
	}
	return true
}

func (o *owners) get(key string) *route {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of[key]
}

// match returns the backend of a template that can expand to uri.
func (o *owners) match(uri string) *route {
	o.mu.Lock()
	defer o.mu.Unlock()
	for template, r := range o.of {
		if expands(template, uri) {
			return r
		}
	}
	return nil
}

var expression = regexp.MustCompile(`\{[^{}]*\}`)

// expands reports whether a URI template (RFC 6570) can expand to uri, roughly: a
// plain variable stands for anything within a path segment, and one with an
// operator or modifier for anything.
func expands(template, uri string) bool {
	var pattern strings.Builder
	pattern.WriteByte('^')
	from := 0
	for _, at := range expression.FindAllStringIndex(template, -1) {
		pattern.WriteString(regexp.QuoteMeta(template[from:at[0]]))
		if strings.ContainsAny(template[at[0]:at[1]], "+#./;?&*,") {
			pattern.WriteString(".*")
		} else {
			pattern.WriteString("[^/]*")
		}
		from = at[1]
	}
	pattern.WriteString(regexp.QuoteMeta(template[from:]) + "$")
	re, err := regexp.Compile(pattern.String())
	return err == nil && re.MatchString(uri)
}

// owner finds who has a key, listing everything once more when nobody is known
// to.
func (c *catalogue) owner(ctx context.Context, call *exchange, l *listing, key string) *route {
	if r := c.names[l].get(key); r != nil {
		return r
	}
	c.refresh(ctx, call, l)
	return c.names[l].get(key)
}

// refresh walks through a whole list to learn who has what.
func (c *catalogue) refresh(ctx context.Context, call *exchange, l *listing) {
	const maxPages = 100
	req := wire.NewRequest(call.Request().ID(), l.method, ownParams(call))
	var cursors map[string]string
	for range maxPages {
		_, next, err := c.merge(l, c.pages(ctx, call, req, l, cursors))
		if err != nil || len(next) == 0 || ctx.Err() != nil {
			return
		}
		cursors = next
	}
}

// located carries a request about a resource to the backend that has it. URIs
// keep their form, because they stand in results too; so the backend is the one
// that lists the URI, or whose template can give it, or else the first that
// knows it.
func (c *catalogue) located(ctx context.Context, call *exchange, path ...string) (wire.Message, *route, error) {
	req := call.Request()
	uri, ok := wire.Text(req.Params(), path...)
	if !ok {
		return wire.Message{}, nil, wire.Errorf(wire.ReasonParams, "%s needs %s, a string", req.Method(), strings.Join(path, "."))
	}
	r := c.stated(req)
	if r == nil {
		r = c.locate(ctx, call, uri)
	}
	if r != nil {
		resp, err := r.call(ctx, call, req)
		return resp, r, err
	}
	var last wire.Message
	for _, r := range c.session.routes {
		if !r.has("resources") {
			continue
		}
		resp, err := r.call(ctx, call, req)
		if err != nil {
			c.session.log.Warn("resource not looked for", "backend", r.backend.Name, "err", err)
			continue
		}
		if resp.Kind() == wire.Result {
			return resp, r, nil
		}
		last = resp
	}
	if last.Kind() == wire.Failure {
		return last, nil, nil
	}
	err := c.unknown(resources, uri).With("uri", uri)
	err.Code = wire.CodeResourceNotFound
	return wire.Message{}, nil, err
}

// stated finds the backend that a retry belongs to; nil for what is no retry of a
// call that is parked here.
func (c *catalogue) stated(req wire.Message) *route {
	state, ok := wire.Text(req.Params(), "requestState")
	if !ok {
		return nil
	}
	name, _ := c.session.relay.lot.Peek(state)
	for _, r := range c.session.routes {
		if r.backend.Name == name {
			return r
		}
	}
	return nil
}

// locate finds the backend of a URI: by the lists it has been on, then by the
// templates, then by listing both anew.
func (c *catalogue) locate(ctx context.Context, call *exchange, uri string) *route {
	known := func() *route {
		for _, l := range []*listing{resources, templates} {
			if r := c.names[l].get(uri); r != nil {
				return r
			}
		}
		return c.names[templates].match(uri)
	}
	if r := known(); r != nil {
		return r
	}
	c.refresh(ctx, call, resources)
	c.refresh(ctx, call, templates)
	return known()
}
