package relay

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/park"
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

	// Passed is told of a question that passes between two of the modern era, or of
	// the answer to one, which the broker does not see.
	Passed(p Passing)
}

// Policy is what the operator wants done with the forms of one backend. The zero
// Policy looks at no answer, and leaves the terms of forms to the broker.
type Policy struct {
	Validate input.Validation // what becomes of answers that do not fit its schemas
	Terms    form.Terms       // of forms that do not say themselves
}

// Options are what a Relay is made of.
type Options struct {
	Backends    []*back.Backend     // in the order of precedence
	Broker      *input.Broker       // admits and ends what is asked; needed
	Prefix      Prefix              // the zero value means auto
	Off         map[input.Kind]bool // kinds that backends are not offered
	TimeoutCode int                 // JSON-RPC code of an input timeout; 0 means -32000
	OpenWait    time.Duration       // how long a catalogue waits for slow backends at the start of a session; 0 means 5 s
	ListWait    time.Duration       // how long a list waits for one backend; 0 means 10 s
	Version     string              // of the gateway, for serverInfo
	Forms       map[string]Policy   // by backend: what its forms are about; may be nil

	// For modern clients.
	Park         park.Options  // calls that wait for their client
	MaxSessions  int           // sets of principal, route and capabilities that are served at once; 0 means 1000
	SessionIdle  time.Duration // how long backends are kept for one of those; 0 means 30 min
	InstanceIdle time.Duration // how long an instance beyond the first is kept; 0 means 1 min

	Observer Observer // needed
}

// Relay opens the sessions of legacy clients and answers the requests of modern
// ones. It must be closed. Its methods are safe for concurrent use.
type Relay struct {
	opts     Options
	log      *slog.Logger
	lot      *park.Lot
	profiles *profiles
}

// New returns a relay over the given backends.
func New(opts Options, log *slog.Logger) (*Relay, error) {
	if opts.Prefix == "" {
		opts.Prefix = PrefixAuto
	}
	if opts.OpenWait == 0 {
		opts.OpenWait = 5 * time.Second
	}
	if opts.ListWait == 0 {
		opts.ListWait = 10 * time.Second
	}
	opts.MaxSessions = cmp.Or(opts.MaxSessions, 1000)
	opts.SessionIdle = cmp.Or(opts.SessionIdle, 30*time.Minute)
	opts.InstanceIdle = cmp.Or(opts.InstanceIdle, time.Minute)
	lot, err := park.New(opts.Park, log)
	if err != nil {
		return nil, fmt.Errorf("parking: %w", err)
	}
	r := &Relay{opts: opts, log: log, lot: lot}
	r.profiles = newProfiles(r)
	return r, nil
}

// Parked returns how many calls wait for their clients.
func (r *Relay) Parked() int { return r.lot.Parked() }

// Close ends the calls that are parked and the sessions of modern clients. Serving
// must have ended.
func (r *Relay) Close() {
	r.lot.Close()
	r.profiles.close()
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
	s.log.Info("session opened", "era", "legacy", "transport", c.Transport, "route", c.Route,
		"form", s.caps.Form, "url", s.caps.URL, "sampling", s.caps.Sampling, "roots", s.caps.Roots)
	return s, wire.NewResult(initialize.ID(), s.advertise(result))
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
		hello:     back.Hello{Params: p},
		caps:      wire.ParseClientCaps(wire.Get(p, "capabilities")),
		log:       r.log.With("session", c.ID, "principal", c.Principal),
		progress:  make(map[string]progress),
		news:      &outbox{to: c},
	}
	s.declares = declares(s.caps)
	if err := s.begin(c.Route); err != nil {
		return nil, err
	}
	return s, nil
}

// begin gives s its routes: to the backend that the client wants alone, or to all.
func (s *session) begin(wanted string) *wire.Error {
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	for _, b := range s.relay.opts.Backends {
		if wanted == "" || wanted == b.Name {
			s.routes = append(s.routes, newRoute(s, b))
		}
	}
	prefix := s.relay.opts.Prefix
	switch {
	case len(s.routes) == 0:
		return wire.Errorf(wire.ReasonUnknown, "there is no backend %q", wanted)
	case wanted != "", len(s.routes) == 1 && prefix != PrefixAlways:
		s.via = s.routes[0]
	default:
		s.catalogue = newCatalogue(s)
	}
	return nil
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
