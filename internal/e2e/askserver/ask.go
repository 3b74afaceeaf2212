//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// formSchema keeps its fields out of alphabetical order and spells its numbers
// unusually: whoever re-encodes a form on the way shows.
const formSchema = `{
	"type": "object",
	"properties": {
		"zeta": {"type": "string", "title": "Text", "minLength": 1},
		"alpha": {"type": "integer", "title": "Count", "minimum": 1, "maximum": 1e2},
		"mid": {"type": "number", "title": "Ratio", "default": 1.50},
		"beta": {"type": "string", "enum": ["yes", "no", "later"]}
	},
	"required": ["zeta"]
}`

type messageInput struct {
	Message string `json:"message"`
}

func form(message string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(formSchema)}
}

// ask puts one question and returns the answer as the reports show it.
func ask(ctx context.Context, session *mcp.ServerSession, params *mcp.ElicitParams) (map[string]any, error) {
	res, err := session.Elicit(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("asking %q: %w", params.Message, err)
	}
	answer := map[string]any{"message": params.Message, "action": res.Action}
	if res.Content != nil {
		answer["content"] = res.Content
	}
	return answer, nil
}

func (s *service) askForm(ctx context.Context, req *mcp.CallToolRequest, in messageInput) (*mcp.CallToolResult, any, error) {
	answer, err := ask(ctx, req.Session, form(in.Message))
	if err != nil {
		return nil, nil, err
	}
	return s.report(answer)
}

func (s *service) askTwice(ctx context.Context, req *mcp.CallToolRequest, in struct {
	First  string `json:"first"`
	Second string `json:"second"`
}) (*mcp.CallToolResult, any, error) {
	var (
		asking  sync.WaitGroup
		answers [2]map[string]any
		errs    [2]error
	)
	for i, message := range []string{in.First, in.Second} {
		asking.Go(func() { answers[i], errs[i] = ask(ctx, req.Session, form(message)) })
	}
	asking.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, nil, err
		}
	}
	return s.report(map[string]any{"answers": answers})
}

func (s *service) askRounds(ctx context.Context, req *mcp.CallToolRequest, in struct {
	Messages []string `json:"messages"`
}) (*mcp.CallToolResult, any, error) {
	answers := make([]map[string]any, 0, len(in.Messages))
	for _, message := range in.Messages {
		answer, err := ask(ctx, req.Session, form(message))
		if err != nil {
			return nil, nil, err
		}
		answers = append(answers, answer)
	}
	return s.report(map[string]any{"answers": answers})
}

func (s *service) askPrompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	answer, err := ask(ctx, req.Session, form(req.Params.Arguments["message"]))
	if err != nil {
		return nil, err
	}
	text, err := s.reportText(answer)
	if err != nil {
		return nil, err
	}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
}

func (s *service) askResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	answer, err := ask(ctx, req.Session, form("Reading "+req.Params.URI))
	if err != nil {
		return nil, err
	}
	text, err := s.reportText(answer)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: req.Params.URI, MIMEType: "application/json", Text: text},
	}}, nil
}
