//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28. They are what a legacy server asks for.
//
//lint:file-ignore SA1019 what is deprecated must still pass

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var errWithdrawn = errors.New("withdrawn by the test")

// push is ask in the legacy era: one call, in the middle of which it asks.
func (s *service) push(ctx context.Context, req *mcp.CallToolRequest, in callInput) (*mcp.CallToolResult, error) {
	if err := s.enter(in, 1); err != nil {
		return nil, err
	}
	answers := make(map[string]answer)
	for round := range in.Rounds {
		more, err := s.pushAll(ctx, req.Session, in, in.questions(round+1))
		if err != nil {
			return nil, err
		}
		maps.Copy(answers, more)
	}
	return s.work(ctx, in, answers)
}

// pushAll asks all questions at once. What the test withdraws is no error: a
// server that does so can do without the answer.
func (s *service) pushAll(ctx context.Context, session *mcp.ServerSession, in callInput, questions []question) (map[string]answer, error) {
	ctx, withdraw := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer withdraw(nil)
	watch.Go(func() {
		if s.ledger.awaitWithdrawal(ctx, in.Key) == nil {
			withdraw(errWithdrawn)
		}
	})

	var asking sync.WaitGroup
	got, errs := make([]answer, len(questions)), make([]error, len(questions))
	for i, q := range questions {
		asking.Go(func() { got[i], errs[i] = q.push(ctx, session) })
	}
	asking.Wait()
	answers := make(map[string]answer)
	for i, q := range questions {
		switch {
		case errs[i] == nil:
			answers[q.name] = got[i]
		case errors.Is(context.Cause(ctx), errWithdrawn):
			answers[q.name] = answer{"withdrawn": true}
		default:
			return nil, fmt.Errorf("asking %s: %w", q.name, errs[i])
		}
	}
	return answers, nil
}

func (q question) push(ctx context.Context, session *mcp.ServerSession) (answer, error) {
	switch q.kind {
	case "form", "url":
		res, err := session.Elicit(ctx, q.elicitation(false))
		if err != nil {
			return nil, err
		}
		return elicited(res), nil
	case "sampling":
		res, err := session.CreateMessage(ctx, q.sampling())
		if err != nil {
			return nil, err
		}
		return sampled(res.Role, res.Model, res.Content)
	case "roots":
		res, err := session.ListRoots(ctx, q.roots())
		if err != nil {
			return nil, err
		}
		return listed(res), nil
	}
	return nil, fmt.Errorf("unknown kind %q", q.kind)
}
