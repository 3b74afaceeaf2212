package front

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const (
	readHeaderTimeout = 10 * time.Second
	idleConnTimeout   = 2 * time.Minute
)

// HTTP serves clients over streamable HTTP, at /mcp and /mcp/{backend}, and when
// it is switched on over HTTP+SSE, at /sse and /sse/{backend}. It is one
// http.Handler for all, and must be closed.
type HTTP struct {
	o      Options
	log    *slog.Logger
	guard  guard
	open   bool // nobody has to tell who they are
	legacy *sessions
	modern *httpLegs
}

// NewHTTP returns a front for clients of relay over HTTP.
func NewHTTP(relay Relay, o Options, log *slog.Logger) *HTTP {
	h := &HTTP{o: o.withDefaults(), log: log, guard: newGuard(o.AllowedHosts, o.AllowedOrigins), open: o.Authenticate == nil}
	h.legacy = newSessions(relay, &h.o, log)
	h.modern = newHTTPLegs(relay, &h.o, log)
	return h
}

// visitor is who sent a request, and for which backend.
type visitor struct{ principal, route string }

// endpoint is what a path leads to.
type endpoint struct {
	sse   bool   // HTTP+SSE, else streamable HTTP
	route string // "" means all backends
}

// ServeHTTP serves one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // the server reads the body even of a request that is refused
		setReadDeadline(w, time.Now().Add(h.o.ReadTimeout))
	}
	if f := h.guard.check(w, r); f != nil {
		h.log.Warn("a request was refused", "why", f.err.Message, "host", r.Host, "origin", r.Header.Get("Origin"))
		h.refuse(w, r, f)
		return
	}
	to, ok := h.endpoint(r.URL.Path)
	api := h.ofAPI(r.URL.Path)
	switch {
	case !ok && !api && h.o.Other != nil:
		h.o.Other.ServeHTTP(w, r)
		return
	case (ok || api) && preflight(w, r):
		return
	}
	principal, known := h.o.Authenticate(r)
	switch {
	case !known:
		w.Header().Set("WWW-Authenticate", "Bearer")
		h.refuse(w, r, refused(http.StatusUnauthorized, reasonAuth, "authentication is required").
			hint("send the header Authorization: Bearer with a token of this gateway"))
	case api:
		h.serveAPI(w, r, principal)
	case !ok, to.sse && !h.o.SSE:
		refused(http.StatusNotFound, reasonHTTP, "there is nothing at this path").
			hint("the endpoint is /mcp, or /mcp/{backend} for one backend").send(w)
	case to.route != "" && !slices.Contains(h.o.Backends, to.route):
		refused(http.StatusNotFound, reasonHTTP, "there is no such backend").
			hint("the backends are: " + strings.Join(h.o.Backends, ", ")).send(w)
	case to.sse:
		h.legacy.serveSSE(w, r, visitor{principal, to.route})
	default:
		if f := h.serve(w, r, visitor{principal, to.route}); f != nil {
			f.send(w)
		}
	}
}

// serve serves one request of streamable HTTP, in the era that it speaks of.
func (h *HTTP) serve(w http.ResponseWriter, r *http.Request, v visitor) *refusal {
	switch {
	case r.Method == http.MethodPost:
		return h.post(w, r, v)
	case saysModern(r):
		return onlyPOST(w)
	}
	return h.legacy.serve(w, r, v)
}

// post takes the message of one POST. It is of the modern era when the header or
// the message says so; an array can only be told by the header.
//
// "A dual-era server MAY serve both eras concurrently on the same endpoint or
// process."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#compatibility-matrix
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, v visitor) *refusal {
	if f := isJSON(r); f != nil {
		return f
	}
	body, f := readBody(w, r, h.o.MaxBody)
	if f != nil {
		return f
	}
	modern := saysModern(r)
	if !modern && wire.IsBatch(body) {
		return h.legacy.postBatch(w, r, v, body)
	}
	m, err := wire.Parse(body)
	switch {
	case err != nil:
		return unparsed(err)
	case modern || wire.IsModern(m):
		return h.modern.post(w, r, v, m)
	}
	return h.legacy.post(w, r, v, m)
}

// setReadDeadline bounds how long the client may take to send its body. Where the
// connection has no deadlines, it has another owner who must see to that.
func setReadDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(t)
}

// endpoint reads a path.
func (h *HTTP) endpoint(path string) (endpoint, bool) {
	base, route, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch base {
	case "mcp":
		return endpoint{route: route}, true
	case "sse":
		return endpoint{sse: true, route: route}, true
	}
	return endpoint{}, false
}

// Serve serves the connections of ln until ctx ends, and then waits at most
// drain for the calls in progress. It closes ln and h, and returns nil when ctx
// was the reason to stop.
func (h *HTTP) Serve(ctx context.Context, ln net.Listener, drain time.Duration) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		WriteTimeout:      h.o.ReadTimeout + h.o.WriteTimeout, // where nothing sets a deadline of its own
		IdleTimeout:       idleConnTimeout,
		MaxHeaderBytes:    h.o.MaxHeader,
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	var err error
	select {
	case err = <-served:
		err = fmt.Errorf("serving %v: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	h.Close(stop)
	// All streams have ended. Whoever does not take what is left is cut.
	flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.o.LeaveGrace)
	defer cancel()
	if server.Shutdown(flush) != nil {
		server.Close()
	}
	if err == nil {
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = fmt.Errorf("serving %v: %w", ln.Addr(), e)
		}
	}
	return err
}

// Close drains the front: there are no new sessions, calls and legs, those in
// progress may finish until ctx ends. Then every session and leg ends; a
// subscriptions/listen ends as soon as no other leg is left. Close returns when the
// relay is done with all of them; connections may still be sending what they have.
func (h *HTTP) Close(ctx context.Context) {
	h.modern.drain(stopping())
	h.legacy.close(ctx)
	h.modern.close(ctx)
	if h.o.API != nil {
		h.o.API.Close()
	}
}
