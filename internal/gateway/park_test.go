package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// patient is a legacy server over HTTP whose one tool asks and waits. What ends a
// call of it is told on ended: "cancelled", or the answer.
type patient struct {
	ended chan string

	mu    sync.Mutex
	calls map[string]chan string // guarded by mu; by the id of the call, which is that of its question too
}

func newPatient(t *testing.T) (*patient, string) {
	p := &patient{ended: make(chan string, 10_000), calls: make(map[string]chan string)}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, s.URL
}

func (p *patient) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, _ := wire.Parse(body)
	switch {
	case m.Method() == "initialize":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"patient","version":"1"}}}`, m.ID())
	case m.Method() == "tools/call":
		p.call(w, r, string(m.ID()))
	case m.Method() == "notifications/cancelled":
		p.end(string(wire.Get(m.Params(), "requestId")), "cancelled")
		w.WriteHeader(http.StatusAccepted)
	case m.IsResponse():
		p.end(string(m.ID()), string(m.Raw()))
		w.WriteHeader(http.StatusAccepted)
	case m.Kind() == wire.Request:
		w.WriteHeader(http.StatusBadRequest) // as servers of that era do
	case m.Kind() == wire.Notification:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (p *patient) call(w http.ResponseWriter, r *http.Request, id string) {
	end := make(chan string, 2)
	p.mu.Lock()
	p.calls[id] = end
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}\n\n", id)
	w.(http.Flusher).Flush()
	how := <-end
	fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", id)
	p.ended <- how
}

// end tells a call, once, how it ends.
func (p *patient) end(id, how string) {
	p.mu.Lock()
	end := p.calls[id]
	delete(p.calls, id)
	p.mu.Unlock()
	if end != nil {
		end <- how
	}
}

// modernCall sends a call of a modern client and returns the response.
func modernCall(t *testing.T, web *http.Client, url string, id int) string {
	m := wire.NewRequest(wire.IntID(uint64(id)), "tools/call", []byte(`{"name":"wait","_meta":{"`+wire.MetaRevision+`":"2026-07-28","`+
		wire.MetaCapabilities+`":{"elicitation":{}}}}`))
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(string(m.Raw())))
	if err != nil {
		t.Error(err)
		return ""
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	mirror.SetStandard(req.Header, m)
	resp, err := web.Do(req)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// Calls whose clients never come back are all let go within two seconds of the time
// at which their states expire: the backend hears that they are cancelled, and no
// answer. What they leave behind is nothing, as the end of the tests of this package
// shows.
func TestParkedCallsAreReleased(t *testing.T) {
	const calls, ttl = 500, 2 * time.Second
	behind, backend := newPatient(t)
	url := serve(t, backend, func(c *config.Config) {
		c.Park.TTL, c.Input.MaxPerSession = ttl, calls
	}, io.Discard) + "/mcp"
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50}}
	defer web.CloseIdleConnections()
	var clients sync.WaitGroup
	ids := make(chan int, calls)
	for id := range calls {
		ids <- id
	}
	close(ids)
	for range 50 {
		clients.Go(func() {
			for id := range ids {
				if got := modernCall(t, web, url, id); !strings.Contains(got, `"resultType":"input_required"`) {
					t.Errorf("call %d: %s", id, got)
				}
			}
		})
	}
	clients.Wait()
	if t.Failed() {
		return
	}
	expired := time.After(ttl + 2*time.Second)
	for n := range calls {
		select {
		case how := <-behind.ended:
			if how != "cancelled" {
				t.Fatalf("a call ended with %s", how)
			}
		case <-expired:
			t.Fatalf("%d of %d calls are held 2 s after the last state expired", calls-n, calls)
		}
	}
}
