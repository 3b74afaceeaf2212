package front

import (
	"cmp"
	"slices"
	"strconv"
)

// streamKind says what a stream is for.
type streamKind uint8

const (
	pipe     streamKind = iota // stdio and HTTP+SSE: one connection, as long as the session
	answer                     // of one POST; it ends with its final message
	standing                   // what a GET opens; it belongs to no request
)

// event is one message of a stream.
type event struct {
	number uint64 // in the stream, from 1
	raw    []byte
	loose  bool // may be dropped when nobody fetches it
}

// stream is a bounded log of messages to a client. Senders append; the connection
// that is attached at the time sends what it has not sent. When it breaks, the
// log stays, and another connection goes on from any event that is still held.
type stream struct {
	j      *journal
	number uint64 // unique in the session
	kind   streamKind
	mute   bool // its connection takes nothing but the final message

	wake chan struct{} // holds a token when there is something to read

	// Guarded by j.mu.
	events  []event       // in order of their numbers, which may have gaps
	next    uint64        // number of the next event
	taken   uint64        // events before it were taken by the connection
	written uint64        // events before it have been sent on a connection
	backlog int           // bytes of the events from written on
	reader  *reader       // nil when no connection is attached
	primed  bool          // the client knows an event id, so that it can resume
	ended   bool          // nothing is appended any more
	room    chan struct{} // closed when a sender may try again; nil when none waits
}

// part is what a stream carries of one request. The zero part has no end but its
// response.
type part struct {
	over bool            // guarded by journal.mu; nothing more is appended
	done <-chan struct{} // once it is closed, nobody waits for room
}

// send appends a message that may be dropped when nobody fetches it. It waits
// while the connection is behind; without a connection it does not wait.
func (s *stream) send(raw []byte) { s.wait(event{raw: raw, loose: true}, new(part)) }

// sendFor is send for a part, unless that is over.
func (s *stream) sendFor(p *part, raw []byte) { s.wait(event{raw: raw, loose: true}, p) }

// finish appends a response, as send does, and ends the stream of one POST.
func (s *stream) finish(raw []byte) { s.wait(event{raw: raw}, new(part)) }

// finishFor is finish for a part, which then is over, unless it was.
func (s *stream) finishFor(p *part, raw []byte) { s.wait(event{raw: raw}, p) }

// dismiss ends a part without a response.
func (s *stream) dismiss(p *part) {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	p.over = true
}

// wait appends an event when there is room. When the part is done that never may be:
// then a response goes out all the same, and anything else is dropped.
func (s *stream) wait(e event, p *part) {
	for done := false; ; {
		s.j.mu.Lock()
		if p.over {
			s.j.mu.Unlock()
			return
		}
		if done || !s.fullLocked(len(e.raw)) {
			break
		}
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		s.j.mu.Unlock()
		select {
		case <-room:
		case <-p.done:
			if e.loose {
				return
			}
			done = true
		}
	}
	s.appendLocked(e)
	p.over = !e.loose
	if !e.loose && s.kind == answer {
		s.endLocked()
	} else {
		s.reader.startLocked(false)
	}
	s.j.trimLocked(s)
	s.j.mu.Unlock()
}

// put appends a question, or what must not wait, and returns its number.
func (s *stream) put(raw []byte, loose bool) uint64 {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	n := s.appendLocked(event{raw: raw, loose: loose})
	s.reader.startLocked(false)
	s.j.trimLocked(s)
	return n
}

// withdraw takes the event n back. It reports false when it may have been sent.
func (s *stream) withdraw(n uint64) bool {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	if n < s.taken {
		return false
	}
	if i := s.indexLocked(n); i < len(s.events) && s.events[i].number == n {
		s.removeLocked(i, i+1)
	}
	return true
}

// sent reports whether the event n has been sent on some connection.
func (s *stream) sent(n uint64) bool {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	return n < s.written
}

// audible reports whether a question that is put on s reaches the client now.
func (s *stream) audible() bool {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	return s.audibleLocked()
}

func (s *stream) audibleLocked() bool { return s.reader != nil && !s.mute && !s.ended }

// over reports whether s takes nothing any more.
func (s *stream) over() bool {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	return s.ended
}

// end ends s: what it holds is sent, and then its connection is done.
func (s *stream) end() {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	s.endLocked()
	s.j.trimLocked(s)
}

func (s *stream) endLocked() {
	if s.ended {
		return
	}
	s.ended = true
	s.j.ended++
	s.releaseLocked()
	s.signal()
}

func (s *stream) fullLocked(more int) bool {
	waiting := len(s.events) - s.indexLocked(s.written)
	return s.reader != nil && !s.ended && !s.j.closing && waiting > 0 &&
		(waiting >= maxBacklog || s.backlog+more > maxBacklogBytes)
}

// indexLocked returns the index of the first event whose number is at least n.
func (s *stream) indexLocked(n uint64) int {
	if n >= s.next {
		return len(s.events)
	}
	i, _ := slices.BinarySearchFunc(s.events, n, func(e event, n uint64) int {
		return cmp.Compare(e.number, n)
	})
	return i
}

func (s *stream) appendLocked(e event) uint64 {
	e.number = s.next
	if s.ended {
		return e.number
	}
	s.next++
	s.events = append(s.events, e)
	s.backlog += len(e.raw)
	s.j.count++
	s.j.bytes += len(e.raw)
	if s.reader == nil {
		s.shedLocked()
	}
	s.signal()
	return e.number
}

// shedLocked drops the oldest notifications that wait for a connection.
func (s *stream) shedLocked() {
	for i := s.indexLocked(s.written); i < len(s.events); {
		if len(s.events)-s.indexLocked(s.written) <= maxBacklog && s.backlog <= maxBacklogBytes {
			return
		}
		if s.events[i].loose {
			s.removeLocked(i, i+1)
		} else {
			i++
		}
	}
}

// removeLocked drops the events from index i to before index end.
func (s *stream) removeLocked(i, end int) {
	for _, e := range s.events[i:end] {
		s.j.count--
		s.j.bytes -= len(e.raw)
		if e.number >= s.written {
			s.backlog -= len(e.raw)
		}
	}
	s.events = slices.Delete(s.events, i, end)
}

// releaseLocked lets the senders try again that wait for room.
func (s *stream) releaseLocked() {
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
}

func (s *stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // a token is there already
	}
}

// eventID names the event n for resumption.
//
// "Event IDs SHOULD encode sufficient information to identify the originating
// stream, enabling the server to correlate a Last-Event-ID to the correct stream."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
func (s *stream) eventID(n uint64) string {
	b := make([]byte, 0, 24)
	b = append(strconv.AppendUint(b, s.number, 10), '-')
	return string(strconv.AppendUint(b, n, 10))
}
