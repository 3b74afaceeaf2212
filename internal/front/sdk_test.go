package front

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// The client of the official SDK calls and is asked, over both transports of HTTP.
func TestSDKClient(t *testing.T) {
	tests := []struct {
		name      string
		transport func(url string) mcp.Transport
	}{
		{"streamable", func(url string) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: url + "/mcp"}
		}},
		{"streamable without GET", func(url string) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: url + "/mcp", DisableStandaloneSSE: true}
		}},
		{"sse", func(url string) mcp.Transport {
			return &mcp.SSEClientTransport{Endpoint: url + "/sse"}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := NewHTTP(newFakeRelay(t), Options{SSE: true}, discard)
			server := httptest.NewServer(h)
			defer server.Close()
			defer h.Close(t.Context())
			answer := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
			}
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: answer})
			session, err := client.Connect(t.Context(), test.transport(server.URL), speaking(wire.R20251125))
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult().ProtocolVersion; got != string(wire.R20251125) {
				t.Errorf("negotiated %s", got)
			}
			if err := session.Ping(t.Context(), nil); err != nil {
				t.Error(err)
			}
			var calls sync.WaitGroup
			for i := range 20 {
				calls.Go(func() {
					name, want := "echo", fmt.Sprintf("text %d", i)
					if i%2 == 0 {
						name, want = "ask", "Ann"
					}
					got, err := session.CallTool(t.Context(), &mcp.CallToolParams{
						Name: name, Arguments: map[string]any{"text": fmt.Sprintf("text %d", i)},
					})
					if err != nil {
						t.Error(err)
					} else if text := got.Content[0].(*mcp.TextContent).Text; text != want {
						t.Errorf("got %q, want %q", text, want)
					}
				})
			}
			calls.Wait()
		})
	}
}

// speaking makes the client of the official SDK begin with a revision.
func speaking(r wire.Revision) *mcp.ClientSessionOptions {
	return &mcp.ClientSessionOptions{ProtocolVersion: string(r)}
}

// The client of the official SDK cancels a call and goes on.
func TestSDKClientCancels(t *testing.T) {
	relay := newFakeRelay(t)
	h := NewHTTP(relay, Options{}, discard)
	server := httptest.NewServer(h)
	defer server.Close()
	defer h.Close(t.Context())
	asked := make(chan struct{})
	block := func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: block})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp"}, speaking(wire.R20251125))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ask"})
		failed <- err
	}()
	<-asked
	c := <-relay.opened
	call := callOf(c)
	cancel()
	<-failed
	<-call.ctx.Done()
	if err := session.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
