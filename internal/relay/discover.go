package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// discover tells a modern client what is behind this route.
//
// "Servers MUST implement it."
// https://modelcontextprotocol.io/specification/2026-07-28/server/discover
func (s *session) discover(ctx context.Context, x *exchange) (wire.Message, *route, error) {
	id := x.request.ID()
	if s.via == nil {
		s.catalogue.await(ctx)
		result := wire.Drop(wire.Drop(s.catalogue.describe(), "protocolVersion"), "serverInfo")
		return wire.NewResult(id, s.advertise(discovered(result, s.relay.serverInfo()))), nil, nil
	}
	hello, err := s.via.back.Connect(ctx)
	if err != nil {
		return wire.Message{}, s.via, err
	}
	if s.via.back.Modern() {
		resp, err := s.via.work(ctx, x, x.request, s.via.back)
		resp = spoken(resp)
		if resp.Kind() == wire.Result {
			resp = resp.WithResult(s.advertise(resp.Result()))
		}
		return resp, s.via, err
	}
	result := wire.Drop(wire.Drop(hello, "protocolVersion"), "serverInfo")
	return wire.NewResult(id, s.advertise(discovered(result, wire.Get(hello, "serverInfo")))), s.via, nil
}

// discovered makes a DiscoverResult out of an InitializeResult.
func discovered(result, server []byte) []byte {
	result = wire.Set(result, supported(), "supportedVersions")
	result = wire.Drop(result, "capabilities", "tasks")
	result = wire.Drop(result, "capabilities", "extensions", wire.ExtensionTasks)
	return complete("server/discover", result, server)
}

// spoken puts the revisions in which this gateway can be spoken to in the place of
// those of the backend behind it: it is the gateway that the client speaks to.
func spoken(resp wire.Message) wire.Message {
	if resp.Kind() != wire.Result {
		return resp
	}
	return resp.WithResult(wire.Set(resp.Result(), supported(), "supportedVersions"))
}

func supported() []byte {
	b, err := json.Marshal(wire.Supported())
	if err != nil {
		panic(fmt.Sprintf("relay: revisions do not marshal: %v", err))
	}
	return b
}

// serverInfo is what a catalogue says that it is.
func (r *Relay) serverInfo() []byte {
	return fmt.Appendf(nil, `{"name":"beckon","title":"Beckon","version":%s}`, wire.Quote(r.opts.Version))
}

// await connects the backends that are not, and waits for them for a while: long
// for those that were never tried, and hardly for those that failed before.
func (c *catalogue) await(ctx context.Context) {
	var attempts []*attempt
	for _, r := range c.session.routes {
		if r.back.Result() != nil {
			continue
		}
		wait := retryWait
		if !r.tried() {
			wait = c.session.relay.opts.OpenWait
		}
		attempts = append(attempts, c.connect(r, wait))
	}
	for _, a := range attempts {
		patience := time.NewTimer(time.Until(a.until))
		select {
		case <-a.over:
		case <-patience.C:
		case <-ctx.Done():
		}
		patience.Stop()
	}
}

// tried reports whether an attempt to connect was made before.
func (r *route) tried() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.attempt != nil
}
