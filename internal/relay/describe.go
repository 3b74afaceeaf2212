package relay

import (
	"fmt"
	"strings"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// describe is the InitializeResult of a catalogue: what its backends can do
// together. Capabilities that cannot be merged (tasks, extensions) are left to
// the transparent endpoints of the backends that have them.
func (c *catalogue) describe() []byte {
	result := []byte(`{"capabilities":{}}`)
	set := func(value string, path ...string) { result = wire.Set(result, []byte(value), path...) }
	var instructions []string
	missing := false
	for _, r := range c.session.routes {
		theirs := r.back.Result()
		missing = missing || theirs == nil
		for name, value := range wire.Members(wire.Get(theirs, "capabilities")) {
			switch name {
			case "logging", "completions", "prompts", "resources", "tools":
				set(merged(wire.Get(result, "capabilities", name), value), "capabilities", name)
			case "experimental":
				for key, v := range wire.Members(value) {
					set(string(v), "capabilities", name, key)
				}
			}
		}
		if text, ok := wire.Text(theirs, "instructions"); ok && text != "" {
			instructions = append(instructions, fmt.Sprintf("# %s\n\n%s", r.backend.Name, text))
		}
	}
	if missing {
		// It may bring any of these when it comes, and says so then.
		for _, name := range []string{"tools", "prompts", "resources"} {
			set("true", "capabilities", name, "listChanged")
		}
	}
	if len(instructions) > 0 {
		set(string(wire.Quote(strings.Join(instructions, "\n\n"))), "instructions")
	}
	set(`{"name":"beckon","title":"Beckon"}`, "serverInfo")
	set(string(wire.Quote(c.session.relay.opts.Version)), "serverInfo", "version")
	set(string(wire.Quote(string(c.session.revision))), "protocolVersion")
	return result
}

// merged joins what two backends say of one capability: a flag that one of them
// sets is set.
func merged(ours, theirs []byte) string {
	if ours == nil {
		ours = []byte("{}")
	}
	for name, value := range wire.Members(theirs) {
		if string(value) == "true" || wire.Get(ours, name) == nil {
			ours = wire.Set(ours, value, name)
		}
	}
	return string(ours)
}
