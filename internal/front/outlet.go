package front

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// outlet sends what a reader takes as one HTTP response: as JSON when the first
// thing to send is the last, else as an event stream. The header waits for that
// decision.
//
// "If the input is a JSON-RPC request, the server MUST either return
// Content-Type: text/event-stream, to initiate an SSE stream, or Content-Type:
// application/json, to return one JSON object."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
type outlet struct {
	w      http.ResponseWriter
	reader *reader
	o      *Options
	left   func() // called when the connection has left a client that may miss it

	takes accepted          // what the client takes
	now   bool              // open the event stream at once
	ids   bool              // events carry ids
	hello func() []byte     // how an event stream begins; nil for nothing special
	head  func(http.Header) // adds to the header when it is decided; may be nil

	// status goes with a response that is the first thing to send; 0 means 200. It
	// is set before that is put on the stream. An error is sent as JSON, whatever
	// the client takes.
	status int

	began bool // the header has gone out
	buf   []byte
}

// serve runs work, which ends the stream, and sends what is put there meanwhile,
// on a goroutine that is only started when there is something to send before the
// end. It reports whether all was sent, as run does. When the connection breaks,
// work goes on without it.
func (o *outlet) serve(ctx context.Context, work func()) (complete bool) {
	sent := make(chan bool, 1)
	run := func() bool {
		complete := o.run(ctx)
		if !complete {
			o.hangUp()
		}
		return complete
	}
	start := func(silent bool) {
		go func() {
			o.now = silent
			sent <- run()
		}()
	}
	o.reader.lazy(start)
	silence := time.AfterFunc(o.o.KeepAlive, func() { o.reader.begin(true) })
	gone := context.AfterFunc(ctx, func() { o.reader.begin(false) })
	defer func() { // even when work panics: the goroutine must not outlive the handler
		silence.Stop()
		gone()
		if o.reader.claim() {
			complete = run()
		} else {
			complete = <-sent
		}
	}()
	work()
	return
}

// hangUp closes the connection: the handler of the request may go on, and what
// net/http would send at its end belongs to nobody.
func (o *outlet) hangUp() {
	conn, _, err := http.NewResponseController(o.w).Hijack()
	if err == nil {
		conn.Close()
	}
}

// run sends until the stream has ended, and then reports true. It reports false
// when the connection broke or another one has taken over. Either way the reader
// is closed.
func (o *outlet) run(ctx context.Context) bool {
	defer func() {
		if o.reader.close() {
			o.left()
		}
	}()
	if o.now && o.takes.events {
		if err := o.begin(); err != nil {
			return false
		}
	}
	var silence *time.Timer
	for ctx.Err() == nil { // to a client that has left, nothing is sent that it might resume or must not get
		events, ended := o.reader.take()
		if len(events) > 0 || ended {
			if err := o.write(events, ended); err != nil {
				return false
			}
			if ended {
				return true
			}
		}
		if silence == nil {
			silence = time.NewTimer(o.o.KeepAlive)
			defer silence.Stop()
		} else if len(events) > 0 {
			silence.Reset(o.o.KeepAlive)
		}
		select {
		case <-o.reader.s.wake:
		case <-silence.C:
			if err := o.keepAlive(); err != nil {
				return false
			}
			silence.Reset(o.o.KeepAlive)
		case <-ctx.Done():
			return false
		case <-o.reader.cut:
			return false
		}
	}
	return false
}

func (o *outlet) write(events []event, ended bool) error {
	if !o.began && ended && len(events) == 1 && (o.takes.json || o.status >= http.StatusBadRequest) {
		return o.json(events[0].raw)
	}
	if !o.began && ended && len(events) == 0 {
		// The client cancelled, and waits for nothing. An event id would make it
		// come back for more.
		if !o.takes.events {
			o.began = true
			o.w.WriteHeader(http.StatusNoContent)
			return nil
		}
		o.hello = nil
		return o.begin()
	}
	if !o.takes.events {
		return nil // only the end counts
	}
	o.buf = o.buf[:0]
	if !o.began {
		o.header(typeEvents)
	}
	for _, e := range events {
		o.buf = o.event(o.buf, e)
	}
	if err := o.flush(); err != nil {
		return err
	}
	o.buf = reuse(o.buf)
	o.reader.wrote(o.ids && len(events) > 0)
	return nil
}

func (o *outlet) event(dst []byte, e event) []byte {
	framed := wire.Event{Type: "message", Data: line(e.raw)}
	if o.ids {
		framed.ID = o.reader.s.eventID(e.number)
	}
	return wire.AppendEvent(dst, framed)
}

// json answers with the one message there is.
func (o *outlet) json(raw []byte) error {
	o.header(typeJSON)
	o.w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	if err := o.deadline(); err != nil {
		return err
	}
	if o.status != 0 {
		o.w.WriteHeader(o.status)
	}
	if _, err := o.w.Write(raw); err != nil {
		return err
	}
	o.reader.wrote(false)
	return nil
}

// keepAlive sends a comment, which every client ignores, so that nothing on the
// way takes the connection for dead.
func (o *outlet) keepAlive() error {
	switch {
	case !o.takes.events:
		return nil
	case !o.began:
		return o.begin()
	}
	o.buf = append(o.buf[:0], ": keepalive\n\n"...)
	return o.flush()
}

// begin opens an event stream that has nothing to carry yet.
func (o *outlet) begin() error {
	o.buf = o.buf[:0]
	o.header(typeEvents)
	primed := o.ids && len(o.buf) > 0
	if err := o.flush(); err != nil {
		return err
	}
	o.reader.wrote(primed)
	return nil
}

// header decides what the response is. The beginning of an event stream is left
// in the buffer.
func (o *outlet) header(contentType string) {
	o.began = true
	h := o.w.Header()
	h.Set("Content-Type", contentType)
	if contentType == typeEvents {
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Accel-Buffering", "no")
		if o.hello != nil {
			o.buf = append(o.buf, o.hello()...)
		}
	}
	if o.head != nil {
		o.head(h)
	}
}

func (o *outlet) flush() error {
	if err := o.deadline(); err != nil {
		return err
	}
	if _, err := o.w.Write(o.buf); err != nil {
		return err
	}
	return http.NewResponseController(o.w).Flush()
}

// deadline gives the next write its time. A connection that cannot have one has
// another owner, who must see to it.
func (o *outlet) deadline() error {
	err := http.NewResponseController(o.w).SetWriteDeadline(time.Now().Add(o.o.WriteTimeout))
	if err != nil && !isUnsupported(err) {
		return err
	}
	return nil
}

// line returns a message without line breaks, as frames need it.
func line(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	m, err := wire.Parse(raw)
	if err != nil {
		panic("front: a message that does not parse was to be sent: " + err.Error())
	}
	return m.Line()
}
