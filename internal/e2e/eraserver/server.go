//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The revision of each era that this server speaks.
const legacyRevision, modernRevision = "2025-11-25", "2026-07-28"

// callInput is what a call of ask is to do.
type callInput struct {
	Key    string `json:"key" jsonschema:"names the call; unique"`
	Kind   string `json:"kind" jsonschema:"form, url, sampling or roots"`
	Rounds int    `json:"rounds" jsonschema:"how often to ask, one after the other"`
	AtOnce int    `json:"atOnce" jsonschema:"how many questions to ask each time"`
	Hold   bool   `json:"hold,omitempty" jsonschema:"work until stopped, once everything is answered"`

	Schema     map[string]any `json:"schema,omitempty" jsonschema:"the form, instead of that of the server"`
	Definition map[string]any `json:"definition,omitempty" jsonschema:"the formDefinition beside it, over stdio"`
}

type service struct {
	modern bool
	ledger ledger
	calls  sync.WaitGroup // tool calls in progress
}

func (s *service) server() *mcp.Server {
	revision := legacyRevision
	if s.modern {
		revision = modernRevision
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "eraserver", Version: "1.0.0"}, &mcp.ServerOptions{
		SupportedProtocolVersions: []string{revision},
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask", Description: "Asks, and reports the answers."}, s.ask)
	return server
}

// ask notes that it was entered and how it ended, whichever era it is of.
func (s *service) ask(ctx context.Context, req *mcp.CallToolRequest, in callInput) (*mcp.CallToolResult, any, error) {
	s.calls.Add(1)
	defer s.calls.Done()
	play := s.push
	if s.modern {
		play = s.round
	}
	result, err := play(ctx, req, in)
	if err != nil && !errors.Is(err, errStopped) {
		err = errors.Join(err, s.ledger.note(in.Key, "failed: %q", err))
	}
	return result, nil, err
}

var errStopped = errors.New("stopped")

// enter notes that the tool runs.
func (s *service) enter(in callInput, round int) error {
	return s.ledger.note(in.Key, "entered %d %d", round, os.Getpid())
}

// work is what the tool is there for, once it has all answers.
func (s *service) work(ctx context.Context, in callInput, answers map[string]answer) (*mcp.CallToolResult, error) {
	if in.Hold {
		if err := s.ledger.note(in.Key, "held"); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, errors.Join(errStopped, s.ledger.note(in.Key, "stopped"))
	}
	text, err := json.Marshal(map[string]any{"key": in.Key, "answers": answers})
	if err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	if err := s.ledger.note(in.Key, "worked"); err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
}
