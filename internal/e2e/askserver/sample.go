//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28. They are what a legacy server asks for.
//
//lint:file-ignore SA1019 this server is of the legacy era on purpose

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type promptInput struct {
	Prompt string `json:"prompt"`
}

// sample fills every member of the request, so that one that is lost shows.
func (s *service) sample(ctx context.Context, req *mcp.CallToolRequest, in promptInput) (*mcp.CallToolResult, any, error) {
	res, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		Messages:     []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: in.Prompt}}},
		SystemPrompt: "You are a test.",
		ModelPreferences: &mcp.ModelPreferences{
			Hints:                []*mcp.ModelHint{{Name: "small"}, {Name: "large"}},
			CostPriority:         0.25,
			SpeedPriority:        0.5,
			IntelligencePriority: 1,
		},
		IncludeContext: "none",
		MaxTokens:      4096,
		Temperature:    0.75,
		StopSequences:  []string{"\n\n", "END"},
		Metadata:       map[string]any{"trace": "t-1"},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("sampling: %w", err)
	}
	return s.report(map[string]any{
		"role": res.Role, "model": res.Model, "stopReason": res.StopReason, "content": res.Content,
	})
}

func (s *service) sampleTools(ctx context.Context, req *mcp.CallToolRequest, in promptInput) (*mcp.CallToolResult, any, error) {
	res, err := req.Session.CreateMessageWithTools(ctx, &mcp.CreateMessageWithToolsParams{
		Messages:  []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: in.Prompt}}}},
		MaxTokens: 64,
		Tools: []*mcp.Tool{{
			Name:        "weather",
			Description: "Tells the weather.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`),
		}},
		ToolChoice: &mcp.ToolChoice{Mode: "required"},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("sampling with tools: %w", err)
	}
	return s.report(map[string]any{
		"role": res.Role, "model": res.Model, "stopReason": res.StopReason, "content": res.Content,
	})
}

func (s *service) roots(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	res, err := req.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("listing roots: %w", err)
	}
	return s.report(map[string]any{"roots": res.Roots})
}
