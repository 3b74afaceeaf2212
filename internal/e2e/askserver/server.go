//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A service holds what the tools share.
type service struct {
	name    string
	blocked ledger // how the calls that block have ended, by the caller's key
	visited ledger // URLs that have been visited, by elicitation id
}

func newServer(name string) *mcp.Server {
	s := &service{name: name}
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1.0.0"}, nil)

	mcp.AddTool(server, tool("echo", "Returns its text."), s.echo)
	mcp.AddTool(server, tool("ask_form", "Asks one question by form."), s.askForm)
	mcp.AddTool(server, tool("ask_twice", "Asks two questions by form at once."), s.askTwice)
	mcp.AddTool(server, tool("ask_rounds", "Asks questions by form one after the other."), s.askRounds)
	mcp.AddTool(server, tool("ask_url", "Asks by URL, and announces that the visit is complete."), s.askURL)
	mcp.AddTool(server, tool("need_url", "Refuses with -32042 until the URL has been visited."), s.needURL)
	mcp.AddTool(server, tool("visit_url", "Plays the visit that need_url waits for."), s.visitURL)
	mcp.AddTool(server, tool("sample", "Asks for a completion."), s.sample)
	mcp.AddTool(server, tool("sample_tools", "Asks for a completion that may use tools."), s.sampleTools)
	mcp.AddTool(server, tool("roots", "Asks for the roots."), s.roots)
	mcp.AddTool(server, tool("progress", "Reports progress in steps."), s.progress)
	mcp.AddTool(server, tool("block", "Reports progress once, then blocks until cancelled."), s.block)
	mcp.AddTool(server, tool("block_asking", "Asks by form and blocks until cancelled."), s.blockAsking)
	mcp.AddTool(server, tool("how_ended", "Returns how the blocking call with this key ended, once it has."), s.howEnded)

	server.AddPrompt(&mcp.Prompt{
		Name:        "ask_prompt",
		Description: "Asks by form before it answers.",
		Arguments:   []*mcp.PromptArgument{{Name: "message", Required: true}},
	}, s.askPrompt)
	server.AddResource(&mcp.Resource{Name: "ask_resource", URI: "ask://resource", MIMEType: "application/json"}, s.askResource)
	return server
}

func tool(name, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description}
}

// report is what every tool returns: one text whose JSON names this server, so
// that a result that went to the wrong caller shows.
func (s *service) report(fields map[string]any) (*mcp.CallToolResult, any, error) {
	text, err := s.reportText(fields)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

func (s *service) reportText(fields map[string]any) (string, error) {
	fields["server"] = s.name
	text, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("encoding the report: %w", err)
	}
	return string(text), nil
}

func (s *service) echo(_ context.Context, _ *mcp.CallToolRequest, in struct {
	Text string `json:"text"`
}) (*mcp.CallToolResult, any, error) {
	return s.report(map[string]any{"text": in.Text})
}

func (s *service) progress(ctx context.Context, req *mcp.CallToolRequest, in struct {
	Steps int `json:"steps"`
}) (*mcp.CallToolResult, any, error) {
	for i := range in.Steps {
		if err := notifyProgress(ctx, req, i+1, in.Steps); err != nil {
			return nil, nil, err
		}
	}
	return s.report(map[string]any{"steps": in.Steps})
}

// notifyProgress reports nothing when the caller gave no token.
func notifyProgress(ctx context.Context, req *mcp.CallToolRequest, done, total int) error {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token,
		Progress:      float64(done),
		Total:         float64(total),
		Message:       fmt.Sprintf("step %d of %d", done, total),
	})
	if err != nil {
		return fmt.Errorf("reporting progress: %w", err)
	}
	return nil
}
