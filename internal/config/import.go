package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Imported is what a client's file says, in Beckon's form. References to
// variables are still in place, so the values are not complete.
type Imported struct {
	// The servers, in the order of the file.
	Backends []Backend

	// What did not come over as it was, such as a name that had to change. One
	// sentence each.
	Notes []string
}

// Import reads the file in which an MCP client keeps its servers: mcpServers,
// as Claude, Cursor, Windsurf and Gemini have it, or servers, as VS Code has it,
// in JSON. What else is in the file is not looked at. The error is [Faults].
//
// Parse takes such a file as well; Import is for moving it to beckon.yaml.
func Import(name string, data []byte) (Imported, error) {
	r := newReader(name, nil)
	r.keepReferences = true
	c := Default()
	if tree := r.read(data); tree != nil {
		servers, ok := r.clientFile(tree)
		if !ok {
			r.faultAt(tree.pos, "", complaint{"has neither mcpServers nor servers", "a file that is in Beckon's form needs no import"})
		}
		if ok {
			r.decodeRoot(&c, servers)
			r.validate(&c)
		}
	}
	if len(r.faults) > 0 {
		return Imported{}, r.faults.sorted()
	}
	return Imported{Backends: c.Backends, Notes: r.notes}, nil
}

// clientFile converts a client's file to Beckon's form, and reports whether it
// is one.
func (r *reader) clientFile(tree *node) (*node, bool) {
	i := slices.IndexFunc(tree.entries, func(e entry) bool { return e.key == "mcpServers" || e.key == "servers" })
	if i < 0 {
		return nil, false
	}
	servers := tree.entries[i]
	r.backendsKey = servers.key
	var own []string
	for _, f := range fieldsOf(reflect.TypeFor[Config]()) {
		own = append(own, f.key)
	}
	for j, e := range tree.entries {
		switch {
		case j == i:
		case e.key == "mcpServers" || e.key == "servers":
			r.faultAt(e.pos, e.key, complain("keep one of them", "there already are servers in line %d", servers.pos.line))
		case slices.Contains(own, e.key):
			r.faultAt(e.pos, e.key, complain("beckon config import turns the file into a beckon.yaml that takes both",
				"a key of Beckon in a file with %s, which is a client's", servers.key))
		}
	}
	backends := entry{key: "backends", pos: servers.pos, value: r.clientServers(servers.value)}
	return &node{kind: kindMapping, pos: tree.pos, entries: []entry{backends}}, true
}

// clientServers converts the mapping of the servers.
func (r *reader) clientServers(n *node) *node {
	if n.kind != kindMapping {
		return n
	}
	converted := &node{kind: kindMapping, pos: n.pos}
	taken := map[string]bool{}
	for _, e := range n.entries {
		if backendName.MatchString(e.key) {
			taken[e.key] = true
		}
	}
	for _, e := range n.entries {
		name := e.key
		if !backendName.MatchString(name) {
			name = freeName(plainName(name), taken)
			taken[name] = true
			r.notes = append(r.notes, fmt.Sprintf("the server %s is the backend %s", quoteShort(e.key), name))
		}
		converted.entries = append(converted.entries, entry{
			key: name, pos: e.pos, was: e.key, value: r.clientServer(e.value, join(r.backendsKey, e.key)),
		})
	}
	return converted
}

// notPlain is what names of backends do not have.
var notPlain = regexp.MustCompile(`[^a-z0-9]+`)

// plainName is the nearest name that a backend may have, or "" if nothing of
// the name is left.
func plainName(name string) string {
	name = strings.Trim(notPlain.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.TrimRight(name[:min(len(name), 32)], "-")
}

// freeName is name, or name with a number when it is empty or taken.
func freeName(name string, taken map[string]bool) string {
	if name == "" {
		name = "server"
	}
	free := name
	for n := 2; taken[free]; n++ {
		suffix := fmt.Sprintf("-%d", n)
		free = strings.TrimRight(name[:min(len(name), 32-len(suffix))], "-") + suffix
	}
	return free
}

// clientServer converts one server, whose path is at.
func (r *reader) clientServer(n *node, at string) *node {
	if n.kind != kindMapping {
		return n
	}
	c := &conversion{r: r, at: at, out: &node{kind: kindMapping, pos: n.pos}}
	for e := range r.distinct(n, at) {
		c.convert(e)
	}
	return c.out
}
