package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/beckon-mcp/beckon"

// tree is the repository as the rules see it.
type tree struct {
	fset    *token.FileSet
	sources []*source
	texts   []text
}

// source is a Go file.
type source struct {
	*ast.File
	path string // from the root of the repository, with slashes
	dir  string
	test bool // a _test.go file, or a file of a package that exists for tests alone
	size int  // lines
}

// text is a file in which somebody can read.
type text struct {
	path string
	data []byte
}

// root is the folder of go.mod.
const root = "../.."

// load reads the repository once for all rules.
var load = sync.OnceValues(func() (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "bin", "out"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || d.Name() == ".git" { // which is a file in a second work tree
			return nil
		}
		return t.add(name)
	})
	return t, err
})

func (t *tree) add(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if bytes.IndexByte(data[:min(len(data), 1<<10)], 0) >= 0 {
		return nil // a picture, or a program
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	t.texts = append(t.texts, text{rel, data})
	if !strings.HasSuffix(rel, ".go") || strings.Contains(rel, "testdata/") {
		return nil
	}
	file, err := parser.ParseFile(t.fset, rel, data, parser.ParseComments)
	if err != nil {
		return err
	}
	t.sources = append(t.sources, &source{
		File: file,
		path: rel,
		dir:  path.Dir(rel),
		test: strings.HasSuffix(rel, "_test.go") || within(path.Dir(rel), "internal/e2e"),
		size: bytes.Count(data, []byte("\n")),
	})
	return nil
}

// repository is the repository that the test t is about.
func repository(t *testing.T) *tree {
	t.Helper()
	r, err := load()
	if err != nil {
		t.Fatalf("reading the repository: %v", err)
	}
	if len(r.sources) < 20 {
		t.Fatalf("read %d Go files: this is not the repository", len(r.sources))
	}
	return r
}

// within reports whether dir is parent or lies in it.
func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

// at is the place of p, for a message.
func (t *tree) at(p token.Pos) string { return t.fset.Position(p).String() }

// exceptions are the names that a rule lets pass, each with the reason.
type exceptions map[string]string

// check reports the exceptions that are not used any more.
func (e exceptions) check(t *testing.T, used map[string]bool) {
	t.Helper()
	for name := range e {
		if !used[name] {
			t.Errorf("%s needs no exception any more: take it out of the list", name)
		}
	}
}
