package relay

import (
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// What waits for a slow client is bounded by these; the oldest notifications are lost
// beyond them. What changed in the resources of a listen fits.
const (
	maxOutbox      = maxSubscriptions + 64
	maxOutboxBytes = 256 << 10
)

// outbox takes notifications for one request of a client, or for its session. They come
// from goroutines that read what a backend says, to this client and to others, or from
// timers: so nobody waits for the client but a goroutine of the outbox, which is there
// only as long as there is something to send. Its addressee must be set.
type outbox struct {
	to      interface{ Notify(wire.Message) }
	sending sync.WaitGroup

	// mu guards the fields below; held for moments.
	mu     sync.Mutex
	queue  []wire.Message
	bytes  int
	busy   bool // the goroutine is there
	closed bool // the request has its response, or the session has ended
}

// Notify sends m when what came before is sent. It does not block.
func (o *outbox) Notify(m wire.Message) { o.take(m) }

// take is Notify, and reports false when it is too late for that.
func (o *outbox) take(m wire.Message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.replaceLocked(m)
	o.queue = append(o.queue, m)
	o.bytes += len(m.Raw())
	for i := 0; len(o.queue) > 1 && (len(o.queue) > maxOutbox || o.bytes > maxOutboxBytes); {
		if o.queue[i].Method() == methodAcknowledged { // a listen is nothing without it
			i = 1
		}
		o.dropLocked(i)
	}
	if !o.busy {
		o.busy = true
		o.sending.Go(o.send)
	}
	return true
}

// replaceLocked drops what waits and says nothing that m does not say again: that
// something has changed.
func (o *outbox) replaceLocked(m wire.Message) {
	what := filterOf(m)
	if what == "" {
		return
	}
	for i, waiting := range o.queue {
		if filterOf(waiting) == what {
			o.dropLocked(i)
			return
		}
	}
}

func (o *outbox) dropLocked(i int) {
	o.bytes -= len(o.queue[i].Raw())
	o.queue = append(o.queue[:i], o.queue[i+1:]...)
}

// send sends what waits.
func (o *outbox) send() {
	for {
		o.mu.Lock()
		queue := o.queue
		o.queue, o.bytes, o.busy = nil, 0, len(queue) > 0
		o.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, m := range queue {
			o.to.Notify(m)
		}
	}
}

// close returns when all is sent, or nobody wants it any more. What comes later is
// dropped.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.sending.Wait()
}
