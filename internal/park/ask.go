package park

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// ask is one open question of a call. Its key is never used again in the call, so
// that no answer can reach another question than its own.
type ask struct {
	number  int
	request *input.Request
	method  string
	params  []byte // as the client sees them
}

func (a *ask) key() string { return "r" + strconv.Itoa(a.number) }

// shownAs returns the open question that the client was shown under a key, or nil.
// A client may send very many keys. c.mu is held.
func (c *Call) shownAs(key string) *ask {
	digits, ok := strings.CutPrefix(key, "r")
	number, err := strconv.Atoi(digits)
	if !ok || err != nil || number > c.shown {
		return nil
	}
	i, ok := slices.BinarySearchFunc(c.asks, number, func(a *ask, n int) int { return cmp.Compare(a.number, n) })
	if !ok || c.asks[i].key() != key {
		return nil
	}
	return c.asks[i]
}

// unseen ends a question that no client has been shown.
func (a *ask) unseen(why *wire.Error) { a.request.Withdraw(input.Unseen, why) }

// Offer asks the client of the call r, in the response to the leg that waits, or to
// the next that comes. Each time that r is offered it has another key, so that an answer
// to what was asked before is none to what is asked now.
func (c *Call) Offer(r *input.Request) {
	asked := r.Ask() // this time: the same request may be offered again, with other words
	a := &ask{request: r, method: asked.Method(), params: paramsOf(r.Kind, asked)}
	if err := c.askable(a); err != nil {
		a.unseen(err)
		return
	}
	c.mu.Lock()
	defer c.unlock()
	if c.over {
		c.later(func() { c.turnAway(r) })
		return
	}
	c.last++
	a.number = c.last
	c.asks = append(c.asks, a)
	c.news = true
	c.gather(time.Now())
}

// surelyFlat is a number of objects and arrays that no limit to depth is below.
const surelyFlat = 1000

// turnAway ends a question that comes when its call is over.
func (c *Call) turnAway(r *input.Request) {
	if c.why != nil {
		r.Withdraw(outcomeOf(c.why), c.why)
		return
	}
	r.Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "the call that asked has ended"))
}

// askable tells why a question cannot be put into a response to the call.
func (c *Call) askable(a *ask) *wire.Error {
	if !wire.MayAsk(c.method) {
		return wire.Errorf(wire.ReasonCapability, "the client cannot be asked anything during %s", c.method).
			Hint("ask during tools/call, prompts/get or resources/read")
	}
	if a.request.Kind == input.Other {
		return wire.Errorf(wire.ReasonMethod, "clients of revision %s are not asked %s", wire.R20260728, a.method)
	}
	// What just fits into a message may not fit into one that wraps it: there is a
	// limit to how deep a message may be, far beyond that of most questions.
	if bytes.Count(a.params, []byte("{"))+bytes.Count(a.params, []byte("[")) < surelyFlat {
		return nil
	}
	if _, err := wire.Parse(append([]byte(`{"jsonrpc":"2.0","id":1,"result":`), append(inputRequired([]*ask{a}, ""), '}')...)); err != nil {
		return wire.Errorf(wire.ReasonParams, "the params of %s cannot be passed on", a.method)
	}
	return nil
}

// paramsOf returns the params of a question as clients of the modern era take
// them: without what that era does not know, and with the member itself, which
// some clients insist on. All else stays as it was written.
//
// "Remove the notifications/elicitation/complete notification and the
// elicitationId field of URL mode elicitation requests"
// https://modelcontextprotocol.io/specification/2026-07-28/changelog
func paramsOf(kind input.Kind, asked wire.Message) []byte {
	p := asked.Params()
	if len(p) == 0 || p[0] != '{' {
		return []byte("{}")
	}
	if kind == input.Form || kind == input.URL {
		p = wire.Drop(p, "elicitationId")
	}
	if wire.Get(p, "_meta", "progressToken") == nil {
		return p
	}
	p = wire.Drop(p, "_meta", "progressToken")
	for range wire.Members(wire.Get(p, "_meta")) {
		return p
	}
	return wire.Drop(p, "_meta")
}

// inputRequired is the result that asks.
//
// "Servers MUST include at least one of inputRequests or requestState in every
// InputRequiredResult response."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
func inputRequired(asks []*ask, state string) []byte {
	b := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, a := range asks {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '"'), a.key()...)
		b = append(append(b, `":{"method":`...), wire.Quote(a.method)...)
		b = append(append(b, `,"params":`...), a.params...)
		b = append(b, '}')
	}
	b = append(append(b, `},"requestState":`...), wire.Quote(state)...)
	return append(b, '}')
}

// Retract takes a question back: the client is not asked any more, and if it has
// been, its answer changes nothing. why is for clients that see a question while
// it is open, which those of this era do not.
func (c *Call) Retract(r *input.Request, _ string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strike(func(a *ask) bool { return a.request == r })
	if len(c.asks) == 0 {
		c.gatherAt, c.held = time.Time{}, false
	}
}

// answer is what a client says to one open question.
type answer struct {
	ask   *ask
	value []byte
}

// answers reads what a leg says to the open questions that its client was shown,
// and refuses all of it when one is no answer. Whatever else it says is said too
// late, or to nothing. c.mu is held.
//
// "If additional, unexpected parameters are provided in the InputResponses object,
// the server SHOULD ignore any information it does not recognize or need."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#error-handling
func (c *Call) answers(req wire.Message) ([]answer, *wire.Error) {
	responses := wire.Get(req.Params(), "inputResponses")
	if responses == nil || string(responses) == "null" {
		return nil, nil
	}
	if responses[0] != '{' {
		return nil, wire.Errorf(wire.ReasonParams, "inputResponses must be an object")
	}
	var all []answer
	for key, value := range wire.Members(responses) {
		open := c.shownAs(key)
		if open == nil {
			continue
		}
		a := answer{open, value}
		if err := a.check(); err != nil {
			return nil, err.With("key", key)
		}
		all = append(all, a)
	}
	return all, nil
}

// check refuses what the backend could not take for an answer.
func (a answer) check() *wire.Error {
	if a.value[0] != '{' {
		return wire.Errorf(wire.ReasonParams, "an input response must be an object")
	}
	if kind := a.ask.request.Kind; kind != input.Form && kind != input.URL {
		return nil
	}
	action, _ := wire.Text(a.value, "action")
	switch input.Outcome(action) {
	case input.Accept, input.Decline, input.Cancel:
		return nil
	}
	return wire.Errorf(wire.ReasonParams, "the answer to an elicitation needs an action").
		Hint(`the actions are "accept", "decline" and "cancel"`)
}

// strike takes questions out that are not open any more. c.mu is held.
func (c *Call) strike(ended func(*ask) bool) {
	open := len(c.asks)
	c.asks = slices.DeleteFunc(c.asks, ended)
	c.news = c.news || len(c.asks) != open
}

// lacks tells what a leg must declare before it can be asked the open questions.
// A client may declare less in a later leg than in the first.
//
// "Servers MUST NOT send an inputRequests that the client has not declared support
// for in its capabilities."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
func (c *Call) lacks(caps wire.ClientCaps) *wire.Error {
	for _, a := range c.asks {
		var has bool
		var name string
		needs := map[string]any{}
		switch a.request.Kind {
		case input.Form:
			has, name, needs["form"] = caps.Form, "elicitation", struct{}{}
		case input.URL:
			has, name, needs["url"] = caps.URL, "elicitation", struct{}{}
		case input.Roots:
			has, name = caps.Roots, "roots"
		case input.Sampling:
			has, name = caps.Sampling, "sampling"
			if wire.Get(a.params, "tools") != nil {
				has, needs["tools"] = caps.SamplingTools, struct{}{}
			}
		}
		if !has {
			err := wire.Errorf(wire.ReasonCapability, "the call asks for something that this request does not declare: %s", name).
				With("requiredCapabilities", map[string]any{name: needs})
			err.Code = wire.CodeMissingCapability
			return err
		}
	}
	return nil
}
