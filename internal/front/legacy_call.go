package front

import (
	"bytes"
	"context"
	"sync"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Call is one request of a legacy client in progress. It is an [Asker] by the
// stream on which its response goes: that of the POST, or the one that the
// session has.
type Call struct {
	client  *Client
	request wire.Message
	stream  *stream
	batch   *batch // nil when the request came alone
	ctx     context.Context
	cancel  context.CancelCauseFunc

	before <-chan struct{} // closed when the relay has taken the notifications before the request; nil for none

	cancelled bool // guarded by client.mu; the client wants no response
	over      bool // guarded by client.mu; the response is known
}

// Request returns the request as the client sent it.
func (call *Call) Request() wire.Message { return call.request }

// Client returns the client that sent the request.
func (call *Call) Client() *Client { return call.client }

// Offer asks the client on the stream of the call.
func (call *Call) Offer(r *input.Request) { call.client.offer(r, call) }

// Retract takes back what Offer asked.
func (call *Call) Retract(r *input.Request, why string) { call.client.Retract(r, why) }

// Notify sends a notification that belongs to the call. It is dropped when the
// call is over, and goes on the stream of the session when that of the call can
// carry nothing but the response.
func (call *Call) Notify(m wire.Message) {
	call.client.mu.Lock()
	over := call.over || call.cancelled
	call.client.mu.Unlock()
	switch {
	case over:
	case call.stream.mute:
		call.client.Notify(m)
	default:
		call.stream.send(m.Raw())
	}
}

// begin registers a call whose response goes on s, or into b. The caller must run
// it.
func (c *Client) begin(m wire.Message, s *stream, b *batch) (*Call, *wire.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.admit(m); err != nil {
		return nil, err
	}
	call := &Call{client: c, request: m, stream: s, batch: b, before: c.notes.taken}
	call.ctx, call.cancel = context.WithCancelCause(c.ctx)
	c.calls[m.ID()] = call
	c.tasks.Add(1)
	c.listens = true
	c.arrived()
	return call, nil
}

// uses reports whether a call with this id is in progress.
func (c *Client) uses(id wire.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[id] != nil
}

// admit tells why a request cannot begin now. c.mu is held.
func (c *Client) admit(m wire.Message) *wire.Error {
	switch {
	case c.state == stateClosed:
		return c.ended
	case c.drained != nil:
		return stopping()
	case c.state == stateFresh:
		return invalid("the session is not initialized").Hint("send initialize first, and wait for its response")
	case c.calls[m.ID()] != nil:
		return inUse()
	case len(c.calls) >= c.o.MaxCalls:
		return wire.Errorf(wire.ReasonLimit, "too many requests of this session are in progress").
			With("limit", c.o.MaxCalls).Hint("wait for one of them, or cancel it")
	}
	return nil
}

func inUse() *wire.Error {
	return invalid("a request with this id is in progress").Hint("give each request an id of its own")
}

func stopping() *wire.Error {
	return wire.Errorf(wire.ReasonStopping, "the gateway is shutting down")
}

// run serves the call, behind the notifications that came before it.
func (call *Call) run() {
	defer call.client.tasks.Done()
	var response wire.Message
	defer func() { call.finish(response) }() // even when the relay panics
	if call.before != nil {
		select {
		case <-call.before:
		case <-call.ctx.Done():
		}
	}
	if session := call.client.ready(call.ctx); session != nil {
		response = session.Serve(call.ctx, call)
	} else {
		response = wire.NewFailure(call.request.ID(), invalid("the session could not be initialized"))
	}
}

// finish ends the call. The id is free again before the client can have seen the
// response; there is none when the client cancelled the call.
func (call *Call) finish(response wire.Message) {
	c := call.client
	c.mu.Lock()
	delete(c.calls, call.request.ID())
	call.over = true
	cancelled, ended := call.cancelled, c.ended
	c.settleLocked()
	c.mu.Unlock()
	call.cancel(nil)
	switch {
	case cancelled:
		reply(call.stream, call.batch, nil)
		return
	case ended != nil:
		response = wire.NewFailure(call.request.ID(), ended)
	case !response.IsResponse():
		c.log.Error("the relay gave no response", "method", call.request.Method())
		response = wire.NewFailure(call.request.ID(), wire.Errorf(wire.ReasonInternal, "internal error"))
	}
	reply(call.stream, call.batch, response.Raw())
}

// reply ends a request toward the client: on s, or into b when there is one. nil
// means without a response.
func reply(s *stream, b *batch, raw []byte) {
	switch {
	case b != nil:
		b.done(raw)
	case raw != nil:
		s.finish(raw)
	case s.kind == answer:
		s.end()
	}
}

// cancelled ends the call that the client cancels.
//
// "Receivers of cancellation notifications SHOULD: Stop processing the cancelled
// request. Free associated resources. Not send a response for the cancelled
// request."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements
//
// A client may only cancel requests of its own. Some name a question of ours
// instead of answering it; that is the person's cancel.
func (c *Client) cancelled(m wire.Message) {
	id, _ := wire.ParseID(wire.Get(m.Params(), "requestId"))
	c.mu.Lock()
	call := c.calls[id]
	var a *ask
	if call != nil {
		call.cancelled = true
	} else {
		a = c.asks.take(id)
	}
	c.mu.Unlock()
	switch {
	case call != nil:
		call.cancel(&Cancelled{m}) // only the first cause counts
	case a != nil:
		a.request.Dismiss()
	}
}

// batch collects the responses to the requests of one JSON array, which go out as
// one array when the last is there.
type batch struct {
	s *stream

	mu      sync.Mutex // guards the fields below
	left    int        // responses that are not known, and one until all requests have begun
	replies [][]byte
}

// done adds a response; nil means that there is none.
func (b *batch) done(raw []byte) {
	b.mu.Lock()
	if raw != nil {
		b.replies = append(b.replies, line(raw))
	}
	b.left--
	last := b.left == 0
	b.mu.Unlock()
	switch {
	case !last:
	case len(b.replies) > 0:
		b.s.finish(append(append([]byte{'['}, bytes.Join(b.replies, []byte{','})...), ']'))
	case b.s.kind == answer:
		b.s.end()
	}
}
