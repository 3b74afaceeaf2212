package front

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

func newJournal(count, bytes int) *journal { return &journal{maxCount: count, maxBytes: bytes} }

// taken returns what a reader takes now, in one string.
func taken(r *reader) string {
	var b strings.Builder
	events, ended := r.take()
	for _, e := range events {
		fmt.Fprintf(&b, "%d:%s ", e.number, e.raw)
	}
	if ended {
		b.WriteString("end")
	}
	return strings.TrimSpace(b.String())
}

func wantTaken(t *testing.T, r *reader, why, want string) {
	t.Helper()
	if got := taken(r); got != want {
		t.Errorf("%s: got %q, want %q", why, got, want)
	}
}

// What was taken but not sent when a connection broke is taken again by the next.
func TestStreamBrokenConnection(t *testing.T) {
	j := newJournal(100, 1000)
	s := j.session()
	s.send([]byte("a"))
	r := s.attach()
	wantTaken(t, r, "first", "1:a")
	r.wrote(true)
	s.send([]byte("b"))
	wantTaken(t, r, "then", "2:b")
	s.send([]byte("c"))
	r.close()
	r = j.listen()
	wantTaken(t, r, "again", "2:b 3:c")
	r.wrote(true)
	wantTaken(t, r, "no more", "")
	again := s.resume(1)
	wantTaken(t, r, "the first reader gets nothing", "")
	wantTaken(t, again, "resumed", "2:b 3:c")
	j.end()
	wantTaken(t, again, "at the end", "end")
}

// Only what the connection has not taken can be withdrawn silently.
func TestStreamWithdraw(t *testing.T) {
	j := newJournal(100, 1000)
	s := j.session()
	a, b := s.put([]byte("a"), false), s.put([]byte("b"), false)
	if !s.withdraw(a) {
		t.Error("nobody has seen a")
	}
	r := s.attach()
	wantTaken(t, r, "what is left", "2:b")
	if s.withdraw(b) {
		t.Error("b may have been seen")
	}
	if s.sent(b) {
		t.Error("b was not sent yet")
	}
	r.wrote(true)
	if !s.sent(b) {
		t.Error("b was sent")
	}
	if j.count != 1 || j.bytes != 1 || s.backlog != 0 {
		t.Errorf("holds %d events, %d bytes, backlog %d", j.count, j.bytes, s.backlog)
	}
}

// Without a connection, the oldest notifications are dropped; questions and
// responses are not.
func TestStreamSheds(t *testing.T) {
	j := newJournal(10000, 1<<30)
	s := j.session()
	for i := range 1000 {
		s.send(fmt.Append(nil, i))
		if i == 10 {
			s.put([]byte("question"), false)
		}
	}
	if len(s.events) != maxBacklog {
		t.Errorf("holds %d events", len(s.events))
	}
	if got := string(s.events[0].raw); got != "question" {
		t.Errorf("the first is %s", got)
	}
	if got := string(s.events[len(s.events)-1].raw); got != "999" {
		t.Errorf("the last is %s", got)
	}
	s.send(make([]byte, 2*maxBacklogBytes))
	if len(s.events) != 1 || s.backlog != len("question") {
		t.Errorf("after a message over the bound it holds %d events, %d bytes", len(s.events), s.backlog)
	}
}

// What was sent is kept up to the bounds of the client, the newest of it.
func TestJournalTrims(t *testing.T) {
	j := newJournal(10, 1000)
	r := j.open(answer, false).attach()
	for i := range 100 {
		r.s.send(fmt.Append(nil, i))
		r.take()
		r.wrote(true)
	}
	if j.count != 10 {
		t.Errorf("holds %d events", j.count)
	}
	resumed := r.s.resume(1)
	wantTaken(t, resumed, "from what is left", "91:90 92:91 93:92 94:93 95:94 96:95 97:96 98:97 99:98 100:99")
	resumed.wrote(true)
	resumed.s.finish([]byte(strings.Repeat("x", 2000)))
	if _, ended := resumed.take(); !ended {
		t.Error("the final message ends the stream")
	}
	resumed.wrote(true)
	resumed.close()
	if j.count != 1 || j.bytes != 2000 {
		t.Errorf("holds %d events, %d bytes; the final message stays as long as there is no other", j.count, j.bytes)
	}

	// Answers that nobody came back for go, oldest first.
	for range 2 * maxEnded {
		r := j.open(answer, false).attach()
		r.s.send([]byte("n"))
		r.take()
		r.wrote(true)
		r.close()
		r.s.finish([]byte("final"))
	}
	if len(j.streams) > maxEnded || j.count > 10 {
		t.Errorf("keeps %d streams, %d events", len(j.streams), j.count)
	}
	last := j.streams[len(j.streams)-1]
	wantTaken(t, last.attach(), "the newest", "2:final end")
}

// A stream that its client cannot resume leaves nothing.
func TestJournalForgets(t *testing.T) {
	j := newJournal(10, 1000)
	r := j.open(answer, false).attach()
	r.s.send([]byte("a"))
	r.close()
	r.s.send([]byte("b"))
	r.s.finish([]byte("c"))
	if len(j.streams) != 0 || j.count != 0 || j.bytes != 0 || j.readers != 0 || j.ended != 0 {
		t.Errorf("left is %+v", j)
	}
}

// A sender waits for a connection that is behind, until there is room, or the
// connection is gone, or everything ends.
func TestStreamWaits(t *testing.T) {
	ways := map[string]func(r *reader){
		"room":       func(r *reader) { r.take(); r.wrote(true) },
		"gone":       func(r *reader) { r.close() },
		"taken over": func(r *reader) { r.s.attach().close() },
		"end":        func(r *reader) { r.s.end() },
		"hurry":      func(r *reader) { r.s.j.hurry() },
	}
	for name, free := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newJournal(1000, 1<<30).session().attach()
				done := false
				go func() {
					for range maxBacklog + 1 {
						r.s.send([]byte("x"))
					}
					done = true
				}()
				synctest.Wait()
				if done {
					t.Error("the sender did not wait")
				}
				free(r)
				synctest.Wait()
				if !done {
					t.Error("the sender still waits")
				}
			})
		})
	}
}

// One message of any size passes when nothing is before it.
func TestStreamTakesOneBigMessage(t *testing.T) {
	r := newJournal(10, 10).session().attach()
	r.s.send(make([]byte, 10*maxBacklogBytes))
	if events, _ := r.take(); len(events) != 1 {
		t.Errorf("got %d events", len(events))
	}
}
