package relay

import (
	"context"
	"slices"
	"strconv"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// adapt gives the response of a legacy backend what a modern client expects.
func (r *route) adapt(method string, resp wire.Message) wire.Message {
	switch {
	case resp.Kind() == wire.Failure:
		return modernFailure(resp)
	case resp.Kind() != wire.Result || resp.Result()[0] != '{':
		return resp
	}
	result := resp.Result()
	if method == "tools/list" {
		result = withoutExecution(result)
	}
	return resp.WithResult(complete(method, result, wire.Get(r.back.Result(), "serverInfo")))
}

// modernFailure gives an error that only the legacy era knows the code that it has
// in the modern one. Every other error of a backend passes as it is.
//
// "-32002 — resource not found (2025-11-25 and earlier; replaced by -32602)."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
func modernFailure(resp wire.Message) wire.Message {
	if string(wire.Get(resp.Error(), "code")) != strconv.Itoa(wire.CodeResourceNotFound) {
		return resp
	}
	code := []byte(strconv.Itoa(wire.CodeInvalidParams))
	m, err := wire.Parse(wire.Set(resp.Raw(), code, "error", "code"))
	if err != nil {
		panic("relay: an error with another code does not parse: " + err.Error())
	}
	return m
}

// complete adds to a result what every one has in the modern era, unless it is
// there: its type, who says it, and for how long it may be kept, which for the
// result of a legacy server nobody knows. Its type is never another: a legacy server
// may have a member of that name, and does not mean by it that the client is to make
// the call again.
//
// "The result MUST include a resultType field to indicate the type of the result."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#resulttype
//
// "Servers SHOULD include the following io.modelcontextprotocol/* field in every
// result's _meta […] to identify themselves": io.modelcontextprotocol/serverInfo.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
//
// "Servers MUST include caching hints on results with resultType: "complete""
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-results
func complete(method string, result, server []byte) []byte {
	var kind, ttl, scope, meta bool
	for name, value := range wire.Members(result) {
		switch name {
		case "resultType":
			kind = string(value) == `"complete"`
		case "ttlMs":
			ttl = true
		case "cacheScope":
			scope = true
		case "_meta":
			meta = true
		}
	}
	if !kind {
		result = wire.Drop(result, "resultType")
	}
	if meta && server != nil && wire.Get(result, "_meta", wire.MetaServerInfo) == nil {
		result = wire.Set(result, server, "_meta", wire.MetaServerInfo)
	}
	var more []byte
	if !kind {
		more = append(more, `,"resultType":"complete"`...)
	}
	if cacheable(method) && !ttl {
		more = append(more, `,"ttlMs":0`...)
	}
	if cacheable(method) && !scope {
		more = append(more, `,"cacheScope":"private"`...)
	}
	if !meta && server != nil {
		more = append(append(append(more, `,"_meta":{"`+wire.MetaServerInfo+`":`...), server...), '}')
	}
	return extend(result, more)
}

// extend adds members, each with a comma before it, to the end of an object.
func extend(obj, members []byte) []byte {
	if len(members) == 0 {
		return obj
	}
	for range wire.Members(obj) {
		return slices.Concat(obj[:len(obj)-1], members, []byte("}"))
	}
	return slices.Concat([]byte("{"), members[1:], []byte("}"))
}

// cacheable reports whether results of a method carry caching hints.
func cacheable(method string) bool {
	switch method {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	}
	return false
}

// withoutExecution takes out of a list of tools how each may be run as a task of
// 2025-11-25, which no modern client can do.
func withoutExecution(result []byte) []byte {
	return edited(result, "tools", func(tool []byte) []byte { return wire.Drop(tool, "execution") })
}

// edited replaces the elements of an array in result that edit changes, and
// nothing else.
func edited(result []byte, member string, edit func([]byte) []byte) []byte {
	var all [][]byte
	changed := false
	for item := range wire.Elements(wire.Get(result, member)) {
		now := edit(item)
		changed = changed || len(now) != len(item)
		all = append(all, now)
	}
	if !changed {
		return result
	}
	return wire.Set(result, array(all), member)
}

// logged reports whether a client that wants messages from level on wants m.
//
// "The server MUST NOT emit notifications/message for a request that does not
// include this field."
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#per-request-log-level
func logged(m wire.Message, level string) bool {
	of, _ := wire.Text(m.Params(), "level")
	from := wire.Severity(level)
	return from >= 0 && wire.Severity(of) >= from
}

// setLevel sees to it that a legacy backend says what this call wants to hear. What
// other calls do not want is filtered on the way to them, so that the level is only
// ever raised.
func (r *route) setLevel(ctx context.Context, to *back.Session, level string) {
	want := wire.Severity(level)
	if want < 0 || !r.has("logging") {
		return
	}
	r.mu.Lock()
	have, known := r.levels[to]
	raise := !known || want < have
	if raise {
		r.levels[to] = want
	}
	r.mu.Unlock()
	if !raise {
		return
	}
	req := wire.NewRequest(wire.IntID(0), "logging/setLevel", wire.Set(nil, wire.Quote(level), "level"))
	if _, err := to.Call(ctx, req, newCaller(r, r.session.asker, wire.Message{})); err != nil {
		r.forgetLevel(to)
		r.session.log.Warn("log level not set", "backend", r.backend.Name, "err", err)
	}
}

// forgetLevel drops what is known of an instance: it ends, or was not told after all.
func (r *route) forgetLevel(s *back.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.levels, s)
}

// heard filters what is told during one leg that has no progress token at the backend.
type heard struct {
	front.Asker
	level string // "" for none
}

// Notify passes m unless it is a log message that the client does not want, or
// progress, which can only be about a token that nobody gave.
func (h heard) Notify(m wire.Message) {
	switch {
	case m.Method() == "notifications/progress":
	case m.Method() == "notifications/message" && !logged(m, h.level):
	default:
		h.Asker.Notify(m)
	}
}
