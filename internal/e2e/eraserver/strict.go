//go:build e2e

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// unsupportedVersion is the code of UnsupportedProtocolVersionError.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror
const unsupportedVersion = -32022

// refuse says why a server of this era cannot serve a request. A legacy one
// would ignore modern members; that they come at all is what must show.
func refuse(modern bool, method string, params json.RawMessage) *jsonrpc.Error {
	var p struct {
		Meta           map[string]json.RawMessage `json:"_meta"`
		InputResponses json.RawMessage            `json:"inputResponses"`
		RequestState   json.RawMessage            `json:"requestState"`
	}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &p); err != nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
	}
	switch says := p.Meta[mcp.MetaKeyProtocolVersion] != nil; {
	case modern && !says:
		return &jsonrpc.Error{
			Code:    jsonrpc.CodeMethodNotFound,
			Message: fmt.Sprintf("%s says no revision; this server speaks %s alone", method, modernRevision),
		}
	case modern:
		return nil
	case method == "server/discover":
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
	case says || p.Meta[mcp.MetaKeyClientInfo] != nil || p.Meta[mcp.MetaKeyClientCapabilities] != nil ||
		p.InputResponses != nil || p.RequestState != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "modern members at a legacy server: " + string(params)}
	}
	return nil
}

// A strictTransport answers what is refused itself.
type strictTransport struct {
	next   mcp.Transport
	modern bool
}

func (t *strictTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.next.Connect(ctx)
	return &strictConn{Connection: conn, modern: t.modern}, err
}

type strictConn struct {
	mcp.Connection
	modern bool
}

func (c *strictConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		req, ok := m.(*jsonrpc.Request)
		if !ok || !req.IsCall() {
			return m, nil
		}
		why := refuse(c.modern, req.Method, req.Params)
		if why == nil {
			return m, nil
		}
		if err := c.Write(ctx, &jsonrpc.Response{ID: req.ID, Error: why}); err != nil {
			return nil, err
		}
	}
}

// Write sends what the SDK has to say, and what it cannot.
func (c *strictConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := withDefinitions(m); err != nil {
		return err
	}
	return c.Connection.Write(ctx, m)
}

// A strictHandler answers what is refused itself. Before there were modern
// servers, a server refused a revision that it did not know by a status alone.
type strictHandler struct {
	next   http.Handler
	modern bool
}

func (h *strictHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.modern && r.Header.Get("MCP-Protocol-Version") == modernRevision {
		http.Error(w, "Bad Request: unsupported protocol version", http.StatusBadRequest)
		return
	}
	if h.modern && r.Header.Get("Mcp-Session-Id") != "" {
		http.Error(w, "Bad Request: a modern server has no sessions", http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodPost {
		h.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m, err := jsonrpc.DecodeMessage(body)
	if req, ok := m.(*jsonrpc.Request); err == nil && ok && req.IsCall() {
		if why := refuse(h.modern, req.Method, req.Params); why != nil {
			h.answer(w, req, why)
			return
		}
	}
	h.next.ServeHTTP(w, r)
}

// answer names the revision where the client may understand it.
func (h *strictHandler) answer(w http.ResponseWriter, req *jsonrpc.Request, why *jsonrpc.Error) {
	if h.modern {
		why.Code = unsupportedVersion
		why.Data = json.RawMessage(`{"supported":["` + modernRevision + `"],"requested":"` + legacyRevision + `"}`)
	}
	body, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: req.ID, Error: why})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	w.Write(body)
}
