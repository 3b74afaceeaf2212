package relay

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// page is what one backend contributes to a list.
type page struct {
	route  *route
	result []byte // of its list request; nil when it has no such list
	err    error  // why it contributes nothing
}

// list merges one page of every backend that has more to give. The cursor of the
// merged page holds the cursors of those.
func (c *catalogue) list(ctx context.Context, call *exchange, l *listing) (wire.Message, *route, error) {
	req := call.Request()
	cursors, err := parseCursor(req.Params())
	if err != nil {
		return wire.Message{}, nil, err
	}
	pages := c.pages(ctx, call, req, l, cursors)
	if context.Cause(ctx) != nil {
		return wire.Message{}, nil, context.Cause(ctx)
	}
	items, next, err := c.merge(l, pages)
	if err != nil {
		return wire.Message{}, nil, err
	}
	var result bytes.Buffer
	fmt.Fprintf(&result, `{"%s":[%s]`, l.member, bytes.Join(items, []byte(",")))
	if len(next) > 0 {
		fmt.Fprintf(&result, `,"nextCursor":"%s"`, formatCursor(next))
	}
	result.WriteByte('}')
	if call.leg == nil {
		return wire.NewResult(req.ID(), result.Bytes()), nil, nil
	}
	fresh := freshness(result.Bytes(), pages)
	return wire.NewResult(req.ID(), complete(l.method, fresh, c.session.relay.serverInfo())), nil, nil
}

// freshness adds to a merged list for how long it may be kept: as long as each of
// its parts, and by nobody else if that is so for one of them.
func freshness(result []byte, pages []page) []byte {
	ttl, scope, some := int64(math.MaxInt64), `"public"`, false
	for _, p := range pages {
		if p.result == nil {
			continue
		}
		some = true
		n, err := strconv.ParseInt(string(wire.Get(p.result, "ttlMs")), 10, 64)
		if err != nil {
			n = 0
		}
		ttl = min(ttl, max(n, 0))
		if string(wire.Get(p.result, "cacheScope")) != scope {
			scope = `"private"`
		}
	}
	if !some || slices.ContainsFunc(pages, func(p page) bool { return p.err != nil }) {
		ttl = 0 // something may be missing
	}
	return extend(result, fmt.Appendf(nil, `,"ttlMs":%d,"cacheScope":%s`, ttl, scope))
}

// pages asks the backends at the same time. A nil cursors asks all for their
// first page; otherwise those that are named in it are asked.
func (c *catalogue) pages(ctx context.Context, call *exchange, req wire.Message, l *listing, cursors map[string]string) []page {
	ctx, cancel := context.WithTimeoutCause(ctx, c.session.relay.opts.ListWait,
		errors.New("the backend did not list in time"))
	defer cancel()
	pages := make([]page, len(c.session.routes))
	var wg sync.WaitGroup
	for i, r := range c.session.routes {
		cursor, more := cursors[r.backend.Name]
		if cursors != nil && !more {
			continue
		}
		wg.Go(func() { pages[i] = r.page(ctx, call, req, l, cursor) })
	}
	wg.Wait()
	return pages
}

// page asks one backend for one page of a list.
func (r *route) page(ctx context.Context, call *exchange, req wire.Message, l *listing, cursor string) page {
	p := page{route: r}
	has, err := r.session.catalogue.reach(ctx, r, l.capability)
	if err != nil || !has {
		p.err = err
		return p
	}
	switch {
	case cursor != "":
		params := req.Params()
		if params == nil {
			params = []byte("{}")
		}
		req = req.WithParams(wire.Set(params, wire.Quote(cursor), "cursor"))
	case wire.Get(req.Params(), "cursor") != nil:
		req = req.WithParams(wire.Drop(req.Params(), "cursor"))
	}
	resp, err := r.call(ctx, call, req)
	switch {
	case err != nil:
		p.err = err
	case resp.Kind() == wire.Failure:
		p.err = wire.Errorf(wire.ReasonBackendGone, "backend %s does not list: %s", r.backend.Name, back.ErrorText(resp)).
			With("backend", r.backend.Name)
	default:
		p.result = resp.Result()
	}
	return p
}

// merge joins the pages in the order of precedence and returns the cursors of
// the backends that have more. A backend that failed is left out, unless there
// is nothing but failures.
func (c *catalogue) merge(l *listing, pages []page) (items [][]byte, next map[string]string, err error) {
	next = make(map[string]string)
	var failure error
	some := false
	for _, p := range pages {
		if p.err != nil {
			c.session.log.Warn("list without a backend", "method", l.method, "backend", p.route.backend.Name, "err", p.err)
			failure = p.err
		}
		if p.result == nil {
			continue
		}
		some = true
		for item := range wire.Elements(wire.Get(p.result, l.member)) {
			if shown, ok := c.show(l, p.route, item); ok {
				items = append(items, shown)
			}
		}
		if cursor, ok := wire.Text(p.result, "nextCursor"); ok {
			next[p.route.backend.Name] = cursor
		}
	}
	if !some && failure != nil {
		return nil, nil, failure
	}
	return items, next, nil
}

// show gives an item the name under which the client sees it. An item whose name
// an earlier backend has taken is hidden.
func (c *catalogue) show(l *listing, r *route, item []byte) ([]byte, bool) {
	key, ok := wire.Text(item, l.key)
	if !ok {
		c.session.log.Warn("item without a name left out", "method", l.method, "backend", r.backend.Name)
		return nil, false
	}
	if c.prefixed && l.prefixed {
		return wire.Set(item, wire.Quote(r.backend.Name+separator+key), l.key), true
	}
	if !c.names[l].claim(key, r) {
		c.session.log.Warn("name is taken by another backend", "method", l.method, "backend", r.backend.Name, "name", key)
		return nil, false
	}
	return item, true
}

// parseCursor reads the cursor of a merged list; nil means the beginning.
func parseCursor(params []byte) (map[string]string, error) {
	text, ok := wire.Text(params, "cursor")
	if !ok {
		return nil, nil
	}
	cursors := map[string]string{}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &cursors)
	}
	if err != nil || len(cursors) == 0 {
		return nil, wire.Errorf(wire.ReasonParams, "the cursor is not one of this list").
			Hint("begin again without a cursor")
	}
	return cursors, nil
}

func formatCursor(cursors map[string]string) string {
	b, err := json.Marshal(cursors)
	if err != nil {
		panic(fmt.Sprintf("relay: strings do not marshal: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}
