//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28. The suite needs them in both eras.
//
//lint:file-ignore SA1019 the suite asks for them

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An asking is something that cannot be done without its client. It asks in
// rounds, all questions of a round at once.
type asking struct {
	name   string
	rounds func(in arguments) []mcp.InputRequestMap
	done   func(answers mcp.InputResponseMap) string
}

// arguments are what an asking may depend on.
type arguments struct {
	text   map[string]any // the arguments of the tool
	client *mcp.ClientCapabilities
}

// A turn is one request of the client, of either kind that may ask.
type turn struct {
	session   *mcp.ServerSession
	in        arguments
	responses mcp.InputResponseMap
	state     string
}

// ask goes through the rounds of a. It returns either the answers, or what the
// client must be asked before it retries the call, with the state for that.
func (a asking) ask(ctx context.Context, t turn, modern bool) (mcp.InputResponseMap, mcp.InputRequestMap, string, error) {
	if modern {
		return a.resume(t)
	}
	answers := make(mcp.InputResponseMap)
	for _, round := range a.rounds(t.in) {
		got, err := push(ctx, t.session, round)
		if err != nil {
			return nil, nil, "", err
		}
		maps.Copy(answers, got)
	}
	return answers, nil, "", nil
}

// push asks all questions of a round in the middle of the call.
func push(ctx context.Context, session *mcp.ServerSession, round mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	var (
		asking  sync.WaitGroup
		mu      sync.Mutex
		answers = make(mcp.InputResponseMap) // guarded by mu
		errs    []error                      // guarded by mu
	)
	for key, question := range round {
		asking.Go(func() {
			answer, err := pushOne(ctx, session, question)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("asking %s: %w", key, err))
			} else {
				answers[key] = answer
			}
		})
	}
	asking.Wait()
	return answers, errors.Join(errs...)
}

func pushOne(ctx context.Context, session *mcp.ServerSession, question mcp.InputRequest) (mcp.InputResponse, error) {
	switch q := question.(type) {
	case *mcp.ElicitParams:
		return session.Elicit(ctx, q)
	case *mcp.CreateMessageWithToolsParams:
		return session.CreateMessageWithTools(ctx, q)
	case *mcp.ListRootsParams:
		return session.ListRoots(ctx, q)
	}
	return nil, fmt.Errorf("a question of type %T", question)
}

// progress is what a request state holds: the rounds that are over.
type progress struct {
	Rounds  int                  `json:"rounds"`
	Answers mcp.InputResponseMap `json:"answers"`
}

// resume takes the answers of the round that the state is in. "If the client fails
// to send all the information requested in a previous InputRequests, and the missing
// information is necessary for the server to process the request, the server SHOULD
// respond with a new InputRequiredResult requesting the missing information again,
// rather than returning an error."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#error-handling
func (a asking) resume(t turn) (mcp.InputResponseMap, mcp.InputRequestMap, string, error) {
	p, err := open(a.name, t.state)
	if err != nil {
		return nil, nil, "", err
	}
	for fresh := t.responses; ; fresh = nil {
		rounds := a.rounds(t.in)
		if p.Rounds >= len(rounds) {
			return p.Answers, nil, "", nil
		}
		round := rounds[p.Rounds]
		for key := range round {
			if fresh[key] == nil {
				return nil, round, seal(a.name, p), nil
			}
			p.Answers[key] = fresh[key]
		}
		p.Rounds++
	}
}

// stateKey signs request states. The server is a peer in tests; a key that all
// its processes know does.
var stateKey = []byte("bridgeserver")

func sign(name, text string) string {
	mac := hmac.New(sha256.New, stateKey)
	mac.Write([]byte(name + " " + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// seal is the state after p, good for the asking with this name alone.
func seal(name string, p progress) string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // it came from JSON
	}
	return base64.RawURLEncoding.EncodeToString(text) + "." + sign(name, string(text))
}

func open(name, state string) (progress, error) {
	p := progress{Answers: make(mcp.InputResponseMap)}
	if state == "" {
		return p, nil
	}
	bad := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid requestState"}
	encoded, signature, _ := strings.Cut(state, ".")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || !hmac.Equal([]byte(signature), []byte(sign(name, string(text)))) {
		return p, bad
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, bad
	}
	return p, nil
}
