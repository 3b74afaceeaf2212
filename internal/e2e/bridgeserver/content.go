//go:build e2e

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const watched = "test://watched-resource"

// touch announces a change of the watched resource, again and again.
func touch(ctx context.Context, server *mcp.Server) {
	ticker := time.NewTicker(3 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watched})
		}
	}
}

// addContent adds the resources and the prompts that ask nothing.
func addContent(server *mcp.Server) {
	addResource(server, &mcp.ResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."})
	addResource(server, &mcp.ResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: decode(pngData)})
	addResource(server, &mcp.ResourceContents{URI: watched, MIMEType: "text/plain", Text: "Watched resource content"})
	server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", MIMEType: "application/json", URITemplate: "test://template/{id}/data"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: req.Params.URI, MIMEType: "application/json",
				Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
			}}}, nil
		})

	addPrompt(server, "test_simple_prompt", userText("This is a simple prompt for testing."))
	addPrompt(server, "test_prompt_with_image",
		&mcp.PromptMessage{Role: "user", Content: &mcp.ImageContent{Data: decode(pngData), MIMEType: "image/png"}},
		userText("Please analyze the image above."))
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "Repeats its arguments.", Arguments: []*mcp.PromptArgument{
		{Name: "arg1", Description: "First test argument", Required: true}, {Name: "arg2", Description: "Second test argument", Required: true},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		in := req.Params.Arguments
		return prompt(userText(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", in["arg1"], in["arg2"]))), nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Embeds a resource.", Arguments: []*mcp.PromptArgument{
		{Name: "resourceUri", Description: "URI of the resource to embed", Required: true},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		embedded := &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
			URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing.",
		}}
		return prompt(&mcp.PromptMessage{Role: "user", Content: embedded}, userText("Please process the embedded resource above.")), nil
	})
}

func addResource(server *mcp.Server, content *mcp.ResourceContents) {
	resource := &mcp.Resource{Name: strings.TrimPrefix(content.URI, "test://"), MIMEType: content.MIMEType, URI: content.URI}
	server.AddResource(resource, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
	})
}

func addPrompt(server *mcp.Server, name string, messages ...*mcp.PromptMessage) {
	server.AddPrompt(&mcp.Prompt{Name: name, Description: "The prompt " + name + " of the conformance suite."},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompt(messages...), nil
		})
}

func prompt(messages ...*mcp.PromptMessage) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Messages: messages}
}

func userText(text string) *mcp.PromptMessage {
	return &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: text}}
}
