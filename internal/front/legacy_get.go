package front

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// comment opens an event stream that has nothing to say yet, so that the header
// passes every proxy on the way.
func comment() []byte { return []byte(": ok\n\n") }

// get opens an event stream, or resumes one.
//
// "If the client wishes to resume after a disconnection, it SHOULD issue an HTTP
// GET to the MCP endpoint, and include the Last-Event-ID header to indicate the
// last event ID it received. The server MUST NOT replay messages that would have
// been delivered on a different stream."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
func (h *sessions) get(w http.ResponseWriter, r *http.Request, v visitor) *refusal {
	takes := acceptOf(r)
	if !takes.events {
		f := unacceptable("")
		f.err = f.err.Hint("send Accept: text/event-stream")
		return f
	}
	s, f := h.find(r, v)
	if f != nil {
		return f
	}
	defer h.leave(s)
	reader, over := s.listen(r.Header.Get(headerResume))
	switch {
	case over:
		// "a client can be told to stop reconnecting using the HTTP 204 No Content
		// response code"
		// https://html.spec.whatwg.org/multipage/server-sent-events.html#the-eventsource-interface
		w.WriteHeader(http.StatusNoContent)
		return nil
	case reader == nil:
		return refused(http.StatusConflict, wire.ReasonLimit, "too many streams of this session are open").
			hint("close one of them; messages of the session come on the newest alone")
	}
	s.mu.Lock()
	s.arrived()
	s.mu.Unlock()
	out := &outlet{
		w: w, reader: reader, o: h.o, left: s.departed,
		takes: accepted{events: true}, now: true, ids: true, hello: comment,
	}
	out.run(r.Context())
	return nil
}

// listen attaches a connection to the stream of the event that the client saw
// last, or to that of the session. It reports over when nothing can come on the
// former any more. An event whose stream is not held any more is treated as none:
// a client that is refused here would take its session for lost.
func (s *session) listen(lastEvent string) (r *reader, over bool) {
	if lastEvent != "" {
		stream, event, ok := parseEventID(lastEvent)
		if found := s.journal.find(stream); ok && found != nil {
			r := found.resume(event)
			return r, r == nil
		}
		s.log.Info("a client resumes a stream that is not kept any more")
	}
	return s.journal.listen(), false
}

// parseEventID reads what [stream.eventID] wrote.
func parseEventID(id string) (stream, event uint64, ok bool) {
	a, b, _ := strings.Cut(id, "-")
	stream, err1 := strconv.ParseUint(a, 10, 64)
	event, err2 := strconv.ParseUint(b, 10, 63)
	return stream, event, err1 == nil && err2 == nil
}

// delete ends the session.
//
// "Clients that no longer need a particular session SHOULD send an HTTP DELETE to
// the MCP endpoint with the MCP-Session-Id header, to explicitly terminate the
// session."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
func (h *sessions) delete(w http.ResponseWriter, r *http.Request, v visitor) *refusal {
	s, f := h.find(r, v)
	if f != nil {
		return f
	}
	defer h.leave(s)
	h.end(s, wire.Errorf(wire.ReasonClientGone, "the client ended the session"))
	w.WriteHeader(http.StatusNoContent)
	return nil
}
