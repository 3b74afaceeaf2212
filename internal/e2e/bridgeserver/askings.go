//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28. The suite needs them in both eras.
//
//lint:file-ignore SA1019 the suite asks for them

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addAsking adds the tools that ask, of the suites of both eras, and the prompt.
func addAsking(server *mcp.Server, modern bool) {
	for _, a := range askings() {
		mcp.AddTool(server, &mcp.Tool{Name: a.name, Description: "The tool " + a.name + " of the conformance suite, which asks."}, func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
			answers, questions, state, err := a.ask(ctx, turn{
				session:   req.Session,
				in:        arguments{text: in, client: req.ClientCapabilities()},
				responses: req.Params.InputResponses, state: req.Params.RequestState,
			}, modern)
			if err != nil {
				return nil, nil, err
			}
			if questions != nil {
				return &mcp.CallToolResult{InputRequests: questions, RequestState: state}, nil, nil
			}
			return say(a.done(answers)), nil, nil
		})
	}
	prompted := asking{
		name:   "test_input_required_result_prompt",
		rounds: once("user_context", form("Please provide context for the prompt", `"context":{"type":"string"}`, "context")),
		done: func(answers mcp.InputResponseMap) string {
			return "Context: " + content(answers["user_context"], "context")
		},
	}
	server.AddPrompt(&mcp.Prompt{Name: prompted.name, Description: "Asks for its context."}, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		answers, questions, state, err := prompted.ask(ctx, turn{
			session: req.Session, responses: req.Params.InputResponses, state: req.Params.RequestState,
		}, modern)
		if err != nil {
			return nil, err
		}
		if questions != nil {
			return &mcp.GetPromptResult{InputRequests: questions, RequestState: state}, nil
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{userText(prompted.done(answers))}}, nil
	})
}

func askings() []asking {
	name := form("What is your name?", `"name":{"type":"string"}`, "name")
	confirm := form("Please confirm", `"ok":{"type":"boolean"}`, "ok")
	greeting := sampling("Generate a greeting", 50)
	greet := func(answers mcp.InputResponseMap) string {
		return "Hello, " + content(answers["user_name"], "name") + "!"
	}
	stateOK := func(mcp.InputResponseMap) string { return "state-ok" }
	return []asking{
		{"test_sampling", func(in arguments) []mcp.InputRequestMap {
			return []mcp.InputRequestMap{{"completion": sampling(in.string("prompt"), 100)}}
		}, func(answers mcp.InputResponseMap) string { return "LLM response: " + completion(answers["completion"]) }},
		{"test_elicitation", func(in arguments) []mcp.InputRequestMap {
			return []mcp.InputRequestMap{{"form": form(in.string("message"), `"username":{"type":"string","description":"Your preferred username"}`, "username")}}
		}, outcome},
		{"test_elicitation_sep1034_defaults", once("form", form("Test defaults for primitives", defaultFields)), outcome},
		{"test_elicitation_sep1330_enums", once("form", form("Test enum schemas", enumFields)), outcome},
		{"test_input_required_result_elicitation", once("user_name", name), greet},
		{"test_input_required_result_sampling", once("capital_question", sampling("What is the capital of France?", 100)),
			func(answers mcp.InputResponseMap) string { return completion(answers["capital_question"]) }},
		{"test_input_required_result_list_roots", once("client_roots", &mcp.ListRootsParams{}), roots},
		{"test_input_required_result_request_state", once("confirm", confirm), stateOK},
		{"test_input_required_result_tampered_state", once("confirm", confirm), stateOK},
		{"test_input_required_result_multiple_inputs", func(arguments) []mcp.InputRequestMap {
			return []mcp.InputRequestMap{{"user_name": name, "greeting": greeting, "client_roots": &mcp.ListRootsParams{}}}
		}, func(answers mcp.InputResponseMap) string { return greet(answers) + " " + roots(answers) }},
		{"test_input_required_result_multi_round", func(arguments) []mcp.InputRequestMap {
			return []mcp.InputRequestMap{{"step1": name}, {"step2": form("What is your favorite color?", `"color":{"type":"string"}`, "color")}}
		}, func(answers mcp.InputResponseMap) string {
			return content(answers["step1"], "name") + " likes " + content(answers["step2"], "color")
		}},
		{"test_input_required_result_capabilities", whatClientCan, func(answers mcp.InputResponseMap) string {
			return fmt.Sprintf("%d of the client's capabilities used", len(answers))
		}},
	}
}

// whatClientCan asks what the client can answer, and nothing else.
func whatClientCan(in arguments) []mcp.InputRequestMap {
	round := make(mcp.InputRequestMap)
	if in.client != nil && in.client.Elicitation != nil {
		round["user_name"] = form("What is your name?", `"name":{"type":"string"}`, "name")
	}
	if in.client != nil && in.client.Sampling != nil {
		round["greeting"] = sampling("Generate a short greeting", 50)
	}
	if in.client != nil && in.client.RootsV2 != nil {
		round["client_roots"] = &mcp.ListRootsParams{}
	}
	return []mcp.InputRequestMap{round}
}

func once(key string, question mcp.InputRequest) func(arguments) []mcp.InputRequestMap {
	return func(arguments) []mcp.InputRequestMap { return []mcp.InputRequestMap{{key: question}} }
}

// form makes a form of the JSON of its fields.
func form(message, fields string, required ...string) *mcp.ElicitParams {
	names, err := json.Marshal(required)
	if err != nil {
		panic(err) // strings always encode
	}
	schema := `{"type":"object","properties":{` + fields + `}`
	if len(required) > 0 {
		schema += `,"required":` + string(names)
	}
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema + `}`)}
}

const defaultFields = `
	"name": {"type": "string", "description": "User name", "default": "John Doe"},
	"age": {"type": "integer", "description": "User age", "default": 30},
	"score": {"type": "number", "description": "User score", "default": 95.5},
	"status": {"type": "string", "description": "User status", "enum": ["active", "inactive", "pending"], "default": "active"},
	"verified": {"type": "boolean", "description": "Verification status", "default": true}`

const enumFields = `
	"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
	"titledSingle": {"type": "string", "oneOf": [
		{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
	"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
	"untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
	"titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": [
		{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]}}`

func sampling(prompt string, maxTokens int64) *mcp.CreateMessageWithToolsParams {
	return &mcp.CreateMessageWithToolsParams{
		Messages:  []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: prompt}}}},
		MaxTokens: maxTokens,
	}
}

func (in arguments) string(name string) string {
	text, _ := in.text[name].(string)
	return text
}

// content is a field of a form that was accepted.
func content(answer mcp.InputResponse, field string) string {
	if form, ok := answer.(*mcp.ElicitResult); ok && form.Action == "accept" {
		return fmt.Sprint(form.Content[field])
	}
	return "(nobody)"
}

func outcome(answers mcp.InputResponseMap) string {
	form, ok := answers["form"].(*mcp.ElicitResult)
	if !ok {
		return fmt.Sprintf("an answer of type %T", answers["form"])
	}
	return fmt.Sprintf("Elicitation result: action=%s, content=%v", form.Action, form.Content)
}

func completion(answer mcp.InputResponse) string {
	if message, ok := answer.(*mcp.CreateMessageWithToolsResult); ok && len(message.Content) > 0 {
		if text, ok := message.Content[0].(*mcp.TextContent); ok {
			return text.Text
		}
	}
	return fmt.Sprintf("an answer of type %T", answer)
}

func roots(answers mcp.InputResponseMap) string {
	list, ok := answers["client_roots"].(*mcp.ListRootsResult)
	if !ok {
		return fmt.Sprintf("an answer of type %T", answers["client_roots"])
	}
	var text strings.Builder
	text.WriteString("roots:")
	for _, root := range list.Roots {
		text.WriteString(" " + root.URI)
	}
	return text.String()
}
