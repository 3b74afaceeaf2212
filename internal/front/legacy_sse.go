package front

import (
	"net/http"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// serveSSE serves one request of HTTP+SSE: a GET that opens the session with its
// event stream, or a POST with a message to it.
//
// "When a client connects, the server MUST send an endpoint event containing a URI
// for the client to use for sending messages. All subsequent client messages MUST
// be sent as HTTP POST requests to this endpoint. Server messages are sent as SSE
// message events, with the message content encoded as JSON in the event data."
// https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
func (h *sessions) serveSSE(w http.ResponseWriter, r *http.Request, v visitor) {
	var f *refusal
	switch secret := r.URL.Query().Get("session"); {
	case r.Method == http.MethodGet:
		f = h.connect(w, r, v)
	case r.Method == http.MethodPost && secret != "":
		f = h.message(w, r, v, secret)
	default:
		// A client that tries streamable HTTP first falls back on this status.
		w.Header().Set("Allow", "GET")
		f = refused(http.StatusMethodNotAllowed, reasonHTTP, "this is the endpoint of HTTP+SSE").
			hint("open it by GET, and post to the address that its first event tells")
	}
	if f != nil {
		f.send(w)
	}
}

// connect opens a session that lives as long as this response.
func (h *sessions) connect(w http.ResponseWriter, r *http.Request, v visitor) *refusal {
	if !acceptOf(r).events {
		f := unacceptable("")
		f.err = f.err.Hint("send Accept: text/event-stream")
		return f
	}
	s, f := h.admit(TransportSSE, v)
	if f != nil {
		return f
	}
	defer h.leave(s)
	endpoint := func() []byte {
		address := r.URL.EscapedPath() + "?session=" + s.secret
		return wire.AppendEvent(nil, wire.Event{Type: "endpoint", Data: []byte(address)})
	}
	out := &outlet{
		w: w, o: h.o, left: s.departed, takes: accepted{events: true}, now: true,
		reader: s.journal.open(pipe, false).attach(),
		hello:  endpoint,
	}
	out.run(r.Context())
	h.end(s, wire.Errorf(wire.ReasonClientGone, "the client closed its event stream"))
	return nil
}

// message takes one message to a session.
func (h *sessions) message(w http.ResponseWriter, r *http.Request, v visitor, secret string) *refusal {
	if f := isJSON(r); f != nil {
		return f
	}
	s, f := h.enter(TransportSSE, secret, v)
	if f != nil {
		return f
	}
	defer h.leave(s)
	body, f := readBody(w, r, h.o.MaxBody)
	if f != nil {
		return f
	}
	pipe := s.journal.session()
	if wire.IsBatch(body) {
		batched, err := s.parseBatch(body)
		if err != nil {
			return unparsed(err)
		}
		s.receiveBatch(batched, pipe)
	} else {
		m, err := wire.Parse(body)
		if err != nil {
			return unparsed(err)
		}
		if m.Kind() == wire.Request && wire.IsModern(m) {
			pipe.finish(wire.NewFailure(m.ID(), onlyLegacy(m)).Raw())
		} else if s.receive(m, pipe) == stray {
			return neverAsked()
		}
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// onlyLegacy refuses a request of the modern era, which does not know this transport,
// so that its client falls back to initialize.
func onlyLegacy(m wire.Message) *wire.Error {
	return wire.Errorf(wire.ReasonRevision, "over HTTP+SSE only revisions with a handshake are spoken").
		With("supported", wire.Legacy()).With("requested", wire.ParseMeta(m.Params()).Revision).
		Hint("send initialize, or use the endpoint /mcp")
}
