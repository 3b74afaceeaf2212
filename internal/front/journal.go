package front

import (
	"cmp"
	"slices"
	"sync"
)

// What one stream may hold of what its connection has not taken yet, or nobody
// fetches. Beyond it a sender waits, or the oldest notifications are dropped.
const (
	maxBacklog      = 64
	maxBacklogBytes = 256 << 10
)

const (
	maxEnded    = 32 // answers of one client that are kept for resumption
	maxStanding = 4  // streams of one client that belong to no request
)

// journal owns the streams of one client, and bounds what they keep together. The
// zero journal keeps nothing that was sent.
type journal struct {
	maxCount, maxBytes int // of the events that are kept

	// mu guards the fields below and those of the streams. It is held for moments
	// only. A client's own mutex is taken before it, never after.
	mu      sync.Mutex
	streams []*stream // in order of age
	last    uint64    // number of the newest stream
	readers int       // connections that read a stream
	ended   int       // streams that have ended
	count   int       // events in all streams
	bytes   int       // of those events
	closing bool      // nobody waits for room any more
}

// open makes a stream. A mute one carries nothing but its final message.
func (j *journal) open(kind streamKind, mute bool) *stream {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.openLocked(kind, mute)
}

func (j *journal) openLocked(kind streamKind, mute bool) *stream {
	j.last++
	s := &stream{
		j: j, number: j.last, kind: kind, mute: mute,
		wake: make(chan struct{}, 1), next: 1, taken: 1, written: 1,
	}
	j.streams = append(j.streams, s)
	return s
}

// find returns the stream with a number, or nil when it is not kept.
func (j *journal) find(number uint64) *stream {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, ok := slices.BinarySearchFunc(j.streams, number, func(s *stream, n uint64) int {
		return cmp.Compare(s.number, n)
	})
	if !ok {
		return nil
	}
	return j.streams[i]
}

// listen attaches a new connection to the stream that belongs to no request: the
// one that has no connection, so that it goes on where the last one stopped, or
// else another. It returns nil when there are too many.
func (j *journal) listen() *reader {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all, free []*stream
	for _, s := range j.streams {
		if s.kind != standing {
			continue
		}
		all = append(all, s)
		if s.reader == nil {
			free = append(free, s)
		}
	}
	switch {
	case len(free) > 0:
		return free[len(free)-1].attachLocked()
	case len(all) >= maxStanding:
		return nil
	}
	return j.openLocked(standing, false).attachLocked()
}

// session returns the stream for messages that belong to no request. There is
// always one; what is put there before a client listens waits.
func (j *journal) session() *stream {
	j.mu.Lock()
	defer j.mu.Unlock()
	var newest *stream
	for _, s := range slices.Backward(j.streams) {
		if s.kind == answer {
			continue
		}
		if s.reader != nil {
			return s
		}
		if newest == nil {
			newest = s
		}
	}
	if newest == nil {
		newest = j.openLocked(standing, false)
	}
	return newest
}

// audible returns the stream on which a question that belongs to no call reaches
// the client now: the newest that belongs to no request, else that of the oldest
// call in progress, else nil.
//
// "The server MUST send each of its JSON-RPC messages on only one of the
// connected streams; that is, it MUST NOT broadcast the same message across
// multiple streams."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#multiple-connections
func (j *journal) audible() *stream {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range slices.Backward(j.streams) {
		if s.kind != answer && s.audibleLocked() {
			return s
		}
	}
	for _, s := range j.streams {
		if s.audibleLocked() {
			return s
		}
	}
	return nil
}

// connected reports whether the client has any stream open.
func (j *journal) connected() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.readers > 0
}

// hurry lets everybody go on who waits for room, now and later.
func (j *journal) hurry() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closing = true
	for _, s := range j.streams {
		s.releaseLocked()
	}
}

// end ends all streams. What they hold is still sent where somebody reads.
func (j *journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.streams {
		s.endLocked()
	}
}

// trimLocked makes room, first by what the client misses least: what was sent,
// oldest stream first, then answers that nobody came back for. It spares the
// stream that just grew.
func (j *journal) trimLocked(spare *stream) {
	for j.count > j.maxCount || j.bytes > j.maxBytes {
		if !j.dropSentLocked() && !j.dropEndedLocked(spare) {
			return
		}
	}
	for j.ended > maxEnded && j.dropEndedLocked(spare) {
	}
}

func (j *journal) dropSentLocked() bool {
	for _, s := range j.streams {
		if len(s.events) == 0 || s.events[0].number >= s.written {
			continue
		}
		if final := s.ended && len(s.events) == 1; !final { // which stays as long as its stream
			s.removeLocked(0, 1)
			return true
		}
	}
	return false
}

func (j *journal) dropEndedLocked(spare *stream) bool {
	for _, s := range j.streams {
		if s.ended && s.reader == nil && s != spare {
			j.forgetLocked(s)
			return true
		}
	}
	return false
}

// forgetLocked drops a stream with all it holds.
func (j *journal) forgetLocked(s *stream) {
	s.endLocked()
	s.removeLocked(0, len(s.events))
	if i := slices.Index(j.streams, s); i >= 0 {
		j.streams = slices.Delete(j.streams, i, i+1)
		j.ended--
	}
}
