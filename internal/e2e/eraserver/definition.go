//go:build e2e

package main

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// definitionMember is the member of an elicitation that holds the definition of a
// form. The go-sdk does not know it: it is written into _meta, and moved to its
// place on the way out.
const definitionMember = "formDefinition"

// withDefinitions moves the definitions in m to their place. Over HTTP they stay
// where they are.
func withDefinitions(m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return moveDefinitions(&m.Params)
	case *jsonrpc.Response:
		return moveDefinitions(&m.Result)
	}
	return nil
}

func moveDefinitions(text *json.RawMessage) error {
	if len(*text) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(*text, &value); err != nil {
		return fmt.Errorf("looking for definitions: %w", err)
	}
	if !moveIn(value) {
		return nil
	}
	moved, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("moving definitions: %w", err)
	}
	*text = moved
	return nil
}

// moveIn moves the definitions in value, and reports whether there were any.
func moveIn(value any) (moved bool) {
	object, ok := value.(map[string]any)
	if !ok {
		return false
	}
	if meta, ok := object["_meta"].(map[string]any); ok && meta[definitionMember] != nil {
		object[definitionMember] = meta[definitionMember]
		delete(meta, definitionMember)
		moved = true
	}
	for _, member := range object {
		moved = moveIn(member) || moved
	}
	return moved
}
