package input

import (
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Kind is what is asked.
type Kind string

const (
	Form     Kind = "form"     // elicitation/create with a form
	URL      Kind = "url"      // elicitation/create with a URL to visit
	Sampling Kind = "sampling" // sampling/createMessage
	Roots    Kind = "roots"    // roots/list
	Other    Kind = "other"    // a request that only backend and client understand
)

// Outcome is how a request ended.
type Outcome string

const (
	// The person's own.
	Accept  Outcome = "accept"
	Decline Outcome = "decline"
	Cancel  Outcome = "cancel"

	Answered Outcome = "answered" // sampling and roots: the client gave a result
	Failed   Outcome = "failed"   // the client answered with a JSON-RPC error

	// Ours; none of them is ever turned into a decline.
	Timeout   Outcome = "timeout"   // nobody answered before the deadline
	Withdrawn Outcome = "withdrawn" // the backend, or the call, no longer wants to know
	Abandoned Outcome = "abandoned" // whoever was asked is gone
	Unseen    Outcome = "unseen"    // it could not be shown to anyone
	Refused   Outcome = "refused"   // the broker did not admit it
	Rejected  Outcome = "rejected"  // what was answered does not fit the form
)

// Answer is the end of a request: a response, or the reason why there is none.
type Answer struct {
	Outcome  Outcome
	Response wire.Message // what the client sent, with its own id; Invalid when it sent nothing
	Err      *wire.Error  // what to tell the backend when there is no Response
}

// A Channel is a way in which a request reaches someone who can answer it.
type Channel interface {
	// Offer begins to show r and returns at once. The channel calls r.Settle
	// with what comes back, and r.Withdraw when it finds that nothing can come
	// any more; both may happen before Offer returns.
	Offer(r *Request)

	// Retract takes r back, because it ended without an answer of this channel;
	// why is one sentence for a person. It returns at once. A channel must bear
	// it for a request that it settled a moment ago, or was never offered.
	Retract(r *Request, why string)
}

// Question is what the relay knows about an input request when it arrives.
type Question struct {
	Message   wire.Message    // as the backend sent it
	Backend   string          // which backend asks
	Principal string          // whom it may be shown to
	Session   string          // the client session it belongs to
	Share     string          // whose share of the per-session limit it takes; "" means that of Session
	Call      string          // the call that caused it, for people: "tools/call deploy"; "" when the transport does not tell
	Caps      wire.ClientCaps // what that client declared

	// Managed says that Beckon itself is asked to ask: by a client, or over REST. Nobody
	// is shown such a form by a client's capabilities; answers come by [Request.Submit].
	// It is always of the form lane.
	Managed bool

	// Extended says that the client knows the form extension: it gets the definition
	// itself beside the flat schema, and may submit.
	Extended bool

	Validate Validation // what becomes of answers that do not fit a relayed form
	Terms    form.Terms // of the backend, where the form itself says nothing

	// Watch is told what happens to the request until it ends; nil for nobody. It must
	// not block.
	Watch func(*Request, Event)

	// Tell makes the question say in its _meta which backend asks, for a client
	// that sees several backends as one server.
	Tell bool
}

// BackendKey is the member of _meta that names the backend of a question.
const BackendKey = "beckon/backend"

// Request is one input request, open until it ends. Its exported fields are
// constant.
type Request struct {
	Question
	ID       string // random; names the request in the audit, and is its progress token at the client; of a form its elicitationId
	Kind     Kind
	OpenedAt time.Time
	Deadline time.Time // as it was when the request was opened; [Request.Status] tells how it is now

	broker *Broker
	sheet  *sheet      // nil when nobody looks at the answers
	timer  *time.Timer // rings for whatever is next; set before anybody else sees the request

	// broker.mu guards the fields below.
	channel Channel                // nil once the request has ended
	done    func(*Request, Answer) // likewise
	ask     wire.Message           // as it goes to the client; none in the form lane, where it is made when needed
	ending  Outcome                // how it ended; "" as long as it is open
}

// Ask returns the request as it goes to the client; the channel gives it an id. It
// changes when a person is asked again, before the channel is offered it again.
func (r *Request) Ask() wire.Message {
	r.broker.mu.Lock()
	ask := r.ask
	var again retry
	if r.sheet != nil {
		again = r.sheet.retry()
	}
	r.broker.mu.Unlock()
	if r.Lane() {
		return r.compose(again)
	}
	return ask
}

// Settle ends r with a response of the client, whatever the id in it. An answer that
// does not fit the form of r may not end it: then the person is asked again. Settle
// reports false, and changes nothing, when r has ended before.
func (r *Request) Settle(response wire.Message) bool {
	o := r.outcome(response)
	if r.sheet != nil && o == Accept {
		return r.settle(response)
	}
	return r.broker.end(r, Answer{Outcome: o, Response: response}, "")
}

// Withdraw ends r without a response: err is what the backend is told, and its
// message what the person is. It reports false when r has ended before.
func (r *Request) Withdraw(outcome Outcome, err *wire.Error) bool {
	return r.broker.end(r, Answer{Outcome: outcome, Err: err}, err.Message)
}

// Dismiss ends r because its client cancelled it with a notification instead of
// an answer, which only the sender of a request may do, but which is meant as
// the person's cancel. It reports false when r has ended before.
func (r *Request) Dismiss() bool {
	if r.Kind == Form || r.Kind == URL {
		return r.Settle(wire.NewResult(r.Message.ID(), []byte(`{"action":"cancel"}`)))
	}
	return r.Withdraw(Cancel, wire.Errorf(wire.ReasonCancelled, "the client cancelled the %s request", r.Kind))
}

func (r *Request) outcome(response wire.Message) Outcome {
	switch {
	case response.Kind() == wire.Failure:
		return Failed
	case r.Kind != Form && r.Kind != URL:
		return Answered
	}
	action, _ := wire.Text(response.Result(), "action")
	switch o := Outcome(action); o {
	case Accept, Decline, Cancel:
		return o
	}
	return Answered
}
