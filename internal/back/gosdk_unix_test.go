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

// On a pipe the reference implementation speaks the era of its first request.
func TestPeerBothErasStdio(t *testing.T) {
	g := NewGuard(slog.New(slog.DiscardHandler))
	defer g.Close()
	b := New("b", NewChild(slog.New(slog.DiscardHandler), ChildOptions{
		Command: Command{Command: self(), Env: map[string]string{roleVariable: "go-sdk", raceVariable: noLinger}},
		Guard:   g,
	}), Options{}, slog.New(slog.DiscardHandler))
	deployModern(t, checkEra(t, b, true, "modern"))
	s := checkEra(t, b, false, "legacy")
	if err := s.Notify(t.Context(), parse(initialized)); err != nil {
		t.Fatal(err)
	}
	deployLegacy(t, s)
	b.opts.Era = EraModern
	deployLegacy(t, checkEra(t, b, false, "modern"))
}
