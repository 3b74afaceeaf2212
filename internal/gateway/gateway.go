package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/beckon-mcp/beckon/internal/api"
	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
)

// Gateway is one running Beckon.
type Gateway struct {
	config  config.Config
	log     *slog.Logger
	metrics *metrics
	audit   io.Closer // the audit file, or nil
	guard   *back.Guard
	dialers []io.Closer
	broker  *input.Broker
	feeds   *api.Feeds // of the broker, for those who follow a question over REST
	relay   *relay.Relay
}

// drain bounds how long calls in progress may go on once the gateway stops.
const drain = 10 * time.Second

// New makes a gateway out of a configuration. It starts nothing: backends start
// with the first session that needs them. Close it when it is no longer needed.
func New(cfg config.Config, version string, log *slog.Logger) (*Gateway, error) {
	m, err := newMetrics()
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	g := &Gateway{config: cfg, log: log, metrics: m, guard: back.NewGuard(log)}
	auditLog, err := g.openAudit()
	if err != nil {
		return nil, err
	}
	backends, err := g.backends()
	if err != nil {
		g.Close()
		return nil, err
	}
	record := audit{auditLog, cfg.Audit.Content == config.AuditFull}
	g.feeds = api.NewFeeds()
	g.broker = input.NewBroker(limits(cfg.Input, cfg.Forms), inputObservers{record, m, formLog{log}, g.feeds})
	g.relay, err = relay.New(relay.Options{
		Backends:    backends,
		Broker:      g.broker,
		Prefix:      relay.Prefix(cfg.Prefix),
		Off:         off(cfg.Input),
		TimeoutCode: timeoutCode(cfg.Input),
		Version:     version,
		Forms:       policies(cfg.Backends),
		Observer:    callObservers{record, m},
		Park:        parking(cfg.Park, m.park),
		MaxSessions: cfg.HTTP.MaxSessions,
		SessionIdle: cfg.HTTP.SessionIdle,
	}, log)
	if err != nil {
		g.Close()
		return nil, err
	}
	if err := m.watchParked(g.relay.Parked); err != nil {
		g.Close()
		return nil, err
	}
	for _, note := range cfg.Notes {
		log.Warn(note)
	}
	return g, nil
}

func (g *Gateway) openAudit() (*slog.Logger, error) {
	path := g.config.Audit.Path
	if path == "" {
		return g.log.With("audit", true), nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the audit file: %w", err)
	}
	g.audit = f
	return slog.New(slog.NewJSONHandler(f, nil)), nil
}

// ServeHTTP serves clients on ln until ctx ends, and then lets what is in
// progress finish for a moment.
func (g *Gateway) ServeHTTP(ctx context.Context, ln net.Listener) error {
	o := g.frontOptions()
	o.Other = g.operations(ctx)
	if g.config.API.Enabled {
		o.API = g.api(ctx)
	}
	h := front.NewHTTP(g.relay, o, g.log)
	if err := h.Serve(ctx, ln, drain); err != nil {
		return fmt.Errorf("serving on %s: %w", ln.Addr(), err)
	}
	return nil
}

// ServeStdio serves the one client at in and out until it leaves or ctx ends.
func (g *Gateway) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return front.ServeStdio(ctx, in, out, g.relay, g.frontOptions(), g.log)
}

// Close releases what the gateway holds. Serving must have ended.
func (g *Gateway) Close() error {
	if g.relay != nil {
		g.relay.Close()
	}
	if g.broker != nil {
		g.broker.Close()
	}
	g.guard.Close()
	var errs []error
	for _, d := range g.dialers {
		errs = append(errs, d.Close())
	}
	if g.audit != nil {
		errs = append(errs, g.audit.Close())
	}
	return errors.Join(append(errs, g.metrics.close(context.Background()))...)
}

// api serves questions over REST. Once ctx has ended it takes no more of them.
func (g *Gateway) api(ctx context.Context) *api.API {
	h := g.config.HTTP
	return api.New(g.broker, g.feeds, api.Options{
		MaxBody:      int(h.MaxBody),
		KeepAlive:    h.Keepalive,
		WriteTimeout: h.WriteTimeout,
		Origins:      h.AllowedOrigins,
		Stopping:     ctx.Done(),
	}, g.log)
}

// operations serves what operators look at: metrics and health. Once ctx has ended
// the gateway is alive, but not ready for more.
func (g *Gateway) operations(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	if g.config.Metrics.Enabled {
		mux.Handle("GET /metrics", g.metrics.handler())
	}
	ok := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, "the gateway is shutting down", http.StatusServiceUnavailable)
			return
		}
		ok(w, r)
	})
	return mux
}
