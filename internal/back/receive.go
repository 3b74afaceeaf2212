package back

import (
	"errors"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Receive takes one message of the backend. It is called by the goroutines of
// the Conn.
func (l *link) Receive(m wire.Message, of wire.ID) {
	<-l.ready
	if l.modern {
		l.receiveModern(m, of)
		return
	}
	switch m.Kind() {
	case wire.Result, wire.Failure:
		l.respond(m)
	case wire.Request:
		if m.Method() == "ping" {
			l.post(wire.NewResult(m.ID(), []byte("{}")))
			return
		}
		l.ask(m, of)
	case wire.Notification:
		if m.Method() == "notifications/cancelled" {
			l.withdraw(m)
			return
		}
		l.notified(m, of).Notify(m)
	}
}

// Noise counts what is no message. If it was to be the response to a call, the
// call ends: there will be no other.
func (l *link) Noise(what error) {
	l.session.backend.opts.Noise()
	if e, ok := errors.AsType[*wire.ParseError](what); ok && e.Answers != "" {
		err := wire.Errorf(wire.ReasonBackendGone, "backend %s sent a response that is no valid message: %s", l.session.backend.Name, e.Detail)
		if l.session.hello.Modern {
			err = err.Modern()
		}
		l.respond(wire.NewFailure(e.Answers, err))
	}
}

func (l *link) respond(m wire.Message) {
	l.mu.Lock()
	c := l.calls[m.ID()]
	delete(l.calls, m.ID()) // a second response is late
	l.mu.Unlock()
	if c == nil {
		l.session.backend.log.Debug("late or unknown response dropped", "id", string(m.ID()))
		return
	}
	c.response <- m
}

// notified tells whom a notification is for. Progress belongs to the call whose
// token it carries. Of everything else, what came on the stream of a call
// belongs to that call, and so does what can only belong to one.
func (l *link) notified(m wire.Message, of wire.ID) Caller {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Method() == "notifications/progress" {
		if c := l.tokens[string(wire.Get(m.Params(), "progressToken"))]; c != nil {
			return c.caller
		}
	}
	if c := l.calls[of]; c != nil {
		return c.caller
	}
	if of == "" && !l.conn.Attributes() && len(l.calls) == 1 {
		for _, c := range l.calls {
			return c.caller
		}
	}
	return l.session.caller
}

// asker tells to whom a request of the backend belongs, and whether that is only
// inferred. Where the transport does not tell, it is the one call in progress
// that may ask; with none or several, it is the session. That is the same client,
// or, where modern clients share the session, one through whom nobody can be asked.
func (l *link) asker(of wire.ID) (caller Caller, inferred bool) {
	if c := l.calls[of]; c != nil {
		return c.caller, false
	}
	if l.conn.Attributes() {
		return l.session.caller, false
	}
	for _, c := range l.calls {
		if !wire.MayAsk(c.method) && c.method != "tasks/result" { // through which a task asks
			continue
		}
		if caller != nil {
			return l.session.caller, false
		}
		caller = c.caller
	}
	if caller == nil {
		return l.session.caller, false
	}
	return caller, true
}

// ask hands on a request of the backend.
func (l *link) ask(m wire.Message, of wire.ID) {
	id, p := m.ID(), &pending{}
	l.mu.Lock()
	if l.cause != nil {
		l.mu.Unlock()
		return
	}
	if l.asked[id] != nil {
		l.mu.Unlock()
		l.post(wire.NewFailure(id, wire.Errorf(wire.ReasonInvalid, "a request with this id is already in progress")))
		return
	}
	if l.insists >= mostInsists {
		l.mu.Unlock()
		l.post(wire.NewFailure(id, wire.Errorf(wire.ReasonLimit, "%d messages wait for this backend to take them", mostInsists).
			With("limit", mostInsists).Hint("read what was answered before asking more")))
		return
	}
	l.asked[id] = p
	caller, inferred := l.asker(of)
	l.mu.Unlock()

	withdraw := caller.Ask(Asked{
		Message: m, Inferred: inferred,
		Reply: func(response wire.Message) {
			if l.answered(id, p) {
				l.post(response.WithID(id))
			}
		},
		Promise: func(response wire.Message) func(wire.Message) { return l.promised(id, p, response) },
	})

	l.mu.Lock()
	p.withdraw = withdraw
	gone := p.gone
	l.mu.Unlock()
	if gone != nil && withdraw != nil {
		withdraw(gone)
	}
}

// answered takes the request out of those in progress; false when it was not
// there any more.
func (l *link) answered(id wire.ID, p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked[id] != p {
		return false
	}
	delete(l.asked, id)
	return true
}

// withdraw ends the request that the backend cancels. Neither party hears of it
// again.
//
// "Receivers of cancellation notifications SHOULD […] Not send a response for
// the cancelled request."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements
func (l *link) withdraw(m wire.Message) {
	id := wire.ID(wire.Get(m.Params(), "requestId"))
	text := "the server cancelled the request"
	if reason, ok := wire.Text(m.Params(), "reason"); ok {
		text = reason
	}
	gone := wire.Errorf(wire.ReasonWithdrawn, "%s", text)
	l.mu.Lock()
	p := l.asked[id]
	delete(l.asked, id)
	var withdraw func(*wire.Error)
	if p != nil {
		withdraw, p.gone = p.withdraw, gone
	}
	l.mu.Unlock()
	if withdraw != nil {
		withdraw(gone)
	}
}
