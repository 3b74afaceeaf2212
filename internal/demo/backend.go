package demo

//lint:file-ignore SA1019 sampling is deprecated in a later revision, and in use in those that the demo speaks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is the name of the tool that asks.
const Tool = "book_table"

// Booking is what the tool is called with.
type Booking struct {
	Restaurant string `json:"restaurant" jsonschema:"where to book"`
}

// ServeBackend runs the backend on standard input and output until the client
// leaves.
func ServeBackend(ctx context.Context, version string) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "bookings", Title: "Table bookings", Version: version}, nil)
	mcp.AddTool(server, &mcp.Tool{
		Name:        Tool,
		Description: "Books a table. Asks who comes, lets a model write the note, and asks before it books.",
	}, book)
	return server.Run(ctx, &mcp.StdioTransport{})
}

// book asks a person twice and a model once.
func book(ctx context.Context, req *mcp.CallToolRequest, in Booking) (*mcp.CallToolResult, any, error) {
	progress(ctx, req, 1, "asking who comes")
	party, err := elicit(ctx, req, "Who comes to "+in.Restaurant+"?", partyForm)
	if party == nil {
		return notBooked(err)
	}
	progress(ctx, req, 2, "asking a model for the note")
	note, err := write(ctx, req, fmt.Sprintf("One friendly sentence to %s: table for %v, name %v, %v.",
		in.Restaurant, party["guests"], party["name"], party["seating"]))
	if err != nil {
		return nil, nil, err
	}
	progress(ctx, req, 3, "asking before booking")
	last, err := elicit(ctx, req, "Send this? \u201c"+note+"\u201d", confirmForm)
	if last == nil || last["send"] != true {
		return notBooked(err)
	}
	return text("Booked at %s for %v: %s", in.Restaurant, party["guests"], note), nil, nil
}

func notBooked(err error) (*mcp.CallToolResult, any, error) {
	if err != nil {
		return nil, nil, err
	}
	return text("Nothing was booked."), nil, nil
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// elicit returns what the person entered, or nil when they declined or
// cancelled.
func elicit(ctx context.Context, req *mcp.CallToolRequest, message, form string) (map[string]any, error) {
	res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(form)})
	if err != nil {
		return nil, fmt.Errorf("asking a person: %w", err)
	}
	if res.Action != "accept" {
		return nil, nil
	}
	return res.Content, nil
}

// write has the client's model write the text.
func write(ctx context.Context, req *mcp.CallToolRequest, prompt string) (string, error) {
	res, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		Messages:     []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: prompt}}},
		SystemPrompt: "You write short notes to restaurants.",
		MaxTokens:    100,
		Temperature:  0.2,
	})
	if err != nil {
		return "", fmt.Errorf("asking a model: %w", err)
	}
	if t, ok := res.Content.(*mcp.TextContent); ok {
		return t.Text, nil
	}
	return "", fmt.Errorf("asking a model: it answered with %T instead of text", res.Content)
}

// progress tells the client how far the tool is. A client that did not ask for
// progress is told nothing.
func progress(ctx context.Context, req *mcp.CallToolRequest, step float64, message string) {
	if token := req.Params.GetProgressToken(); token != nil {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: step, Total: 3, Message: message,
		}) // a client that is gone ends the call anyway
	}
}

const partyForm = `{
	"type": "object",
	"properties": {
		"name":    {"type": "string", "title": "Name", "minLength": 1},
		"guests":  {"type": "integer", "title": "How many", "minimum": 1, "maximum": 8, "default": 2},
		"seating": {"type": "string", "title": "Where", "enum": ["inside", "terrace"], "default": "terrace"}
	},
	"required": ["name", "guests"]
}`

const confirmForm = `{
	"type": "object",
	"properties": {"send": {"type": "boolean", "title": "Send it", "default": true}},
	"required": ["send"]
}`
