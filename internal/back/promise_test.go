package back

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

const elicit = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"formDefinition":{}}}`

// R102, R109: what was promised comes behind the response, however slow the backend is,
// once, and without holding up who keeps the promise.
func TestPromiseIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := open(t, newScript(t))
		defer ts.Close()
		conn := ts.connect()
		conn.send("", elicit)
		asked := receive(t, "question", ts.host.asked)
		conn.slow = make(chan struct{})
		began := time.Now()
		keep := asked.Promise(parse(`{"jsonrpc":"2.0","id":9,"result":{"elicitationId":"e"}}`))
		keep(wire.NewNotification("notifications/elicitation/complete", []byte(`{"elicitationId":"e"}`)))
		keep(wire.NewNotification("notifications/elicitation/complete", []byte(`{"again":true}`)))
		asked.Reply(wire.NewResult(`"q"`, []byte(`{"late":true}`)))
		if took := time.Since(began); took != 0 {
			t.Errorf("the promise held up its maker for %v", took)
		}
		time.Sleep(10 * time.Minute)
		close(conn.slow)
		if got := conn.want("the response", ""); string(got.Raw()) != `{"jsonrpc":"2.0","id":"q","result":{"elicitationId":"e"}}` {
			t.Errorf("the backend got %s", got.Raw())
		}
		if got := conn.want("what was promised", "notifications/elicitation/complete"); string(got.Params()) != `{"elicitationId":"e"}` {
			t.Errorf("the backend got %s", got.Raw())
		}
		synctest.Wait()
		if len(conn.sent) > 0 || len(ts.host.withdrawn) > 0 {
			t.Errorf("the backend got %d more messages, and %d questions were taken back", len(conn.sent), len(ts.host.withdrawn))
		}
	})
}

// A backend that asks and asks and takes nothing cannot make Beckon keep ever more for it.
// Once it takes what waits, it may ask again.
func TestPromisesToABackendThatIsDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := open(t, newScript(t))
		defer ts.Close()
		conn := ts.connect()
		conn.slow = make(chan struct{})
		const forms = mostInsists / 2 // each is two messages
		asks := func(i int) {
			conn.send("", `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"formDefinition":{}}}`, i)
		}
		for i := range forms {
			asks(i)
			keep := receive(t, "question", ts.host.asked).Promise(wire.NewResult("1", []byte(`{}`)))
			keep(wire.NewNotification("x/y", nil))
		}
		asks(forms)
		synctest.Wait()
		if len(ts.host.asked) > 0 {
			t.Error("it could ask once more")
		}
		close(conn.slow)
		refused := 0
		for range 2*forms + 1 {
			m := <-conn.sent
			if m.Kind() == wire.Failure {
				refused++
			}
		}
		if refused != 1 {
			t.Errorf("%d questions were refused, want 1", refused)
		}
		synctest.Wait()
		asks(forms + 1)
		receive(t, "question", ts.host.asked)
	})
}

// A backend that leaves takes back what it was promised; its successor is told nothing
// of it. One that cancels a request which was answered changes nothing.
func TestPromiseToABackendThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := open(t, newScript(t))
		defer ts.Close()
		conn := ts.connect()
		conn.send("", elicit)
		keep := receive(t, "question", ts.host.asked).Promise(wire.NewResult("1", []byte(`{}`)))
		conn.want("the response", "")
		conn.send("", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
		synctest.Wait()
		if len(ts.host.withdrawn) > 0 {
			t.Errorf("taken back: %v", <-ts.host.withdrawn)
		}
		conn.fail(errors.New("it exited"))
		if err := receive(t, "withdrawal", ts.host.withdrawn); err.Reason != wire.ReasonBackendGone {
			t.Errorf("withdrawn because of %v", err)
		}
		keep(wire.NewNotification("notifications/elicitation/complete", nil))
		next := ts.connect()
		synctest.Wait()
		if len(conn.sent)+len(next.sent) > 0 {
			t.Error("somebody was told of the end")
		}
	})
}

// The connection of a session that ends is closed, though the backend never takes what
// it was promised.
func TestPromiseEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := open(t, newScript(t))
		conn := ts.connect()
		conn.send("", elicit)
		conn.slow = make(chan struct{})
		receive(t, "question", ts.host.asked).Promise(wire.NewResult("1", []byte(`{}`)))(wire.NewNotification("x/y", nil))
		began := time.Now()
		ts.Close()
		if took := time.Since(began); took > time.Second {
			t.Errorf("closing took %v", took)
		}
	})
}
