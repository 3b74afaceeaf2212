package front

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// ask is one open question to the client. Its fields are guarded by Client.mu.
type ask struct {
	id      wire.ID
	number  uint64
	request *input.Request
	text    []byte      // as the client gets it; nil once it is on a stream
	call    *Call       // that caused it; nil when none is known to
	at      *stream     // where it was put; nil as long as nobody would see it
	event   uint64      // its number there
	grace   *time.Timer // runs as long as nobody sees it; nil also while the session opens
}

// asks are the open questions of one session. The zero asks are none.
type asks struct {
	last      uint64 // number of the newest, so that it is known what was ever asked
	deaf      *wire.Error
	byID      map[wire.ID]*ask
	byRequest map[*input.Request]*ask
	unseen    map[*ask]struct{} // those that nobody sees now
}

// add gives a question, which reads like text, an id. It is a string, so that no client
// takes it for the id of a request of its own, which are numbers nearly everywhere.
func (q *asks) add(r *input.Request, text wire.Message, call *Call) *ask {
	if q.byID == nil {
		q.byID = make(map[wire.ID]*ask)
		q.byRequest = make(map[*input.Request]*ask)
		q.unseen = make(map[*ask]struct{})
	}
	q.last++
	a := &ask{
		id:      wire.ID(`"ask-` + strconv.FormatUint(q.last, 10) + `"`),
		number:  q.last,
		request: r,
		call:    call,
	}
	a.text = text.WithID(a.id).Raw()
	q.byID[a.id] = a
	q.byRequest[r] = a
	return a
}

// take removes the question with an id and returns it, or nil.
func (q *asks) take(id wire.ID) *ask {
	a := q.byID[id]
	if a != nil {
		q.calm(a)
		delete(q.byID, id)
		delete(q.byRequest, a.request)
	}
	return a
}

// asked reports whether a question with this id ever was.
func (q *asks) asked(id wire.ID) bool {
	digits, ok := strings.CutPrefix(string(id), `"ask-`)
	digits, closed := strings.CutSuffix(digits, `"`)
	n, err := strconv.ParseUint(digits, 10, 64)
	return ok && closed && err == nil && 0 < n && n <= q.last
}

// Offer asks the client something that belongs to no call.
func (c *Client) Offer(r *input.Request) { c.offer(r, nil) }

func (c *Client) offer(r *input.Request, call *Call) {
	text := r.Ask() // takes its time where the text has to be made
	c.mu.Lock()
	deaf := c.asks.deaf
	if deaf == nil {
		c.place(c.asks.add(r, text, call))
	}
	c.mu.Unlock()
	if deaf != nil {
		r.Withdraw(input.Abandoned, deaf)
	}
}

// Retract forgets r, and tells the client so unless it has not seen it.
//
// "When a party wants to cancel an in-progress request, it sends a
// notifications/cancelled notification containing: The ID of the request to
// cancel; An optional reason string that can be logged or displayed"
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#cancellation-flow
func (c *Client) Retract(r *input.Request, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.asks.byRequest[r]
	if a == nil {
		return
	}
	c.asks.take(a.id)
	if a.at == nil || a.at.withdraw(a.event) {
		return
	}
	s := a.at
	if a.call != nil && a.call.cancelled || !s.audible() {
		// The client may not look at that stream any more.
		s = cmp.Or(c.journal.audible(), s)
	}
	if s.over() {
		s = c.journal.session()
	}
	params := fmt.Appendf(nil, `{"requestId":%s,"reason":%s}`, a.id, wire.Quote(why))
	s.put(wire.NewNotification("notifications/cancelled", params).Raw(), true)
}

// fate is what became of a response of the client.
type fate uint8

const (
	settled fate = iota // it answered an open question
	late                // the question has ended
	stray               // there never was such a question
)

// answer takes a response of the client: a result, or an error, which is an
// answer too.
func (c *Client) answer(m wire.Message) fate {
	c.mu.Lock()
	a := c.asks.take(m.ID())
	asked := c.asks.asked(m.ID())
	c.mu.Unlock()
	switch {
	case a != nil && a.request.Settle(m):
		return settled
	case asked:
		c.log.Info("an answer came too late", "id", string(m.ID()))
		c.o.Late(c)
		return late
	}
	c.log.Warn("an answer came to a question that was never asked")
	c.o.Stray(c)
	return stray
}

// deafen withdraws every question, and those to come: the client cannot answer.
func (c *Client) deafen(why *wire.Error) {
	c.mu.Lock()
	if c.asks.deaf == nil {
		c.asks.deaf = why
	}
	left := sorted(maps.Values(c.asks.byID))
	c.mu.Unlock()
	for _, a := range left {
		a.request.Withdraw(input.Abandoned, why)
	}
}

// sorted returns questions in the order in which they were asked.
func sorted(list iter.Seq[*ask]) []*ask {
	return slices.SortedFunc(list, func(a, b *ask) int { return cmp.Compare(a.number, b.number) })
}

// arrived shows the questions that waited for a stream. c.mu is held.
func (c *Client) arrived() {
	if len(c.asks.unseen) == 0 || c.state == stateClosed {
		return
	}
	for _, a := range sorted(maps.Keys(c.asks.unseen)) {
		switch {
		case a.at == nil:
			c.place(a)
		case c.seen(a):
			c.asks.calm(a)
		}
	}
}

// departed begins to worry about the questions that nobody sees any more.
func (c *Client) departed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == stateClosed {
		return
	}
	for _, a := range c.asks.byID {
		if a.at != nil && !c.seen(a) {
			c.worry(a)
		}
	}
}

// seen reports whether the client sees a question that was put on a stream, or is
// about to. c.mu is held.
func (c *Client) seen(a *ask) bool {
	return a.at.audible() || a.at.sent(a.event) && c.journal.connected()
}

// place puts a question on the stream where the client sees it. When there is
// none it gets some time to appear. c.mu is held.
func (c *Client) place(a *ask) {
	var s *stream
	switch {
	case c.state == stateOpening || !c.listens:
		// "The server SHOULD NOT send requests other than pings and logging
		// before receiving the initialized notification."
		// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
	case a.call == nil || a.call.stream.mute:
		s = c.journal.audible()
	case a.call.stream.audible():
		s = a.call.stream
	}
	if s == nil {
		c.worry(a)
		return
	}
	c.show(a, s)
}

// show puts a question on s. c.mu is held.
func (c *Client) show(a *ask, s *stream) {
	c.asks.calm(a)
	a.at = s
	a.event = s.put(a.text, false)
	a.text = nil
}

// worry gives a question that nobody sees LeaveGrace; but as long as the session
// opens, the client cannot be there, and only the question's own deadline counts.
// c.mu is held.
func (c *Client) worry(a *ask) {
	c.asks.unseen[a] = struct{}{}
	if a.grace != nil || c.state == stateOpening {
		return
	}
	var t *time.Timer
	t = time.AfterFunc(c.o.LeaveGrace, func() { c.lose(a, &t) })
	a.grace = t
}

// calm ends the worry.
func (q *asks) calm(a *ask) {
	delete(q.unseen, a)
	if a.grace != nil {
		a.grace.Stop()
		a.grace = nil
	}
}

// lose ends the question that nobody can see, or shows it on another stream of
// the same client. timer is the one that fired, to be read under c.mu.
func (c *Client) lose(a *ask, timer **time.Timer) {
	text := a.request.Ask().WithID(a.id).Raw()
	c.mu.Lock()
	if a.grace != *timer {
		c.mu.Unlock()
		return // it was calmed a moment ago
	}
	a.grace = nil
	shown := a.at != nil && !a.at.withdraw(a.event)
	if !shown {
		a.at, a.text = nil, text
		if s := c.journal.audible(); s != nil && c.listens {
			c.show(a, s)
			c.mu.Unlock()
			return
		}
	}
	c.mu.Unlock()
	if shown {
		a.request.Withdraw(input.Abandoned, wire.Errorf(wire.ReasonClientGone, "the client left with the question open"))
		return
	}
	a.request.Withdraw(input.Unseen, wire.Errorf(wire.ReasonNoClient,
		"no client is available: the client of this session has no stream open on which it could be asked").
		Hint("the client must keep the stream of its call, or a GET stream, open"))
}
