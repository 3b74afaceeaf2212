package back

import (
	"context"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// promised answers a request of the backend with the word that what it asked for comes
// later, and returns how that is sent: as a notification, behind the response. Until
// then the request is one that is taken back when the backend leaves.
//
// The sending waits as long as the backend is there: whoever was promised something
// does not get it a second time.
func (l *link) promised(id wire.ID, p *pending, response wire.Message) (keep func(wire.Message)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil || l.asked[id] != p {
		return func(wire.Message) {} // nobody waits for it any more
	}
	delete(l.asked, id)
	if l.promises == nil {
		l.promises = make(map[*pending]struct{})
	}
	l.promises[p] = struct{}{}
	said := make(chan struct{})
	l.insists++
	l.posts.Go(func() {
		defer close(said)
		l.insist(response.WithID(id))
	})
	return func(m wire.Message) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, open := l.promises[p]; !open || l.cause != nil {
			return
		}
		delete(l.promises, p)
		l.insists++
		l.posts.Go(func() {
			<-said
			l.insist(m)
		})
	}
}

// mostInsists is how many messages of promises a backend may leave untaken and still ask.
const mostInsists = 100

// insist sends a message, however slowly the backend takes it. It ends with the link.
func (l *link) insist(m wire.Message) {
	defer func() {
		l.mu.Lock()
		l.insists--
		l.mu.Unlock()
	}()
	if err := l.conn.Send(context.Background(), m); err != nil && !l.dead() {
		l.session.backend.log.Warn("message not taken", "method", m.Method(), "err", err)
	}
}
