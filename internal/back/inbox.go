package back

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// maxBatch is how many messages one batch of a backend may hold.
const maxBatch = 1000

// inbox reads the messages of one connection and hands them to its Receiver. It
// is safe for concurrent use.
type inbox struct {
	r       Receiver
	log     *slog.Logger
	batches atomic.Bool // the revision knows batches
	noisy   atomic.Bool // the first noise was logged
}

func (b *inbox) negotiated(r wire.Revision) { b.batches.Store(r == wire.R20250326) }

// take hands on the messages in data, which came on the stream of our request
// of, or on no such stream. It reports whether one of them answers that request.
//
// "MCP implementations MAY support sending JSON-RPC batches, but MUST support
// receiving JSON-RPC batches."
// https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
func (b *inbox) take(data []byte, of wire.ID) (answered bool, err error) {
	if b.batches.Load() && wire.IsBatch(data) {
		batch, err := wire.ParseBatch(data, maxBatch)
		for _, m := range batch {
			answered = b.receive(m, of) || answered
		}
		return answered, err
	}
	m, err := wire.Parse(data)
	if err != nil {
		return false, err
	}
	return b.receive(m, of), nil
}

// receive hands on one message. An error that answers nothing in particular can
// only mean the request on whose stream it came.
func (b *inbox) receive(m wire.Message, of wire.ID) (answered bool) {
	if of != "" && m.Kind() == wire.Failure && m.ID() == "" {
		m = addressed(m, of)
	}
	b.r.Receive(m, of)
	return of != "" && m.IsResponse() && m.ID() == of
}

// addressed gives the error m, which has no id, the id of the request that it
// answers.
func addressed(m wire.Message, id wire.ID) wire.Message {
	a, err := wire.Parse(wire.Set(m.Raw(), []byte(id), "id"))
	if err != nil {
		panic("back: an error with an id does not parse: " + err.Error())
	}
	return a
}

// noise takes note of what is no message. excerpt is text of it that is fit for
// the log, or "".
func (b *inbox) noise(what error, excerpt string) {
	level := slog.LevelWarn
	if b.noisy.Swap(true) {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{slog.Any("err", what)}
	if excerpt != "" {
		attrs = append(attrs, slog.String("excerpt", excerpt))
	}
	b.log.LogAttrs(context.Background(), level, "the backend sent something that is no message; skipped", attrs...)
	b.r.Noise(what)
}

// banner returns the beginning of a line that looks like text for people. What
// looks like a message is not shown: it may hold somebody's answer.
func banner(line []byte) string {
	const enough = 200
	if line[0] == '{' || line[0] == '[' {
		return ""
	}
	return string(line[:min(len(line), enough)])
}
