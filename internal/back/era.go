package back

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Era says in which era a backend is spoken to.
type Era string

// The values of [Options].Era.
const (
	EraAuto   Era = "auto"   // that of the client where the backend speaks it, else the other; found out by asking
	EraLegacy Era = "legacy" // always with a handshake; server/discover is never sent
	EraModern Era = "modern" // always without; initialize is never sent
)

// fact is what is known of a backend.
type fact uint8

const (
	unknown fact = iota
	yes
	no
)

// eras is what a backend is known to speak. That it does not speak one is
// believed only once it was found to speak the other: a backend that is broken
// refuses both.
type eras struct{ legacy, modern fact }

// order tells which eras to try for a client of the modern or the legacy era, the
// better one first; true is modern. An era that the backend is known not to speak
// comes last, for the day on which that has changed.
//
// "The era determination is a property of the server, not of an individual request.
// Clients SHOULD cache the result for the lifetime of the server process (stdio) or
// origin (HTTP), and MAY persist it across restarts of the same server
// configuration, re-probing if the cached assumption later fails."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
func (b *Backend) order(modern bool) []bool {
	switch b.opts.Era {
	case EraLegacy:
		return []bool{false}
	case EraModern:
		return []bool{true}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if modern && b.eras.modern == no || !modern && b.eras.legacy == no {
		modern = !modern
	}
	return []bool{modern, !modern}
}

// learn takes down that the backend speaks an era, and perhaps not the other.
func (b *Backend) learn(modern, only bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	spoken, other := &b.eras.legacy, &b.eras.modern
	if modern {
		spoken, other = other, spoken
	}
	*spoken = yes
	if only {
		*other = no
	}
}

// forget makes the next connection find out anew what the backend speaks.
func (b *Backend) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eras = eras{}
}

// probeLimit is how long server/discover may take over a pipe; 0 means as long as
// everything else. A backend that is known to be modern, or may be nothing else,
// has all the time: it only starts slowly.
//
// "The server returns any other error, or does not respond within a reasonable
// timeout: the server is legacy. Fall back to the initialize handshake."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility
func (b *Backend) probeLimit() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opts.Era == EraModern || b.eras.modern == yes {
		return 0
	}
	return b.opts.ProbeTimeout
}

// notSpoken is the error of a backend that does not speak the era in which it was
// addressed.
type notSpoken struct{ error }

func (n notSpoken) Unwrap() error { return n.error }

func isNotSpoken(err error) bool {
	_, ok := errors.AsType[notSpoken](err)
	return ok
}

// modernCode reports whether only a server of the modern era gives an error with
// this code.
func modernCode(code int) bool {
	return wire.CodeUnsupportedRevision <= code && code <= wire.CodeHeaderMismatch
}

// code returns the code of an error response, or 0.
func code(failure wire.Message) int {
	n, err := strconv.Atoi(string(wire.Get(failure.Error(), "code")))
	if err != nil {
		return 0
	}
	return n
}

// refusedInitialize is the error of a backend that answers initialize with an
// error. Some are what a modern server says:
//
// "the server rejects initialize with a JSON-RPC error; the exact code is
// implementation-defined (initialize is an unknown method and the request also
// lacks the required _meta fields). HTTP: the request is missing the required
// headers and is rejected per server validation with 400 Bad Request"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#compatibility-matrix
func refusedInitialize(failure wire.Message) error {
	err := fmt.Errorf("it refuses to initialize: %s", ErrorText(failure))
	switch c := code(failure); {
	case modernCode(c), c == wire.CodeMethodNotFound, c == wire.CodeInvalidParams:
		return notSpoken{err}
	}
	return err
}

// discover asks a modern backend what it is, and finds out by that whether it is
// one. A limit of 0 leaves the time to ctx.
func (l *link) discover(ctx context.Context, limit time.Duration) (result []byte, err error) {
	if l.legacyOnly() {
		return nil, notSpoken{errors.New("HTTP+SSE is a transport of the legacy era")}
	}
	probe := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		probe, cancel = context.WithTimeoutCause(ctx, limit, overdue("server/discover", limit))
		defer cancel()
	}
	params := wire.Set(nil, l.meta, "_meta")
	id := l.newID()
	c := newModernCall("server/discover", unheard{})
	c.probe = true
	resp, err := l.exchange(probe, id, c, wire.NewRequest(id, c.method, params))
	switch {
	case err == nil:
		return judge(resp)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case l.http == nil && limit > 0:
		return nil, notSpoken{err} // it is silent, or left: some do that when they do not know a request
	case l.http == nil:
		return nil, err
	}
	return nil, judgeRefusal(err)
}

func overdue(method string, limit time.Duration) error {
	return fmt.Errorf("it did not answer %s within %v", method, limit)
}

// judge tells from the response to server/discover whether the backend is modern.
// The list decides: some servers answer, and list nothing but legacy revisions.
//
// "The server returns a DiscoverResult: the server is modern. Select a mutually
// supported version from supportedVersions and continue. The server returns a
// recognized modern JSON-RPC error such as UnsupportedProtocolVersionError: the
// server is modern but does not support the requested version. Use one of the
// versions in its advertised supported list."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility
func judge(resp wire.Message) (result []byte, err error) {
	if resp.Kind() == wire.Result {
		if lists(wire.Get(resp.Result(), "supportedVersions"), wire.Modern()) {
			return resp.Result(), nil
		}
		return nil, notSpoken{errors.New("it lists no revision of the modern era that this gateway speaks")}
	}
	err = fmt.Errorf("it refuses server/discover: %s", ErrorText(resp))
	switch c := code(resp); {
	case c == wire.CodeUnsupportedRevision && lists(wire.Get(resp.Error(), "data", "supported"), wire.Legacy()):
		return nil, notSpoken{err}
	case modernCode(c):
		return nil, err
	}
	return nil, notSpoken{err}
}

// judgeRefusal tells the same from a POST that was not answered by a response.
//
// "If the body is empty or is not a recognized modern JSON-RPC error, fall back to
// initialize". Credentials that are refused and a server that fails say nothing of
// the era.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
func judgeRefusal(err error) error {
	if errors.Is(err, errNoMessage) {
		return notSpoken{err}
	}
	r, refused := errors.AsType[*refusal](err)
	switch {
	case !refused || r.credentials():
		return err
	case r.reply.Kind() == wire.Failure && modernCode(code(r.reply)):
		_, err = judge(r.reply)
		return err
	case passing(err):
		return err
	}
	return notSpoken{err}
}

// lists reports whether the array of revisions has one of those.
func lists(array []byte, those []wire.Revision) bool {
	for v := range wire.Elements(array) {
		if text, ok := wire.Text(v); ok && slices.Contains(those, wire.Revision(text)) {
			return true
		}
	}
	return false
}
