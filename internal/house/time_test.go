package house

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// Tests wait for events, not for time: a sleep is too short on a busy machine
// and too long on every other. In a bubble of testing/synctest it takes no time
// and wakes exactly when it should.
func TestNoSleepOutsideBubbles(t *testing.T) {
	elsewhere := exceptions{
		"internal/input/clock_test.go":   "what lets time pass there is called in bubbles",
		"internal/relay/clock_test.go":   "the steps in its table are run in a bubble",
		"internal/park/end_test.go":      "its scripted backends are methods, and run in a bubble",
		"internal/park/gather_test.go":   "its scripted backends are methods, and run in a bubble",
		"internal/park/property_test.go": "its plans are carried out in a bubble",
	}
	used := make(map[string]bool)
	r := repository(t)
	bubbles := bubbleFunctions(r)
	for _, s := range r.sources {
		if !strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		awake(s.File, bubbles[s.dir], func(c *ast.CallExpr) {
			if callee(c) != "time.Sleep" {
				return
			}
			used[s.path] = true
			if elsewhere[s.path] == "" {
				t.Errorf("%s: time.Sleep outside synctest.Test: wait for what is to happen", r.at(c.Pos()))
			}
		})
	}
	elsewhere.check(t, used)
}

// bubbleFunctions are, by folder, synctest.Test and what runs its argument in it:
// the functions that take a function and call one of these.
func bubbleFunctions(r *tree) map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for _, s := range r.sources {
		all[s.dir] = map[string]bool{"synctest.Test": true}
	}
	for found := true; found; {
		found = false
		for _, s := range r.sources {
			for _, d := range s.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !takesFunction(f) || all[s.dir][f.Name.Name] {
					continue
				}
				ast.Inspect(f, func(n ast.Node) bool {
					if c, ok := n.(*ast.CallExpr); ok && all[s.dir][callee(c)] {
						all[s.dir][f.Name.Name] = true
						found = true
					}
					return true
				})
			}
		}
	}
	return all
}

func takesFunction(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if _, ok := p.Type.(*ast.FuncType); ok {
			return true
		}
	}
	return false
}

// awake calls f for each call in n that is not in a function given to one of
// bubbles.
func awake(n ast.Node, bubbles map[string]bool, f func(*ast.CallExpr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f(c)
		return !bubbles[callee(c)]
	})
}

// A test that is skipped proves nothing, and nobody sees that it does not.
func TestNothingIsSkipped(t *testing.T) {
	r := repository(t)
	for _, s := range r.sources {
		if !s.test {
			continue
		}
		awake(s.File, nil, func(c *ast.CallExpr) {
			if f, ok := c.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, f.Sel.Name) {
				t.Errorf("%s: a test that may be skipped: provide what it needs, or take it out", r.at(c.Pos()))
			}
		})
	}
}
