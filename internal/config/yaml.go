package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	// maxTokens is how many tokens a YAML source may have: far more than a
	// configuration needs, and few enough for a parser whose time grows with
	// their square.
	maxTokens = 30_000

	// tooDeep is the fault of a source nested deeper than maxDepth.
	tooDeep = "nested too deep"
)

// readYAML reads a single document. What could be read in two ways is refused:
// several documents, anchors, aliases, merge keys, tags.
func readYAML(text string) (*node, error) {
	tokens := lexer.Tokenize(text)
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	// Repeated keys are reported later, with their paths and all of them.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, yamlFault(text, err)
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if _, directive := doc.Body.(*ast.DirectiveNode); doc.Body != nil && !directive {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) == 0 {
		return &node{kind: kindMapping, pos: position{1, 1}}, nil
	}
	if len(bodies) > 1 {
		return nil, syntaxError{complaint{"a second document; a configuration is one", ""}, nodePosition(bodies[1])}
	}
	return yamlNode(bodies[0], 1)
}

// checkTokens refuses what would cost the parser too much.
func checkTokens(tokens token.Tokens) error {
	depth, count := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.CommentType:
			continue
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		count++
		pos := position{t.Position.Line, t.Position.Column}
		if depth > maxDepth {
			return syntaxError{complaint{tooDeep, ""}, pos}
		}
		if count > maxTokens {
			return syntaxError{complain("", "longer than any configuration: more than %d words and signs", maxTokens), pos}
		}
	}
	return nil
}

// yamlFault turns an error of the parser into ours. The parser's own text
// shows lines of the file, which may hold secrets.
func yamlFault(text string, err error) error {
	syntax, ok := errors.AsType[*yaml.SyntaxError](err)
	if !ok {
		return syntaxError{complaint: complaint{problem: "cannot be read as YAML"}}
	}
	fault := syntaxError{complaint: complaint{problem: syntax.Message}}
	if syntax.Token == nil || syntax.Token.Position == nil {
		return fault
	}
	fault.pos = position{syntax.Token.Position.Line, syntax.Token.Position.Column}
	lines := strings.Split(text, "\n")
	if n := fault.pos.line; n <= len(lines) {
		switch line := lines[n-1]; {
		case strings.Contains(line, "${"):
			fault.hint = "put double quotes around a value that holds ${...}"
		case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
			fault.hint = "indent with spaces; YAML does not allow tabs there"
		case strings.ContainsAny(line, "@`%*&!|>"):
			fault.hint = "put double quotes around a value that begins with a sign"
		}
	}
	return fault
}

// nodePosition is where a node of the parser begins.
func nodePosition(n ast.Node) position {
	t := n.GetToken()
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		// A block mapping carries its first colon.
		t = m.Values[0].Key.GetToken()
	}
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{t.Position.Line, t.Position.Column}
}

// yamlNode converts a node of the parser, which is nested depth levels deep.
func yamlNode(source ast.Node, depth int) (*node, error) {
	n := &node{pos: nodePosition(source)}
	if depth > maxDepth {
		return nil, syntaxError{complaint{tooDeep, ""}, n.pos}
	}
	switch source := source.(type) {
	case *ast.NullNode:
		n.kind = kindNull
	case *ast.BoolNode:
		n.kind, n.text = kindBool, source.Token.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = kindNumber, source.GetToken().Value
	case *ast.StringNode:
		n.kind, n.text = kindText, source.Value
	case *ast.LiteralNode:
		n.kind, n.text = kindText, source.Value.Value
	case *ast.SequenceNode:
		n.kind = kindList
		for _, value := range source.Values {
			item, err := yamlNode(value, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case *ast.MappingNode:
		n.kind = kindMapping
		for _, value := range source.Values {
			if err := yamlEntry(n, value, depth); err != nil {
				return nil, err
			}
		}
	default:
		return nil, unsupported(source, n.pos)
	}
	return n, nil
}

// yamlEntry converts a key and its value and adds them to n.
func yamlEntry(n *node, source *ast.MappingValueNode, depth int) error {
	e := entry{pos: nodePosition(source.Key)}
	switch key := source.Key.(type) {
	case *ast.StringNode:
		e.key = key.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		e.key = key.GetToken().Value
	default:
		return unsupported(key, e.pos)
	}
	var err error
	e.value, err = yamlNode(source.Value, depth+1)
	n.entries = append(n.entries, e)
	return err
}

// unsupported refuses the parts of YAML that a configuration does without.
func unsupported(source ast.Node, pos position) error {
	what := map[ast.NodeType]string{
		ast.AnchorType:     "an anchor (&name)",
		ast.AliasType:      "an alias (*name)",
		ast.MergeKeyType:   "a merge key (<<)",
		ast.TagType:        "a tag (!name)",
		ast.MappingKeyType: "a complex key (?)",
		ast.DirectiveType:  "a directive (%)",
	}[source.Type()]
	if what == "" {
		what = fmt.Sprintf("YAML of the type %v", source.Type())
	}
	return syntaxError{complain("write the value out; for a text that begins with this sign, use double quotes",
		"%s, which a configuration does not use", what), pos}
}
