package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/beckon-mcp/beckon/internal/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asking is a go-sdk server whose tool asks for a name and greets.
func asking(t testing.TB) (url string) {
	s := mcp.NewServer(&mcp.Implementation{Name: "asking", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "greet"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Who are you?", RequestedSchema: json.RawMessage(
			`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)})
		if err != nil {
			return nil, nil, err
		}
		name, _ := res.Content["name"].(string)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Action + " " + name}}}, nil, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web.URL
}

// serve runs a gateway in front of a backend, until the test ends.
func serve(t testing.TB, backend string, change func(*config.Config), log io.Writer) (url string) {
	cfg := config.Default()
	b := config.DefaultBackend()
	b.Name, b.URL = "behind", config.NewURL(backend)
	cfg.Backends = []config.Backend{b}
	if change != nil {
		change(&cfg)
	}
	g, err := New(cfg, "test", slog.New(slog.NewJSONHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.ServeHTTP(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String()
}

// greet calls the tool as a client whose person is called Ada. The SDK speaks the
// modern era, in which the backend is not addressed.
func greet(t testing.TB, url string) string {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
	})
	web := &http.Client{Transport: &http.Transport{}}
	defer web.CloseIdleConnections()
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: web}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*mcp.TextContent).Text
}

// R82: a gateway behind a gateway behind a gateway passes questions on.
func TestGatewaysInARow(t *testing.T) {
	url := asking(t)
	for range 3 {
		url = serve(t, url, nil, io.Discard) + "/mcp"
	}
	if got := greet(t, url); got != "accept Ada" {
		t.Errorf("the tool says %q, want %q", got, "accept Ada")
	}
}

// R73: the audit tells who asked, through which call, whom, how it ended and how
// long it took; what was said stands there as a digest, or in full on demand.
// R76: what the client can be asked is logged when its session opens.
func TestAudit(t *testing.T) {
	for _, content := range []config.AuditContent{config.AuditDigest, config.AuditFull} {
		t.Run(string(content), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			log := filepath.Join(t.TempDir(), "log.jsonl")
			f, err := os.Create(log)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			url := serve(t, asking(t), func(c *config.Config) { c.Audit.Path, c.Audit.Content = path, content }, f)
			greet(t, url+"/mcp")

			lines := records(t, path)
			if len(lines) != 3 {
				t.Fatalf("%d lines, want one for the question, one for its end and one for the call", len(lines))
			}
			for _, key := range []string{"working", "human"} { // the two clocks
				if took, ok := lines[2][key].(float64); !ok || took <= 0 {
					t.Errorf("%s of the call is %v", key, lines[2][key])
				}
			}
			for key, want := range map[string]any{
				"backend": "behind", "call": "tools/call greet", "principal": "local",
				"kind": "form", "outcome": "accept", "answered_by": "local",
			} {
				if got := lines[1][key]; got != want {
					t.Errorf("%s is %v, want %v", key, got, want)
				}
			}
			if took, ok := lines[1]["took"].(float64); !ok || took <= 0 {
				t.Errorf("took is %v", lines[1]["took"])
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(string(text), "Ada"); told != (content == config.AuditFull) {
				t.Errorf("the answer itself is told: %v", told)
			}
			opened := false
			for _, r := range records(t, log) {
				opened = opened || r["msg"] == "session opened" && r["form"] == true && r["sampling"] == false
			}
			if !opened {
				t.Error("the log does not tell what the client can be asked")
			}
		})
	}
}

// records reads JSON lines.
func records(t *testing.T, path string) (all []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var r map[string]any
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		all = append(all, r)
	}
	return all
}

// R81: what passes can be watched, with the names of the conventions.
func TestMetrics(t *testing.T) {
	url := serve(t, asking(t), nil, io.Discard)
	greet(t, url+"/mcp")
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := get(t, url+path); got != "ok\n" {
			t.Errorf("%s says %q", path, got)
		}
	}
	text := get(t, url+"/metrics")
	for _, want := range []string{
		`mcp_server_operation_duration_seconds_count{beckon_backend="behind",mcp_method_name="tools/call"} 1`,
		`beckon_input_open{beckon_backend="behind",beckon_input_kind="form"} 0`,
		`beckon_input_duration_seconds_count{beckon_backend="behind",beckon_input_kind="form",beckon_outcome="accept"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s:\n%s", want, text)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// BenchmarkQuestion is a call with a question in its middle, through the gateway
// and directly, go-sdk at both ends. R77: the difference must stay below 10 ms;
// design.md wants half a millisecond, which `make bench` shows with processes of
// their own.
func BenchmarkQuestion(b *testing.B) {
	direct := asking(b)
	for name, url := range map[string]string{"direct": direct, "through": serve(b, direct, nil, io.Discard) + "/mcp"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				greet(b, url)
			}
		})
	}
}
