package house

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Exactly one file of each package says what the package is for.
func TestOnePackageComment(t *testing.T) {
	missing := exceptions{}
	used := make(map[string]bool)
	comments := make(map[string][]string)
	for _, s := range repository(t).sources {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		files := comments[s.dir]
		if s.Doc != nil {
			want := "Package " + s.Name.Name + " "
			if s.Name.Name == "main" {
				want = "Command " + path.Base(s.dir) + " "
			}
			if !strings.HasPrefix(s.Doc.Text(), want) {
				t.Errorf("%s: the package comment begins %.30q, want %q", s.path, s.Doc.Text(), want)
			}
			files = append(files, s.path)
		}
		comments[s.dir] = files
	}
	for dir, files := range comments {
		if len(files) == 0 && missing[dir] != "" {
			used[dir] = true
			continue
		}
		if len(files) != 1 {
			t.Errorf("%s has %d package comments %v, want one: what it is for, its life cycle, its limits", dir, len(files), files)
		}
	}
	missing.check(t, used)
}

// interfaceMethods mean what the interface of the standard library says.
var interfaceMethods = map[string]bool{
	"Error": true, "Unwrap": true, "Is": true, "String": true, "LogValue": true, "ServeHTTP": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
}

// Every exported name has a comment that begins with it.
func TestExportedNamesAreDocumented(t *testing.T) {
	plain := exceptions{}
	used := make(map[string]bool)
	r := repository(t)
	for _, s := range r.sources {
		if s.test || s.Name.Name == "main" {
			continue
		}
		for _, d := range s.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && !(d.Recv != nil && interfaceMethods[d.Name.Name]) {
					wantComment(t, r, d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					checkSpec(t, r, d, spec)
					if i, ok := spec.(*ast.TypeSpec); ok && i.Name.IsExported() && methodsWithoutComment(i) {
						name := s.dir + "." + i.Name.Name
						used[name] = true
						if plain[name] == "" {
							t.Errorf("%s: %s has a method without comment: say who calls it, when, and what it may do", r.at(i.Pos()), name)
						}
					}
				}
			}
		}
	}
	plain.check(t, used)
}

func checkSpec(t *testing.T, r *tree, d *ast.GenDecl, spec ast.Spec) {
	t.Helper()
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		doc := spec.Doc
		if doc == nil {
			doc = d.Doc
		}
		if spec.Name.IsExported() {
			wantComment(t, r, spec.Name, doc)
		}
	case *ast.ValueSpec:
		// The comment may be on the name, on its group, on an earlier member of the
		// group, or on the type of which these are the values.
		_, typed := spec.Type.(*ast.Ident)
		if spec.Names[0].IsExported() && !typed && d.Doc == nil && spec.Comment == nil && !explained(d, spec) {
			t.Errorf("%s: %s has no comment", r.at(spec.Pos()), spec.Names[0].Name)
		}
	}
}

// explained reports whether spec, or a member of its group before it, has a
// comment.
func explained(d *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, other := range d.Specs {
		if v := other.(*ast.ValueSpec); v.Doc != nil {
			return true
		} else if v == spec {
			break
		}
	}
	return false
}

// methodsWithoutComment reports whether spec is an interface with a method that
// neither has a comment nor follows one that has.
func methodsWithoutComment(spec *ast.TypeSpec) bool {
	i, ok := spec.Type.(*ast.InterfaceType)
	if !ok {
		return false
	}
	said := false
	for _, m := range i.Methods.List {
		said = said || m.Doc != nil || m.Comment != nil
		if len(m.Names) > 0 && !said {
			return true
		}
	}
	return false
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

func wantComment(t *testing.T, r *tree, name *ast.Ident, doc *ast.CommentGroup) {
	t.Helper()
	words := strings.Fields(doc.Text())
	if len(words) > 0 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		t.Errorf("%s: %s has no comment", r.at(name.Pos()), name.Name)
	case strings.TrimRight(words[0], ",:") != name.Name:
		t.Errorf("%s: the comment on %s does not begin with it", r.at(name.Pos()), name.Name)
	case len(words) < 3:
		t.Errorf("%s: the comment on %s says no more than the name", r.at(name.Pos()), name.Name)
	}
}

// What is left to do stands in an issue, where somebody looks.
func TestNothingIsLeftForLater(t *testing.T) {
	r := repository(t)
	later := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)
	for _, s := range r.sources {
		for _, group := range s.Comments {
			for _, c := range group.List {
				if word := later.FindString(c.Text); word != "" {
					t.Errorf("%s: %s in a comment", r.at(c.Pos()), word)
				}
			}
		}
	}
}
