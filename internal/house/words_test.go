package house

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// Seen from the middle, up and down are a matter of taste: people who write
// upstream mean either side. docs/glossary.md has the words.
func TestWordsToAvoid(t *testing.T) {
	avoid := []string{"up" + "stream", "down" + "stream"}
	r := repository(t)
	for _, f := range r.texts {
		for _, word := range avoid {
			if strings.Contains(strings.ToLower(f.path), word) {
				t.Errorf("%s: a file is not named %s: write client or backend", f.path, word)
			}
		}
	}
	for _, s := range r.sources {
		ast.Inspect(s.File, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			for _, word := range avoid {
				if strings.Contains(strings.ToLower(id.Name), word) {
					t.Errorf("%s: the name %s: write client or backend", r.at(id.Pos()), id.Name)
				}
			}
			return true
		})
	}
}

// A package is named for what it is, not for being a heap of things.
func TestPackageNames(t *testing.T) {
	avoid := []string{"util", "utils", "common", "types", "helpers", "misc", "manager", "handler", "handlers", "agent", "target"}
	for _, s := range repository(t).sources {
		if slices.Contains(avoid, s.Name.Name) || slices.Contains(avoid, path.Base(s.dir)) {
			t.Errorf("%s: a package is not named %s", s.path, s.Name.Name)
		}
	}
}
