package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Root is the path under which everything is.
const Root = "/api/v1"

// Session is the name of the session that questions asked over REST belong to, for
// the record and where nobody has to tell who they are. No session of MCP is called
// so.
const Session = "rest"

// Options bound what callers may take. Each zero value means the default that its
// field names.
type Options struct {
	// MaxBody is the longest body, in bytes; 4 MiB by default. A longer one is refused
	// with 413.
	MaxBody int

	// MaxStreams is how many event streams may be open, and MaxStreamsOfOne how many
	// of one question; 1000 and 16 by default. More are refused with 429.
	MaxStreams, MaxStreamsOfOne int

	// KeepAlive is how long an event stream may be silent before a comment is sent;
	// 15 s by default.
	KeepAlive time.Duration

	// WriteTimeout is how long a caller may take to take one write; 30 s by default.
	WriteTimeout time.Duration

	// Origins are origins of web pages of somebody else that may call, beside the
	// gateway's own.
	Origins []string

	// Stopping is closed when the gateway begins to stop: from then on no question is
	// taken. Nil means never.
	Stopping <-chan struct{}
}

func (o Options) withDefaults() Options {
	o.MaxBody = cmp.Or(o.MaxBody, 4<<20)
	o.MaxStreams = cmp.Or(o.MaxStreams, 1000)
	o.MaxStreamsOfOne = cmp.Or(o.MaxStreamsOfOne, 16)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 30*time.Second)
	return o
}

// API serves questions over REST. Its methods are safe for concurrent use.
type API struct {
	broker *input.Broker
	feeds  *Feeds
	o      Options
	log    *slog.Logger
	cross  *http.CrossOriginProtection
	routes []route

	document func() []byte // [Document], made when it is first wanted

	closing chan struct{} // closed by Close
	once    sync.Once     // closes it
}

// New returns an API for the questions of broker, which must have feeds among its
// observers.
func New(broker *input.Broker, feeds *Feeds, o Options, log *slog.Logger) *API {
	a := &API{
		broker: broker, feeds: feeds, o: o.withDefaults(), log: log,
		cross: http.NewCrossOriginProtection(), routes: routes(), document: sync.OnceValue(Document),
		closing: make(chan struct{}),
	}
	for _, origin := range o.Origins {
		if err := a.cross.AddTrustedOrigin(origin); err != nil {
			log.Debug("an origin can only be trusted by the gateway itself", "origin", origin, "why", err)
		}
	}
	return a
}

// visit is one request, and who sent it.
type visit struct {
	w    http.ResponseWriter
	r    *http.Request
	who  input.Party
	id   string // of the question that the path names; "" when it names none
	body int    // how long the body may be, in bytes
}

// Serve serves one request of principal, "" where nobody has to tell who they are.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, principal string) {
	v := &visit{w: w, r: r, who: input.Party{Principal: principal, Session: Session}, body: a.o.MaxBody}
	h := w.Header()
	h.Set("Cache-Control", "no-store") // what is asked and answered is nobody else's business
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Header.Get("Origin") != "" {
		h.Add("Access-Control-Expose-Headers", "ETag, Location, Retry-After")
	}
	if err := a.crosses(r); err != nil {
		a.log.Warn("a request was refused", "why", "it comes from the page of another site", "origin", r.Header.Get("Origin"))
		v.refuse(fault(http.StatusForbidden, reasonOrigin, "requests from the web page of another site are not allowed").
			Hint("allow its origin in the configuration of the gateway (http.allowed_origins)"))
		return
	}
	serve, f := a.route(v)
	if f == nil {
		f = serve(a, v)
	}
	if f != nil {
		v.refuse(f)
	}
}

// crosses says why a request is refused that a browser sent for the page of another
// site. One that only looks is harmless as long as the page cannot read what comes;
// a request with an Origin is one that it may be able to.
func (a *API) crosses(r *http.Request) error {
	if r.Header.Get("Origin") != "" {
		strict := *r
		strict.Method = http.MethodPost
		r = &strict
	}
	return a.cross.Check(r)
}

// Refuse answers a request that is not let through, for the reason in err.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, status int, err *wire.Error) {
	v := &visit{w: w, r: r}
	v.refuse(&failure{status, err})
}

// stopping reports whether no question is taken any more.
func (a *API) stopping() bool {
	select {
	case <-a.o.Stopping:
		return true
	case <-a.closing:
		return true
	default:
		return false
	}
}

// Close withdraws the questions that were asked over REST, and ends the event
// streams once they have told of that. It does not wait for them.
func (a *API) Close() {
	a.once.Do(func() {
		for _, r := range a.feeds.asked() {
			r.Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonStopping, "the gateway is shutting down"))
		}
		close(a.closing)
	})
}
