package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// endedEvent is the name of the last event, and its id: there is nothing to resume
// behind it.
const endedEvent = "ended"

// headerResume is where a caller that comes back says what it has seen.
const headerResume = "Last-Event-ID"

// events streams what happens to a question. The stream has an event for each that
// happens while the question is open, those before the stream included, and ends
// behind the one that tells how it ended.
func (a *API) events(v *visit) *failure {
	r, f := a.find(v)
	if f != nil {
		return f
	}
	last := v.r.Header.Get(headerResume)
	if last == endedEvent {
		// "Clients will reconnect if the connection is closed; a client can be told to
		// stop reconnecting using the HTTP 204 No Content response code."
		// https://html.spec.whatwg.org/multipage/server-sent-events.html#server-sent-events-intro
		v.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	after, err := strconv.Atoi(last)
	if err != nil {
		after = 0
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	if v.r.Method == http.MethodHead {
		return nil
	}
	each, limit := a.feeds.follow(r, after, a.o.MaxStreams, a.o.MaxStreamsOfOne)
	if each == nil {
		return failed(wire.Errorf(wire.ReasonLimit, "too many event streams are open").
			With("limit", limit).Hint("close one of them, or fetch the question now and then"))
	}
	defer a.feeds.leave(each)
	h.Set("X-Accel-Buffering", "no") // a proxy that collects what it passes on would hold events back
	(&stream{visit: v, api: a, question: r, follower: each, rc: http.NewResponseController(v.w)}).run()
	return nil
}

// stream sends events to one caller, on the goroutine that serves its request. A
// caller that does not take them in time is cut off, and nobody else waits for it.
type stream struct {
	*visit
	*follower
	api      *API
	question *input.Request
	rc       *http.ResponseController
}

func (s *stream) run() {
	silence := time.NewTicker(s.api.o.KeepAlive)
	defer silence.Stop()
	if s.write([]byte(": open\n\n")) != nil {
		return
	}
	closing := s.api.closing
	for {
		done, err := s.tell()
		if done || err != nil || closing == nil {
			return
		}
		select {
		case <-s.wake:
			silence.Reset(s.api.o.KeepAlive)
		case <-silence.C:
			if s.write([]byte(": keepalive\n\n")) != nil {
				return
			}
		case <-s.r.Context().Done():
			return
		case <-closing:
			closing = nil // once more, for what the closing has done
		}
	}
}

// tell sends what has happened, and reports whether that was all that ever will.
func (s *stream) tell() (done bool, err error) {
	events, first, ended := s.api.feeds.take(s.follower)
	for i, e := range events {
		if err := s.event(strconv.Itoa(first+i), string(e.what), viewAt(s.question, e.status)); err != nil {
			return false, err
		}
	}
	if ended {
		err = s.event(endedEvent, endedEvent, view(s.question))
	}
	return ended, err
}

func (s *stream) event(id, name string, q Question) error {
	return s.write(wire.AppendEvent(nil, wire.Event{ID: id, Type: name, Data: encode(q)}))
}

func (s *stream) write(data []byte) error {
	if err := s.rc.SetWriteDeadline(time.Now().Add(s.api.o.WriteTimeout)); err != nil {
		return fmt.Errorf("an event stream without deadlines: %w", err)
	}
	if _, err := s.w.Write(data); err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	if err := s.rc.Flush(); err != nil {
		return fmt.Errorf("sending an event: %w", err)
	}
	return nil
}
