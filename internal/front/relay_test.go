package front

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// fakeRelay is a relay with one backend that does what the methods of the
// requests say.
type fakeRelay struct {
	t      *testing.T
	broker *input.Broker
	open   func(ctx context.Context, c *Client, m wire.Message) *wire.Error // before the response; may be nil

	opened  chan *Client      // one for each session
	notes   chan wire.Message // notifications of clients
	closed  chan *Client      // sessions that were closed
	causes  chan error        // why the contexts of blocked calls ended
	answers chan input.Answer // of questions
	release chan struct{}     // lets a call of "wait" go on
	legs    chan *Leg         // one for each request of a modern client
	changed chan struct{}     // makes the tools change

	mu    sync.Mutex
	late  int
	stray int
}

func newFakeRelay(t *testing.T) *fakeRelay {
	return &fakeRelay{
		t: t,
		broker: input.NewBroker(input.Limits{
			Timeout: time.Minute, Total: 1000, PerSession: 1000,
		}, quiet{}),
		opened:  make(chan *Client, 100),
		notes:   make(chan wire.Message, 1000),
		closed:  make(chan *Client, 100),
		causes:  make(chan error, 100),
		answers: make(chan input.Answer, 1000),
		release: make(chan struct{}),
		legs:    make(chan *Leg, 1000),
		changed: make(chan struct{}),
	}
}

// quiet observes nothing.
type quiet struct{}

func (quiet) Opened(*input.Request)                             {}
func (quiet) Ended(*input.Request, input.Answer, time.Duration) {}
func (quiet) Changed(*input.Request, input.Event)               {}
func (quiet) Refused(input.Question, *wire.Error)               {}

func (f *fakeRelay) options() Options {
	return Options{
		Late:  func(*Client) { f.count(&f.late) },
		Stray: func(*Client) { f.count(&f.stray) },
	}
}

func (f *fakeRelay) count(n *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

func (f *fakeRelay) counted() (late, stray int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.late, f.stray
}

func (f *fakeRelay) Open(ctx context.Context, c *Client, m wire.Message) (Session, wire.Message) {
	if f.open != nil {
		if err := f.open(ctx, c, m); err != nil {
			return nil, wire.NewFailure(m.ID(), err)
		}
	}
	want, _ := wire.Text(m.Params(), "protocolVersion")
	f.opened <- c
	return &fakeSession{f, c}, wire.NewResult(m.ID(), fmt.Appendf(nil,
		`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`,
		wire.Negotiate(wire.Revision(want))))
}

type fakeSession struct {
	*fakeRelay
	client *Client
}

func (s *fakeSession) Notify(ctx context.Context, m wire.Message) {
	if m.Method() == "notifications/stall" {
		select {
		case <-s.release:
		case <-ctx.Done():
		}
	}
	s.notes <- m
}

func (s *fakeSession) Close() { s.closed <- s.client }

// Serve does what the method says; unknown ones are echoed.
func (s *fakeSession) Serve(ctx context.Context, call *Call) wire.Message {
	m := call.Request()
	result := func(r []byte) wire.Message { return wire.NewResult(m.ID(), r) }
	switch m.Method() {
	case "block": // until the context ends
		<-ctx.Done()
		s.causes <- context.Cause(ctx)
		return result([]byte(`"never to be seen"`))
	case "fail":
		return wire.NewFailure(call.Request().ID(), &wire.Error{Code: wire.CodeMethodNotFound, Reason: wire.ReasonMethod, Message: "m"})
	case "wait": // until the test releases it
		<-s.release
		return result([]byte(`"waited"`))
	case "progress": // one notification, then the test releases it
		call.Notify(note("progress"))
		<-s.release
		return result([]byte(`"progressed"`))
	case "ask", "ask-session", "ask-url", "ask-sample":
		return s.ask(ctx, call, result)
	case "tools/call":
		return s.tool(ctx, call, result)
	}
	if p := m.Params(); p != nil {
		return result(p)
	}
	return result([]byte(`{}`))
}

func note(method string) wire.Message {
	return wire.NewNotification("notifications/"+method, nil)
}

// question is what a backend asks.
func question(method string) wire.Message {
	switch method {
	case "ask-sample":
		return wire.NewRequest(wire.IntID(7), "sampling/createMessage", []byte(`{"messages":[]}`))
	case "ask-url":
		return wire.NewRequest(wire.IntID(7), "elicitation/create", []byte(`{"mode":"url","url":"http://x","message":"m","elicitationId":"e"}`))
	}
	return wire.NewRequest(wire.IntID(7), "elicitation/create", []byte(`{"message":"m"}`))
}

// ask asks the client on the stream of the call, or of the session, and answers
// the call with what comes back.
func (s *fakeSession) ask(ctx context.Context, call *Call, result func([]byte) wire.Message) wire.Message {
	var channel Asker = call
	if call.Request().Method() == "ask-session" {
		channel = call.Client()
	}
	ended := make(chan input.Answer, 1)
	r, err := s.pose(question(call.Request().Method()), channel, ended)
	if err != nil {
		return wire.NewFailure(call.Request().ID(), err)
	}
	select {
	case a := <-ended:
		s.answers <- a
		if a.Err != nil {
			return wire.NewFailure(call.Request().ID(), a.Err)
		}
		return result(a.Response.Raw())
	case <-ctx.Done():
		r.Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "the call ended"))
		s.answers <- <-ended
		return wire.Message{}
	}
}

var all = wire.ClientCaps{Form: true, URL: true, Sampling: true, SamplingTools: true, Roots: true}

// pose opens one question on a channel.
func (f *fakeRelay) pose(m wire.Message, ch input.Channel, ended chan<- input.Answer) (*input.Request, *wire.Error) {
	return f.broker.Open(input.Question{Message: m, Caps: all}, ch, func(_ *input.Request, a input.Answer) { ended <- a })
}

// tool is tools/call for clients of an SDK: it echoes, or asks first.
func (s *fakeSession) tool(ctx context.Context, call *Call, result func([]byte) wire.Message) wire.Message {
	name, _ := wire.Text(call.Request().Params(), "name")
	text := wire.Get(call.Request().Params(), "arguments", "text")
	if name == "ask" {
		ended := make(chan input.Answer, 1)
		ask := wire.NewRequest(wire.IntID(1), "elicitation/create",
			[]byte(`{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`))
		r, err := s.pose(ask, call, ended)
		if err != nil {
			return wire.NewFailure(call.Request().ID(), err)
		}
		defer context.AfterFunc(ctx, func() {
			r.Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "the call ended"))
		})()
		a := <-ended
		if a.Err != nil {
			return wire.NewFailure(call.Request().ID(), a.Err)
		}
		text = wire.Get(a.Response.Result(), "content", "name")
	}
	return result(fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, text))
}
