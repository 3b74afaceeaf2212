package front

import (
	"context"
	"log/slog"
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// pipeLegs are the requests of a modern client on stdio, where they share one
// stream with each other and with the session of a legacy client.
type pipeLegs struct {
	*legs
	o      *Options
	stream *stream

	idMu sync.Mutex // guards the field below; no other is taken while it is held
	byID map[wire.ID]*pipeLeg
}

// pipeLeg is a leg that its client can cancel by its id.
type pipeLeg struct {
	Leg
	cancel context.CancelCauseFunc
}

func newPipeLegs(relay Relay, o *Options, log *slog.Logger, s *stream) *pipeLegs {
	return &pipeLegs{legs: newLegs(relay, log), o: o, stream: s, byID: make(map[wire.ID]*pipeLeg)}
}

// uses reports whether a leg with this id is in progress.
func (p *pipeLegs) uses(id wire.ID) bool {
	p.idMu.Lock()
	defer p.idMu.Unlock()
	return p.byID[id] != nil
}

// request takes one request, whose id nothing else on the pipe may have.
func (p *pipeLegs) request(m wire.Message) *wire.Error {
	meta := wire.ParseMeta(m.Params())
	if err := meta.Complete(); err != nil {
		return err
	}
	if err := spoken(meta.Revision); err != nil {
		return err
	}
	if err := p.begin(m, p.o.MaxCalls); err != nil {
		return err
	}
	leg := &pipeLeg{Leg: Leg{
		Principal: anyone, Transport: TransportStdio,
		Meta: meta, request: m, stream: p.stream,
	}}
	ctx, cancel := context.WithCancelCause(p.ctx)
	leg.cancel, leg.part.done = cancel, ctx.Done()
	p.idMu.Lock()
	p.byID[m.ID()] = leg
	p.idMu.Unlock()
	go p.answer(ctx, &leg.Leg, func(response wire.Message) { // legs.stop waits for it
		p.finish(ctx, leg, response)
	})
	return nil
}

// finish ends a leg. The id is free again before the client can have seen the
// response. What the relay says when the client has closed its end meanwhile does
// not count.
func (p *pipeLegs) finish(ctx context.Context, leg *pipeLeg, response wire.Message) {
	p.forget(leg)
	p.end(leg.request)
	if e := endOf(ctx); ctx.Err() != nil && e.Reason == wire.ReasonClientGone {
		response = wire.NewFailure(leg.request.ID(), e.Modern())
	}
	leg.cancel(nil)
	leg.finish(response)
}

// forget frees the id of a leg.
func (p *pipeLegs) forget(leg *pipeLeg) {
	p.idMu.Lock()
	defer p.idMu.Unlock()
	if p.byID[leg.request.ID()] == leg {
		delete(p.byID, leg.request.ID())
	}
}

// cancelled ends the leg that the client cancels, and reports false when there is
// none with that id.
//
// "To cancel an in-flight request, the client MUST send a notifications/cancelled
// notification referencing the request's ID. […] Servers SHOULD stop work on a
// cancelled request as soon as practical and MUST NOT send any further messages for
// it."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#cancellation
func (p *pipeLegs) cancelled(m wire.Message) bool {
	id, _ := wire.ParseID(wire.Get(m.Params(), "requestId"))
	p.idMu.Lock()
	leg := p.byID[id]
	p.idMu.Unlock()
	if leg == nil {
		return false
	}
	leg.stream.dismiss(&leg.part)
	p.forget(leg)
	leg.cancel(&Cancelled{m})
	return true
}
