//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/beckon-mcp/beckon/internal/mirror"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// poster is a line over streamable HTTP.
type poster struct {
	url, token string
	inbox      *inbox
	http       http.Client
	open       sync.WaitGroup // requests in progress

	mu       sync.Mutex // guards the fields below
	ctx      context.Context
	cut      context.CancelFunc
	id       string // of the session
	revision string
}

func newPoster(url, token string, in *inbox) *poster {
	p := &poster{url: url, token: token, inbox: in, http: http.Client{Transport: new(http.Transport)}}
	p.ctx, p.cut = context.WithCancel(context.Background())
	return p
}

func (p *poster) session() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.id
}

// send posts a message. It waits for the response unless that is a call's, which
// may be long in coming.
func (p *poster) send(text []byte) {
	const callsAreShorter = 1 << 20
	var m message
	if len(text) < callsAreShorter && json.Unmarshal(text, &m) == nil && m.ID != nil && m.Method != "" {
		p.open.Go(func() { p.do(http.MethodPost, text) })
		return
	}
	p.do(http.MethodPost, text)
}

func (p *poster) process() *os.Process { return nil }

func (p *poster) listen() { p.open.Go(func() { p.do(http.MethodGet, nil) }) }

func (p *poster) drop() {
	p.mu.Lock()
	p.cut()
	p.mu.Unlock()
	p.open.Wait()
	p.http.CloseIdleConnections()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctx, p.cut = context.WithCancel(context.Background())
}

func (p *poster) leave() error {
	p.do(http.MethodDelete, nil)
	p.open.Wait()
	p.drop()
	return nil
}

// do sends one request, and receives until its response ends.
func (p *poster) do(method string, body []byte) {
	p.mu.Lock()
	ctx := p.ctx
	p.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, method, p.url, bytes.NewReader(body))
	if err != nil {
		p.inbox.put(fmt.Sprint("ERROR ", err))
		return
	}
	p.header(req.Header, method, body)
	resp, err := p.http.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			p.inbox.put(fmt.Sprint("ERROR ", err))
		}
		return
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		p.mu.Lock()
		p.id = id
		p.mu.Unlock()
	}
	if resp.StatusCode >= 300 {
		p.inbox.put(fmt.Sprint("HTTP ", resp.StatusCode))
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		p.events(resp.Body)
		return
	}
	if text, err := io.ReadAll(resp.Body); err == nil && len(text) > 0 {
		p.receive(string(text))
	}
}

func (p *poster) header(h http.Header, method string, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.Set("Accept", "text/event-stream")
	if method == http.MethodPost {
		h.Set("Accept", "application/json, text/event-stream")
		h.Set("Content-Type", "application/json")
	}
	for name, value := range map[string]string{"Mcp-Session-Id": p.id, "Mcp-Protocol-Version": p.revision} {
		if value != "" {
			h.Set(name, value)
		}
	}
	if m, err := wire.Parse(body); err == nil && wire.IsModern(m) {
		mirror.SetStandard(h, m)
	}
	if p.token != "" {
		h.Set("Authorization", "Bearer "+p.token)
	}
}

// events receives the messages of an event stream, each of which Beckon puts on
// one line.
func (p *poster) events(body io.Reader) {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "\n" {
			p.receive(strings.TrimSuffix(data, "\n"))
		}
	}
}

// receive keeps a message, and notes the revision that initialize agrees on.
func (p *poster) receive(text string) {
	var hello struct {
		Result struct{ ProtocolVersion string }
	}
	if json.Unmarshal([]byte(text), &hello) == nil && hello.Result.ProtocolVersion != "" {
		p.mu.Lock()
		p.revision = hello.Result.ProtocolVersion
		p.mu.Unlock()
	}
	p.inbox.put(text)
}
