package front

import (
	"github.com/beckon-mcp/beckon/internal/wire"
)

// maxNotes is how many notifications of a client may wait for the relay. Then
// the client has to wait too.
const maxNotes = 64

// notes are the notifications of a client that the relay has not taken. The zero
// notes are none. Guarded by Client.mu.
type notes struct {
	queue []wire.Message
	taken chan struct{} // closed when the relay has taken all; nil when it has
	room  chan struct{} // closed when there is room again; nil when nobody waits
}

// receive takes one message of a client whose responses all go on s, and tells
// what became of it if it is a response itself.
func (c *Client) receive(m wire.Message, s *stream) fate {
	switch m.Kind() {
	case wire.Request:
		if err := c.request(m, s, nil); err != nil {
			s.finish(wire.NewFailure(m.ID(), err).Raw())
		}
	case wire.Notification:
		c.notified(m)
	default:
		return c.answer(m)
	}
	return settled
}

// request takes one request. Its response goes on s, or into b when there is one.
func (c *Client) request(m wire.Message, s *stream, b *batch) *wire.Error {
	switch {
	case b != nil && wire.IsModern(m):
		return invalid("a request of the modern era must not be part of a batch").Hint("send it on its own")
	case m.Method() == "ping":
		reply(s, b, pong(m).Raw())
		return nil
	case m.Method() == "initialize" && b != nil:
		return invalid("initialize must not be part of a batch")
	case m.Method() == "initialize":
		return c.initialize(m, s)
	}
	call, err := c.begin(m, s, b)
	if err == nil {
		go call.run() // Client.wait waits for it
	}
	return err
}

// pong answers a ping, at any time in the life of a session.
//
// "The receiver MUST respond promptly with an empty response"
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping#behavior-requirements
func pong(ping wire.Message) wire.Message { return wire.NewResult(ping.ID(), []byte("{}")) }

// receiveBatch takes the messages of one JSON array. The responses go on s as one
// array.
//
// "Implementations MAY support sending JSON-RPC batches, but MUST support
// receiving JSON-RPC batches."
// https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
func (c *Client) receiveBatch(batched []wire.Message, s *stream) {
	b := &batch{s: s, left: 1}
	for _, m := range batched {
		switch m.Kind() {
		case wire.Request:
			b.mu.Lock()
			b.left++
			b.mu.Unlock()
			if err := c.request(m, s, b); err != nil {
				b.done(wire.NewFailure(m.ID(), err).Raw())
			}
		case wire.Notification:
			c.notified(m)
		default:
			c.answer(m)
		}
	}
	b.done(nil)
}

// parseBatch reads a JSON array, in a session that may send one: only revision
// 2025-03-26 knows them.
func (c *Client) parseBatch(data []byte) ([]wire.Message, error) {
	if r := c.Revision(); r != wire.R20250326 {
		return nil, invalid("a batch is only known in revision %s", wire.R20250326).
			Hint("send each message on its own")
	}
	return wire.ParseBatch(data, c.o.MaxCalls)
}

// notified takes one notification. It waits while the relay is far behind.
func (c *Client) notified(m wire.Message) {
	if m.Method() == "notifications/cancelled" {
		c.cancelled(m)
		return
	}
	c.mu.Lock()
	for len(c.notes.queue) >= maxNotes && c.state != stateClosed {
		if c.notes.room == nil {
			c.notes.room = make(chan struct{})
		}
		room := c.notes.room
		c.mu.Unlock()
		select {
		case <-room:
		case <-c.ctx.Done():
		}
		c.mu.Lock()
	}
	defer c.mu.Unlock()
	switch {
	case c.state == stateClosed:
		return
	case c.state == stateFresh:
		c.log.Info("a notification before initialize was dropped", "method", m.Method())
		return
	}
	c.notes.queue = append(c.notes.queue, m)
	if c.notes.taken == nil {
		c.notes.taken = make(chan struct{})
		c.tasks.Go(c.relayNotes)
	}
	if m.Method() == "notifications/initialized" {
		c.listens = true
		c.arrived()
	}
}

// relayNotes hands the notifications to the relay, in order, until none is left.
func (c *Client) relayNotes() {
	session := c.ready(c.ctx)
	for {
		c.mu.Lock()
		queue := c.notes.queue
		c.notes.queue = nil
		if c.notes.room != nil {
			close(c.notes.room)
			c.notes.room = nil
		}
		if len(queue) == 0 || session == nil || c.ctx.Err() != nil {
			close(c.notes.taken)
			c.notes.taken = nil
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		for _, m := range queue {
			if c.ctx.Err() == nil {
				session.Notify(c.ctx, m)
			}
		}
	}
}
