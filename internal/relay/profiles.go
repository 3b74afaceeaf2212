package relay

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// profiles are the sessions of modern clients. Their requests say each time who
// they are and what they can be asked; those that say the same share a session,
// because backends of the legacy era learn that once. No two principals do.
type profiles struct {
	relay *Relay
	ends  sync.WaitGroup // of sessions

	// mu guards the fields below, and session.users, session.used and session.idle.
	mu     sync.Mutex
	open   map[profile]*session
	spelt  map[profile]*session // the same by how clients spell their capabilities; some of them
	closed bool
}

// profile is what the requests of one session have in common.
type profile struct {
	principal string
	route     string // as in front.Leg
	caps      string // canonical; in profiles.spelt as they came
}

const (
	// maxSpellings and maxSpelling bound which spellings of capabilities are known
	// without looking into them: how many, and how many bytes each may have.
	maxSpellings = 10_000
	maxSpelling  = 4 << 10
	// maxCaps is how many bytes of capabilities are looked into.
	maxCaps = 64 << 10
)

func newProfiles(r *Relay) *profiles {
	return &profiles{relay: r, open: make(map[profile]*session), spelt: make(map[profile]*session)}
}

// enter returns the session for a request. The caller uses it, and must leave.
func (p *profiles) enter(l *front.Leg) (*session, *wire.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, wire.Errorf(wire.ReasonStopping, "the gateway is shutting down")
	}
	as := profile{l.Principal, l.Route, string(l.Meta.Caps.Raw)}
	if s := p.spelt[as]; s != nil {
		s.users++
		return s, nil
	}
	s, err := p.enterNewLocked(l)
	if err != nil {
		return nil, err
	}
	if len(p.spelt) >= maxSpellings {
		clear(p.spelt)
	}
	if len(as.caps) <= maxSpelling {
		p.spelt[as] = s
	}
	s.users++
	return s, nil
}

// enterNewLocked finds or makes the session for a request by what its capabilities
// mean.
func (p *profiles) enterNewLocked(l *front.Leg) (*session, *wire.Error) {
	if len(l.Meta.Caps.Raw) > maxCaps {
		return nil, wire.Errorf(wire.ReasonParams, "the client's capabilities are too long").With("limitBytes", maxCaps).
			Hint("declare what the client can be asked, and nothing else")
	}
	caps := p.relay.bridged(l.Meta.Caps.Raw)
	key := profile{l.Principal, l.Route, string(wire.Canonical(caps))}
	s := p.open[key]
	if s == nil {
		if err := p.makeRoomLocked(); err != nil {
			return nil, err
		}
		var err *wire.Error
		if s, err = p.relay.profileSession(l, key, caps); err != nil {
			return nil, err
		}
		s.idle = time.AfterFunc(p.relay.opts.SessionIdle, func() { p.doze(s) })
		p.open[key] = s
	}
	return s, nil
}

// retain is one more use of a session that may have ended.
func (p *profiles) retain(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[s.profile] != s {
		return false
	}
	s.users++
	return true
}

// leave ends one use of a session.
func (p *profiles) leave(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	s.used = time.Now()
}

// makeRoomLocked lets the session go that was not used for longest, when there are
// as many as there may be.
func (p *profiles) makeRoomLocked() *wire.Error {
	limit := p.relay.opts.MaxSessions
	if len(p.open) < limit {
		return nil
	}
	var oldest *session
	for _, s := range p.open {
		if s.users == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if oldest == nil {
		return wire.Errorf(wire.ReasonLimit, "too many clients with different capabilities are served at once").
			With("limit", limit).Hint("try again later, or raise the limit")
	}
	p.endLocked(oldest)
	return nil
}

// doze ends a session that nobody uses, or looks again later.
func (p *profiles) doze(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[s.profile] != s {
		return
	}
	if s.users > 0 {
		s.used = time.Now()
	}
	if rest := time.Until(s.used.Add(p.relay.opts.SessionIdle)); rest > 0 {
		s.idle.Reset(rest)
		return
	}
	p.endLocked(s)
}

func (p *profiles) endLocked(s *session) {
	delete(p.open, s.profile)
	maps.DeleteFunc(p.spelt, func(_ profile, of *session) bool { return of == s })
	s.idle.Stop()
	p.ends.Go(s.Close)
}

// close ends all sessions. Nobody must use one any more.
func (p *profiles) close() {
	p.mu.Lock()
	p.closed = true
	for _, s := range p.open {
		p.endLocked(s)
	}
	p.mu.Unlock()
	p.ends.Wait()
}

// profileSession makes the session for requests like l, which is not connected
// yet. Toward legacy backends it stands for a client that shook hands.
func (r *Relay) profileSession(l *front.Leg, key profile, caps []byte) (*session, *wire.Error) {
	info := l.Meta.ClientInfo
	if info == nil {
		info = fmt.Appendf(nil, `{"name":"beckon","version":%s}`, wire.Quote(r.opts.Version))
	}
	id := rand.Text()
	s := &session{
		relay:     r,
		id:        id,
		principal: l.Principal,
		profile:   key,
		revision:  wire.Latest,
		hello: back.Hello{Modern: true, Params: fmt.Appendf(nil, `{"protocolVersion":"%s","capabilities":%s,"clientInfo":%s}`,
			wire.Latest, caps, info)},
		caps:     wire.ParseClientCaps(caps),
		log:      r.log.With("session", id, "principal", l.Principal),
		progress: make(map[string]progress),
		used:     time.Now(),
	}
	s.declares = declares(s.caps)
	s.listeners = newListeners(&s.visits)
	s.asker = s.listeners
	if err := s.begin(l.Route); err != nil {
		return nil, err
	}
	for _, route := range s.routes {
		// A backend learns it when it is connected.
		_ = route.back.Notify(context.Background(), initialized())
	}
	if s.catalogue != nil {
		close(s.catalogue.opened)
		s.catalogue.initialized()
	}
	s.log.Info("session opened", "era", "modern", "transport", l.Transport, "route", l.Route,
		"form", s.caps.Form, "url", s.caps.URL, "sampling", s.caps.Sampling, "roots", s.caps.Roots)
	return s, nil
}

// initialized is what a client says behind its handshake.
func initialized() wire.Message { return wire.NewNotification("notifications/initialized", nil) }

// bridged is what a legacy backend may hear of the capabilities of a modern client:
// without what is switched off here, and what cannot be carried between the eras.
// That is listChanged of roots, whose notification the modern era does not know,
// and tasks, which are others in each. What is null, as some encoders write what is
// not there, or otherwise no object, is not declared.
func (r *Relay) bridged(caps []byte) []byte {
	out := []byte(`{}`)
	for name, value := range wire.Members(caps) {
		switch {
		case name == "tasks", value[0] != '{':
			continue
		case name == "roots":
			value = []byte(`{}`)
		case name == "extensions":
			value = wire.Drop(value, wire.ExtensionTasks)
		}
		out = wire.Set(out, value, name)
	}
	return wire.Get(r.offer(fmt.Appendf(nil, `{"capabilities":%s}`, out)), "capabilities")
}
