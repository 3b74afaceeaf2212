package front

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// methodListen is the one request that lasts until somebody ends it.
const methodListen = "subscriptions/listen"

// Leg is one request of a modern client. A call that asks takes several legs: each
// ends with a response, and the client comes back with the answers on the next. Its
// exported fields are constant.
type Leg struct {
	Principal string    // who sent it; "local" when nobody has to tell
	Route     string    // the backend that it is for; "" means all
	Transport Transport // TransportStdio or TransportHTTP
	Meta      wire.Meta // what the request says about itself; complete, its revision spoken here

	// Header is that of the HTTP request, with its credentials, and not to be
	// changed; nil on stdio. The standard headers were checked, Mcp-Param-* were not.
	Header http.Header

	request wire.Message
	stream  *stream
	part    part // of the stream
}

// Request returns the request as the client sent it.
func (l *Leg) Request() wire.Message { return l.request }

// Notify sends a notification on the stream of the leg, before its response.
// Messages arrive in order; when the client is slow, Notify blocks until there is
// room, the client is cut, or the context of the leg ends. It is dropped when the
// leg is over, and when the client takes nothing but the response.
func (l *Leg) Notify(m wire.Message) {
	if !l.stream.mute {
		l.stream.sendFor(&l.part, m.Raw())
	}
}

// finish sends the response.
func (l *Leg) finish(response wire.Message) { l.stream.finishFor(&l.part, response.Raw()) }

// legs are the requests of modern clients at one place, HTTP or a pipe.
type legs struct {
	relay  Relay
	log    *slog.Logger
	ctx    context.Context // of all legs; its cause is a *wire.Error
	cancel context.CancelCauseFunc

	answers sync.WaitGroup // of the relay; only added to while mu is held and ended is nil

	mu      sync.Mutex // guards the fields below; taken before no other
	calls   int        // legs in progress that come to an end by themselves
	listens int        // and those that do not
	ended   *wire.Error
	drained chan struct{} // closed when there are no calls any more; nil when legs may begin
}

func newLegs(relay Relay, log *slog.Logger) *legs {
	l := &legs{relay: relay, log: log}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// begin counts a leg, or tells why it cannot begin. The caller must let the relay
// answer it, and end it.
func (l *legs) begin(m wire.Message, limit int) *wire.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended != nil:
		return l.ended
	case l.calls+l.listens >= limit:
		return wire.Errorf(wire.ReasonLimit, "too many requests are in progress").
			With("limit", limit).Hint("wait for one of them, or cancel it")
	case m.Method() == methodListen:
		l.listens++
	default:
		l.calls++
	}
	l.answers.Add(1)
	return nil
}

// end uncounts a leg.
func (l *legs) end(m wire.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Method() == methodListen {
		l.listens--
	} else {
		l.calls--
	}
	l.settleLocked()
}

// answer lets the relay answer a leg that has begun. Without a response, or when
// the relay panics, the client still gets one: an error.
func (l *legs) answer(ctx context.Context, leg *Leg, finish func(wire.Message)) {
	defer l.answers.Done()
	var response wire.Message
	defer func() {
		if !response.IsResponse() || response.ID() != leg.request.ID() {
			if ctx.Err() == nil {
				l.log.Error("the relay gave no response", "method", leg.request.Method())
			}
			response = wire.NewFailure(leg.request.ID(), endOf(ctx).Modern())
		}
		finish(response)
	}()
	response = l.relay.Answer(ctx, leg)
}

// endOf returns why a context ended, for the client; an internal error when it did
// not.
func endOf(ctx context.Context) *wire.Error { return wire.ErrorFrom(context.Cause(ctx)) }

// drain admits no legs any more, for a reason. The channel is closed when there are
// none in progress but those that never end by themselves.
func (l *legs) drain(why *wire.Error) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = why
		l.drained = make(chan struct{})
		l.settleLocked()
	}
	return l.drained
}

// settleLocked tells who drains the legs that nothing is in progress.
func (l *legs) settleLocked() {
	if l.drained == nil || l.calls > 0 {
		return
	}
	select {
	case <-l.drained:
	default:
		close(l.drained)
	}
}

// stop ends all legs, and returns when the relay is done with them.
func (l *legs) stop(why *wire.Error) {
	l.drain(why)
	l.cancel(why)
	l.answers.Wait()
}

// spoken refuses a revision that cannot be served without a session.
//
// "If the server does not implement the requested version (whether the version is
// unknown to the server, or is a known version the server has chosen not to
// support), it MUST respond with an UnsupportedProtocolVersionError listing the
// versions it does support"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
func spoken(r wire.Revision) *wire.Error {
	if slices.Contains(wire.Modern(), r) {
		return nil
	}
	err := wire.Errorf(wire.ReasonRevision, "the revision of the request is not supported").
		With("supported", wire.Supported()).With("requested", r)
	if r.Known() {
		return err.Hint("this revision has sessions: open one by initialize, without the protocolVersion in _meta")
	}
	return err.Hint("say a supported revision in _meta, or open a session of an older one by initialize")
}
