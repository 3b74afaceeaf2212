//go:build e2e

package main

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type urlInput struct {
	URL string `json:"url"`
	ID  string `json:"id" jsonschema:"the elicitation id, unique in this process"`
}

func (in urlInput) params() *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "url", Message: "Please visit " + in.URL, URL: in.URL, ElicitationID: in.ID}
}

// askURL plays the visitor as well: an accepted question is complete at once.
func (s *service) askURL(ctx context.Context, req *mcp.CallToolRequest, in urlInput) (*mcp.CallToolResult, any, error) {
	answer, err := ask(ctx, req.Session, in.params())
	if err != nil {
		return nil, nil, err
	}
	if answer["action"] == "accept" {
		if err := complete(ctx, req.Session, in.ID); err != nil {
			return nil, nil, err
		}
	}
	return s.report(answer)
}

// needURL answers as a server does that cannot start before a visit: "When a
// request cannot be processed until an elicitation is completed, the server MAY
// return a URLElicitationRequiredError (code -32042) to indicate to the client
// that a URL mode elicitation is required."
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
func (s *service) needURL(_ context.Context, _ *mcp.CallToolRequest, in urlInput) (*mcp.CallToolResult, any, error) {
	if !s.visited.marked(in.ID) {
		return nil, nil, mcp.URLElicitationRequiredError([]*mcp.ElicitParams{in.params()})
	}
	return s.report(map[string]any{"visited": in.ID})
}

func (s *service) visitURL(ctx context.Context, req *mcp.CallToolRequest, in struct {
	ID string `json:"id"`
}) (*mcp.CallToolResult, any, error) {
	s.visited.mark(in.ID, "visited")
	if err := complete(ctx, req.Session, in.ID); err != nil {
		return nil, nil, err
	}
	return s.report(map[string]any{"visited": in.ID})
}

func complete(ctx context.Context, session *mcp.ServerSession, id string) error {
	err := session.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: id})
	if err != nil {
		return fmt.Errorf("announcing that %s is complete: %w", id, err)
	}
	return nil
}
