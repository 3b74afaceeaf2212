//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28. It still has them.
//
//lint:file-ignore SA1019 what is deprecated must still pass

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// state is what the tool needs to know when it is called again. It is plain:
// nothing here is worth protecting, and a byte that is changed on the way shows.
type state struct {
	Key     string            `json:"key"`
	Round   int               `json:"round"` // whose answers the retry brings
	Answers map[string]answer `json:"answers"`
}

// round is ask in the modern era: a call for each round of questions, and one
// for the work.
func (s *service) round(ctx context.Context, req *mcp.CallToolRequest, in callInput) (*mcp.CallToolResult, error) {
	st := state{Key: in.Key, Answers: make(map[string]answer)}
	if req.Params.RequestState != "" {
		if err := json.Unmarshal([]byte(req.Params.RequestState), &st); err != nil {
			return nil, fmt.Errorf("decoding the requestState: %w", err)
		}
	}
	if err := s.enter(in, st.Round+1); err != nil {
		return nil, err
	}
	if st.Key != in.Key {
		return nil, fmt.Errorf("the requestState is of %q, the call of %q", st.Key, in.Key)
	}
	if st.Round > 0 {
		if err := st.take(in.questions(st.Round), req.Params.InputResponses); err != nil {
			return nil, err
		}
	}
	if st.Round == in.Rounds {
		return s.work(ctx, in, st.Answers)
	}
	st.Round++
	text, err := json.Marshal(st)
	if err != nil {
		return nil, fmt.Errorf("encoding the requestState: %w", err)
	}
	requests := make(mcp.InputRequestMap)
	for _, q := range in.questions(st.Round) {
		requests[q.name] = q.request()
	}
	return &mcp.CallToolResult{InputRequests: requests, RequestState: string(text)}, nil
}

func (q question) request() mcp.InputRequest {
	switch q.kind {
	case "sampling":
		return q.sampling()
	case "roots":
		return q.roots()
	}
	return q.elicitation(true)
}

// take wants exactly the answers to these questions.
func (st *state) take(questions []question, responses mcp.InputResponseMap) error {
	if len(responses) != len(questions) {
		return fmt.Errorf("%d answers to %d questions", len(responses), len(questions))
	}
	for _, q := range questions {
		var err error
		switch r := responses[q.name].(type) {
		case *mcp.ElicitResult:
			st.Answers[q.name] = elicited(r)
		case *mcp.CreateMessageWithToolsResult:
			st.Answers[q.name], err = sampled(r.Role, r.Model, r.Content...)
		case *mcp.CreateMessageResult:
			st.Answers[q.name], err = sampled(r.Role, r.Model, r.Content)
		case *mcp.ListRootsResult:
			st.Answers[q.name] = listed(r)
		default:
			err = fmt.Errorf("no answer to %s, but %T", q.name, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
