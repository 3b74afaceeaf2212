package front

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerResume  = "Last-Event-Id"
)

// sessions are the legacy clients over HTTP, by the secrets that name them.
type sessions struct {
	relay Relay
	o     *Options
	log   *slog.Logger
	ends  sync.WaitGroup // of sessions

	mu       sync.Mutex // guards the fields below and those of session; taken before Client.mu
	open     map[string]*session
	draining bool
}

// session is a legacy client and what its use of HTTP needs.
type session struct {
	*Client
	secret string // the Mcp-Session-Id; whoever knows it and is the principal may use it

	// Guarded by sessions.mu.
	users int         // requests and streams in progress
	last  time.Time   // when it was last in use
	idle  *time.Timer // looks whether it is; nil for HTTP+SSE, where the stream is the session
}

func newSessions(relay Relay, o *Options, log *slog.Logger) *sessions {
	return &sessions{relay: relay, o: o, log: log, open: make(map[string]*session)}
}

// serve serves one request of streamable HTTP that is no POST.
func (h *sessions) serve(w http.ResponseWriter, r *http.Request, v visitor) *refusal {
	switch r.Method {
	case http.MethodGet:
		return h.get(w, r, v)
	case http.MethodDelete:
		return h.delete(w, r, v)
	}
	w.Header().Set("Allow", "GET, POST, DELETE")
	return refused(http.StatusMethodNotAllowed, reasonHTTP, "the method of the request is not allowed here").
		hint("send messages by POST, listen by GET, end a session by DELETE")
}

// admit makes a session that is not open yet. The caller uses it, and must leave.
func (h *sessions) admit(t Transport, v visitor) (*session, *refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.draining:
		return nil, unwelcome("", stopping())
	case len(h.open) >= h.o.MaxSessions:
		f := unwelcome("", wire.Errorf(wire.ReasonLimit, "too many sessions are open").
			With("limit", h.o.MaxSessions).Hint("try again later, or raise the limit"))
		f.status = http.StatusServiceUnavailable
		return nil, f
	}
	// "The session ID SHOULD be globally unique and cryptographically secure. The
	// session ID MUST only contain visible ASCII characters (ranging from 0x21 to
	// 0x7E)."
	// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
	s := &session{
		Client: newClient(h.relay, h.o, h.log, t, v.principal, v.route),
		secret: rand.Text(), // 26 characters of base32, 130 bits
		users:  1,
	}
	if t == TransportHTTP {
		s.idle = time.AfterFunc(h.o.SessionIdle, func() { h.doze(s) })
	}
	h.open[s.secret] = s
	return s, nil
}

// enter finds the session that a request names. The caller uses it, and must
// leave.
//
// "Servers that require a session ID SHOULD respond to requests without an
// MCP-Session-Id header (other than initialization) with HTTP 400 Bad Request.
// The server MAY terminate the session at any time, after which it MUST respond to
// requests containing that session ID with HTTP 404 Not Found."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
//
// The session of another principal, route or transport is as good as none.
func (h *sessions) enter(t Transport, secret string, v visitor) (*session, *refusal) {
	if secret == "" {
		return nil, refused(http.StatusBadRequest, reasonSession, "the request names no session").
			hint("send initialize first, and then the header Mcp-Session-Id of its response with every request")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.open[secret]
	if s == nil || s.Transport != t || s.Principal != v.principal || s.Route != v.route {
		return nil, noSession()
	}
	s.users++
	return s, nil
}

func noSession() *refusal {
	return refused(http.StatusNotFound, reasonSession, "there is no such session").
		hint("it may have ended: send initialize without Mcp-Session-Id")
}

// leave ends one use of a session.
func (h *sessions) leave(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.users--
	s.last = time.Now()
}

// find is enter for streamable HTTP, where each request tells the revision too.
func (h *sessions) find(r *http.Request, v visitor) (*session, *refusal) {
	s, f := h.enter(TransportHTTP, r.Header.Get(headerSession), v)
	if f != nil {
		return nil, f
	}
	if f := s.speaks(r); f != nil {
		h.leave(s)
		return nil, f
	}
	return s, nil
}

// speaks checks the revision of a request. Without a header it is the one that was
// negotiated, which is the "other way to identify the version".
//
// "If the server receives a request with an invalid or unsupported
// MCP-Protocol-Version, it MUST respond with 400 Bad Request."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
func (s *session) speaks(r *http.Request) *refusal {
	if f := knownVersion(r); f != nil {
		return f
	}
	said, agreed := wire.Revision(r.Header.Get(headerVersion)), s.Revision()
	if said != "" && agreed != "" && said != agreed {
		return refused(http.StatusBadRequest, reasonHTTP, "this session speaks revision %s, and MCP-Protocol-Version says another", agreed).
			hint("send the revision that the response to initialize told")
	}
	return nil
}

// knownVersion refuses a revision that nobody here speaks.
func knownVersion(r *http.Request) *refusal {
	said := wire.Revision(r.Header.Get(headerVersion))
	if said == "" || said.Known() {
		return nil
	}
	f := refused(http.StatusBadRequest, reasonHTTP, "the revision in MCP-Protocol-Version is not supported")
	f.err = f.err.With("supported", wire.Legacy())
	return f.hint("leave the header out, or send a supported revision")
}

// end ends a session, once, and does not wait for it.
func (h *sessions) end(s *session, why *wire.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[s.secret] != s {
		return
	}
	delete(h.open, s.secret)
	if s.idle != nil {
		s.idle.Stop()
	}
	h.ends.Go(func() {
		s.shut(why)
		s.wait()
		s.log.Info("a session ended", "why", why.Message)
	})
}

// doze ends a session that nobody uses, or looks again later.
func (h *sessions) doze(s *session) {
	h.mu.Lock()
	if s.users > 0 || s.busy() {
		s.last = time.Now()
	}
	rest := time.Until(s.last.Add(h.o.SessionIdle))
	over := rest <= 0
	if !over && h.open[s.secret] == s {
		s.idle.Reset(rest)
	}
	h.mu.Unlock()
	if over {
		h.end(s, wire.Errorf(wire.ReasonSessionExpired, "the session was not used for %v", h.o.SessionIdle))
	}
}

// close drains all sessions until ctx ends, ends them, and waits for that.
func (h *sessions) close(ctx context.Context) {
	h.mu.Lock()
	h.draining = true
	left := make([]*session, 0, len(h.open))
	for _, s := range h.open {
		left = append(left, s)
	}
	h.mu.Unlock()
	for _, s := range left {
		s.drain()
	}
	for _, s := range left {
		select {
		case <-s.drain():
		case <-ctx.Done():
		}
	}
	for _, s := range left {
		h.end(s, stopping())
	}
	h.ends.Wait()
}
