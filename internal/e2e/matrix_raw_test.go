//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A rawClient is a modern client without an SDK, for what SDKs do not do: retry
// with a state of one's choice, several times at once, and leave in the middle.
type rawClient interface {
	// send makes one request and returns its response. When ctx ends before, the
	// request is cancelled in the way of the transport.
	send(ctx context.Context, body rawRequest) (*rawResponse, error)
}

// A rawRequest is a tools/call, as it goes over the wire.
type rawRequest struct {
	ID     int    `json:"id"`
	RPC    string `json:"jsonrpc"`
	Method string `json:"method"`
	Params struct {
		Name           string                     `json:"name"`
		Arguments      json.RawMessage            `json:"arguments"`
		InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
		RequestState   *string                    `json:"requestState,omitempty"`
		Meta           map[string]any             `json:"_meta"`
	} `json:"params"`
}

// rawCall is a call of the tool of a cell.
func rawCall(id int, arguments string) rawRequest {
	r := rawRequest{ID: id, RPC: "2.0", Method: "tools/call"}
	r.Params.Name, r.Params.Arguments = "ask", json.RawMessage(arguments)
	r.Params.Meta = map[string]any{
		mcp.MetaKeyProtocolVersion: revisionOf[modern],
		mcp.MetaKeyClientInfo:      map[string]any{"name": "raw", "version": "1.0.0"},
		mcp.MetaKeyClientCapabilities: map[string]any{
			"elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}},
			"sampling":    map[string]any{}, "roots": map[string]any{},
		},
	}
	return r
}

// with makes a retry of a call.
func (r rawRequest) with(id int, state string, answers map[string]json.RawMessage) rawRequest {
	r.ID = id
	r.Params.RequestState, r.Params.InputResponses = &state, answers
	return r
}

// A rawResponse is what the tests look at in a response.
type rawResponse struct {
	Status int             `json:"-"` // of HTTP; 0 over stdio
	ID     json.RawMessage `json:"id"`
	Result *struct {
		Type          string                     `json:"resultType"`
		InputRequests map[string]json.RawMessage `json:"inputRequests"`
		RequestState  string                     `json:"requestState"`
		IsError       bool                       `json:"isError"`
		Content       []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error *rawError `json:"error"`
}

type rawError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// report is what the tool reported; for anything else, a description of it.
func (r *rawResponse) report() string {
	switch {
	case r.Error != nil:
		return fmt.Sprintf("error %d: %s %s", r.Error.Code, r.Error.Message, r.Error.Data)
	case r.Result == nil || r.Result.Type != "complete" || r.Result.IsError || len(r.Result.Content) != 1:
		return fmt.Sprintf("%+v", r.Result)
	}
	return r.Result.Content[0].Text
}

// asks returns the names of the questions in input_required, by their keys.
func (r *rawResponse) asks(c cell) (names map[string]string, err error) {
	if r.Result == nil || r.Result.Type != "input_required" || r.Result.RequestState == "" {
		return nil, fmt.Errorf("no question but %s", r.report())
	}
	name := regexp.MustCompile(regexp.QuoteMeta(c.key()) + `/(q\d[a-z])`)
	names = make(map[string]string)
	for key, request := range r.Result.InputRequests {
		match := name.FindSubmatch(request)
		if match == nil {
			return nil, fmt.Errorf("not a question of this call: %s", request)
		}
		names[key] = string(match[1])
	}
	return names, nil
}

// answers are the answers of a cell to input_required.
func (r *rawResponse) answers(c cell) (map[string]json.RawMessage, error) {
	names, err := r.asks(c)
	if err != nil {
		return nil, err
	}
	d := &desk{cell: c}
	answers := make(map[string]json.RawMessage)
	for key, name := range names {
		if answers[key], err = json.Marshal(d.answer(name)); err != nil {
			return nil, fmt.Errorf("encoding an answer: %w", err)
		}
	}
	return answers, nil
}

// A rawHTTP is a rawClient over HTTP.
type rawHTTP struct {
	url   string
	token string // a bearer token; empty for none
	web   *http.Client
}

func newRawHTTP(t *testing.T, url, token string) *rawHTTP {
	t.Helper()
	pool := &http.Transport{}
	t.Cleanup(pool.CloseIdleConnections)
	return &rawHTTP{url: url, token: token, web: &http.Client{Transport: pool}}
}

func (c *rawHTTP) send(ctx context.Context, body rawRequest) (*rawResponse, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", revisionOf[modern])
	req.Header.Set("Mcp-Method", body.Method)
	req.Header.Set("Mcp-Name", body.Params.Name)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.web.Do(req)
	if err != nil {
		return nil, fmt.Errorf("sending a request: %w", err)
	}
	defer resp.Body.Close()
	got, err := readResponse(resp, body.ID)
	if err != nil {
		return nil, fmt.Errorf("HTTP %d: %w", resp.StatusCode, err)
	}
	got.Status = resp.StatusCode
	return got, nil
}

// readResponse finds the response to a request in a body of either form.
func readResponse(resp *http.Response, id int) (*rawResponse, error) {
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the response: %w", err)
	}
	messages := [][]byte{text}
	if mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mediaType == "text/event-stream" {
		messages = nil
		events := &eventSplitter{emit: func(data []byte) { messages = append(messages, data) }}
		if _, err := (&lineSplitter{emit: events.line}).Write(text); err != nil {
			return nil, err
		}
	}
	for _, m := range messages {
		var got rawResponse
		if err := json.Unmarshal(m, &got); err == nil && string(got.ID) == strconv.Itoa(id) {
			return &got, nil
		}
	}
	return nil, fmt.Errorf("no response to request %d in %q", id, text)
}

// A rawPipe is a rawClient over the pipes of a child.
type rawPipe struct {
	stdin io.Writer

	mu      sync.Mutex
	waiting map[string]chan *rawResponse // guarded by mu; by id, each with room for one
}

func newRawPipe(ctx context.Context, t *testing.T, to endpoint) *rawPipe {
	t.Helper()
	cmd := to.command()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, childStdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = childStdout
	child := startProcess(t, cmd)
	childStdout.Close()
	p := &rawPipe{stdin: stdin, waiting: make(map[string]chan *rawResponse)}
	var reading sync.WaitGroup
	reading.Go(func() { io.Copy(&lineSplitter{emit: p.take}, stdout) }) // ends with the child
	t.Cleanup(func() {
		stdin.Close()
		if to.ExitsClean {
			checkExit(ctx, t, child)
		} else {
			child.kill()
		}
		stdout.Close()
		reading.Wait()
	})
	return p
}

// take gives a line to who waits for it.
func (p *rawPipe) take(line []byte) {
	var got rawResponse
	if json.Unmarshal(line, &got) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if waiter := p.waiting[string(got.ID)]; waiter != nil {
		delete(p.waiting, string(got.ID))
		waiter <- &got
	}
}

func (p *rawPipe) send(ctx context.Context, body rawRequest) (*rawResponse, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	waiter := make(chan *rawResponse, 1)
	p.mu.Lock()
	p.waiting[strconv.Itoa(body.ID)] = waiter
	_, err = p.stdin.Write(append(text, '\n'))
	p.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("sending a request: %w", err)
	}
	select {
	case got := <-waiter:
		return got, nil
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		_, err := fmt.Fprintf(p.stdin, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", body.ID)
		return nil, errors.Join(context.Cause(ctx), err)
	}
}

// rawReach connects a rawClient in the way of a cell.
func (s *stage) rawReach(ctx context.Context, t *testing.T, c cell) rawClient {
	t.Helper()
	to := s.reach(t, c)
	if to.Command != "" {
		return newRawPipe(ctx, t, to)
	}
	return newRawHTTP(t, to.URL, "")
}
