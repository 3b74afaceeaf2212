package back

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

const (
	maxMirrored   = 10_000           // tools of one backend whose headers are kept
	maxToolPages  = 100              // of tools/list that Beckon reads for itself
	listToolsTime = 10 * time.Second // how long that may take while a call waits
)

// mirrors is what is known of the tools of a backend: the arguments that headers
// repeat. It fills from every tools/list that passes.
type mirrors struct {
	turn chan struct{} // held, by the token in it, while Beckon lists the tools for itself

	// mu guards the fields below; held for moments.
	mu     sync.Mutex
	byTool map[string]mirror.Params // nil before the first
	broken map[string]bool          // tools with an invalid annotation that were logged
	listed bool                     // Beckon has listed the tools for itself
}

// of returns the parameters of a tool, and whether the tool is known.
func (m *mirrors) of(tool string) (params mirror.Params, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	params, known = m.byTool[tool]
	return params, known
}

// set takes down a tool, unless there are too many.
func (m *mirrors) set(tool string, params mirror.Params) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byTool == nil {
		m.byTool = make(map[string]mirror.Params)
	}
	if _, known := m.byTool[tool]; known || len(m.byTool) < maxMirrored {
		m.byTool[tool] = params
	}
}

// refuse takes down that a tool is invalid, and reports whether that is new.
func (m *mirrors) refuse(tool string) (first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byTool, tool)
	if m.broken == nil {
		m.broken = make(map[string]bool)
	}
	if m.broken[tool] || len(m.broken) >= maxMirrored {
		return false
	}
	m.broken[tool] = true
	return true
}

func (m *mirrors) wereListed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.listed
}

func (m *mirrors) setListed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed = true
}

// mirrored returns the arguments of a tool call that headers repeat. The tools of a
// backend are listed for that once; if one is unknown after that, the backend
// says so itself.
func (l *link) mirrored(ctx context.Context, req wire.Message) mirror.Params {
	if l.http == nil || req.Method() != "tools/call" {
		return nil
	}
	name, ok := wire.Text(req.Params(), "name")
	if !ok {
		return nil
	}
	known := &l.session.backend.mirrors
	params, ok := known.of(name)
	if !ok && !known.wereListed() {
		l.listTools(ctx, req, false)
		params, _ = known.of(name)
	}
	return params
}

// listTools lists the tools for the sake of their headers, in the name of the
// client that makes the request req; if that was done before, only when it is to
// be done again. That it fails is for the call to show.
func (l *link) listTools(caller context.Context, req wire.Message, again bool) {
	known := &l.session.backend.mirrors
	ctx, cancel := context.WithTimeoutCause(caller, listToolsTime, errors.New("listing the tools takes too long"))
	defer cancel()
	select {
	case known.turn <- struct{}{}:
		defer func() { <-known.turn }()
	case <-ctx.Done():
		return
	}
	if !again && known.wereListed() {
		return
	}
	meta := wire.Drop(wire.Get(req.Params(), "_meta"), "progressToken")
	params := wire.Set(nil, wire.Drop(meta, wire.MetaLogLevel), "_meta")
	for range maxToolPages {
		resp, err := l.dispatch(ctx, wire.NewRequest(wire.IntID(0), "tools/list", params), nil, unheard{})
		if err != nil || resp.Kind() != wire.Result {
			l.session.backend.log.Debug("tools not listed", "err", err)
			break
		}
		l.tools(resp, false)
		cursor := wire.Get(resp.Result(), "nextCursor")
		if cursor == nil || string(cursor) == "null" {
			break
		}
		params = wire.Set(params, cursor, "cursor")
	}
	if caller.Err() == nil {
		known.setListed()
	}
}

// tools reads the tools that a response to tools/list names, and returns it
// without those that must not be used over HTTP:
//
// "Clients using the Streamable HTTP transport MUST reject tool definitions where
// any x-mcp-header value violates these constraints. Rejection means the client MUST
// exclude the invalid tool from the result of tools/list. Clients SHOULD log a
// warning when rejecting a tool definition, including the tool name and the reason
// for rejection."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension
//
// A legacy client breaks on an outputSchema that describes no object, and does not
// see it.
func (l *link) tools(resp wire.Message, legacy bool) wire.Message {
	var kept [][]byte
	changed := false
	for tool := range wire.Elements(wire.Get(resp.Result(), "tools")) {
		if l.http != nil && !l.mirrorable(tool) {
			changed = true
			continue
		}
		if schema := wire.Get(tool, "outputSchema"); legacy && schema != nil {
			if kind, _ := wire.Text(schema, "type"); kind != "object" {
				tool, changed = wire.Drop(tool, "outputSchema"), true
			}
		}
		kept = append(kept, tool)
	}
	if !changed {
		return resp
	}
	array := append(append([]byte("["), bytes.Join(kept, []byte(","))...), ']')
	return resp.WithResult(wire.Set(resp.Result(), array, "tools"))
}

// mirrorable takes down which arguments of a tool headers repeat, and reports
// whether the tool is valid.
func (l *link) mirrorable(tool []byte) bool {
	b := l.session.backend
	name, _ := wire.Text(tool, "name")
	params, err := mirror.ParseParams(wire.Get(tool, "inputSchema"))
	if err == nil {
		b.mirrors.set(name, params)
		return true
	}
	if b.mirrors.refuse(name) {
		b.log.Warn("tool left out: its x-mcp-header is invalid", "tool", name, "err", err)
	}
	return false
}
