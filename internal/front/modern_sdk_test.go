package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// The client of the official SDK finds out by itself that the modern era is spoken,
// over each transport that knows it, and then uses it.
func TestSDKModern(t *testing.T) {
	t.Run("http", func(t *testing.T) {
		relay := newFakeRelay(t)
		h := NewHTTP(relay, Options{}, discard)
		server := httptest.NewServer(h)
		defer server.Close()
		defer h.Close(t.Context())
		useSDK(t, relay, &mcp.StreamableClientTransport{Endpoint: server.URL + "/mcp"}, wire.ReasonClientGone)
	})
	t.Run("stdio", func(t *testing.T) {
		relay := newFakeRelay(t)
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		done := make(chan error)
		go func() {
			done <- ServeStdio(context.Background(), inR, outW, relay, Options{}, discard)
			outW.Close()
		}()
		useSDK(t, relay, &mcp.IOTransport{Reader: outR, Writer: inW}, "")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// useSDK discovers, listens, lists, calls with progress, and cancels. A cancelled
// call ends with this reason, or "" when that is told by a notification.
func useSDK(t *testing.T, relay *fakeRelay, transport mcp.Transport, cancelled wire.Reason) {
	t.Helper()
	changed, progress := make(chan struct{}, 1), make(chan float64, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
	})
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != string(wire.R20260728) {
		t.Errorf("negotiated %s", got)
	}
	relay.changed <- struct{}{}
	<-changed

	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 1 {
		t.Errorf("got %v, %v", tools, err)
	}
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			text := fmt.Sprintf("text %d", i)
			got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": text}})
			if err != nil {
				t.Error(err)
			} else if echoed := got.Content[0].(*mcp.TextContent).Text; echoed != text {
				t.Errorf("got %q, want %q", echoed, text)
			}
		})
	}
	calls.Wait()

	params := &mcp.CallToolParams{Name: "progress"}
	params.SetProgressToken("p")
	if _, err := session.CallTool(t.Context(), params); err != nil {
		t.Error(err)
	}
	for want := range 3 {
		if got := <-progress; got != float64(want+1) {
			t.Errorf("progress %v, want %d", got, want+1)
		}
	}

	for len(relay.legs) > 0 {
		<-relay.legs
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "block"})
		failed <- err
	}()
	<-relay.legs
	cancel()
	if err := <-failed; err == nil {
		t.Error("a cancelled call has a result")
	}
	cause := <-relay.causes
	if _, told := errors.AsType[*Cancelled](cause); reasonOf(cause) != cancelled || told != (cancelled == "") {
		t.Errorf("cause %v", cause)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if cause := <-relay.causes; cause == nil {
		t.Error("the subscription goes on")
	}
	if len(relay.opened) > 0 {
		t.Error("a session was opened")
	}
}

// Over a transport without the modern era the client of the official SDK falls back.
func TestSDKFallsBack(t *testing.T) {
	relay := newFakeRelay(t)
	h := NewHTTP(relay, Options{SSE: true}, discard)
	server := httptest.NewServer(h)
	defer server.Close()
	defer h.Close(t.Context())
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.SSEClientTransport{Endpoint: server.URL + "/sse"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != string(wire.R20251125) {
		t.Errorf("negotiated %s", got)
	}
	if went := relay.went(); went != "open" {
		t.Errorf("went to %q", went)
	}
}
