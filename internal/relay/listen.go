package relay

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const (
	// ackWait bounds how long a listen waits for backends to say what they will tell.
	ackWait = 5 * time.Second
	// maxSubscriptions is how many resources one listen may be about.
	maxSubscriptions = 1000
)

// methodAcknowledged is what a listen begins with.
const methodAcknowledged = "notifications/subscriptions/acknowledged"

// listen serves subscriptions/listen for as long as the client listens. Backends of
// the modern era are listened to in the same way; of those of the legacy era, what
// they tell their session goes to all that listen there.
//
// "The server MUST send notifications/subscriptions/acknowledged as the first
// message […] and MUST NOT send any notification on the subscription before it."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
func (s *session) listen(ctx context.Context, x *exchange) (wire.Message, error) {
	wanted := wire.Get(x.request.Params(), "notifications")
	if len(wanted) == 0 || wanted[0] != '{' {
		return wire.Message{}, wire.Errorf(wire.ReasonParams, "subscriptions/listen needs notifications, an object")
	}
	n := 0
	for range wire.Elements(wire.Get(wanted, "resourceSubscriptions")) {
		if n++; n > maxSubscriptions {
			return wire.Message{}, wire.Errorf(wire.ReasonLimit, "too many resources are subscribed to at once").
				With("limit", maxSubscriptions).Hint("divide them among several listens")
		}
	}
	l := &listener{
		session: s, id: x.request.ID(), to: x, granted: make(map[string]bool),
		gone: make(chan struct{}), told: make(chan struct{}),
	}
	var work sync.WaitGroup
	ctx, cancel := context.WithCancelCause(ctx)
	var acks []<-chan struct{}
	for _, part := range s.parts(ctx, x, wanted) {
		ack := make(chan struct{})
		acks = append(acks, ack)
		work.Go(func() { part.listen(ctx, l, ack) })
	}
	patience, stop := context.WithTimeout(ctx, ackWait)
	for _, ack := range acks {
		select {
		case <-ack:
		case <-patience.Done():
		}
	}
	stop()
	l.acknowledge(wanted)
	select {
	case <-ctx.Done():
	case <-l.gone:
	}
	cancel(wire.Errorf(wire.ReasonClientGone, "the client does not listen any more"))
	work.Wait()
	if l.refusal.Kind() == wire.Failure {
		return l.refusal, nil
	}
	// "it SHOULD respond to the original subscriptions/listen request with a
	// completion result before closing the stream."
	// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#graceful-closure
	result := wire.Set([]byte(`{"resultType":"complete"}`), []byte(l.id), "_meta", wire.MetaSubscription)
	return wire.NewResult(l.id, result), nil
}

// listener is one subscriptions/listen of a client.
type listener struct {
	session *session
	id      wire.ID
	to      *exchange
	gone    chan struct{} // closed when the only backend has ended it
	refusal wire.Message  // of the only backend, which does not let itself be listened to; set before gone is closed

	told chan struct{} // closed when the acknowledgement has been sent

	mu      sync.Mutex        // guards the fields below
	granted map[string]bool   // what backends tell: members of the filter, and URIs
	foreign map[string][]byte // what the only backend grants of members that Beckon does not know
	settled bool              // what is granted now is what is acknowledged
}

// grant notes that a backend tells something that the client wants to hear. What the
// client was not told in the acknowledgement comes too late.
func (l *listener) grant(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.settled {
		l.granted[what] = true
	}
}

// grantForeign notes what the only backend grants of a member of the filter that
// Beckon does not know, of an extension for instance.
func (l *listener) grantForeign(member string, value []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled || l.session.via == nil {
		return
	}
	if l.foreign == nil {
		l.foreign = make(map[string][]byte)
	}
	l.foreign[member] = value
}

// uri is what a URI, raw, is called among what is granted.
func uri(raw []byte) string {
	text, _ := wire.Text(raw)
	return "uri " + text
}

// acknowledge tells the client what of the wanted it will hear, and lets
// notifications pass from then on.
func (l *listener) acknowledge(wanted []byte) {
	select {
	case <-l.gone:
		return
	default:
	}
	l.mu.Lock()
	l.settled = true
	granted := []byte(`{}`)
	var uris [][]byte
	for name, value := range wire.Members(wanted) {
		switch {
		case name == "resourceSubscriptions":
			for raw := range wire.Elements(value) {
				if l.granted[uri(raw)] {
					uris = append(uris, raw)
				}
			}
		case l.granted[name]:
			granted = wire.Set(granted, value, name)
		case l.foreign[name] != nil:
			granted = wire.Set(granted, l.foreign[name], name)
		}
	}
	if uris != nil {
		granted = wire.Set(granted, array(uris), "resourceSubscriptions")
	}
	l.mu.Unlock()
	ack := wire.Set(wire.Set(nil, []byte(l.id), "_meta", wire.MetaSubscription), granted, "notifications")
	l.to.Notify(wire.NewNotification(methodAcknowledged, ack))
	close(l.told)
}

func array(elements [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(elements, []byte(",")), []byte("]"))
}

// hear passes a notification that the client wants, behind the acknowledgement and
// under the id of its subscription. What comes before it is known what is granted is
// not passed.
func (l *listener) hear(m wire.Message) {
	what := filterOf(m)
	l.mu.Lock()
	wanted := l.settled && l.granted[what]
	if what == "" { // of no kind that Beckon knows: of what the only backend granted besides
		wanted = l.settled && l.foreign != nil && m.Method() != "notifications/cancelled" // a response follows that
	}
	l.mu.Unlock()
	if wanted {
		<-l.told
		l.to.Notify(m.WithParams(wire.Set(m.Params(), []byte(l.id), "_meta", wire.MetaSubscription)))
	}
}

// filters are the members of the filter that are flags, with the capability whose
// listChanged they need.
var filters = [...]struct{ member, capability string }{
	{"toolsListChanged", "tools"}, {"promptsListChanged", "prompts"}, {"resourcesListChanged", "resources"},
}

// known reports whether a member of the filter is one that Beckon knows.
func known(member string) bool {
	for _, f := range filters {
		if f.member == member {
			return true
		}
	}
	return member == "resourceSubscriptions"
}

// filterOf tells what lets a notification through, as it is called among what is
// granted; "" for what is of no kind that Beckon knows.
func filterOf(m wire.Message) string {
	if m.Method() == "notifications/resources/updated" {
		return uri(wire.Get(m.Params(), "uri"))
	}
	for _, f := range filters {
		if m.Method() == "notifications/"+f.capability+"/list_changed" {
			return f.member
		}
	}
	return ""
}

// part is what one backend contributes to a listen.
type part struct {
	route  *route
	wanted []byte   // the flags that are set, and for the only backend what Beckon does not know
	uris   [][]byte // raw JSON strings
	leg    *exchange
}

// parts divides what is wanted among the backends: each is asked for all kinds of
// changes, and for the resources that are its own. What Beckon does not know can only
// be for the one backend of a transparent session.
func (s *session) parts(ctx context.Context, x *exchange, wanted []byte) []*part {
	all := make([]*part, len(s.routes))
	flags := []byte(`{}`)
	for _, f := range filters {
		if string(wire.Get(wanted, f.member)) == "true" {
			flags = wire.Set(flags, []byte("true"), f.member)
		}
	}
	for name, value := range wire.Members(wanted) {
		if s.via != nil && !known(name) {
			flags = wire.Set(flags, value, name)
		}
	}
	for i, r := range s.routes {
		all[i] = &part{route: r, wanted: flags, leg: x}
	}
	for raw := range wire.Elements(wire.Get(wanted, "resourceSubscriptions")) {
		text, ok := wire.Text(raw)
		if !ok {
			continue
		}
		owner := s.via
		if owner == nil {
			owner = s.catalogue.locate(ctx, x, text)
		}
		for _, p := range all {
			if p.route == owner {
				p.uris = append(p.uris, raw)
			}
		}
	}
	return all
}

// listen contributes until ctx ends. ack is closed when it is known what the
// backend tells.
func (p *part) listen(ctx context.Context, l *listener, ack chan struct{}) {
	var once sync.Once
	acknowledged := func() { once.Do(func() { close(ack) }) }
	defer acknowledged()
	r := p.route
	if _, err := r.back.Connect(ctx); err != nil {
		r.session.log.Warn("nothing is heard of a backend", "backend", r.backend.Name, "err", err)
		l.lose(r, wire.Message{}, err)
		return
	}
	if r.back.Modern() {
		p.listenModern(ctx, l, acknowledged)
		return
	}
	r.session.listeners.add(l)
	defer r.session.listeners.remove(l)
	for _, f := range filters {
		if string(wire.Get(p.wanted, f.member)) == "true" && string(wire.Get(r.back.Result(), "capabilities", f.capability, "listChanged")) == "true" {
			l.grant(f.member)
		}
	}
	if string(wire.Get(r.back.Result(), "capabilities", "resources", "subscribe")) == "true" {
		agreed := p.subscribe(ctx, l)
		defer p.unsubscribe(agreed)
	}
	acknowledged()
	<-ctx.Done()
}

// subscribe subscribes to the resources at a legacy backend, and returns those for
// which it agreed. What it does not say within ackWait comes too late for l.
func (p *part) subscribe(ctx context.Context, l *listener) (agreed [][]byte) {
	ctx, cancel := context.WithTimeoutCause(ctx, ackWait, errors.New("the backend does not confirm a subscription"))
	defer cancel()
	for _, raw := range p.uris {
		if p.route.subscribe(ctx, raw) {
			agreed = append(agreed, raw)
			l.grant(uri(raw))
		}
	}
	return agreed
}

// unsubscribe ends what subscribe began. A backend that does not take that within
// ackWait tells of changes that nobody hears.
func (p *part) unsubscribe(agreed [][]byte) {
	ctx, cancel := context.WithTimeoutCause(p.route.session.ctx, ackWait, errors.New("the backend does not end a subscription"))
	defer cancel()
	for _, raw := range agreed {
		p.route.unsubscribe(ctx, raw)
	}
}

// listenModern listens to a backend of the modern era in the client's stead.
func (p *part) listenModern(ctx context.Context, l *listener, acknowledged func()) {
	r := p.route
	filter := p.wanted
	if len(p.uris) > 0 {
		filter = wire.Set(filter, array(p.uris), "resourceSubscriptions")
	}
	params := wire.Set(ownParams(p.leg), filter, "notifications")
	told := &partAsker{listener: l, acknowledged: acknowledged}
	resp, err := r.back.Call(ctx, wire.NewRequest(l.id, "subscriptions/listen", params), newCaller(r, told, wire.Message{}))
	if ctx.Err() != nil {
		return
	}
	if err != nil || resp.Kind() == wire.Failure {
		r.session.log.Warn("a backend is not listened to any more", "backend", r.backend.Name, "err", err, "code", string(wire.Get(resp.Error(), "code")))
	}
	l.lose(r, resp, err)
}

// lose ends the listen when it is the only backend that is not listened to any more:
// there is nothing more to hear, and the client can listen again. One that was never
// acknowledged ends with the error.
func (l *listener) lose(r *route, resp wire.Message, err error) {
	if r.session.via != r {
		return
	}
	l.mu.Lock()
	open := l.settled
	l.mu.Unlock()
	if l.refusal = resp; err != nil && !open {
		l.refusal = wire.NewFailure(l.id, wire.ErrorFrom(err).Modern())
	}
	close(l.gone)
}

// partAsker takes what one modern backend tells a listen.
type partAsker struct {
	nobody
	listener     *listener
	acknowledged func()
}

// Notify takes one notification. The first is the acknowledgement.
func (p *partAsker) Notify(m wire.Message) {
	if m.Method() != methodAcknowledged {
		p.listener.hear(m)
		return
	}
	for name, value := range wire.Members(wire.Get(m.Params(), "notifications")) {
		switch {
		case name == "resourceSubscriptions":
			for raw := range wire.Elements(value) {
				p.listener.grant(uri(raw))
			}
		case !known(name):
			p.listener.grantForeign(name, value)
		case string(value) == "true":
			p.listener.grant(name)
		}
	}
	p.acknowledged()
}

// listeners are the listens of one session that hear what legacy backends tell it.
// It is the session's Asker.
type listeners struct {
	nobody
	visits *visits

	mu  sync.Mutex
	all map[*listener]struct{} // guarded by mu
}

func newListeners(v *visits) *listeners {
	return &listeners{visits: v, all: make(map[*listener]struct{})}
}

// Notify takes what belongs to no request.
func (ls *listeners) Notify(m wire.Message) { ls.take(m) }

// take passes a notification that belongs to no request, whatever stream it came
// on, to those that listen. It reports whether it is one of that kind.
func (ls *listeners) take(m wire.Message) bool {
	if m.Method() == "notifications/elicitation/complete" {
		// The modern era does not know it; it speeds a call that waits for a visit.
		if id, ok := wire.Text(m.Params(), "elicitationId"); ok {
			ls.visits.done(id)
		}
		return true
	}
	if filterOf(m) == "" {
		return false
	}
	ls.mu.Lock()
	all := make([]*listener, 0, len(ls.all))
	for l := range ls.all {
		all = append(all, l)
	}
	ls.mu.Unlock()
	for _, l := range all {
		l.hear(m)
	}
	return true
}

func (ls *listeners) add(l *listener) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.all[l] = struct{}{}
}

func (ls *listeners) remove(l *listener) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.all, l)
}

// subscribe makes a legacy backend tell when a resource changes, once for all who
// want to hear it. It reports whether the backend agreed.
func (r *route) subscribe(ctx context.Context, uri []byte) bool {
	select {
	case r.subscribing <- struct{}{}: // one at a time, and none while another ends
	case <-ctx.Done():
		return false
	}
	defer func() { <-r.subscribing }()
	key, _ := wire.Text(uri)
	if r.subscribed[key] == 0 && !r.tellSubscription(ctx, "resources/subscribe", uri) {
		return false
	}
	r.subscribed[key]++
	return true
}

// unsubscribe undoes subscribe; the last one who does so ends it at the backend.
func (r *route) unsubscribe(ctx context.Context, uri []byte) {
	r.subscribing <- struct{}{} // whoever holds it does so for ackWait at most
	defer func() { <-r.subscribing }()
	key, _ := wire.Text(uri)
	if r.subscribed[key]--; r.subscribed[key] > 0 {
		return
	}
	delete(r.subscribed, key)
	r.tellSubscription(ctx, "resources/unsubscribe", uri)
}

func (r *route) tellSubscription(ctx context.Context, method string, uri []byte) bool {
	if ctx.Err() != nil {
		return false
	}
	req := wire.NewRequest(wire.IntID(0), method, wire.Set(nil, uri, "uri"))
	resp, err := r.back.Call(ctx, req, newCaller(r, r.session.asker, wire.Message{}))
	return err == nil && resp.Kind() == wire.Result
}
