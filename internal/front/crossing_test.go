package front

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// R16, R18, R75: many sessions that use the same ids at the same time, with many
// calls that all ask. Each call gets the answer to its own question.
func TestNothingCrossesUnderLoad(t *testing.T) {
	h := NewHTTP(newFakeRelay(t), Options{}, discard)
	server := httptest.NewServer(h)
	defer server.Close()
	defer h.Close(t.Context())
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 200

	post := func(session, body string) *http.Response {
		r, _ := http.NewRequest("POST", server.URL+"/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", typeJSON)
		r.Header.Set("Accept", typeEvents+", "+typeJSON)
		if session != "" {
			r.Header.Set(headerSession, session)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Error(err)
			return &http.Response{Body: http.NoBody, Header: http.Header{}}
		}
		return res
	}
	var sessions sync.WaitGroup
	for n := range 4 {
		sessions.Go(func() {
			res := post("", initializeAs(wire.Latest))
			res.Body.Close()
			session := res.Header.Get(headerSession)
			post(session, initializedNote).Body.Close()
			var calls sync.WaitGroup
			for i := range 50 {
				calls.Go(func() { askAndAnswer(t, post, session, n, i) })
			}
			calls.Wait()
		})
	}
	sessions.Wait()
}

// askAndAnswer makes one call, answers its question with something of its own, and wants
// that in the response.
func askAndAnswer(t *testing.T, post func(session, body string) *http.Response, session string, n, i int) {
	res := post(session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i))
	defer res.Body.Close()
	stream := wire.NewEventReader(res.Body, 1<<20)
	mine := fmt.Sprintf(`{"action":"accept","content":{"of":"%d/%d"}}`, n, i)
	for {
		ev, err := stream.Next()
		if err != nil {
			t.Errorf("session %d, call %d: no response: %v", n, i, err)
			return
		}
		m, err := wire.Parse(ev.Data)
		switch {
		case len(ev.Data) == 0:
		case err != nil:
			t.Errorf("session %d, call %d: %v", n, i, err)
		case m.Kind() == wire.Request:
			answer := post(session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID(), mine))
			answer.Body.Close()
			if answer.StatusCode != http.StatusAccepted {
				t.Errorf("session %d, call %d: the answer got %s", n, i, answer.Status)
			}
		default:
			if m.ID() != wire.IntID(uint64(i)) || !strings.Contains(string(m.Result()), mine) {
				t.Errorf("session %d, call %d: got %s", n, i, ev.Data)
			}
			return
		}
	}
}
