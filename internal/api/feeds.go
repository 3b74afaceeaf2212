package api

import (
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// maxKept is how many events of one open question are kept, for followers that are
// behind or come back. The oldest go first.
const maxKept = 64

// Feeds hear what happens to the forms that are open, for whoever follows them. They
// are an [input.Observer] and never block. What they keep of a form they drop when it
// ends: how it ended is told by the broker.
type Feeds struct {
	// mu guards the fields below and those of the feeds. It is held for moments only.
	mu        sync.Mutex
	open      map[*input.Request]*feed
	followers int
}

// feed is what happened to one open question.
type feed struct {
	events    []happening
	first     int // number of events[0]; the first ever is 1
	ended     bool
	followers map[*follower]struct{}
}

// happening is one event: what, and how the question stood then, without what
// was answered.
type happening struct {
	what   input.What
	status input.Status
}

// follower is one event stream. It owns its place.
type follower struct {
	feed *feed
	next int           // number of the event that it has not seen
	wake chan struct{} // holds a token when there may be more
}

// NewFeeds returns feeds of a broker in which nothing is open yet.
func NewFeeds() *Feeds { return &Feeds{open: make(map[*input.Request]*feed)} }

// Opened begins the feed of a form.
func (f *Feeds) Opened(r *input.Request) {
	if !r.Lane() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[r] = &feed{first: 1}
}

// Changed adds to the feed of a form.
func (f *Feeds) Changed(r *input.Request, e input.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.open[r]
	if one == nil {
		return
	}
	e.Status.Values, e.Status.Answer, e.Status.By = form.Values{}, input.Answer{}, input.Submitter{}
	one.events = append(one.events, happening{e.What, e.Status})
	if len(one.events) > maxKept {
		one.events = append([]happening(nil), one.events[1:]...)
		one.first++
	}
	one.tell()
}

// Ended ends the feed of a form.
func (f *Feeds) Ended(r *input.Request, _ input.Answer, _ time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.open[r]
	if one == nil {
		return
	}
	delete(f.open, r)
	one.ended = true
	one.tell()
}

// Refused does nothing: who is refused is told so.
func (f *Feeds) Refused(input.Question, *wire.Error) {}

// tell wakes all followers.
func (one *feed) tell() {
	for each := range one.followers {
		select {
		case each.wake <- struct{}{}:
		default: // it has been told
		}
	}
}

// follow begins to follow r behind the event number after. It returns nil and the
// limit when there are too many followers, of all or of that one; and a follower of
// nothing when r has ended.
func (f *Feeds) follow(r *input.Request, after, most, mostOfOne int) (each *follower, limit int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.open[r]
	if one == nil {
		one = &feed{first: 1, ended: true}
	}
	switch {
	case f.followers >= most:
		return nil, most
	case len(one.followers) >= mostOfOne:
		return nil, mostOfOne
	}
	if one.followers == nil {
		one.followers = make(map[*follower]struct{})
	}
	if after < 0 || after >= one.first+len(one.events) {
		after = 0
	}
	each = &follower{feed: one, next: after + 1, wake: make(chan struct{}, 1)}
	one.followers[each] = struct{}{}
	f.followers++
	return each, 0
}

// leave ends following.
func (f *Feeds) leave(each *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(each.feed.followers, each)
	f.followers--
}

// take returns what happened since the last take, and the number of the first of
// it; ended tells that nothing else will happen.
func (f *Feeds) take(each *follower) (events []happening, first int, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := each.feed
	first = max(each.next, one.first)
	events = append(events, one.events[first-one.first:]...)
	each.next = first + len(events)
	return events, first, one.ended
}

// asked are the open questions that were asked over REST.
func (f *Feeds) asked() []*input.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*input.Request
	for r := range f.open {
		if r.Managed && r.Session == Session {
			all = append(all, r)
		}
	}
	return all
}
