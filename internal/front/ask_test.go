package front

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

const askedForm = `{"jsonrpc":"2.0","id":"ask-%d","method":"elicitation/create","params":{"message":"m"}}`

// R6, R17, D7: every way in which a client ends a question.
func TestAskAnswered(t *testing.T) {
	tests := []struct {
		name, method, answer string
		outcome              input.Outcome
		want                 string // part of the response to the call
	}{
		{"accept", "ask", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{"x":1.0}}}`,
			input.Accept, `"content":{"x":1.0}`},
		{"decline", "ask", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"decline"}}`, input.Decline, `"decline"`},
		{"error (D7)", "ask", `{"jsonrpc":"2.0","id":"ask-1","error":{"code":-1,"message":"no"}}`,
			input.Failed, `"error":{"code":-1,"message":"no"}`},
		{"cancelled by notification (C15, R13)", "ask",
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ask-1"}}`,
			input.Cancel, `{"action":"cancel"}`},
		{"sampling cancelled by notification", "ask-sample",
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ask-1"}}`,
			input.Cancel, `"reason":"cancelled"`},
		{"of the session", "ask-session", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`,
			input.Accept, `"accept"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
				p.shake(wire.Latest)
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, test.method))
				p.wantPart("the question", `"id":"ask-1"`)
				p.send(test.answer)
				if a := <-relay.answers; a.Outcome != test.outcome {
					t.Errorf("outcome %v, want %v", a.Outcome, test.outcome)
				}
				p.wantPart("the response", `"id":1`, test.want)
				if n := relay.broker.Len(); n != 0 {
					t.Errorf("%d questions are open", n)
				}
			})
		})
	}
}

// R16, R17: several questions, answered out of order.
func TestAskOutOfOrder(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.shake(wire.Latest)
		for i := range 3 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i))
			p.want("the question", fmt.Sprintf(askedForm, i+1))
		}
		for _, i := range []int{2, 0, 1} {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask-%d","result":{"action":"accept","content":{"n":%d}}}`, i+1, i))
			p.wantPart("the response", fmt.Sprintf(`"id":%d,`, i), fmt.Sprintf(`{"n":%d}`, i))
		}
	})
}

// R11, R12, R15, D1: a question that ends without an answer is taken back at the
// client, and an answer that comes later changes nothing.
func TestAskRetracted(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.shake(wire.Latest)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
		p.want("the question", fmt.Sprintf(askedForm, 1))
		p.want("the end of its time", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ask-1","reason":"Elicitation timeout: nobody answered within 1m0s"}}`)
		p.wantPart("the call", `"id":1`, `"reason":"timeout"`)
		p.send(`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`)
		p.send(`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ask-1"}}`)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"echo"}`)
		p.want("the session goes on", `{"jsonrpc":"2.0","id":2,"result":{}}`)
		if late, stray := relay.counted(); late != 2 || stray != 0 {
			t.Errorf("counted %d late, %d stray", late, stray)
		}
	})
}

// R75: what was never asked cannot be answered, and nobody else's question either.
func TestAskNeverAsked(t *testing.T) {
	onStdio(t, Options{}, func(t *testing.T, p *pipePeer, relay *fakeRelay) {
		p.shake(wire.Latest)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
		p.want("the question", fmt.Sprintf(askedForm, 1))
		for _, id := range []string{`1`, `"ask-2"`, `"ask-0"`, `"ask-01x"`, `"1"`, `7`, `"ask-99999999999999999999"`} {
			p.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept"}}`)
		}
		p.send(`{"jsonrpc":"2.0","error":{"code":1,"message":"of nothing"}}`)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"echo"}`)
		p.want("the session goes on", `{"jsonrpc":"2.0","id":2,"result":{}}`)
		if late, stray := relay.counted(); late != 0 || stray != 8 {
			t.Errorf("counted %d late, %d stray", late, stray)
		}
		p.send(`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`)
		p.wantPart("the right answer", `"accept"`)
	})
}

// A client that leaves ends its questions at once.
func TestAskClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newFakeRelay(t)
		p := newPipePeer(t, relay, Options{})
		p.shake(wire.Latest)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
		p.want("the question", fmt.Sprintf(askedForm, 1))
		start := time.Now()
		p.in.Close()
		a := <-relay.answers
		if a.Outcome != input.Abandoned || a.Err.Reason != wire.ReasonClientGone || time.Since(start) != 0 {
			t.Errorf("got %v, %v after %v", a.Outcome, a.Err, time.Since(start))
		}
		p.wantPart("it is taken back, whoever reads", `notifications/cancelled`)
		p.wantPart("the call ends with the error", `"reason":"client_gone"`)
		<-p.done
		p.stop()
	})
}

// D11: without a stream on which the client can be asked, there is an error in
// less than a second. The client may come back within the grace.
func TestAskWithoutStream(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		c := <-h.relay.opened
		ended := make(chan input.Answer, 1)
		start := time.Now()
		h.relay.pose(question(""), c, ended)
		a := <-ended
		if a.Outcome != input.Unseen || a.Err.Reason != wire.ReasonNoClient || time.Since(start) != 750*time.Millisecond {
			t.Errorf("got %v, %v after %v", a.Outcome, a.Err, time.Since(start))
		}

		h.relay.pose(question(""), c, ended)
		time.Sleep(749 * time.Millisecond)
		get := p.open("GET", "")
		get.want("a stream in time", fmt.Sprintf(askedForm, 2))
		time.Sleep(10 * time.Second)
		p.post("the answer", `{"jsonrpc":"2.0","id":"ask-2","result":{"action":"accept"}}`, 202, "")
		if a := <-ended; a.Outcome != input.Accept {
			t.Errorf("outcome %v", a.Outcome)
		}
		get.close()
	})
}

// D11: a client that takes only JSON cannot be asked on that stream, but on the
// other.
func TestAskOfClientThatTakesOnlyJSON(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		start := time.Now()
		got := p.send("POST", `{"jsonrpc":"2.0","id":1,"method":"ask"}`, "Accept", "application/json")
		if !strings.Contains(got.body, `"reason":"no_client"`) || time.Since(start) != 750*time.Millisecond {
			t.Errorf("got %+v after %v", got, time.Since(start))
		}
		get := p.open("GET", "")
		response := p.background(`{"jsonrpc":"2.0","id":2,"method":"ask"}`, "Accept", "application/json")
		get.want("the question", fmt.Sprintf(askedForm, 2))
		p.post("the answer", `{"jsonrpc":"2.0","id":"ask-2","result":{"action":"accept"}}`, 202, "")
		if got := <-response; !strings.Contains(got.body, `"accept"`) || got.header.Get("Content-Type") != typeJSON {
			t.Errorf("got %+v", got)
		}
		get.close()
	})
}

// A question is withdrawn when its client has lost every stream, and not before.
func TestAskClientLosesStreams(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"ask"}`)
		post.want("the question", fmt.Sprintf(askedForm, 1))
		get := p.open("GET", "")
		post.close()
		time.Sleep(10 * time.Second)
		if h.relay.broker.Len() != 1 {
			t.Fatal("the client still has a stream, but the question is gone")
		}
		start := time.Now()
		get.close()
		a := <-h.relay.answers
		if a.Outcome != input.Abandoned || a.Err.Reason != wire.ReasonClientGone || time.Since(start) != 750*time.Millisecond {
			t.Errorf("got %v, %v after %v", a.Outcome, a.Err, time.Since(start))
		}
		synctest.Wait()
		resumed := p.open("GET", "", headerResume, post.lastID)
		if got := resumed.data("the question is taken back"); !strings.Contains(got, `notifications/cancelled`) || !strings.Contains(got, `"ask-1"`) {
			t.Errorf("got %s", got)
		}
		resumed.close()
	})
}

// A client whose connection breaks resumes the stream and finds the question.
func TestAskClientComesBack(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"progress"}`)
		post.want("a notification", `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		post.close()
		synctest.Wait()
		c := <-h.relay.opened
		ended := make(chan input.Answer, 1)
		h.relay.pose(question(""), callOf(c), ended)
		time.Sleep(700 * time.Millisecond)
		post = p.open("GET", "", headerResume, post.lastID)
		post.want("the question", fmt.Sprintf(askedForm, 1))
		p.post("the answer", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`, 202, "")
		if a := <-ended; a.Outcome != input.Accept {
			t.Errorf("outcome %v", a.Outcome)
		}
		h.relay.release <- struct{}{}
		post.want("the response", `{"jsonrpc":"2.0","id":1,"result":"progressed"}`)
		post.wantEnd("the end")
	})
}

// When the stream of the call does not come back, another of the client will do.
func TestAskGoesToAnotherStream(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"progress"}`)
		post.want("a notification", `{"jsonrpc":"2.0","method":"notifications/progress"}`)
		get := p.open("GET", "")
		post.close()
		synctest.Wait()
		ended := make(chan input.Answer, 1)
		h.relay.pose(question(""), callOf(<-h.relay.opened), ended)
		get.want("the question", fmt.Sprintf(askedForm, 1))
		resumed := p.open("GET", "", headerResume, post.lastID)
		p.post("the answer", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`, 202, "")
		<-ended
		h.relay.release <- struct{}{}
		resumed.want("only the response is on the first", `{"jsonrpc":"2.0","id":1,"result":"progressed"}`)
		resumed.wantEnd("the end")
		get.close()
	})
}

// A question that belongs to no call goes to the stream of the session, else to
// that of the oldest call, and never to two.
func TestAskOfSession(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		c := <-h.relay.opened
		first := p.background(`{"jsonrpc":"2.0","id":1,"method":"block"}`, "Accept", "application/json")
		synctest.Wait()
		second := p.openLater(`{"jsonrpc":"2.0","id":2,"method":"wait"}`)
		third := p.openLater(`{"jsonrpc":"2.0","id":3,"method":"wait"}`)
		ended := make(chan input.Answer, 2)
		h.relay.pose(question(""), c, ended)
		oldest := <-second
		oldest.want("on the oldest call that can be asked", fmt.Sprintf(askedForm, 1))
		get := p.open("GET", "")
		h.relay.pose(question(""), c, ended)
		get.want("on the stream of the session", fmt.Sprintf(askedForm, 2))
		for i := range 2 {
			p.post("the answer", fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask-%d","result":{"action":"accept"}}`, i+1), 202, "")
			<-ended
		}
		h.relay.release <- struct{}{}
		h.relay.release <- struct{}{}
		oldest.want("its response", `{"jsonrpc":"2.0","id":2,"result":"waited"}`)
		if e := <-third; e.header.Get("Content-Type") != typeJSON {
			t.Errorf("the other call was answered as %s", e.header.Get("Content-Type"))
		}
		get.close()
		p.post("cancel", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, 202, "")
		<-first
	})
}

// When the session ends, its questions end.
func TestAskSessionEnds(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"ask"}`)
		post.want("the question", fmt.Sprintf(askedForm, 1))
		if got := p.send("DELETE", ""); got.status != 204 {
			t.Errorf("DELETE: %+v", got)
		}
		if a := <-h.relay.answers; a.Outcome != input.Abandoned || a.Err.Reason != wire.ReasonClientGone {
			t.Errorf("got %v, %v", a.Outcome, a.Err)
		}
		if got := post.data("the question"); !strings.Contains(got, "notifications/cancelled") {
			t.Errorf("got %s", got)
		}
		if got := post.data("the response"); !strings.Contains(got, `"reason":"client_gone"`) {
			t.Errorf("got %s", got)
		}
		post.wantEnd("the end of the stream")
		<-h.relay.closed
	})
}

// A client that vanishes with all its connections is noticed, whatever they were
// for.
func TestAskClientVanishes(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		c := <-h.relay.opened
		get := p.open("GET", "")
		ctx, hangup := context.WithCancel(h.base)
		failed := make(chan error)
		go func() {
			_, err := p.do(ctx, "POST", `{"jsonrpc":"2.0","id":1,"method":"wait"}`)
			failed <- err
		}()
		synctest.Wait()
		ended := make(chan input.Answer, 1)
		h.relay.pose(question(""), c, ended)
		get.want("the question", fmt.Sprintf(askedForm, 1))
		start := time.Now()
		get.close()
		hangup()
		<-failed
		if a := <-ended; a.Outcome != input.Abandoned || time.Since(start) != 750*time.Millisecond {
			t.Errorf("got %v after %v", a.Outcome, time.Since(start))
		}
		h.relay.release <- struct{}{}
	})
}

// A question that waits for a stream goes on that of the next call.
func TestAskWaitsForCall(t *testing.T) {
	onWeb(t, Options{}, func(t *testing.T, h *web) {
		p := h.peer().shake(wire.Latest)
		ended := make(chan input.Answer, 1)
		h.relay.pose(question(""), <-h.relay.opened, ended)
		time.Sleep(700 * time.Millisecond)
		post := p.open("POST", `{"jsonrpc":"2.0","id":1,"method":"wait"}`)
		post.want("the question", fmt.Sprintf(askedForm, 1))
		p.post("the answer", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`, 202, "")
		if a := <-ended; a.Outcome != input.Accept {
			t.Errorf("outcome %v", a.Outcome)
		}
		h.relay.release <- struct{}{}
		post.want("the response", `{"jsonrpc":"2.0","id":1,"result":"waited"}`)
		post.wantEnd("the end")
	})
}
