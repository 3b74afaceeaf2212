package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/beckon-mcp/beckon/internal/back"
	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// Finding is what one backend says of itself.
type Finding struct {
	Backend      string          `json:"backend"`
	OK           bool            `json:"ok"`
	Error        string          `json:"error,omitempty"`        // why it cannot be used
	Server       string          `json:"server,omitempty"`       // its name and version
	Revisions    []wire.Revision `json:"revisions,omitempty"`    // the newest that it speaks of each era, legacy first
	Capabilities []string        `json:"capabilities,omitempty"` // what it offers
	Tools        int             `json:"tools"`                  // on the first page of its list
	CanAsk       []string        `json:"canAsk,omitempty"`       // what its newest revision lets it ask a client
	TookMillis   int64           `json:"tookMs"`                 // from nothing to an answered handshake
}

// Examine starts each configured backend, speaks to it in both eras as a client that
// can be asked everything, and stops it again.
func Examine(ctx context.Context, cfg config.Config, log *slog.Logger) ([]Finding, error) {
	g, err := New(cfg, "", log)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	backends, err := g.backends()
	if err != nil {
		return nil, err
	}
	findings := make([]Finding, len(backends))
	var wg sync.WaitGroup
	for i, b := range backends {
		wg.Go(func() { findings[i] = examine(ctx, b) })
	}
	wg.Wait()
	return findings, nil
}

// everything is the initialize of a client that can be asked anything.
const everything = `{"protocolVersion":"` + string(wire.Latest) + `",` +
	`"capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}},` +
	`"clientInfo":{"name":"beckon-doctor","version":"1"}}`

func examine(ctx context.Context, b *back.Backend) Finding {
	f := Finding{Backend: b.Name}
	began := time.Now()
	s := b.NewSession(back.Hello{Params: []byte(everything)}, nobody{})
	defer s.Close()
	result, err := s.Connect(ctx)
	f.TookMillis = time.Since(began).Milliseconds()
	if err != nil {
		// err is for clients, and says less.
		f.Error = cmp.Or(b.LastErr(), err).Error()
		return f
	}
	f.OK = true
	name, _ := wire.Text(result, "serverInfo", "name")
	version, _ := wire.Text(result, "serverInfo", "version")
	f.Server = name + " " + version
	for capability := range wire.Members(wire.Get(result, "capabilities")) {
		f.Capabilities = append(f.Capabilities, capability)
	}
	if err := s.Notify(ctx, wire.NewNotification("notifications/initialized", nil)); err != nil {
		f.OK, f.Error = false, err.Error()
		return f
	}
	f.Tools, err = countTools(ctx, s, result)
	if err != nil {
		f.OK, f.Error = false, err.Error()
		return f
	}
	f.Revisions = revisions(ctx, b, s, result)
	f.CanAsk = canAsk(f.Revisions[len(f.Revisions)-1])
	return f
}

// revisions tells which revisions a backend speaks: in the session s, which prefers
// the legacy era, and in one that prefers the modern one.
func revisions(ctx context.Context, b *back.Backend, s *back.Session, result []byte) []wire.Revision {
	if s.Modern() {
		return []wire.Revision{wire.R20260728}
	}
	text, _ := wire.Text(result, "protocolVersion")
	both := []wire.Revision{wire.Revision(text)}
	modern := b.NewSession(back.Hello{Params: []byte(everything), Modern: true}, nobody{})
	defer modern.Close()
	if _, err := modern.Connect(ctx); err == nil && modern.Modern() {
		both = append(both, wire.R20260728)
	}
	return both
}

func countTools(ctx context.Context, s *back.Session, result []byte) (int, error) {
	if wire.Get(result, "capabilities", "tools") == nil {
		return 0, nil
	}
	resp, err := s.Call(ctx, wire.NewRequest(wire.IntID(1), "tools/list", []byte("{}")), nobody{})
	n := 0
	for range wire.Elements(wire.Get(resp.Result(), "tools")) {
		n++
	}
	return n, err
}

// canAsk lists what a server of a revision may ask its client.
func canAsk(r wire.Revision) []string {
	kinds := []string{"sampling", "roots"}
	if r.Since(wire.R20250618) {
		kinds = append(kinds, "elicitation by form")
	}
	if r.Since(wire.R20251125) {
		kinds = append(kinds, "elicitation by url", "sampling with tools")
	}
	return kinds
}

// nobody is a Caller that has no client behind it.
type nobody struct{}

func (nobody) Notify(wire.Message) {}

func (nobody) Ask(a back.Asked) func(*wire.Error) {
	a.Reply(wire.NewFailure(a.Message.ID(), wire.Errorf(wire.ReasonNoClient, "nobody is connected: this is an examination")))
	return nil
}
