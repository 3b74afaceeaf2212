package house

import (
	"go/ast"
	"testing"
)

// A file is about one thing and can be read at a sitting.
func TestFilesAreShort(t *testing.T) {
	const limit = 500
	long := exceptions{}
	used := make(map[string]bool)
	for _, s := range repository(t).sources {
		if s.test || s.size <= limit {
			continue
		}
		used[s.path] = true
		if long[s.path] == "" {
			t.Errorf("%s has %d lines, more than %d: split it by topic", s.path, s.size, limit)
		}
	}
	long.check(t, used)
}

// A function fits a screen, or nearly.
func TestFunctionsAreShort(t *testing.T) {
	const limit = 80
	long := exceptions{}
	used := make(map[string]bool)
	r := repository(t)
	for _, s := range r.sources {
		if s.test {
			continue
		}
		for _, d := range s.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := s.dir + "." + f.Name.Name
			lines := r.fset.Position(f.End()).Line - r.fset.Position(f.Pos()).Line + 1
			if lines <= limit {
				continue
			}
			used[name] = true
			if long[name] == "" {
				t.Errorf("%s: %s has %d lines, more than %d", r.at(f.Pos()), f.Name.Name, lines, limit)
			}
		}
	}
	long.check(t, used)
}
