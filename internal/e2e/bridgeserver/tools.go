//go:build e2e

// The file logs, which go-sdk marks as deprecated with revision 2026-07-28. The
// suite needs it in both eras.
//
//lint:file-ignore SA1019 the suite asks for it

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pause is between the notifications of one call.
const pause = 20 * time.Millisecond

// schemas are the inputs of tools whose schema the suite looks at.
var schemas = map[string]json.RawMessage{
	"json_schema_2020_12_tool": json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {
			"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}
		},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]}, "else": {"required": ["email"]},
		"additionalProperties": false
	}`),
	"test_x_mcp_header": json.RawMessage(`{
		"type": "object",
		"properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}}
	}`),
}

// addTools adds the tools that ask nothing.
func addTools(server *mcp.Server) {
	picture := &mcp.ImageContent{Data: decode(pngData), MIMEType: "image/png"}
	embedded := &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
		URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource",
	}}
	text := &mcp.TextContent{Text: "This is a simple text response for testing."}
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":            {text},
		"test_image_content":          {picture},
		"test_audio_content":          {&mcp.AudioContent{Data: decode(wavData), MIMEType: "audio/wav"}},
		"test_embedded_resource":      {embedded},
		"test_multiple_content_types": {text, picture, embedded},
		"test_streaming_elicitation":  {text},
		"json_schema_2020_12_tool":    {text},
		"test_x_mcp_header":           {text},
	} {
		add(server, name, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
	}
	add(server, "test_error_handling", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("this tool intentionally returns an error for testing")
	})
	add(server, "test_tool_with_logging", logs(3))
	add(server, "test_logging_tool", logs(1))
	add(server, "test_tool_with_progress", reportProgress)
	add(server, "test_missing_capability", needSampling)
	add(server, "test_reconnection", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond) // the client reconnects meanwhile
		return say("the client reconnected"), nil
	})
	// Adding what is there already is a change as well.
	add(server, "test_trigger_tool_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add(server, "transient", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return say(""), nil })
		return say("the list of tools changed"), nil
	})
	add(server, "test_trigger_prompt_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addPrompt(server, "transient", userText("nothing"))
		return say("the list of prompts changed"), nil
	})
}

// add adds a tool that does not look at its arguments.
func add(server *mcp.Server, name string, call func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
	tool := &mcp.Tool{Name: name, Description: "The tool " + name + " of the conformance suite."}
	if schema, ok := schemas[name]; ok {
		tool.InputSchema = schema
	}
	mcp.AddTool(server, tool, func(ctx context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		res, err := call(ctx, req)
		return res, nil, err
	})
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func logs(n int) func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range n {
			message := &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprintf("message %d", i+1)}
			if err := req.Session.Log(ctx, message); err != nil {
				return nil, fmt.Errorf("logging: %w", err)
			}
			time.Sleep(pause)
		}
		return say("logged"), nil
	}
}

// reportProgress returns the token that it was given.
func reportProgress(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100})
		if err != nil {
			return nil, fmt.Errorf("reporting progress: %w", err)
		}
		time.Sleep(pause)
	}
	return say(fmt.Sprint(token)), nil
}

// needSampling refuses clients that cannot sample, with the error of the modern
// era in both, as the reference server of the go-sdk does.
func needSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if client := req.ClientCapabilities(); client != nil && client.Sampling != nil {
		return say("the client can sample"), nil
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "sampling is required", Data: data}
}

// The smallest files of their kind.
const (
	pngData = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	wavData = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func decode(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err) // it is a constant
	}
	return data
}
