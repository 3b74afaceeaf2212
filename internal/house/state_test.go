package house

import (
	"go/ast"
	"go/token"
	"iter"
	"strings"
	"testing"
)

// Nothing happens before main.
func TestNoInit(t *testing.T) {
	r := repository(t)
	for _, s := range r.sources {
		for _, d := range s.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: an init function: make it a part of what needs it", r.at(f.Pos()))
			}
		}
	}
}

// constantCalls make values that nobody changes.
var constantCalls = map[string]bool{
	"errors.New": true, "fmt.Errorf": true, "regexp.MustCompile": true, "template.Must": true, "strings.NewReplacer": true,
	"netip.MustParseAddr": true, "netip.MustParsePrefix": true, "[]byte": true, "sync.OnceValue": true, "sync.OnceValues": true,
}

// State has an owner, which is not a package. A package may hold errors, pools,
// patterns, embedded files and tables; that nothing changes a table is looked up
// in its package.
func TestNoMutablePackageState(t *testing.T) {
	allowed := exceptions{}
	used := make(map[string]bool)
	r := repository(t)
	changes := make(map[string]map[string]token.Pos) // by folder, by name
	for _, s := range r.sources {
		if !s.test {
			noteChanges(s, changes)
		}
	}
	for _, s := range r.sources {
		if s.test {
			continue
		}
		for v, d := range packageVariables(s) {
			for i, name := range v.Names {
				if name.Name == "_" || embeds(d) || i < len(v.Values) && constant(v.Values[i]) && changes[s.dir][name.Name] == 0 {
					continue
				}
				full := s.dir + "." + name.Name
				used[full] = true
				if allowed[full] != "" {
					continue
				}
				why := "is a variable of the package"
				if p := changes[s.dir][name.Name]; p != 0 {
					why = "is changed at " + r.at(p)
				}
				t.Errorf("%s: %s %s: give it to whoever owns it", r.at(name.Pos()), name.Name, why)
			}
		}
	}
	allowed.check(t, used)
}

// packageVariables are the variables that s declares for its package.
func packageVariables(s *source) iter.Seq2[*ast.ValueSpec, *ast.GenDecl] {
	return func(yield func(*ast.ValueSpec, *ast.GenDecl) bool) {
		for _, d := range s.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				if !yield(spec.(*ast.ValueSpec), g) {
					return
				}
			}
		}
	}
}

func embeds(d *ast.GenDecl) bool {
	if d.Doc == nil {
		return false
	}
	for _, c := range d.Doc.List {
		if strings.HasPrefix(c.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// constant reports whether e makes a value that stays as it is.
func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, literal := e.X.(*ast.CompositeLit)
		return e.Op == token.AND && literal
	case *ast.CallExpr:
		return constantCalls[callee(e)]
	}
	return false
}

// callee is the name of what a call calls: "pkg.Func", "Func", "[]byte", or "".
func callee(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	case *ast.ArrayType:
		if elem, ok := f.Elt.(*ast.Ident); ok {
			return "[]" + elem.Name
		}
	}
	return ""
}

// noteChanges notes which variables of the package the functions of s change: by
// assigning to them or into them, by taking their address, by giving them to
// what changes its argument. A name that a function declares is its own.
func noteChanges(s *source, changes map[string]map[string]token.Pos) {
	if changes[s.dir] == nil {
		changes[s.dir] = make(map[string]token.Pos)
	}
	for _, d := range s.Decls {
		own := ownNames(d)
		ast.Inspect(d, func(n ast.Node) bool {
			for _, e := range changed(n) {
				if name := variable(e); name != nil && !own[name.Name] {
					changes[s.dir][name.Name] = name.Pos()
				}
			}
			return true
		})
	}
}

// changed returns what the statement or expression n may change.
func changed(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		name := callee(n)
		changes := name == "delete" || name == "clear" || name == "copy" ||
			strings.HasPrefix(name, "sort.") || strings.HasPrefix(name, "slices.Sort")
		if changes && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// variable returns the variable that e is, or is a part of.
func variable(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return variable(e.X)
	case *ast.StarExpr:
		return variable(e.X)
	case *ast.IndexExpr:
		return variable(e.X)
	case *ast.SelectorExpr:
		return variable(e.X)
	case *ast.Ident:
		return e
	}
	return nil
}

// ownNames are the names that a function declares: its parameters, and the
// variables in it.
func ownNames(d ast.Decl) map[string]bool {
	own := make(map[string]bool)
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return own
	}
	ast.Inspect(f, func(n ast.Node) bool {
		var names []ast.Expr
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				names = n.Lhs
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				names = []ast.Expr{n.Key, n.Value}
			}
		}
		for _, e := range names {
			if name, ok := e.(*ast.Ident); ok {
				own[name.Name] = true
			}
		}
		return true
	})
	return own
}

// A value in a context is a parameter that no signature shows.
func TestContextValues(t *testing.T) {
	r := repository(t)
	for _, s := range r.sources {
		if within(s.dir, "internal/front") || s.test {
			continue // the front puts the principal there, where net/http leaves no other way
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && callee(c) == "context.WithValue" {
				t.Errorf("%s: context.WithValue: pass it as a parameter", r.at(c.Pos()))
			}
			return true
		})
	}
}
