package front

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// scribe is an API that writes down what it is told.
type scribe struct{ told []string }

func (s *scribe) Serve(w http.ResponseWriter, r *http.Request, principal string) {
	s.told = append(s.told, fmt.Sprintf("serve %s %s for %q", r.Method, r.URL.Path, principal))
	w.WriteHeader(http.StatusTeapot)
}

func (s *scribe) Refuse(w http.ResponseWriter, _ *http.Request, status int, err *wire.Error) {
	s.told = append(s.told, fmt.Sprintf("refuse %d %s", status, err.Reason))
	w.WriteHeader(status)
}

func (s *scribe) Close() { s.told = append(s.told, "close") }

// The API is behind the checks and the authentication of the protocol, and learns
// who calls.
func TestAPIIsBehindTheSameDoor(t *testing.T) {
	tokens := StaticTokens(map[string]string{"0123456789abcdef": "ada", "fedcba9876543210": "eve"})
	for _, tt := range []struct {
		name   string
		o      Options
		method string
		path   string
		header []string
		status int
		told   string // "" for nothing
	}{
		{"nobody has to tell who they are", Options{}, "GET", "/api/v1/x", nil, 418, `serve GET /api/v1/x for ""`},
		{"ada", Options{Authenticate: tokens}, "POST", "/api/v1/x", []string{"Authorization", "Bearer 0123456789abcdef"}, 418, `serve POST /api/v1/x for "ada"`},
		{"eve", Options{Authenticate: tokens}, "GET", "/api/", []string{"Authorization", "Bearer fedcba9876543210"}, 418, `serve GET /api/ for "eve"`},
		{"no token", Options{Authenticate: tokens}, "GET", "/api/v1/x", nil, 401, "refuse 401 auth"},
		{"a wrong one", Options{Authenticate: tokens}, "GET", "/api/v1/x", []string{"Authorization", "Bearer 0123456789abcdee"}, 401, "refuse 401 auth"},
		{"rebound", Options{}, "GET", "/api/v1/x", []string{"Host", "evil.example"}, 403, "refuse 403 origin"},
		{"rebound, with a token", Options{Authenticate: tokens}, "GET", "/api/v1/x", []string{"Host", "evil.example", "Authorization", "Bearer 0123456789abcdef"}, 403, "refuse 403 origin"},
		{"a foreign page", Options{}, "POST", "/api/v1/x", []string{"Origin", "https://evil.example"}, 403, "refuse 403 origin"},
		{"an allowed page asks first", Options{AllowedOrigins: []string{"https://good.example"}, Authenticate: tokens}, "OPTIONS", "/api/v1/x",
			[]string{"Origin", "https://good.example", "Access-Control-Request-Method", "POST"}, 204, ""},
		{"not of the API", Options{}, "GET", "/apiary", nil, 404, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &scribe{}
			tt.o.API = s
			tt.o.Other = http.NotFoundHandler()
			h := NewHTTP(newFakeRelay(t), tt.o, discard)
			r := httptest.NewRequest(tt.method, "http://localhost"+tt.path, nil)
			for i := 0; i+1 < len(tt.header); i += 2 {
				r.Header.Set(tt.header[i], tt.header[i+1])
			}
			if host := r.Header.Get("Host"); host != "" {
				r.Host = host
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := strings.Join(s.told, ", "); w.Code != tt.status || got != tt.told {
				t.Errorf("status %d, told %q; want %d, %q", w.Code, got, tt.status, tt.told)
			}
			s.told = nil
			h.Close(t.Context())
			if got := strings.Join(s.told, ", "); got != "close" {
				t.Errorf("at the end it was told %q", got)
			}
		})
	}
}

// Without an API its paths are not there.
func TestNoAPI(t *testing.T) {
	h := NewHTTP(newFakeRelay(t), Options{}, discard)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/api/v1/openapi.json", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
	h.Close(t.Context())
}
