package gateway

import (
	"fmt"
	"io"
	"net/http"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/park"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// backends makes the configured backends, without those that are disabled.
func (g *Gateway) backends() ([]*back.Backend, error) {
	var all []*back.Backend
	for _, b := range g.config.Backends {
		if b.Disabled {
			continue
		}
		dialer, err := g.dialer(b)
		if err != nil {
			return nil, fmt.Errorf("backend %s: %w", b.Name, err)
		}
		if c, ok := dialer.(io.Closer); ok {
			g.dialers = append(g.dialers, c)
		}
		backend := back.New(b.Name, dialer, back.Options{
			ConnectTimeout: b.ConnectTimeout,
			ProbeTimeout:   b.ProbeTimeout,
			Era:            back.Era(b.Era),
			Noise:          func() { g.metrics.Noise(b.Name) },
		}, g.log)
		backend.CallTimeout = b.CallTimeout
		backend.Instances = b.Instances
		backend.InstanceWait = b.InstanceWait
		backend.SealState = b.SealRequestState
		all = append(all, backend)
	}
	return all, nil
}

func (g *Gateway) dialer(b config.Backend) (back.Dialer, error) {
	maxMessage := int(g.config.Limits.MaxMessage)
	if b.Command != "" {
		return back.NewChild(g.log, back.ChildOptions{
			Command:    back.Command{Command: b.Command, Args: b.Args, Env: reveal(b.Env), Dir: b.Cwd},
			Name:       b.Name,
			MaxMessage: maxMessage,
			StopGrace:  max(b.StopGrace, 1), // none at all is as short as can be; 0 would be the default
			Guard:      g.guard,
		}), nil
	}
	o := back.HTTPOptions{
		Name: b.Name, URL: b.URL.Reveal(), Header: http.Header{},
		ConnectTimeout: b.ConnectTimeout, MaxMessage: maxMessage,
	}
	for name, value := range reveal(b.Headers) {
		o.Header.Set(name, value)
	}
	switch b.Transport {
	case config.TransportHTTP:
		return back.NewHTTP(g.log, o)
	case config.TransportSSE:
		return back.NewSSE(g.log, o)
	}
	return back.NewAuto(g.log, o)
}

func reveal(secrets map[string]config.Secret) map[string]string {
	plain := make(map[string]string, len(secrets))
	for name, s := range secrets {
		plain[name] = s.Reveal()
	}
	return plain
}

// parking says how long and how many calls wait for their clients.
func parking(p config.Park, m park.Observer) park.Options {
	o := park.Options{
		TTL: p.TTL, MaxAge: p.MaxAge, Gather: p.Gather, Grace: p.Grace,
		MaxParked: p.MaxCalls, MaxPerPrincipal: p.MaxPerPrincipal, MaxKept: int(p.MaxKept),
		Observer: m,
	}
	if o.Grace == 0 {
		o.Grace = -1 // none at all; 0 would be the default
	}
	for _, key := range []config.Secret{p.Key, p.PreviousKey} {
		if key.Reveal() != "" {
			o.Keys = append(o.Keys, []byte(key.Reveal()))
		}
	}
	return o
}

// limits are what the broker admits.
func limits(in config.Input, f config.Forms) input.Limits {
	return input.Limits{
		Off:        off(in),
		Timeout:    in.Timeout,
		Total:      in.MaxConcurrent,
		PerSession: in.MaxPerSession,
		Rules: input.Rules{
			Check:     in.Check,
			Primitive: in.Profile == config.ProfileStrict20250618,
			Secrets:   in.Sensitive == config.SensitiveBlock,
		},
		Forms: forms(f),
	}
}

// forms are the bounds of the forms that Beckon owns.
func forms(f config.Forms) input.Forms {
	o := input.Forms{
		Terms: input.Terms{
			Timeout: f.Timeout, ExtensionAllowed: f.ExtensionAllowed, Extension: f.Extension,
			MaxExtensions: f.MaxExtensions, MaxTotal: f.MaxTotal, WarnBefore: f.WarnBefore, Attempts: f.Attempts,
		},
		PerPrincipal: f.MaxPerPrincipal, PerMinute: f.PerMinute, KeepEnded: f.KeepEnded, Loopback: f.LoopbackURLs,
	}
	if o.PerMinute == 0 {
		o.PerMinute = -1 // any number; 0 would be the default
	}
	if o.KeepEnded == 0 {
		o.KeepEnded = -1 // not at all; likewise
	}
	return o
}

// policies are what is done with the forms of each backend.
func policies(backends []config.Backend) map[string]relay.Policy {
	all := make(map[string]relay.Policy)
	for _, b := range backends {
		t := form.Terms{
			Timeout: b.Forms.Timeout, Extension: b.Forms.Extension, WarnBefore: b.Forms.WarnBefore, MaxAttempts: b.Forms.Attempts,
		}
		if b.Forms.MaxExtensions >= 0 {
			t.MaxExtensions = &b.Forms.MaxExtensions
		}
		all[b.Name] = relay.Policy{Validate: input.Validation(b.Validate), Terms: t}
	}
	return all
}

func off(in config.Input) map[input.Kind]bool {
	return map[input.Kind]bool{
		input.Form: !in.Elicitation, input.URL: !in.Elicitation,
		input.Sampling: !in.Sampling, input.Roots: !in.Roots,
	}
}

func timeoutCode(in config.Input) int {
	if in.ErrorProfile == config.ErrorsMCPSDK {
		return wire.CodeRequestTimeout
	}
	return 0
}

func (g *Gateway) frontOptions() front.Options {
	h, c := g.config.HTTP, g.config
	o := front.Options{
		MaxMessage:     int(c.Limits.MaxMessage),
		MaxBody:        int(h.MaxBody),
		MaxHeader:      int(h.MaxHeader),
		MaxCalls:       c.Limits.MaxConcurrentCallsPerSession,
		MaxSessions:    h.MaxSessions,
		MaxLegs:        h.MaxRequests,
		MaxKept:        h.ResumeEvents,
		MaxKeptBytes:   int(h.ResumeBytes),
		LeaveGrace:     h.LeaveGrace,
		KeepAlive:      h.Keepalive,
		WriteTimeout:   h.WriteTimeout,
		SessionIdle:    h.SessionIdle,
		SSE:            h.SSE,
		AllowedHosts:   h.AllowedHosts,
		AllowedOrigins: h.AllowedOrigins,
		Late:           func(*front.Client) { g.metrics.Late() },
	}
	for _, b := range c.Backends {
		if !b.Disabled {
			o.Backends = append(o.Backends, b.Name)
		}
	}
	if len(c.Auth.Tokens) > 0 {
		tokens := make(map[string]string, len(c.Auth.Tokens))
		for _, t := range c.Auth.Tokens {
			tokens[t.Token.Reveal()] = t.Principal
		}
		o.Authenticate = front.StaticTokens(tokens)
	}
	return o
}
