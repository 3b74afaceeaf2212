//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28. They must still pass.
//
//lint:file-ignore SA1019 what is deprecated must still pass

package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// clientError is what a client says that has no answer.
const clientError = "nobody sits at this desk"

// A desk is where the questions of a cell arrive, and are answered as its
// outcome wants.
type desk struct {
	cell   cell
	life   context.Context // ends with the cell
	close  context.CancelFunc
	manual bool // the client does not answer input_required by itself

	mu      sync.Mutex
	asked   []string      // guarded by mu; the names of the questions, in the order in which they came
	wrong   []string      // guarded by mu; how questions differ from what was asked
	changed chan struct{} // guarded by mu; closed and replaced when a question comes
}

func newDesk(ctx context.Context, c cell) *desk {
	d := &desk{cell: c, changed: make(chan struct{})}
	d.life, d.close = context.WithCancel(ctx)
	d.manual = c.client.era == modern && (c.outcome == byError || c.outcome == byTimeout ||
		c.outcome == byWithdrawal || c.outcome == byBackendGone && c.backend.era == legacy)
	return d
}

// client returns the client that sits at the desk. go-sdk answers a modern
// server's roots/list by itself, and a legacy one's in a method that can be
// intercepted.
func (d *desk) client() *mcp.Client {
	client := mcp.NewClient(&mcp.Implementation{Name: "matrix", Version: "1.0.0"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{},
			Sampling:    &mcp.SamplingCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler: func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return answered[*mcp.ElicitResult](d.take(ctx, req.Params))
		},
		CreateMessageWithToolsHandler: func(ctx context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return answered[*mcp.CreateMessageWithToolsResult](d.take(ctx, req.Params))
		},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: d.manual},
	})
	client.AddRoots(&mcp.Root{URI: d.cell.rootURI()})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if params, ok := req.GetParams().(*mcp.ListRootsParams); ok {
				if _, err := d.take(ctx, params); err != nil {
					return nil, err
				}
			}
			return next(ctx, method, req)
		}
	})
	return client
}

func answered[R mcp.InputResponse](res mcp.InputResponse, err error) (R, error) {
	if err != nil {
		return *new(R), err
	}
	return res.(R), nil
}

// take notes a question and answers it, once it is time.
func (d *desk) take(ctx context.Context, asked mcp.InputRequest) (mcp.InputResponse, error) {
	name := d.note(asked)
	switch outcome := d.cell.outcome; {
	case outcome == byError:
		return nil, &jsonrpc.Error{Code: -32001, Message: clientError}
	case outcome == twoAtOnce && d.cell.client.era == legacy:
		// A modern client may be shown one after the other.
		if err := d.await(ctx, 2); err != nil {
			return nil, err
		}
	case d.cell.client.era == legacy && !d.cell.holds() &&
		(outcome == byTimeout || outcome == byWithdrawal || outcome == byClientGone || outcome == byBackendGone):
		select {
		case <-ctx.Done():
		case <-d.life.Done():
		}
		return nil, errors.New("withdrawn")
	}
	return d.answer(name), nil
}

// answer is the answer that the cell wants to a question.
func (d *desk) answer(name string) mcp.InputResponse {
	c := d.cell
	switch c.kind {
	case "sampling":
		return &mcp.CreateMessageWithToolsResult{
			Role: "assistant", Model: "scripted", StopReason: "endTurn",
			Content: []mcp.Content{&mcp.TextContent{Text: c.answerText(name)}},
		}
	case "roots":
		return &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: c.rootURI()}}}
	}
	res := &mcp.ElicitResult{Action: c.action(name)}
	if c.kind == "form" && res.Action == byAccept {
		res.Content = map[string]any{"zeta": c.answerText(name)}
	}
	return res
}

// note writes down a question, and whether it is not as it was asked. The bytes
// of forms are checked on the wire.
func (d *desk) note(asked mcp.InputRequest) (name string) {
	text, wrong := d.read(asked)
	name, found := strings.CutPrefix(text, d.cell.key()+"/")
	if !found {
		wrong = append(wrong, fmt.Sprintf("the question of another: %q", text))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, name)
	d.wrong = append(d.wrong, wrong...)
	close(d.changed)
	d.changed = make(chan struct{})
	return name
}

// read returns the text of a question, and what is wrong with the rest of it.
func (d *desk) read(asked mcp.InputRequest) (text string, wrong []string) {
	must := func(what string, got, want any) {
		if got != want {
			wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", what, got, want))
		}
	}
	switch p := asked.(type) {
	case *mcp.ElicitParams:
		text = p.Message
		must("the mode", p.Mode, d.cell.kind)
		if p.Mode == "url" {
			must("the URL", p.URL, "https://example.com/"+p.Message)
			// Only the legacy era has such an id, and requires it.
			must("having an elicitation id", p.ElicitationID != "", d.cell.client.era == legacy)
		}
	case *mcp.CreateMessageWithToolsParams:
		text = sampledText(p)
		must("the system prompt", p.SystemPrompt, "You are a test.")
		must("maxTokens", p.MaxTokens, int64(64))
	case *mcp.ListRootsParams:
		text, _ = p.Meta["question"].(string)
	}
	return text, wrong
}

func sampledText(p *mcp.CreateMessageWithToolsParams) string {
	if len(p.Messages) == 1 && len(p.Messages[0].Content) == 1 {
		if text, ok := p.Messages[0].Content[0].(*mcp.TextContent); ok {
			return text.Text
		}
	}
	return fmt.Sprintf("%+v", p.Messages)
}

// await waits until so many questions came.
func (d *desk) await(ctx context.Context, n int) error {
	for {
		d.mu.Lock()
		enough, changed := len(d.asked) >= n, d.changed
		d.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d questions: %w", n, context.Cause(ctx))
		case <-d.life.Done():
			return errors.New("the cell is over")
		}
	}
}

// wireSchema is the form of eraserver, byte for byte.
const wireSchema = `"requestedSchema":{"type":"object","properties":{` +
	`"zeta":{"type":"string","title":"Text","minLength":1},` +
	`"alpha":{"type":"integer","minimum":1,"maximum":1e2},` +
	`"mid":{"type":"number","default":1.50}},"required":["zeta"]}`

// formsSeen counts the forms that came in with their bytes unchanged.
func (p *cellClient) formsSeen() (n int) {
	for _, f := range p.log.all() {
		if f.Dir == "in" {
			n += strings.Count(string(f.Message), wireSchema)
		}
	}
	return n
}

// seen returns the names of the questions that came, sorted, and what was wrong
// with them. A modern go-sdk client answers roots/list without telling, so that
// the wire has to.
func (p *cellClient) seen() (asked, wrong []string) {
	d := p.desk
	d.mu.Lock()
	asked, wrong = slices.Clone(d.asked), slices.Clone(d.wrong)
	d.mu.Unlock()
	if d.cell.kind == "roots" && d.cell.client.era == modern {
		asked = nil
		for _, f := range p.log.all() {
			if f.Dir == "in" {
				for _, match := range rootsQuestion.FindAllStringSubmatch(string(f.Message), -1) {
					asked = append(asked, strings.TrimPrefix(match[1], d.cell.key()+"/"))
				}
			}
		}
	}
	slices.Sort(asked)
	return asked, wrong
}

var rootsQuestion = regexp.MustCompile(`"question":"([^"]*)"`)
