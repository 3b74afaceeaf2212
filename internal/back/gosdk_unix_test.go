//go:build unix

package back

import (
	"context"
	"log/slog"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkChild is the role of a server of the reference implementation on stdio.
func sdkChild() {
	if err := sdkServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		panic(err)
	}
}

func TestPeerStdio(t *testing.T) {
	g := NewGuard(slog.New(slog.DiscardHandler))
	defer g.Close()
	st := connectSDK(t, NewChild(slog.New(slog.NewTextHandler(t.Output(), nil)), ChildOptions{
		Command: Command{Command: self(), Env: map[string]string{roleVariable: "go-sdk", raceVariable: noLinger}},
		Guard:   g,
	}))
	st.ask("1", `{}`)
	st.Close()
	if code := st.Conn.(*child).proc.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exited with status %d at the end of its input", code)
	}
}
