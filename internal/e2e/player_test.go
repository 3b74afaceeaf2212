//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28.
//
//lint:file-ignore SA1019 this client is of the legacy era on purpose

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A player plays a script with a go-sdk client.
type player struct {
	script   script
	revision string
	log      *recorder
	// life ends when the script must, finished or not. Handlers need it, as the
	// SDK gives them contexts that outlive the script.
	life context.Context

	mu      sync.Mutex
	current step // guarded by mu
}

// play connects over transport, plays the script and closes the session.
func (p *player) play(ctx context.Context, transport mcp.Transport) (err error) {
	session, err := p.client().Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: p.revision})
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		if closeErr := session.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("closing the session: %w", closeErr)
		}
	}()
	for _, step := range p.script.Steps {
		if err := p.step(ctx, session, step); err != nil {
			return fmt.Errorf("step %q: %w", step.Name, err)
		}
	}
	return nil
}

func (p *player) client() *mcp.Client {
	client := mcp.NewClient(&mcp.Implementation{Name: p.script.Client, Version: "1.0.0"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{ListChanged: true},
			Sampling:    &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler:            p.elicit,
		CreateMessageWithToolsHandler: p.sample,
	})
	for _, r := range p.script.Roots {
		client.AddRoots(&mcp.Root{URI: r.URI, Name: r.Name})
	}
	return client
}

// step plays one step. Calls that fail are part of the log, not an error.
func (p *player) step(ctx context.Context, session *mcp.ClientSession, s step) error {
	p.begin(s)
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var calls sync.WaitGroup
	defer calls.Wait()
	for _, r := range s.Requests {
		calls.Go(func() {
			if err := send(callCtx, session, r, s.Name); err != nil {
				p.log.failure(err)
			}
		})
	}
	if s.CancelOn != "" {
		if err := p.log.untilUnderway(ctx, s.CancelOn); err != nil {
			cancel(err)
			return err
		}
		cancel(errors.New("cancelled by the script"))
	}
	calls.Wait()
	for method, n := range s.Await {
		if err := p.log.untilSeen(ctx, method, n); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) begin(s step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = s
	p.log.begin(s.Name)
}

// send makes one request. The log has the outcome; the result is dropped.
func send(ctx context.Context, session *mcp.ClientSession, r request, token string) error {
	switch r.Method {
	case "tools/list":
		return invoke(ctx, r, token, session.ListTools)
	case "tools/call":
		return invoke(ctx, r, token, session.CallTool)
	case "prompts/list":
		return invoke(ctx, r, token, session.ListPrompts)
	case "prompts/get":
		return invoke(ctx, r, token, session.GetPrompt)
	case "resources/list":
		return invoke(ctx, r, token, session.ListResources)
	case "resources/templates/list":
		return invoke(ctx, r, token, session.ListResourceTemplates)
	case "resources/read":
		return invoke(ctx, r, token, session.ReadResource)
	default:
		return fmt.Errorf("the player does not know %s", r.Method)
	}
}

func invoke[P any, R any, PP interface {
	*P
	mcp.RequestParams
}](ctx context.Context, r request, token string, method func(context.Context, PP) (R, error)) error {
	params := PP(new(P))
	if err := remarshal(r.Params, params); err != nil {
		return err
	}
	if r.Progress {
		params.SetProgressToken(token)
	}
	_, err := method(ctx, params)
	return err
}

func remarshal(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encoding %T: %w", from, err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("decoding %T: %w", to, err)
	}
	return nil
}

func (p *player) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	var res mcp.ElicitResult
	if err := p.answer(ctx, "elicitation/create", req.Params, req.Params.Message, &res); err != nil {
		return nil, err
	}
	return &res, nil
}

func (p *player) sample(ctx context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
	var question string
	if messages := req.Params.Messages; len(messages) > 0 {
		if content := messages[len(messages)-1].Content; len(content) > 0 {
			if text, ok := content[0].(*mcp.TextContent); ok {
				question = text.Text
			}
		}
	}
	var res mcp.CreateMessageWithToolsResult
	if err := p.answer(ctx, "sampling/createMessage", req.Params, question, &res); err != nil {
		return nil, err
	}
	return &res, nil
}

// answer fills result by the rules of the current step.
func (p *player) answer(ctx context.Context, method string, params any, question string, result any) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.life, func() { cancel(context.Cause(p.life)) })()

	p.mu.Lock()
	step, mine := p.current, p.log.take()
	p.mu.Unlock()

	rule, err := step.rule(method, params)
	if err != nil {
		return err
	}
	if rule.Never {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if step.Hold > 0 {
		if err := p.untilTurn(ctx, step.Hold, mine); err != nil {
			return err
		}
	}
	if rule.Error != nil {
		return &jsonrpc.Error{Code: rule.Error.Code, Message: rule.Error.Message}
	}
	text := fill(string(rule.Result), map[string]string{"$client": p.script.Client, "$question": question})
	if err := json.Unmarshal([]byte(text), result); err != nil {
		return fmt.Errorf("decoding the scripted answer: %w", err)
	}
	return nil
}

// untilTurn waits until hold questions are open and all that came after the
// question with number mine have been answered.
func (p *player) untilTurn(ctx context.Context, hold, mine int) error {
	return p.log.until(ctx, func(t tally) bool { return t.asked >= hold && t.answered == hold-1-mine })
}

// rule finds the first rule that fits a question.
func (s step) rule(method string, params any) (answer, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return answer{}, fmt.Errorf("encoding the question: %w", err)
	}
	for _, a := range s.Answers {
		if a.Method == method && strings.Contains(string(text), a.Contains) {
			return a, nil
		}
	}
	return answer{}, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "no answer scripted for " + method}
}

// fill puts values into the strings of a JSON text.
func fill(text string, values map[string]string) string {
	for name, value := range values {
		quoted, err := json.Marshal(value)
		if err != nil {
			panic(err) // a string always encodes
		}
		text = strings.ReplaceAll(text, name, strings.Trim(string(quoted), `"`))
	}
	return text
}
