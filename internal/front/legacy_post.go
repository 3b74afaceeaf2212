package front

import (
	"net/http"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// post takes the message of one POST.
//
// "The body of the POST request MUST be a single JSON-RPC request, notification,
// or response."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func (h *sessions) post(w http.ResponseWriter, r *http.Request, v visitor, m wire.Message) *refusal {
	request := m.Kind() == wire.Request
	if request && m.Method() == "initialize" && r.Header.Get(headerSession) == "" {
		return h.initialize(w, r, v, m)
	}
	s, f := h.find(r, v)
	switch {
	case f != nil && request:
		f.id = m.ID()
		return f
	case f != nil:
		return f
	}
	defer h.leave(s)
	if request {
		return h.call(w, r, s, m)
	}
	return h.accept(w, s, m)
}

// accept takes a notification or a response.
//
// "If the input is a JSON-RPC response or notification: If the server accepts the
// input, the server MUST return HTTP status code 202 Accepted with no body."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
//
// An answer that comes too late is accepted, too: the client could not know.
func (h *sessions) accept(w http.ResponseWriter, s *session, m wire.Message) *refusal {
	if s.receive(m, nil) == stray {
		return neverAsked()
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

func neverAsked() *refusal {
	return refused(http.StatusBadRequest, wire.ReasonInvalid, "the response answers no question of this session").
		hint("answer with the id of the question, spelled as it came")
}

// call serves a request of an open session by the response to its POST.
//
// "Disconnection SHOULD NOT be interpreted as the client cancelling its request."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func (h *sessions) call(w http.ResponseWriter, r *http.Request, s *session, m wire.Message) *refusal {
	takes := acceptOf(r)
	if takes == (accepted{}) {
		return unacceptable(m.ID())
	}
	if m.Method() == "initialize" {
		return unwelcome(m.ID(), again())
	}
	reader := s.journal.open(answer, !takes.events).attach()
	defer reader.close()
	out := h.answer(w, s, reader, takes)
	if m.Method() == "ping" {
		reader.s.finish(pong(m).Raw())
		out.run(r.Context())
		return nil
	}
	call, err := s.begin(m, reader.s, nil)
	if err != nil {
		return unwelcome(m.ID(), err)
	}
	out.serve(r.Context(), call.run)
	return nil
}

// postBatch serves the messages of an array.
func (h *sessions) postBatch(w http.ResponseWriter, r *http.Request, v visitor, body []byte) *refusal {
	s, f := h.find(r, v)
	if f != nil {
		return f
	}
	defer h.leave(s)
	takes := acceptOf(r)
	if takes == (accepted{}) {
		return unacceptable("")
	}
	batched, err := s.parseBatch(body)
	if err != nil {
		return unparsed(err)
	}
	requests := 0
	for _, m := range batched {
		if m.Kind() == wire.Request {
			requests++
		}
	}
	if requests == 0 {
		s.receiveBatch(batched, s.journal.session())
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	reader := s.journal.open(answer, !takes.events).attach()
	s.receiveBatch(batched, reader.s)
	h.answer(w, s, reader, takes).run(r.Context())
	return nil
}

// answer returns the outlet of a POST.
func (h *sessions) answer(w http.ResponseWriter, s *session, reader *reader, takes accepted) *outlet {
	return &outlet{
		w: w, reader: reader, o: h.o, left: s.departed, takes: takes,
		ids: true, hello: func() []byte { return s.prime(reader.s) },
	}
}

// prime returns how the event stream of an answer begins. Clients of older
// revisions cannot take an event without data.
//
// "The server SHOULD immediately send an SSE event consisting of an event ID and
// an empty data field in order to prime the client to reconnect (using that event
// ID as Last-Event-ID)."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
//
// The event tells to come back before LeaveGrace is over.
func (s *session) prime(st *stream) []byte {
	if !s.Revision().Since(wire.R20251125) {
		return nil
	}
	return wire.AppendEvent(nil, wire.Event{ID: st.eventID(0), Retry: s.o.LeaveGrace / 3})
}

// initialize opens a session and answers with its id. The session ends when the
// client is gone before it has got that.
func (h *sessions) initialize(w http.ResponseWriter, r *http.Request, v visitor, m wire.Message) *refusal {
	takes := acceptOf(r)
	if takes == (accepted{}) {
		return unacceptable(m.ID())
	}
	if f := knownVersion(r); f != nil {
		f.id = m.ID()
		return f
	}
	s, f := h.admit(TransportHTTP, v)
	if f != nil {
		f.id = m.ID()
		return f
	}
	defer h.leave(s)
	reader := s.journal.open(answer, !takes.events).attach()
	if err := s.request(m, reader.s, nil); err != nil {
		reader.close()
		h.end(s, err)
		return unwelcome(m.ID(), err)
	}
	out := &outlet{w: w, reader: reader, o: h.o, left: s.departed, takes: takes}
	out.head = func(header http.Header) {
		if s.accepted() {
			header.Set(headerSession, s.secret)
		}
	}
	if !out.run(r.Context()) {
		h.end(s, wire.Errorf(wire.ReasonClientGone, "the client left during initialize"))
	} else if !s.accepted() {
		h.end(s, wire.Errorf(wire.ReasonClientGone, "the session could not be opened"))
	}
	return nil
}

func unacceptable(id wire.ID) *refusal {
	f := refused(http.StatusNotAcceptable, reasonHTTP, "the Accept header allows nothing that can be sent").
		hint("send Accept: application/json, text/event-stream")
	f.id = id
	return f
}
