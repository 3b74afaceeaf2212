package config

import (
	"fmt"
	"regexp"
	"slices"
)

// conversion turns a server of a client's file into a backend.
type conversion struct {
	// Takes the faults and notes.
	r *reader

	// The path of the server in the client's file.
	at string

	// What it has become so far.
	out *node
}

// convert takes over one key.
func (c *conversion) convert(e entry) {
	switch e.key {
	case "command", "args", "env", "cwd", "headers", "disabled":
		c.put(e.key, e)
	case "url", "serverUrl":
		c.put("url", e)
	case "httpUrl":
		c.put("url", e)
		c.put("transport", wordEntry(e.pos, TransportHTTP))
	case "type", "transport", "transportType":
		c.convertType(e)
	case "enabled":
		if e.value.kind == kindBool {
			text := map[string]string{"true": "false", "false": "true"}[e.value.text]
			e.value = &node{kind: kindBool, pos: e.value.pos, text: text}
		}
		c.put("disabled", e)
	case "envFile":
		c.r.faultAt(e.pos, join(c.at, e.key), complaint{"Beckon reads no files of variables", "put the variables into env, or into the environment of Beckon"})
	case "includeTools", "excludeTools", "disabledTools", "enabledTools", "allowedTools", "tools":
		c.convertFilter(e)
	default:
		c.skip(e)
	}
}

// put adds a key of Beckon's form.
func (c *conversion) put(key string, e entry) {
	if c.out.get(key) != nil {
		if key != "transport" {
			c.r.faultAt(e.pos, join(c.at, e.key), complain("keep one of them", "the server already has %s under another name", key))
		}
		return
	}
	c.out.entries = append(c.out.entries, entry{key: key, pos: e.pos, value: clientReferences(e.value)})
}

// convertType turns the word for the transport into ours. Nothing is said of
// stdio, because command says it.
func (c *conversion) convertType(e entry) {
	word, known := map[string]Transport{
		"stdio": "", "local": "", "sse": TransportSSE,
		"http": TransportHTTP, "streamable-http": TransportHTTP, "streamableHttp": TransportHTTP, "streamable_http": TransportHTTP,
	}[e.value.text]
	if word == TransportHTTP && c.r.backendsKey == "servers" {
		// VS Code falls back to HTTP+SSE for this type.
		word = TransportAuto
	}
	switch {
	case e.value.kind != kindText || !known:
		c.r.faultAt(e.value.pos, join(c.at, e.key), complain("Beckon speaks stdio, http and sse",
			"%s is not a transport that Beckon speaks", e.value.describe()))
	case word != "":
		c.put("transport", wordEntry(e.pos, word))
	}
}

// wordEntry is an entry whose value is the name of a transport.
func wordEntry(pos position, word Transport) entry {
	return entry{pos: pos, value: &node{kind: kindText, pos: pos, text: string(word)}}
}

// convertFilter refuses a choice of tools, unless it chooses all: without it,
// clients would get tools that somebody has switched off.
func (c *conversion) convertFilter(e entry) {
	n := e.value
	all := n.kind == kindNull || n.kind == kindList && len(n.items) == 0 && e.key != "tools" ||
		n.kind == kindList && len(n.items) == 1 && n.items[0].text == "*" && e.key == "tools"
	if !all {
		c.r.faultAt(e.pos, join(c.at, e.key), complaint{"Beckon offers every tool of a backend",
			"remove the key if that is wanted, or keep the server out of the file"})
	}
}

// skip leaves a key out: the client's own business, unless it looks like a slip.
func (c *conversion) skip(e entry) {
	own := []string{
		"alwaysAllow", "autoApprove", "description", "dev", "gallery", "icon",
		"id", "name", "timeout", "trust", "version",
	}
	if slices.Contains(own, e.key) {
		return
	}
	known := []string{"command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers", "type", "disabled"}
	if word := nearest(e.key, known); word != "" {
		c.r.faultAt(e.pos, join(c.at, e.key), complaint{"unknown key", "did you mean " + word + "?"})
		return
	}
	c.r.notes = append(c.r.notes, fmt.Sprintf("%s.%s is not used", c.at, quoteShort(e.key)))
}

// editorVariable is how editors refer to variables; bareVariable is how Gemini
// does, when it is the whole value.
var (
	editorVariable = regexp.MustCompile(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	bareVariable   = regexp.MustCompile(`^\$([A-Z_][A-Z0-9_]*)$`)
)

// clientReferences writes the references in the texts of n in Beckon's form.
func clientReferences(n *node) *node {
	converted := *n
	converted.items, converted.entries = nil, nil
	if n.kind == kindText {
		converted.text = editorVariable.ReplaceAllString(n.text, "$${$1}")
		converted.text = bareVariable.ReplaceAllString(converted.text, "$${$1}")
	}
	for _, item := range n.items {
		converted.items = append(converted.items, clientReferences(item))
	}
	for _, e := range n.entries {
		e.value = clientReferences(e.value)
		converted.entries = append(converted.entries, e)
	}
	return &converted
}
