package relay_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// pairing is a client and a backend, of one era each.
type pairing struct {
	t                *testing.T
	young, backYoung bool // the client, the backend is of the modern era
	c                *client
	s                *server
	legs             int // retries of a modern client
}

// pairings runs a story in each pairing, in time of its own. limit is that of a call.
func pairings(t *testing.T, limit time.Duration, story func(p *pairing)) {
	pairingsWith(t, relay.Options{}, limit, story)
}

// pairingsWith is pairings with a gateway that is made so.
func pairingsWith(t *testing.T, o relay.Options, limit time.Duration, story func(p *pairing)) {
	for _, tt := range []struct {
		name             string
		young, backYoung bool
	}{{"LL", false, false}, {"ML", true, false}, {"LM", false, true}, {"MM", true, true}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pairing{t: t, young: tt.young, backYoung: tt.backYoung, s: newServer(t, "a")}
				if p.backYoung {
					p.s = newModern(t, "a").lists("server/discover", `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
				}
				p.s.limit = limit
				r := gateway(t, o, p.s)
				if p.young {
					p.c = attach(t, r)
				} else {
					p.c, _ = connect(t, r)
				}
				story(p)
				p.c.leave()
				<-p.c.left
			})
		})
	}
}

// call makes a call of the client and returns it at the backend. more are members of
// params, each with a comma behind it.
func (p *pairing) call(id, more string) arrived {
	p.t.Helper()
	if p.young {
		p.c.modernly(id, "tools/call", more+`"name":"do"`)
	} else {
		p.c.send(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{%s"name":"do"}}`, id, more)
	}
	return p.s.want("the call", "tools/call")
}

// asks lets the backend ask by form, and returns the question at the client.
func (p *pairing) asks(call arrived) wire.Message {
	p.t.Helper()
	if p.backYoung {
		call.answer(required, `"s"`)
	} else {
		call.conn.send(form, "0")
	}
	if p.young {
		return p.c.next("the question")
	}
	return p.c.want("the question", "elicitation/create")
}

// accept lets the client accept, and returns what the backend answers next: the same
// call, or the retry. A modern client's request has the id 2 from then on.
func (p *pairing) accept(call arrived, asked wire.Message) arrived {
	p.t.Helper()
	if p.young {
		p.c.modernly("2", "tools/call", retry(p.t, asked, accepts)+`,"name":"do"`)
	} else {
		p.c.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID(), accepts)
	}
	if p.backYoung {
		return p.s.want("the retry", "tools/call")
	}
	p.s.want("the answer", "")
	return call
}

// last is the id of the client's last request, after accept.
func (p *pairing) last() string {
	if p.young {
		return "2"
	}
	return "1"
}

// D3: a client that cancels a call is heard by the backend, under the backend's own
// id and in the client's words, whatever the type of the client's id. An answer that
// comes all the same goes nowhere (D1).
func TestCancelInEachPairing(t *testing.T) {
	for _, id := range []string{`7`, `"7"`} {
		pairings(t, 0, func(p *pairing) {
			call := p.call(id, "")
			p.c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"enough","k":1.0}}`, id)
			got := p.s.want("the cancellation", "notifications/cancelled")
			if want := fmt.Sprintf(`{"requestId":%s,"reason":"enough","k":1.0}`, call.ID()); string(got.Params()) != want {
				p.t.Errorf("the backend hears %s, want %s", got.Params(), want)
			}
			call.answer(`{"late":true}`)
			synctest.Wait()
			if len(p.c.got) > 0 {
				p.t.Errorf("the client got %s", (<-p.c.got).Raw())
			}
		})
	}
}

// D4: the clock of a call is that of the tool. It stands while somebody is asked, and
// what was left of it before is left of it afterwards; where each request stands for
// itself, each has a clock of its own.
func TestCallTimeoutInEachPairing(t *testing.T) {
	const limit, worked, human = 10 * time.Second, 4 * time.Second, 30 * time.Second
	pairings(t, limit, func(p *pairing) {
		call := p.call("1", "")
		time.Sleep(worked)
		asked := p.asks(call)
		time.Sleep(human)
		call = p.accept(call, asked)
		left := limit - worked
		if p.young && p.backYoung {
			left = limit
		}
		time.Sleep(left - time.Millisecond)
		synctest.Wait()
		if len(p.c.got)+len(p.s.got) > 0 {
			p.t.Error("the call ends early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if len(p.c.got) != 1 {
			p.t.Fatal("the call goes on")
		}
		code := -32000
		if p.young {
			code = -32603
		}
		wantError(p.t, "the call", p.c.wantID("the call", p.last()), code, wire.ReasonTimeout)
		got := p.s.want("the backend is told", "notifications/cancelled")
		if id := string(wire.Get(got.Params(), "requestId")); id != string(call.ID()) {
			p.t.Errorf("cancelled is %s, want %s", id, call.ID())
		}
	})
}

// R14, R72: a question that nobody answers ends when its time is over, and not before.
// A backend that asked by a request is told; at one that asks by results the call ends
// and is not made again. Between two of the modern era nobody waits.
func TestQuestionTimesOutInEachPairing(t *testing.T) {
	pairings(t, 0, func(p *pairing) {
		call, began := p.call("1", ""), time.Now()
		asked := p.asks(call)
		time.Sleep(time.Until(began.Add(time.Minute - time.Millisecond)))
		synctest.Wait()
		if len(p.c.got)+len(p.s.got) > 0 {
			p.t.Error("the question ends early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		switch {
		case p.young && p.backYoung:
			p.accept(call, asked).answer(`{"resultType":"complete","content":[]}`)
			p.c.wantID("the result of an answer that took its time", "2")
		case p.backYoung:
			p.c.want("the question is taken back", "notifications/cancelled")
			wantError(p.t, "the call", p.c.wantID("the call", "1"), -32000, wire.ReasonTimeout)
		case p.young:
			wantError(p.t, "the backend", p.s.want("the timeout", "").Message, -32000, wire.ReasonTimeout)
			p.c.modernly("2", "tools/call", retry(p.t, asked, accepts)+`,"name":"do"`)
			call.answer(`{"content":[]}`)
			p.c.wantID("the result, of a call that goes on", "2")
		default:
			p.c.want("the question is taken back", "notifications/cancelled")
			wantError(p.t, "the backend", p.s.want("the timeout", "").Message, -32000, wire.ReasonTimeout)
			call.answer(`{"content":[]}`)
			p.c.wantID("the result", "1")
		}
		synctest.Wait()
		if len(p.c.got)+len(p.s.got) > 0 {
			p.t.Error("something was said besides")
		}
	})
}

// D1, R12: an answer that comes a second time, or too late, changes nothing: neither
// the backend nor the client hears of it, and the tool runs once.
func TestSecondAnswerInEachPairing(t *testing.T) {
	pairings(t, 0, func(p *pairing) {
		if p.young && p.backYoung {
			return // Beckon is not asked: what a second retry means, the backend decides
		}
		call := p.call("1", "")
		asked := p.asks(call)
		call = p.accept(call, asked)
		if p.young {
			p.c.modernly("3", "tools/call", retry(p.t, asked, `{"action":"decline"}`)+`,"name":"do"`)
		} else {
			p.c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, asked.ID())
		}
		synctest.Wait()
		if len(p.s.got) > 0 {
			p.t.Errorf("the backend got %s", (<-p.s.got).Raw())
		}
		call.answer(`{"content":[1]}`)
		want := map[string]bool{p.last(): true}
		if p.young {
			want["3"] = true // both wait for the one call
		}
		for range len(want) {
			m := p.c.next("the result")
			if !want[string(m.ID())] || string(wire.Get(m.Result(), "content")) != `[1]` {
				p.t.Errorf("the client got %s", m.Raw())
			}
			delete(want, string(m.ID()))
		}
	})
}

// R5, R6: a client that leaves with a question open, or never comes back, is an error
// for a backend that waits, and nothing for one that does not. It is no decline, and
// nothing runs again.
func TestClientLeavesInEachPairing(t *testing.T) {
	pairings(t, 0, func(p *pairing) {
		p.asks(p.call("1", ""))
		p.c.leave()
		<-p.c.left
		time.Sleep(time.Hour)
		synctest.Wait()
		told := 0
		for len(p.s.got) > 0 {
			switch m := <-p.s.got; {
			case m.Method() == "notifications/cancelled":
			case m.Kind() == wire.Failure && !p.backYoung:
				told++
			default:
				p.t.Errorf("the backend got %s", m.Raw())
			}
		}
		if want := map[bool]int{false: 1, true: 0}[p.backYoung]; told != want {
			p.t.Errorf("the backend was told %d times, want %d", told, want)
		}
	})
}
