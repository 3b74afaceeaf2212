package park

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// A call that asks goes on when its client comes back with the answers; it runs
// once, however many rounds there are.
func TestQuestionsAndAnswers(t *testing.T) {
	for _, rounds := range []int{0, 1, 2, 5} {
		inBubble(t, Options{}, func(s *stand) {
			ran := 0
			v := s.begin(func(ctx context.Context, c *Call) wire.Message {
				ran++
				return s.asking(rounds)(ctx, c)
			})
			want := []string{"got"}
			for n := 1; n <= rounds; n++ {
				key := fmt.Sprintf("r%d", n)
				time.Sleep(9 * time.Minute) // a round has its own time
				v = s.resume(v.wantInput(key), named(key, "Ada"))
				want = append(want, "Ada")
			}
			v.wantResult(strings.Join(want, " "))
			if ran != 1 {
				t.Errorf("the work ran %d times", ran)
			}
			if s.Parked() != 0 || len(s.seen.resumed) != rounds || len(s.seen.parked) != rounds {
				t.Errorf("parked now %d, observed %+v", s.Parked(), s.seen)
			}
			for _, took := range s.seen.resumed {
				if took != 9*time.Minute {
					t.Errorf("the person took %v, want 9m", took)
				}
			}
		})
	}
}

// What the client says reaches the backend as it wrote it, and the question
// reaches the client so, without what its era does not know. C5
func TestBytesPassUnchanged(t *testing.T) {
	for _, tt := range []struct {
		name, method, params, want string
	}{
		{"form", "elicitation/create", `"message": "who?" , "x":1.50,"requestedSchema":{"type":"object","properties":{}}`,
			`{"method":"elicitation/create","params":{"message": "who?" , "x":1.50,"requestedSchema":{"type":"object","properties":{}}}}`},
		{"url", "elicitation/create", `"mode":"url","elicitationId":"e1","url":"https://a.example","message":"go"`,
			`{"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","message":"go"}}`},
		{"progress token", "elicitation/create", `"_meta":{"progressToken":4,"x":1},"message":"m","requestedSchema":{}`,
			`{"method":"elicitation/create","params":{"_meta":{"x":1},"message":"m","requestedSchema":{}}}`},
		{"nothing but a progress token", "sampling/createMessage", `"_meta":{"progressToken":4},"messages":[],"elicitationId":7`,
			`{"method":"sampling/createMessage","params":{"messages":[],"elicitationId":7}}`},
		{"roots", "roots/list", ``, `{"method":"roots/list","params":{}}`},
		{"an alias", "elicitation/requestInput", `"prompt":"who?","schema":{}`,
			`{"method":"elicitation/create","params":{"prompt":"who?","schema":{},"message":"who?","requestedSchema":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Options{}, func(s *stand) {
				const value = `{ "action":"accept","content" :{"n":1.0},"roots":[ ]}`
				answers := make(chan input.Answer, 1)
				v := s.begin(func(_ context.Context, c *Call) wire.Message {
					answers <- <-s.open(c, tt.method, tt.params).done
					return result("done")
				})
				state := v.wantInput("r1")
				if got := string(wire.Get(v.response().Result(), "inputRequests", "r1")); got != tt.want {
					t.Errorf("asked is\n%s\nwant\n%s", got, tt.want)
				}
				s.resume(state, `{"r1":`+value+`}`).wantResult("done")
				if got := string((<-answers).Response.Result()); got != value {
					t.Errorf("answered is %s, want %s", got, value)
				}
			})
		})
	}
	inBubble(t, Options{}, func(s *stand) { // params that are null
		v := s.begin(func(_ context.Context, c *Call) wire.Message {
			q := question{done: make(chan input.Answer, 1)}
			m := parse(t, `{"jsonrpc":"2.0","id":7,"method":"roots/list","params":null}`)
			s.broker.Open(input.Question{Message: m, Caps: partyOf("").Caps}, c, func(_ *input.Request, a input.Answer) { q.done <- a })
			return result(q.answer())
		})
		state := v.wantInput("r1")
		if got := string(wire.Get(v.response().Result(), "inputRequests", "r1")); got != `{"method":"roots/list","params":{}}` {
			t.Errorf("asked is %s", got)
		}
		s.resume(state, `{"r1":{"roots":[]}}`).wantResult("answered")
	})
}

// Of several retries with the same answers one settles the questions; all wait for
// the same result, and the tool runs once.
func TestDuplicateRetries(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		var ran atomic.Int32
		goOn := make(chan struct{})
		state := s.begin(func(ctx context.Context, c *Call) wire.Message {
			ran.Add(1)
			name := s.ask(ctx, c)
			<-goOn
			return result("got " + name)
		}).wantInput("r1")
		var all []*visit
		for n := range 5 {
			all = append(all, s.resume(state, named("r1", fmt.Sprintf("number %d", n))))
		}
		for _, v := range all {
			v.wantWaits("the tool works")
		}
		close(goOn)
		first, _ := wire.Text(all[0].response().Result(), "text")
		if !strings.HasPrefix(first, "got number ") {
			t.Errorf("the first got %s", all[0].response().Raw())
		}
		for _, v := range all {
			v.wantResult(first)
		}
		if ran.Load() != 1 || len(s.seen.outcomes) != 1 {
			t.Errorf("ran %d times, and %d questions ended", ran.Load(), len(s.seen.outcomes))
		}
	})
}

// When a round ends, all legs that wait are released with the same questions.
func TestDuplicatesAreReleasedTogether(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		goOn := make(chan struct{})
		state := s.begin(func(ctx context.Context, c *Call) wire.Message {
			text := s.ask(ctx, c)
			<-goOn
			return result(text + " " + s.ask(ctx, c))
		}).wantInput("r1")
		a, b := s.resume(state, named("r1", "Ada")), s.resume(state, named("r1", "Ada"))
		synctest.Wait()
		close(goOn)
		second := a.wantInput("r2")
		if b.wantInput("r2") != second {
			t.Error("two legs were released with different states")
		}
		s.resume(second, named("r2", "Bob")).wantResult("Ada Bob")
	})
}

// D1: a state of an earlier round gets the questions of the current one. What it says
// to questions that are answered changes nothing.
func TestStaleState(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		first := s.begin(s.asking(2)).wantInput("r1")
		s.resume(first, named("r1", "Ada")).wantInput("r2")
		again := s.resume(first, named("r1", "Eve")).wantInput("r2")
		s.resume(again, named("r2", "Bob")).wantResult("got Ada Bob")
	})
}

// A leg that brings no answers gets the same questions, with a state that is good
// for another while.
func TestNoAnswers(t *testing.T) {
	for _, responses := range []string{"", "{}", "null", `{"r7":{"action":"accept"},"x":5}`, `{"r01":{"action":"accept"},"R1":5,"r":5,"r+1":5,"r-1":5,"r1 ":5}`} {
		inBubble(t, Options{TTL: time.Minute}, func(s *stand) {
			state := s.begin(s.asking(1)).wantInput("r1")
			for range 5 {
				time.Sleep(59 * time.Second)
				v := s.resume(state, responses)
				next := v.wantInput("r1")
				if next == state {
					t.Error("the state is the old one")
				}
				if h, _ := s.keys.openHandle(next); h.round != 1 {
					t.Errorf("the round is %d, want the first", h.round)
				}
				state = next
			}
			s.resume(state, named("r1", "Ada")).wantResult("got Ada")
			if len(s.seen.resumed) != 1 {
				t.Errorf("resumed %v, want once", s.seen.resumed)
			}
		})
	}
}

// A retry after the call has ended gets the same result, as long as the state is
// good.
func TestRetryAfterCompletion(t *testing.T) {
	inBubble(t, Options{TTL: time.Minute}, func(s *stand) {
		ran := 0
		state := s.begin(func(ctx context.Context, c *Call) wire.Message {
			ran++
			return s.asking(1)(ctx, c)
		}).wantInput("r1")
		s.resume(state, named("r1", "Ada")).wantResult("got Ada")
		s.resume(state, named("r1", "Eve")).wantResult("got Ada")
		time.Sleep(time.Minute - 1)
		s.resume(state, "").wantResult("got Ada")
		time.Sleep(time.Nanosecond)
		s.resume(state, named("r1", "Ada")).wantError(wire.ReasonState)
		if ran != 1 {
			t.Errorf("the work ran %d times", ran)
		}
		synctest.Wait()
		if len(s.calls) != 0 || s.shelf.bytes != 0 || s.shelf.calls.Len() != 0 {
			t.Errorf("%d calls and %d bytes are still kept", len(s.calls), s.shelf.bytes)
		}
	})
}

// A call of which the client has no state leaves nothing behind.
func TestNothingIsKeptWithoutState(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		var call *Call
		s.begin(func(_ context.Context, c *Call) wire.Message {
			call = c
			return result("got")
		}).wantResult("got")
		if len(s.calls) != 0 {
			t.Errorf("%d calls are kept", len(s.calls))
		}
		if call.timer.Stop() {
			t.Error("the clock of the call still runs, and holds the call")
		}
	})
}

// One bad answer refuses the leg; nothing of it counts, and the call waits on.
func TestBadAnswers(t *testing.T) {
	for _, responses := range []string{
		`[]`, `"accept"`, `5`,
		`{"r1":null}`, `{"r1":"accept"}`, `{"r1":[]}`, `{"r1":{}}`, `{"r1":{"action":"yes"}}`, `{"r1":{"action":5}}`,
		`{"r1":{"action":"accept"},"r2":{"action":"ACCEPT"}}`, `{"r2":{},"r1":{"action":"accept"}}`,
	} {
		t.Run(responses, func(t *testing.T) {
			inBubble(t, Options{Gather: time.Millisecond}, func(s *stand) {
				v := s.begin(func(_ context.Context, c *Call) wire.Message {
					a, b := s.openForm(c), s.openForm(c)
					return result(a.answer() + " " + b.answer())
				})
				time.Sleep(time.Millisecond)
				state := v.wantInput("r1", "r2")
				bad := s.resume(state, responses)
				bad.wantError(wire.ReasonParams)
				if code := string(wire.Get(bad.response().Error(), "code")); code != "-32602" {
					t.Errorf("the code is %s", code)
				}
				if s.Parked() != 1 || len(s.seen.outcomes) != 0 {
					t.Errorf("%d are parked, %d questions ended", s.Parked(), len(s.seen.outcomes))
				}
				s.resume(state, `{"r1":{"action":"decline"},"r2":{"action":"cancel"}}`).wantResult("decline cancel")
			})
		})
	}
}

// What is missing is asked again, at once, and what was answered is not.
func TestSomeAnswers(t *testing.T) {
	inBubble(t, Options{Gather: time.Millisecond}, func(s *stand) {
		v := s.begin(func(_ context.Context, c *Call) wire.Message {
			a, b := s.openForm(c), s.openForm(c)
			return result(a.answer() + " " + b.answer())
		})
		time.Sleep(time.Millisecond)
		state := s.resume(v.wantInput("r1", "r2"), named("r2", "Bob")).wantInput("r1")
		if h, _ := s.keys.openHandle(state); h.round != 2 {
			t.Errorf("the round is %d, want 2", h.round)
		}
		s.resume(state, named("r1", "Ada")).wantResult("Ada Bob")
	})
}

// Nobody can answer a question that the client has not been shown.
func TestAnswerBeforeQuestion(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		ask := make(chan struct{})
		state := s.begin(func(ctx context.Context, c *Call) wire.Message {
			a := s.openForm(c)
			<-ask
			b := s.openForm(c)
			return result(a.answer() + " " + b.answer())
		}).wantInput("r1")
		close(ask)
		synctest.Wait()
		state = s.resume(state, `{"r1":{"action":"decline"},"r2":{"action":"accept"}}`).wantInput("r2")
		s.resume(state, named("r2", "Bob")).wantResult("decline Bob")
	})
}

// A question that is withdrawn or times out is not asked any more, and its answer
// changes nothing.
func TestQuestionWithdrawn(t *testing.T) {
	withdraw := func(q question) {
		q.Withdraw(input.Withdrawn, wire.Errorf(wire.ReasonWithdrawn, "the backend does not want to know"))
	}
	t.Run("one of two", func(t *testing.T) {
		inBubble(t, Options{Gather: time.Millisecond}, func(s *stand) {
			var a question
			v := s.begin(func(_ context.Context, c *Call) wire.Message {
				a = s.openForm(c)
				b := s.openForm(c)
				return result(a.answer() + " " + b.answer())
			})
			time.Sleep(time.Millisecond)
			state := v.wantInput("r1", "r2")
			withdraw(a)
			state = s.resume(state, named("r1", "Ada")).wantInput("r2")
			s.resume(state, named("r2", "Bob")).wantResult("withdrawn Bob")
		})
	})
	t.Run("the only one, while parked", func(t *testing.T) {
		inBubble(t, Options{Grace: time.Second}, func(s *stand) {
			var q question
			goOn := make(chan struct{})
			state := s.begin(func(_ context.Context, c *Call) wire.Message {
				q = s.openForm(c)
				text := q.answer()
				<-goOn
				return result(text)
			}).wantInput("r1")
			withdraw(q)
			time.Sleep(time.Minute) // the client is away because it was told to be: no grace
			v := s.resume(state, named("r1", "Ada"))
			v.wantWaits("the tool works")
			close(goOn)
			v.wantResult("withdrawn")
		})
	})
	t.Run("the only one, before it was asked", func(t *testing.T) {
		inBubble(t, Options{Gather: time.Millisecond}, func(s *stand) {
			s.begin(func(_ context.Context, c *Call) wire.Message {
				q := s.openForm(c)
				withdraw(q)
				time.Sleep(time.Second)
				return result(q.answer())
			}).wantWaits("the tool works")
			time.Sleep(time.Second)
			if len(s.seen.parked) != 0 {
				t.Error("a round went out without questions")
			}
		})
	})
	t.Run("and another is asked while the client is away", func(t *testing.T) {
		inBubble(t, Options{}, func(s *stand) {
			var q question
			state := s.begin(func(ctx context.Context, c *Call) wire.Message {
				q = s.openForm(c)
				return result(q.answer() + " " + s.ask(ctx, c))
			}).wantInput("r1")
			withdraw(q)
			synctest.Wait()
			state = s.resume(state, named("r1", "Ada")).wantInput("r2")
			s.resume(state, named("r2", "Bob")).wantResult("withdrawn Bob")
		})
	})
}

// A leg whose client declares less than the first did is not asked what it does not
// declare. The call waits for one that can be asked.
//
// "Servers MUST NOT send an inputRequests that the client has not declared support
// for in its capabilities."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
func TestCapabilitiesOfEachLeg(t *testing.T) {
	for _, tt := range []struct{ method, params, caps, want string }{
		{"elicitation/create", form, `{"elicitation":{"url":{}},"sampling":{},"roots":{}}`, `{"elicitation":{"form":{}}}`},
		{"elicitation/create", `"mode":"url","url":"https://a.example","message":"go"`, `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`},
		{"sampling/createMessage", `"messages":[]`, `{"elicitation":{}}`, `{"sampling":{}}`},
		{"roots/list", ``, `{}`, `{"roots":{}}`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			inBubble(t, Options{}, func(s *stand) {
				state := s.begin(func(_ context.Context, c *Call) wire.Message {
					return result(s.open(c, tt.method, tt.params).answer())
				}).wantInput("r1")
				p := partyOf(someone)
				p.Caps = wire.ParseClientCaps([]byte(tt.caps))
				l := &leg{request: request(t, 2, retry(deploy, state, ""))}
				v := s.visitor(l, func(ctx context.Context) wire.Message { return s.Resume(ctx, l, p) })
				v.wantError(wire.ReasonCapability)
				e := v.response().Error()
				if code := string(wire.Get(e, "code")); code != "-32021" {
					t.Errorf("the code is %s", code)
				}
				if got := string(wire.Get(e, "data", "requiredCapabilities")); got != tt.want {
					t.Errorf("required is %s, want %s", got, tt.want)
				}
				s.resume(state, `{"r1":{"action":"accept"}}`).response()
			})
		})
	}
}

// A call whose first leg cannot be asked what its backend may ask ends, because
// nobody could ever come back.
func TestFirstLegWithoutCapabilities(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		l := &leg{request: request(t, 1, deploy)}
		v := s.visitor(l, func(ctx context.Context) wire.Message {
			return s.Begin(ctx, l, Party{Principal: someone, Backend: theirs}, s.asking(1))
		})
		v.wantError(wire.ReasonCapability)
		synctest.Wait()
		if s.Parked() != 0 || len(s.calls) != 0 {
			t.Errorf("%d calls are parked, and %d are there", s.Parked(), len(s.calls))
		}
	})
}

// A question during another request than the three that may ask is refused; so is
// one that the modern era does not know, and one that does not fit.
func TestWhatCannotBeAsked(t *testing.T) {
	deep := `"message":"m","requestedSchema":` + strings.Repeat(`{"a":`, 9_996) + `1` + strings.Repeat(`}`, 9_996)
	for _, tt := range []struct {
		method, ask, params string
		want                wire.Reason
	}{
		{"completion/complete", "elicitation/create", form, wire.ReasonCapability},
		{"tools/list", "roots/list", "", wire.ReasonCapability},
		{"tools/call", "x/custom", `"a":1`, wire.ReasonMethod},
		{"tools/call", "elicitation/create", deep, wire.ReasonParams},
	} {
		inBubble(t, Options{}, func(s *stand) {
			l := &leg{request: parse(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, tt.method, meta))}
			v := s.visitor(l, func(ctx context.Context) wire.Message {
				return s.Begin(ctx, l, partyOf(someone), func(_ context.Context, c *Call) wire.Message {
					a := <-s.open(c, tt.ask, tt.params).done
					return result(fmt.Sprint(a.Outcome, " ", a.Err.Reason))
				})
			})
			v.wantResult("unseen " + string(tt.want))
		})
	}
}

// A response without an id, or none at all, does not break the lot.
func TestWorkWithoutResponse(t *testing.T) {
	for _, m := range []wire.Message{{}, wire.NewNotification("x", nil), parse(t, `{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`)} {
		inBubble(t, Options{}, func(s *stand) {
			s.begin(func(context.Context, *Call) wire.Message { return m }).wantError(wire.ReasonInternal)
		})
	}
	inBubble(t, Options{}, func(s *stand) { // an error of the backend passes
		v := s.begin(func(context.Context, *Call) wire.Message {
			return parse(t, `{"jsonrpc":"2.0","id":"x","error":{"code":-5,"message":"m","data":{"reason":"theirs"}}}`)
		})
		if v.wantError("theirs") != "m" {
			t.Error("the error of the backend was changed")
		}
	})
}

// D1: a question that is asked again, because the answer does not fit, has another key;
// what comes under the old one changes nothing.
func TestAskedAgain(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		v := s.begin(func(_ context.Context, c *Call) wire.Message {
			ended := make(chan input.Answer, 1)
			_, err := s.broker.Open(input.Question{
				Message: parse(s, `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"n?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`),
				Caps:    wire.ParseClientCaps([]byte(caps)), Validate: input.ValidateReprompt,
			}, c, func(_ *input.Request, a input.Answer) { ended <- a })
			if err != nil {
				s.Error(err)
			}
			return result(string(wire.Get((<-ended).Response.Result(), "content")))
		})
		n := func(key, value string) string {
			return fmt.Sprintf(`{%q:{"action":"accept","content":{"n":%s}}}`, key, value)
		}
		first := v.wantInput("r1")
		v = s.resume(first, n("r1", `"x"`))
		v.wantInput("r2")
		if text, _ := wire.Text(v.response().Result(), "inputRequests", "r2", "params", "message"); !strings.HasPrefix(text, "n?\n") {
			t.Errorf("asked again %q", text)
		}
		v = s.resume(first, n("r1", "1"))
		v = s.resume(v.wantInput("r2"), n("r2", "2"))
		v.wantResult(`{"n":2}`)
	})
}
