package demo

//lint:file-ignore SA1019 sampling is deprecated in a later revision, and in use in those that the demo speaks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Person is whoever answers.
type Person interface {
	// Fill answers a form: an action (accept, decline or cancel) and, for accept,
	// the content.
	Fill(ctx context.Context, message string, form Form) (action string, content map[string]any, err error)

	// Write plays the model: it returns the text for a prompt.
	Write(ctx context.Context, prompt string) (string, error)
}

// Play connects to an MCP server at url, calls the tool and has the person
// answer whatever comes back in the middle of the call. The teller prints what
// happens. It reports an error when the call does not end as it should.
func Play(ctx context.Context, url, version string, person Person, tell *Teller) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "beckon-demo", Version: version}, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return answer(ctx, req, person, tell)
		},
		CreateMessageHandler: func(ctx context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return model(ctx, req, person, tell)
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			tell.Progress(req.Params.Progress, req.Params.Total, req.Params.Message)
		},
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", url, err)
	}
	defer session.Close()
	hello := session.InitializeResult()
	tell.Line("client", "connected to %s through Beckon, revision %s", hello.ServerInfo.Title, hello.ProtocolVersion)

	params := &mcp.CallToolParams{Name: Tool, Arguments: Booking{Restaurant: "Da Enzo"}}
	params.SetProgressToken("demo-1")
	tell.Line("client", "tools/call %s {restaurant: Da Enzo}", Tool)
	res, err := session.CallTool(ctx, params)
	if err != nil {
		return fmt.Errorf("calling %s: %w", Tool, err)
	}
	said := textOf(res.Content)
	tell.Line("backend", "result: %s", said)
	if res.IsError {
		return errors.New("the tool failed: " + said)
	}
	return nil
}

func answer(ctx context.Context, req *mcp.ElicitRequest, person Person, tell *Teller) (*mcp.ElicitResult, error) {
	form, err := ParseForm(req.Params.RequestedSchema)
	if err != nil {
		return nil, fmt.Errorf("reading the form: %w", err)
	}
	tell.Line("backend", "asks a person (elicitation/create): %s", req.Params.Message)
	action, content, err := person.Fill(ctx, req.Params.Message, form)
	if err != nil {
		return nil, err
	}
	tell.Line("person", "%s", strings.TrimSpace(action+" "+form.Show(content)))
	return &mcp.ElicitResult{Action: action, Content: content}, nil
}

func model(ctx context.Context, req *mcp.CreateMessageRequest, person Person, tell *Teller) (*mcp.CreateMessageResult, error) {
	var prompt strings.Builder
	for _, m := range req.Params.Messages {
		prompt.WriteString(textOf([]mcp.Content{m.Content}))
	}
	tell.Line("backend", "asks a model (sampling/createMessage): %s", prompt.String())
	written, err := person.Write(ctx, prompt.String())
	if err != nil {
		return nil, err
	}
	tell.Line("model", "%s", written)
	return &mcp.CreateMessageResult{
		Role: "assistant", Model: "played-by-the-person", StopReason: "endTurn",
		Content: &mcp.TextContent{Text: written},
	}, nil
}

func textOf(content []mcp.Content) string {
	var texts []string
	for _, c := range content {
		if t, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}
