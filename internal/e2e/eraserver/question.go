//go:build e2e

// The file uses sampling and roots, which go-sdk marks as deprecated with
// revision 2026-07-28. Both eras have them.
//
//lint:file-ignore SA1019 what is deprecated must still pass

package main

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// formSchema keeps its fields out of alphabetical order and spells its numbers
// unusually: whoever re-encodes a form on the way shows.
const formSchema = `{"type":"object","properties":{` +
	`"zeta":{"type":"string","title":"Text","minLength":1},` +
	`"alpha":{"type":"integer","minimum":1,"maximum":1e2},` +
	`"mid":{"type":"number","default":1.50}},"required":["zeta"]}`

// A question is one input request in the words of neither era.
type question struct {
	kind string // form, url, sampling or roots
	name string // q1a: the first of round 1; an answer is reported under it
	text string // what is asked: the key of the call and the name

	schema     any            // of a form
	definition map[string]any // goes beside the schema; nil for none
}

func (in callInput) questions(round int) []question {
	var list []question
	var schema any = json.RawMessage(formSchema)
	if in.Schema != nil {
		schema = in.Schema
	}
	for i := range in.AtOnce {
		name := fmt.Sprintf("q%d%c", round, 'a'+i)
		list = append(list, question{in.Kind, name, in.Key + "/" + name, schema, in.Definition})
	}
	return list
}

// elicitation returns the question as a form or URL. The modern era has no
// elicitation ids.
func (q question) elicitation(modern bool) *mcp.ElicitParams {
	if q.kind == "form" {
		p := &mcp.ElicitParams{Mode: "form", Message: q.text, RequestedSchema: q.schema}
		if q.definition != nil {
			p.Meta = mcp.Meta{definitionMember: q.definition}
		}
		return p
	}
	p := &mcp.ElicitParams{Mode: "url", Message: q.text, URL: "https://example.com/" + q.text}
	if !modern {
		p.ElicitationID = q.text
	}
	return p
}

func (q question) sampling() *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		Messages:     []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: q.text}}},
		SystemPrompt: "You are a test.",
		MaxTokens:    64,
	}
}

// roots names the question where it can: there is no other place in roots/list.
func (q question) roots() *mcp.ListRootsParams {
	return &mcp.ListRootsParams{Meta: mcp.Meta{"question": q.text}}
}

// An answer is what the report shows of an answer.
type answer map[string]any

func elicited(r *mcp.ElicitResult) answer {
	a := answer{"action": r.Action}
	if r.Content != nil {
		a["text"] = r.Content["zeta"]
	}
	return a
}

func sampled(role mcp.Role, model string, content ...mcp.Content) (answer, error) {
	if len(content) == 1 {
		if text, ok := content[0].(*mcp.TextContent); ok {
			return answer{"role": role, "model": model, "text": text.Text}, nil
		}
	}
	return nil, fmt.Errorf("the completion is not one text: %v", content)
}

func listed(r *mcp.ListRootsResult) answer {
	var uris []string
	for _, root := range r.Roots {
		uris = append(uris, root.URI)
	}
	return answer{"roots": uris}
}
