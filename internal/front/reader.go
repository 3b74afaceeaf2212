package front

// reader is a connection attached to a stream; there is at most one. It owns
// nothing: whoever attached it takes events from it and closes it.
type reader struct {
	s     *stream
	cut   chan struct{} // closed when another connection has taken over
	batch []event       // room for what take returns

	// start begins to send. It is called once, when there is something to send
	// other than the final message alone; nil when that has happened, or whoever
	// attached the reader sends from the beginning. Guarded by j.mu.
	start func(silent bool)
}

// attach makes a connection the reader of s, from where the last one stopped.
func (s *stream) attach() *reader {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	return s.attachLocked()
}

// resume makes a connection the reader of s, from behind the event n. What is no
// longer held is left out. It returns nil when nothing will ever come.
func (s *stream) resume(n uint64) *reader {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	at := s.indexLocked(n + 1)
	if s.ended && at == len(s.events) {
		return nil
	}
	s.written = min(n+1, s.next)
	s.backlog = 0
	for _, e := range s.events[at:] {
		s.backlog += len(e.raw)
	}
	return s.attachLocked()
}

func (s *stream) attachLocked() *reader {
	if s.reader != nil {
		close(s.reader.cut)
		s.reader.startLocked(false) // so that it gives its connection up
		s.j.readers--
	}
	s.reader = &reader{s: s, cut: make(chan struct{})}
	s.j.readers++
	s.taken = s.written
	s.signal()
	return s.reader
}

// lazy leaves it to start to send.
func (r *reader) lazy(start func(silent bool)) {
	r.s.j.mu.Lock()
	defer r.s.j.mu.Unlock()
	if s := r.s; s.reader != r || len(s.events) > 0 {
		start(false)
		return
	}
	r.start = start
}

// startLocked begins to send; silent tells that it is for having been silent long.
func (r *reader) startLocked(silent bool) {
	if r != nil && r.start != nil {
		r.start(silent)
		r.start = nil
	}
}

// begin is startLocked for whoever finds that it is time.
func (r *reader) begin(silent bool) {
	r.s.j.mu.Lock()
	defer r.s.j.mu.Unlock()
	r.startLocked(silent)
}

// claim prevents that sending is begun, and reports false when it was before.
func (r *reader) claim() bool {
	r.s.j.mu.Lock()
	defer r.s.j.mu.Unlock()
	unstarted := r.start != nil
	r.start = nil
	return unstarted
}

// take returns the events that no connection has sent, until the next take;
// ended tells that none follow.
func (r *reader) take() (events []event, ended bool) {
	s := r.s
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	if s.reader != r {
		return nil, false
	}
	r.batch = append(r.batch[:0], s.events[s.indexLocked(s.taken):]...)
	s.taken = s.next
	return r.batch, s.ended
}

// wrote tells that what was taken has been sent. primed says that the client has
// got an event id by it.
func (r *reader) wrote(primed bool) {
	s := r.s
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	if s.reader != r {
		return
	}
	from, to := s.indexLocked(s.written), s.indexLocked(s.taken)
	for _, e := range s.events[from:to] {
		s.backlog -= len(e.raw)
	}
	s.written = s.taken
	s.primed = s.primed || primed
	if s.kind == pipe {
		s.removeLocked(0, to)
	}
	clear(r.batch) // a stream may be silent for hours
	s.j.trimLocked(s)
	s.releaseLocked()
}

// close detaches the connection. A stream that the client cannot resume is
// forgotten with all that comes. It reports whether the client may miss the
// connection: there is no other, or it leaves something unsent.
func (r *reader) close() bool {
	s := r.s
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	if s.reader != r {
		return false
	}
	s.reader = nil
	s.taken = s.written
	s.j.readers--
	missed := s.j.readers == 0 || s.indexLocked(s.written) < len(s.events)
	if s.kind == answer && !s.primed || s.kind == pipe {
		s.j.forgetLocked(s)
		return missed
	}
	s.releaseLocked()
	s.shedLocked()
	return missed
}
