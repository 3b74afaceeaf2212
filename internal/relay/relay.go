package relay

import (
	"context"
	"log/slog"
	"time"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Prefix says when names get the prefix of their backend.
type Prefix string

const (
	PrefixAuto   Prefix = "auto"   // when a route has more than one backend
	PrefixAlways Prefix = "always" // on every route over all backends
	PrefixNever  Prefix = "never"  // never; of equal names, that of the first backend counts
)

// Observer is told of each finished call, for metrics. It must not block.
type Observer interface {
	// Called is told of a call when its response is known, before the client is.
	Called(r Report)
}

// Options are what a Relay is made of.
type Options struct {
	Backends    []*back.Backend     // in the order of precedence
	Broker      *input.Broker       //
	Prefix      Prefix              // the zero value means auto
	Off         map[input.Kind]bool // kinds that backends are not offered
	TimeoutCode int                 // JSON-RPC code of an input timeout; 0 means -32000
	OpenWait    time.Duration       // how long a catalogue waits for slow backends at the start of a session; 0 means 5 s
	ListWait    time.Duration       // how long a list waits for one backend; 0 means 10 s
	Version     string              // of the gateway, for serverInfo
	Observer    Observer
}

// Relay opens client sessions. It is constant after [New] and safe for
// concurrent use.
type Relay struct {
	opts Options
	log  *slog.Logger
}

// New returns a relay over the given backends.
func New(opts Options, log *slog.Logger) *Relay {
	if opts.Prefix == "" {
		opts.Prefix = PrefixAuto
	}
	if opts.OpenWait == 0 {
		opts.OpenWait = 5 * time.Second
	}
	if opts.ListWait == 0 {
		opts.ListWait = 10 * time.Second
	}
	return &Relay{opts: opts, log: log}
}

// Backend reports whether there is a backend of that name.
func (r *Relay) Backend(name string) bool {
	for _, b := range r.opts.Backends {
		if b.Name == name {
			return true
		}
	}
	return false
}

// Open begins the session of a client.
func (r *Relay) Open(ctx context.Context, c *front.Client, initialize wire.Message) (front.Session, wire.Message) {
	s, err := r.newSession(c, initialize)
	if err != nil {
		return nil, wire.NewFailure(initialize.ID(), err)
	}
	result, err := s.open(ctx)
	if err != nil {
		s.Close()
		return nil, wire.NewFailure(initialize.ID(), err)
	}
	s.log.Info("session opened", "transport", c.Transport, "route", c.Route,
		"form", s.caps.Form, "url", s.caps.URL, "sampling", s.caps.Sampling, "roots", s.caps.Roots)
	return s, wire.NewResult(initialize.ID(), result)
}

func (r *Relay) newSession(c *front.Client, initialize wire.Message) (*session, *wire.Error) {
	p := initialize.Params()
	revision, ok := wire.Text(p, "protocolVersion")
	if !ok {
		return nil, wire.Errorf(wire.ReasonParams, "initialize needs protocolVersion, a string")
	}
	offered := wire.Negotiate(wire.Revision(revision))
	if string(offered) != revision {
		p = wire.Set(p, wire.Quote(string(offered)), "protocolVersion")
	}
	p = r.offer(p)
	s := &session{
		relay:     r,
		id:        c.ID,
		principal: c.Principal,
		asker:     c,
		revision:  offered,
		params:    p,
		caps:      wire.ParseClientCaps(wire.Get(p, "capabilities")),
		log:       r.log.With("session", c.ID, "principal", c.Principal),
		progress:  make(map[string]progress),
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	for _, b := range r.opts.Backends {
		if c.Route == "" || c.Route == b.Name {
			s.routes = append(s.routes, newRoute(s, b))
		}
	}
	switch {
	case len(s.routes) == 0:
		return nil, wire.Errorf(wire.ReasonUnknown, "there is no backend %q", c.Route)
	case c.Route != "", r.opts.Prefix == PrefixNever && len(s.routes) == 1, r.opts.Prefix == PrefixAuto && len(s.routes) == 1:
		s.via = s.routes[0]
	default:
		s.catalogue = newCatalogue(s)
	}
	return s, nil
}

// offer takes out of the client's capabilities what the gateway does not carry:
// what is switched off, and nothing else. A backend that may not ask is best
// told so.
func (r *Relay) offer(params []byte) []byte {
	if r.opts.Off[input.Form] {
		params = wire.Drop(params, "capabilities", "elicitation")
	}
	if r.opts.Off[input.Sampling] {
		params = wire.Drop(params, "capabilities", "sampling")
	}
	if r.opts.Off[input.Roots] {
		params = wire.Drop(params, "capabilities", "roots")
	}
	return params
}
