package api

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Whatever is sent is a question, or a problem that says why not; and a question can
// be fetched as it was told.
func FuzzQuestionBody(f *testing.F) {
	for _, seed := range []string{
		`{"form":` + exampleForm + `}`, `{"prompt":"?"}`, `{"prompt":"?","terms":{"timeout":1000}}`, `{"form":{}}`, `{`, `null`,
		`{"prompt":"?","prompt":"!"}`, `{"formDefinition":{"id":"a","title":"b","fields":[{"id":"c","type":"file","label":"d"}]},"message":"\u0000"}`,
		"{\"prompt\":\"\xff\"}", `{"prompt":"` + strings.Repeat("ä", 300) + `"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		feeds := NewFeeds()
		broker := input.NewBroker(limits(anyRate()), feeds)
		defer broker.Close()
		a := New(broker, feeds, Options{}, slog.New(slog.DiscardHandler))
		r := httptest.NewRequest("POST", Root+"/questions", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		a.Serve(w, r, "")
		switch w.Code {
		case 201:
			shown := httptest.NewRecorder()
			a.Serve(shown, httptest.NewRequest("GET", w.Header().Get("Location"), nil), "")
			if shown.Code != 200 || shown.Body.String() != w.Body.String() {
				t.Errorf("asked %s\nshown %d %s", w.Body, shown.Code, shown.Body)
			}
			if _, err := wire.ParseObject(w.Body.Bytes()); err != nil {
				t.Errorf("the question %s: %v", w.Body, err)
			}
		case 400, 422:
			var p Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code || p.Reason == "" || p.Detail == "" {
				t.Errorf("the problem %s: %v", w.Body, err)
			}
		default:
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		if n, open := len(feeds.open), broker.Len(); n != open {
			t.Errorf("%d feeds of %d questions", n, open)
		}
	})
}
