package back

import (
	"bytes"
	"context"
	"crypto/rand"
	"sync"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// wrongInput refuses a result that asks for input where it must not, or for what
// the client cannot give.
//
// "Servers MUST NOT send InputRequiredResult responses on any other client
// requests." "Servers MUST include at least one of inputRequests or requestState in
// every InputRequiredResult response." "Servers MUST NOT send an inputRequests that
// the client has not declared support for in its capabilities."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
func (l *link) wrongInput(method string, result []byte, caps wire.ClientCaps) *wire.Error {
	if !wire.MayAsk(method) {
		return l.violation("asks for input in answer to %s", method)
	}
	requests := wire.Get(result, "inputRequests")
	if requests != nil && !isObject(requests) {
		return l.violation("asks for input in no known form")
	}
	n := 0
	for _, request := range wire.Members(requests) {
		if n++; n > maxQuestions {
			return l.violation("asks for more than %d inputs at once", maxQuestions)
		}
		what, ok := can(caps, request)
		if !ok {
			return l.violation("asks for %s, which the client did not declare", what)
		}
		if p := wire.Get(request, "params"); p != nil && !isObject(p) {
			return l.violation("asks for %s with params that are no object", what)
		}
	}
	if n == 0 && wire.Get(result, "requestState") == nil {
		return l.violation("asks for no input and gives no state")
	}
	return nil
}

// can reports whether a client with the capabilities caps can answer an input
// request, and what that is, for people.
func can(caps wire.ClientCaps, request []byte) (what string, ok bool) {
	method, _ := wire.Text(request, "method")
	params := wire.Get(request, "params")
	switch method {
	case "elicitation/create":
		if mode, _ := wire.Text(params, "mode"); mode == "url" {
			return "elicitation by url", caps.URL
		}
		return "elicitation by form", caps.Form
	case "sampling/createMessage":
		if wire.Get(params, "tools") != nil || wire.Get(params, "toolChoice") != nil {
			return "sampling with tools", caps.SamplingTools
		}
		return "sampling", caps.Sampling
	case "roots/list":
		return "roots", caps.Roots
	}
	return "an input that is not known", false
}

// asking is a round of questions to a legacy client.
type asking struct {
	keys      []string             // of the questions, as the backend named them
	withdraw  []func(*wire.Error)  // by question; nil where there is none, or it is answered
	responses map[int]wire.Message // by question
	replies   chan reply           // has room for all
}

// reply is the response to one question of a round.
type reply struct {
	question int
	response wire.Message
}

// gather puts the questions to the client, all at the same time, and waits for the
// answers. It returns them as the backend wants them, byte for byte; nil if there
// are no questions. One error in place of an answer ends the round: the modern era
// has no way to hand it on.
//
// "If a client receives an InputRequiredResult that contains the inputRequests
// field, the client MUST construct the requested inputs before retrying the original
// request."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow
func (l *link) gather(ctx context.Context, caller Caller, requests []byte) (answers []byte, failed wire.Message, err error) {
	a := &asking{responses: make(map[int]wire.Message), replies: make(chan reply, maxQuestions)}
	following := 0
	for range wire.Members(requests) {
		following++
	}
	for key, request := range wire.Members(requests) {
		following--
		if a.put(l.newID(), key, request, following, caller); a.refused() {
			break // the others need not be asked
		}
	}
	for len(a.responses) < len(a.keys) {
		select {
		case r := <-a.replies:
			a.responses[r.question], a.withdraw[r.question] = r.response, nil
			if r.response.Kind() != wire.Result {
				a.takeBack("another question of the call has no answer")
				return nil, r.response, nil
			}
		case <-ctx.Done():
			a.takeBack("the call that asked has ended")
			return nil, wire.Message{}, context.Cause(ctx)
		}
	}
	return a.answers(), wire.Message{}, nil
}

// refused reports whether a response is there already, before anybody can have been
// asked: the last question was refused, or answered in no time.
func (a *asking) refused() bool {
	select {
	case r := <-a.replies:
		a.replies <- r // it has room for all
		return r.response.Kind() != wire.Result
	default:
		return false
	}
}

// put asks one question, which others follow.
func (a *asking) put(id wire.ID, key string, request []byte, following int, caller Caller) {
	method, _ := wire.Text(request, "method")
	params := wire.Get(request, "params")
	if mode, _ := wire.Text(params, "mode"); mode == "url" && wire.Get(params, "elicitationId") == nil {
		// 2025-11-25 demands it, and 2026-07-28 does not know it.
		params = wire.Set(params, wire.Quote(rand.Text()), "elicitationId")
	}
	n := len(a.keys)
	a.keys = append(a.keys, key)
	var once sync.Once
	a.withdraw = append(a.withdraw, caller.Ask(Asked{
		Message:   wire.NewRequest(id, method, params),
		Following: following,
		Reply:     func(m wire.Message) { once.Do(func() { a.replies <- reply{n, m} }) },
	}))
}

// takeBack withdraws the questions that are still open.
func (a *asking) takeBack(why string) {
	for _, withdraw := range a.withdraw {
		if withdraw != nil {
			withdraw(wire.Errorf(wire.ReasonWithdrawn, "%s", why))
		}
	}
}

// answers returns what inputResponses is to hold; nil if nothing was asked.
func (a *asking) answers() []byte {
	if len(a.keys) == 0 {
		return nil
	}
	var b bytes.Buffer
	for i, key := range a.keys {
		b.WriteByte("{,"[min(i, 1)])
		b.Write(wire.Quote(key))
		b.WriteByte(':')
		b.Write(a.responses[i].Result())
	}
	b.WriteByte('}')
	return b.Bytes()
}
