package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// ServeStdio serves the one client at the other end of in and out, until it closes
// its end, cannot be written to, or ctx ends. When the client closes its end, its
// calls and legs in progress still have Options.LeaveGrace to finish.
//
// It returns nil when the client left in good order or ctx ended, and then nothing
// of it is left, with one exception: a blocked Read of in that neither a deadline
// nor Close can interrupt, as of a terminal, keeps its goroutine, which takes no
// message any more.
func ServeStdio(ctx context.Context, in io.Reader, out io.Writer, relay Relay, o Options, log *slog.Logger) error {
	o = o.withDefaults()
	c := newClient(relay, &o, log, TransportStdio, anyone, "")
	p := &stdio{client: c, stream: c.journal.open(pipe, false), in: in, out: out}
	p.legs = newPipeLegs(relay, &o, c.log, p.stream)
	reader := p.stream.attach()
	read, written := make(chan error, 1), make(chan error, 1)
	go func() { written <- p.write(reader) }()
	go func() { read <- p.read() }()

	var err error
	var reading, writing, patience = true, true, o.LeaveGrace
	why := wire.Errorf(wire.ReasonClientGone, "the client left")
	select {
	case err = <-read:
		reading, patience = false, o.WriteTimeout
		c.deafen(why)
		if failed, ok := p.linger(ctx, why, written); ok {
			err, writing = failed, false
		}
	case err = <-written:
		writing = false
	case <-ctx.Done():
		why = stopping()
	}
	c.shut(why)
	p.legs.stop(why)
	c.wait()
	if writing {
		err = errors.Join(err, p.flush(written, patience))
	}
	if reading && interrupt(in) {
		<-read
	}
	return err
}

// linger gives what is in progress a moment to finish. It reports true when writing
// has ended meanwhile.
func (p *stdio) linger(ctx context.Context, why *wire.Error, written <-chan error) (failed error, ended bool) {
	patience := time.After(p.client.o.LeaveGrace)
	for _, idle := range []<-chan struct{}{p.client.drain(), p.legs.drain(why)} {
		select {
		case <-idle:
		case <-patience:
			return nil, false
		case <-ctx.Done():
			return nil, false
		case failed = <-written:
			return failed, true
		}
	}
	return nil, false
}

// stdio is one client at two pipes. It may speak the languages of both eras: the
// session is that of the legacy one, the legs are the requests of the modern.
type stdio struct {
	client *Client
	legs   *pipeLegs
	stream *stream
	in     io.Reader
	out    io.Writer
}

// read takes the lines of the client until it closes its end.
//
// "Messages are delimited by newlines, and MUST NOT contain embedded newlines."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
func (p *stdio) read() error {
	lines := wire.NewLineReader(p.in, p.client.o.MaxMessage)
	for {
		text, err := lines.Next()
		switch {
		case errors.Is(err, wire.ErrTooLong):
			p.refuse("", tooLong(p.client.o.MaxMessage).err)
		case err == io.EOF || err != nil && p.client.ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("reading from the client: %w", err)
		default:
			p.take(text)
		}
	}
}

// take takes one line. What is no message is answered with an error, and the next
// line is a new chance.
func (p *stdio) take(text []byte) {
	if wire.IsBatch(text) {
		p.takeBatch(text)
		return
	}
	m, err := wire.Parse(text)
	if err != nil {
		f := unparsed(err)
		p.refuse(f.id, f.err)
		return
	}
	switch kind := m.Kind(); {
	case kind == wire.Request:
		p.request(m)
	case kind == wire.Notification && m.Method() == "notifications/cancelled" && p.legs.cancelled(m):
	case kind == wire.Notification && wire.IsModern(m): // nobody knows one
	default:
		p.client.receive(m, p.stream)
	}
}

// request takes one request, in the era that it speaks of. On a pipe all ids are of
// one client, whatever it speaks.
//
// "A request carrying modern per-request _meta is served statelessly according to
// this revision. An initialize request selects legacy semantics, scoped to the stdio
// process"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#compatibility-matrix
func (p *stdio) request(m wire.Message) {
	modern := wire.IsModern(m)
	switch {
	case p.legs.uses(m.ID()), modern && p.client.uses(m.ID()):
		p.refuse(m.ID(), inUse())
	case !modern:
		p.client.receive(m, p.stream)
	default:
		if err := p.legs.request(m); err != nil {
			p.refuse(m.ID(), err.Modern())
		}
	}
}

// takeBatch takes a JSON array, which only the legacy era knows.
func (p *stdio) takeBatch(text []byte) {
	batched, err := p.client.parseBatch(text)
	if err != nil {
		p.refuse("", wire.ErrorFrom(err))
		return
	}
	for _, m := range batched {
		if m.Kind() == wire.Request && p.legs.uses(m.ID()) {
			p.refuse("", inUse())
			return
		}
	}
	p.client.receiveBatch(batched, p.stream)
}

func (p *stdio) refuse(id wire.ID, err *wire.Error) {
	p.client.log.Warn("a message was refused", "why", err.Message)
	p.stream.finish(wire.NewFailure(id, err).Raw())
}

// write writes what is put on the stream until that ends.
func (p *stdio) write(r *reader) error {
	defer r.close()
	var buf []byte
	for {
		events, ended := r.take()
		for _, e := range events {
			buf = append(append(buf, line(e.raw)...), '\n')
		}
		if len(buf) > 0 {
			if _, err := p.out.Write(buf); err != nil {
				return fmt.Errorf("writing to the client: %w", err)
			}
			r.wrote(false)
			buf = reuse(buf)
		}
		if ended {
			return nil
		}
		<-r.s.wake
	}
}

// flush waits until everything is written, for a time.
func (p *stdio) flush(written <-chan error, patience time.Duration) error {
	select {
	case err := <-written:
		return err
	case <-time.After(patience):
	}
	if interrupt(p.out) {
		<-written
	}
	return errors.New("writing to the client: it does not read")
}

// interrupt makes a blocked Read or Write of f return, and reports whether it can.
func interrupt(f any) bool {
	switch f := f.(type) {
	case interface{ SetDeadline(time.Time) error }:
		return f.SetDeadline(time.Now()) == nil
	case io.Closer:
		return f.Close() == nil
	}
	return false
}

// reuse empties a buffer for the next use, unless it has become too large to keep.
func reuse(buf []byte) []byte {
	if cap(buf) > maxBacklogBytes {
		return nil
	}
	return buf[:0]
}
