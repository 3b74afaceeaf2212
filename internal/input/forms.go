package input

import (
	"cmp"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// forms are the books of the form lane: which are open, for whom, and which have
// ended a while ago. Broker.mu guards them.
type forms struct {
	perOwner  int
	keep      time.Duration
	maxEnded  int
	maxBytes  int
	meter     *meter // nil when any number may be opened in a minute
	perMinute int

	byID    map[string]*Request // open, and ended a while ago
	byOwner map[Party]int       // open; no entry for none
	ended   []*Request          // whose end is remembered, oldest first
	bytes   int                 // what those hold, by weight
	janitor *time.Timer         // rings when the oldest is to be forgotten; nil before there was any
}

// mostKept is how much ended forms may hold, in bytes. The oldest go when it is more, as
// they do when they are too many.
const mostKept = 64 << 20

// weight is how much r holds that others do not share, once it has ended: what was asked,
// and what was answered, sealed.
func (r *Request) weight() int { return len(r.Message.Raw()) + len(r.sheet.kept) }

func newForms(f Forms) forms {
	all := forms{
		perOwner:  cmp.Or(f.PerPrincipal, 20),
		perMinute: cmp.Or(f.PerMinute, 10),
		keep:      cmp.Or(f.KeepEnded, 10*time.Minute),
		maxEnded:  cmp.Or(f.MaxEnded, 1000),
		maxBytes:  mostKept,
		byID:      make(map[string]*Request),
		byOwner:   make(map[Party]int),
	}
	if all.perMinute > 0 {
		all.meter = newMeter(all.perMinute)
	}
	return all
}

// rate counts a form that q opens, or refuses it.
func (f *forms) rate(q Question, now time.Time) *wire.Error {
	if f.meter == nil {
		return nil
	}
	wait := f.meter.take(opener{q.party().named(), q.Backend}, now)
	if wait == 0 {
		return nil
	}
	by := ""
	if q.Backend != "" {
		by = " by backend " + q.Backend
	}
	return wire.Errorf(wire.ReasonRate, "too many forms were opened in this session%s: %d a minute are possible", by, f.perMinute).
		With("limit", f.perMinute).With("retryAfterMs", max(wait.Milliseconds(), 1)).
		Hint("ask for more in one form, or wait")
}

// add notes an open form, or refuses it.
func (f *forms) add(r *Request) *wire.Error {
	owner := r.party().owner()
	if f.byOwner[owner] >= f.perOwner {
		return tooMany("for this principal", f.perOwner)
	}
	f.byOwner[owner]++
	f.byID[r.ID] = r
	return nil
}

// leave notes that a form has ended. It can still be found.
func (f *forms) leave(r *Request) {
	owner := r.party().owner()
	if f.byOwner[owner]--; f.byOwner[owner] == 0 {
		delete(f.byOwner, owner)
	}
}

// remember keeps the end of r for a while, or forgets it at once. mu is held.
func (b *Broker) remember(r *Request) {
	f := &b.forms
	if b.closed || f.keep < 0 {
		delete(f.byID, r.ID)
		return
	}
	f.ended = append(f.ended, r)
	f.bytes += r.weight()
	for len(f.ended) > f.maxEnded || f.bytes > f.maxBytes && len(f.ended) > 1 {
		f.forget()
	}
	if f.janitor == nil {
		f.janitor = time.AfterFunc(f.keep, b.clean)
	} else if len(f.ended) == 1 {
		f.janitor.Reset(f.keep)
	}
}

// forget forgets the oldest end.
func (f *forms) forget() {
	r := f.ended[0]
	f.ended[0] = nil
	f.ended = f.ended[1:]
	f.bytes -= r.weight()
	delete(f.byID, r.ID)
}

// clean forgets what ended long enough ago.
func (b *Broker) clean() {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	f := &b.forms
	for len(f.ended) > 0 {
		wait := f.ended[0].sheet.endedAt.Add(f.keep).Sub(now)
		if wait > 0 {
			f.janitor.Reset(wait)
			return
		}
		f.forget()
	}
	f.ended = nil
}

// forgetAll forgets every end.
func (f *forms) forgetAll() {
	for len(f.ended) > 0 {
		f.forget()
	}
	f.ended = nil
	if f.janitor != nil {
		f.janitor.Stop()
	}
}

// Find returns the form that was opened under id, while it is open and for a while
// after. Who does not own it is told the same as for one that never was, reason
// not_found. The owner is the principal; where nobody is authenticated, the session.
func (b *Broker) Find(id string, who Party) (*Request, *wire.Error) {
	b.mu.Lock()
	r := b.forms.byID[id]
	b.mu.Unlock()
	if r == nil || r.party().owner() != who.owner() {
		return nil, wire.Errorf(wire.ReasonNotFound, "there is no such form, or it is not yours").
			With("type", "submission").
			Hint("a form can be reached by whoever it was opened for, and is forgotten some time after its end")
	}
	return r, nil
}
