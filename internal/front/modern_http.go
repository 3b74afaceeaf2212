package front

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// httpLegs are the requests of modern clients over HTTP: each is a POST, and its
// stream the response to that.
type httpLegs struct {
	*legs
	o    *Options
	gone *wire.Error // why a leg ends whose client has left
}

func newHTTPLegs(relay Relay, o *Options, log *slog.Logger) *httpLegs {
	return &httpLegs{
		legs: newLegs(relay, log), o: o,
		gone: wire.Errorf(wire.ReasonClientGone, "the client closed the stream of its request"),
	}
}

// saysModern reports whether the header of a request speaks of the modern era.
func saysModern(r *http.Request) bool {
	return wire.Revision(r.Header.Get(headerVersion)).IsModern()
}

// onlyPOST refuses what the modern era has no use for.
//
// "HTTP GET or DELETE to the MCP endpoint: respond with 405 Method Not Allowed."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions
func onlyPOST(w http.ResponseWriter) *refusal {
	w.Header().Set("Allow", "POST")
	return refused(http.StatusMethodNotAllowed, reasonHTTP, "this revision of the protocol knows no method but POST").
		hint("send each request by POST; subscriptions/listen takes the place of GET, and there is no session to end")
}

// post takes the message of one POST. Neither Mcp-Session-Id nor Last-Event-ID
// means anything to it.
//
// "The body of the HTTP POST MUST be a single JSON-RPC request or notification.
// The client MUST NOT send JSON-RPC responses."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
func (h *httpLegs) post(w http.ResponseWriter, r *http.Request, v visitor, m wire.Message) *refusal {
	switch m.Kind() {
	case wire.Notification:
		// "This revision of the core protocol defines no client-to-server
		// notifications over Streamable HTTP." "If the server accepts it, the server
		// MUST return HTTP status code 202 Accepted with no body."
		// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
		w.WriteHeader(http.StatusAccepted)
		return nil
	case wire.Request:
	default:
		return refused(http.StatusBadRequest, wire.ReasonInvalid, "a client of this revision sends no responses").
			hint("what input_required asks for is answered by the inputResponses of the next request")
	}
	meta := wire.ParseMeta(m.Params())
	if err := checkModern(r.Header, m, meta); err != nil {
		return declined(m.ID(), err)
	}
	takes := acceptOf(r)
	if takes == (accepted{}) || m.Method() == methodListen && !takes.events {
		return unacceptable(m.ID())
	}
	if err := h.begin(m, h.o.MaxLegs); err != nil {
		return declined(m.ID(), err)
	}
	defer h.end(m)
	h.serve(w, r, takes, &Leg{
		Principal: v.principal, Route: v.route, Transport: TransportHTTP,
		Meta: meta, Header: r.Header, request: m,
	})
	return nil
}

// checkModern refuses a request that does not say what it must, or says it twice and
// not the same. What is missing in the message is told first, so that a client that
// sends only the header learns what else belongs there.
func checkModern(h http.Header, m wire.Message, meta wire.Meta) *wire.Error {
	if err := meta.Complete(); err != nil {
		return err
	}
	if err := mirror.CheckStandard(h, m); err != nil {
		return err
	}
	return spoken(meta.Revision)
}

// serve lets the relay answer a leg by the response to its POST.
//
// "Closing the SSE response stream MUST be treated by the server as cancellation of
// that request. […] The server SHOULD stop work on the cancelled request as soon as
// practical and MUST NOT send any further messages for it."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation
//
// A client that takes nothing for Options.WriteTimeout is cut, and has left, too.
func (h *httpLegs) serve(w http.ResponseWriter, r *http.Request, takes accepted, leg *Leg) {
	ctx, cancel := context.WithCancelCause(h.ctx)
	defer cancel(nil)
	gone := func() { cancel(h.gone) }
	defer context.AfterFunc(r.Context(), gone)()
	leg.stream = new(journal).open(answer, !takes.events) // the only one, which nobody resumes
	leg.part.done = ctx.Done()
	out := &outlet{w: w, reader: leg.stream.attach(), o: h.o, left: gone, takes: takes}
	out.serve(r.Context(), func() {
		h.answer(ctx, leg, func(response wire.Message) {
			out.status = statusOf(response)
			leg.finish(response)
		})
	})
}

// close drains the legs until ctx ends, ends them, and waits for that.
func (h *httpLegs) close(ctx context.Context) {
	select {
	case <-h.drain(stopping()):
	case <-ctx.Done():
	}
	h.stop(stopping())
}

// statusOf returns the HTTP status that goes with a response.
//
// "If the server does not implement the requested RPC method, it MUST respond with
// 404 Not Found and a JSON-RPC error with code -32601 (Method not found)."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#protocol-version-header
//
// The codes of the modern era, and that of params, go with 400, each by a sentence
// of its own.
func statusOf(response wire.Message) int {
	if response.Kind() != wire.Failure {
		return http.StatusOK
	}
	switch string(wire.Get(response.Error(), "code")) {
	case "-32601":
		return http.StatusNotFound
	case "-32602", "-32600", "-32700", "-32020", "-32021", "-32022":
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// declined refuses a request of a modern client.
func declined(id wire.ID, err *wire.Error) *refusal {
	f := &refusal{status: http.StatusBadRequest, id: id, err: err.Modern()}
	if err.Reason == wire.ReasonStopping || err.Reason == wire.ReasonLimit {
		f.status = http.StatusServiceUnavailable
	}
	return f
}
