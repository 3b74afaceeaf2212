package wire

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"
)

// Event is one server-sent event.
type Event struct {
	ID    string        // last event id; "" when the event carries none
	Type  string        // "" means "message"
	Data  []byte        // the data lines joined by line feeds; nil when there was none
	Retry time.Duration // how long to wait before reconnecting; 0 when not told
}

// AppendEvent appends e as the stream carries it. ID, Type and Data must have no
// line break ([Message.Line] gives such bytes). An event without data still has
// an empty data line, so that clients which skip events without one see its id:
//
// "The server SHOULD immediately send an SSE event consisting of an event ID and
// an empty data field in order to prime the client to reconnect".
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func AppendEvent(dst []byte, e Event) []byte {
	if e.ID != "" {
		dst = append(append(append(dst, "id: "...), e.ID...), '\n')
	}
	if e.Type != "" {
		dst = append(append(append(dst, "event: "...), e.Type...), '\n')
	}
	if e.Retry > 0 {
		dst = append(dst, "retry: "...)
		dst = append(strconv.AppendInt(dst, e.Retry.Milliseconds(), 10), '\n')
	}
	dst = append(append(append(dst, "data: "...), e.Data...), '\n')
	return append(dst, '\n')
}

// fieldBytes is how long an id or a type may be.
const fieldBytes = 1 << 10

// EventReader reads an event stream.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
type EventReader struct {
	src   io.Reader
	r     *bufio.Reader // of src
	max   int
	began bool
	cr    bool // the last line ended in CR, so that a LF belongs to its end
}

// NewEventReader returns a reader of events of at most max bytes of data each.
func NewEventReader(r io.Reader, max int) *EventReader {
	return &EventReader{src: r, r: bufio.NewReaderSize(r, smallBuffer), max: max}
}

// A stream may be silent for as long as a person thinks, and has a small buffer
// until a line does not fit.
const (
	smallBuffer = 1 << 10
	largeBuffer = 16 << 10
)

// Next returns the next event that carries anything. An event whose data is over
// the limit gives [ErrTooLong], together with its id; reading goes on behind it.
// Comments, and fields that nobody knows, may be of any length. An event that
// the end of the stream cuts off is dropped, as the standard demands.
func (r *EventReader) Next() (Event, error) {
	var e Event
	var some, tooLong bool
	room := r.max
	for {
		line, err := r.line(len("retry: ") + max(fieldBytes, room-len(e.Data)) + 1)
		if err != nil {
			return Event{}, err
		}
		switch {
		case len(line) > 0:
			known, fits := e.field(line, room)
			if !fits {
				tooLong, room, e.Data = true, 0, nil // and nothing more is kept
			}
			some = some || known
		case tooLong:
			return Event{ID: e.ID}, ErrTooLong
		case some:
			return e, nil
		}
	}
}

// field takes over one line; of data, room bytes at most. It reports whether the
// line means anything, and whether there was room for it.
func (e *Event) field(line []byte, room int) (known, fits bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		first := e.Data == nil
		if n := len(e.Data) + len(value); n > room || n == room && !first { // a line break goes between
			return true, false
		}
		if first {
			e.Data = make([]byte, 0, len(value))
		} else {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
		return true, true
	case "event":
		e.Type = string(value)
		return true, len(value) <= fieldBytes
	case "id":
		if len(value) > fieldBytes {
			return true, false
		}
		if bytes.IndexByte(value, 0) >= 0 {
			return false, true
		}
		e.ID = string(value)
		return true, true
	case "retry":
		ms, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil {
			return false, true
		}
		e.Retry = time.Duration(ms) * time.Millisecond
		return true, true
	}
	return false, true // a comment, or a field that nobody knows
}

// line reads one line, which ends in LF, CR or CRLF. Of a line longer than most
// it keeps no more than that. The line is valid until the next read.
func (r *EventReader) line(most int) (line []byte, err error) {
	if !r.began {
		r.began = true
		if bom, _ := r.r.Peek(3); string(bom) == "\uFEFF" {
			r.r.Discard(3)
		}
	}
	for {
		part, err := r.fill()
		if err != nil {
			return nil, err
		}
		if r.cr {
			r.cr = false
			if part[0] == '\n' {
				r.r.Discard(1)
				continue
			}
		}
		end := lineEnd(part)
		if end < 0 {
			line = append(line, part[:min(len(part), most-len(line))]...)
			r.r.Discard(len(part))
			if len(part) == smallBuffer { // all that there was room for
				r.r = bufio.NewReaderSize(r.src, largeBuffer)
			}
			continue
		}
		r.cr = part[end] == '\r'
		r.r.Discard(end + 1)
		if line == nil {
			return part[:min(end, most)], nil
		}
		return append(line, part[:min(end, most-len(line))]...), nil
	}
}

// lineEnd returns the place of the first LF or CR in b, or -1. It looks for them
// in turn, window by window, so that a stream of one of the two alone does not
// cost a search through all that is buffered for each.
func lineEnd(b []byte) int {
	const window = 512
	for from := 0; from < len(b); from += window {
		w := b[from:min(from+window, len(b))]
		end := bytes.IndexByte(w, '\n')
		if end >= 0 {
			w = w[:end]
		}
		if cr := bytes.IndexByte(w, '\r'); cr >= 0 {
			end = cr
		}
		if end >= 0 {
			return from + end
		}
	}
	return -1
}

// fill returns what is buffered, waiting for at least one byte.
func (r *EventReader) fill() ([]byte, error) {
	if _, err := r.r.Peek(1); err != nil {
		return nil, err
	}
	return r.r.Peek(r.r.Buffered())
}
