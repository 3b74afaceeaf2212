//go:build e2e

package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// keyInput names a call, so that another call can ask what became of it.
type keyInput struct {
	Key string `json:"key" jsonschema:"chosen by the caller, unique in this process"`
}

// block reports progress so that its caller knows when to cancel.
func (s *service) block(ctx context.Context, req *mcp.CallToolRequest, in keyInput) (*mcp.CallToolResult, any, error) {
	if err := notifyProgress(ctx, req, 1, 2); err != nil {
		return nil, nil, err
	}
	<-ctx.Done()
	s.blocked.mark(in.Key, "cancelled")
	return nil, nil, context.Cause(ctx)
}

// blockAsking has its question open when it is cancelled. The question must not
// be answered in anybody's name. It may end in an error before the cancellation
// arrives, as the two are not ordered on this side of the SDK.
func (s *service) blockAsking(ctx context.Context, req *mcp.CallToolRequest, in keyInput) (*mcp.CallToolResult, any, error) {
	res, err := req.Session.Elicit(ctx, form("Never answered: "+in.Key))
	if err == nil {
		s.blocked.mark(in.Key, "answered: "+res.Action)
		return s.report(map[string]any{"action": res.Action})
	}
	<-ctx.Done()
	s.blocked.mark(in.Key, "cancelled")
	return nil, nil, context.Cause(ctx)
}

func (s *service) howEnded(ctx context.Context, _ *mcp.CallToolRequest, in keyInput) (*mcp.CallToolResult, any, error) {
	how, err := s.blocked.wait(ctx, in.Key)
	if err != nil {
		return nil, nil, err
	}
	return s.report(map[string]any{"key": in.Key, "ended": how})
}
