package back

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const (
	defaultRetry = time.Second      // pause before a reconnection when the backend names none
	maxRetry     = 30 * time.Second // longest pause that is ours and not the backend's
)

// stream is an event stream that may go over several connections. It belongs to
// the goroutine that reads it.
type stream struct {
	in       *inbox
	max      int     // bytes of one message
	of       wire.ID // the request that it answers; "" for the GET stream
	attempts int     // connections in a row that may bring nothing; negative: no reconnection

	events  *wire.EventReader // of the connection in use
	last    string            // id of the last event that had one
	retry   time.Duration     // as the backend said last; 0 when it did not
	empty   int               // connections in a row that brought nothing, the next one included
	brought bool              // the connection in use brought an event
	tooLong bool              // a message was skipped for its length
}

// open turns to the next connection.
func (s *stream) open(body io.Reader) {
	s.events = wire.NewEventReader(body, s.max)
	s.brought = false
}

// read hands on messages until one answers the request, or the connection ends:
// with io.EOF or what broke it.
func (s *stream) read() (answered bool, err error) {
	for {
		e, err := s.events.Next()
		if err != nil && !errors.Is(err, wire.ErrTooLong) {
			return false, err
		}
		s.brought = true
		if e.ID != "" {
			s.last = e.ID
		}
		if e.Retry > 0 {
			s.retry = e.Retry
		}
		switch {
		case err != nil:
			s.tooLong = true
			s.in.noise(fmt.Errorf("an event of more than %d bytes: %w", s.max, err), "")
			continue
		case len(e.Data) == 0 || e.Type != "" && e.Type != "message":
			continue // it primes the resumption, or is of a kind that is not MCP's
		}
		answered, err := s.in.take(e.Data, s.of)
		if err != nil {
			s.in.noise(err, banner(e.Data))
		}
		if answered {
			return true, nil
		}
	}
}

// pause returns how long to wait before the next connection, after one that
// lasted for a while. It grows while connections bring nothing and end at once;
// one that was held open longer than the pause before it is no failure, but an
// intermediary's idle timeout or a backend that wants to be polled.
//
// "The client MUST respect the retry field, waiting the given number of
// milliseconds before attempting to reconnect."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func (s *stream) pause(lasted time.Duration) time.Duration {
	first := s.retry
	if first == 0 {
		first = defaultRetry
	}
	wait := max(first, min(first<<min(s.empty, 10), maxRetry))
	if s.brought || lasted > wait {
		s.empty, wait = 0, first
	}
	if s.empty > 0 {
		wait += rand.N(wait / 4) // not all streams at once
	}
	s.empty++
	return wait
}
