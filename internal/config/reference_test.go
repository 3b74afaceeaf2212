package config

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"text/template"
)

// referenceFile is the manual that the comments of the fields become.
const referenceFile = "../../docs/configuration.md"

// section is a part of the manual: one struct.
type section struct {
	Path, Intro string
	Keys        []key
}

// key is a line of the manual: one field.
type key struct {
	Key, Type, Default, Meaning string
}

// TestReference holds that docs/configuration.md says what the fields say.
func TestReference(t *testing.T) {
	example, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := template.ParseFiles("testdata/configuration.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	err = page.Execute(&b, map[string]any{
		"Example": string(example), "MaxFile": Bytes(MaxFileBytes),
		"Aliases": referenceAliases(), "Sections": referenceSections(t, fieldComments(t), reflect.TypeFor[Config](), "", ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, referenceFile, strings.TrimRight(b.String(), "\n")+"\n")
}

// TestReferenceExample holds that the example of the manual works.
func TestReferenceExample(t *testing.T) {
	_, err := Load("testdata/example.yaml", []string{"TICKETS_TOKEN=a", "ALICE_TOKEN=0123456789abcdef"})
	if err != nil {
		t.Error(err)
	}
}

// referenceAliases describes the aliases and their values.
func referenceAliases() []struct{ Name, Key, Value string } {
	var rows []struct{ Name, Key, Value string }
	for _, a := range aliases() {
		value := "as in the file"
		if a.unit == "s" {
			value = "a number of seconds"
		}
		rows = append(rows, struct{ Name, Key, Value string }{a.name, a.path, value})
	}
	return rows
}

// referenceSections describes a struct and the structs in it.
func referenceSections(t *testing.T, comments map[string]string, typ reflect.Type, path, intro string) []section {
	t.Helper()
	own := section{Path: path, Intro: intro}
	var inner []section
	for _, f := range fieldsOf(typ) {
		comment := comments[typ.Name()+"."+typ.Field(f.index).Name]
		at := join(path, f.key)
		switch f.shape() {
		case shapeSection:
			inner = append(inner, referenceSections(t, comments, f.typ, at, comment)...)
			continue
		case shapeKeyed:
			inner = append(inner, referenceSections(t, comments, f.typ.Elem(), at+".<name>", comment)...)
			continue
		case shapeList:
			inner = append(inner, referenceSections(t, comments, f.typ.Elem(), at+"[]", comment)...)
			continue
		}
		own.Keys = append(own.Keys, key{f.key, referenceType(f), referenceDefault(f), strings.ReplaceAll(comment, "|", `\|`)})
	}
	if len(own.Keys) == 0 {
		return inner
	}
	return append([]section{own}, inner...)
}

// referenceType says what a field takes.
func referenceType(f field) string {
	text := map[shape]string{shapeTexts: "list of texts", shapePairs: "mapping of secrets"}[f.shape()]
	switch {
	case text != "":
	case len(f.one) > 0:
		var words []string
		for _, word := range f.one {
			words = append(words, "`"+cmp.Or(word, `""`)+"`")
		}
		text = strings.Join(words, ", ")
	default:
		text = map[string]string{
			"string": "text", "bool": "`true` or `false`", "int": "whole number",
			"Duration": "duration", "Bytes": "size", "Secret": "secret", "URL": "address",
		}[f.typ.Name()]
	}
	switch {
	case f.min != "" && f.max != "":
		text += ", " + f.min + " to " + f.max
	case f.min != "":
		text += ", at least " + f.min
	}
	if f.only != "" {
		text += "; with `" + f.only + "` only"
	}
	return text
}

// referenceDefault says what an absent key means.
func referenceDefault(f field) string {
	switch {
	case !f.hasDefault && f.shape() == shapeScalar:
		return "–"
	case f.def == "":
		return "empty"
	}
	return "`" + f.def + "`"
}

// fieldComments reads the comments of all struct fields of this package, and
// reports those that have none.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	comments := map[string]string{}
	for _, file := range parsePackage(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				collectComments(t, comments, spec.Name.Name, st)
			}
			return true
		})
	}
	return comments
}

// collectComments adds the comments of one struct. Fields that stand together
// without a blank line share the comment of the first.
func collectComments(t *testing.T, comments map[string]string, name string, st *ast.StructType) {
	t.Helper()
	var doc string
	for i, f := range st.Fields.List {
		if text := strings.Join(strings.Fields(f.Doc.Text()), " "); text != "" {
			doc = text
		} else if i == 0 || ast.IsExported(name) {
			doc = ""
		}
		for _, ident := range f.Names {
			if doc == "" {
				t.Errorf("the field %s.%s has no comment", name, ident.Name)
			}
			comments[name+"."+ident.Name] = doc
		}
	}
}

// parsePackage parses the files of this package that are not tests.
func parsePackage(t *testing.T) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// TestWordsAreConstants holds that the words a field allows and the constants
// of its type are the same.
func TestWordsAreConstants(t *testing.T) {
	constants := map[string][]string{}
	for _, file := range parsePackage(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			name, typed := spec.Type.(*ast.Ident)
			text, literal := spec.Values[0].(*ast.BasicLit)
			if typed && literal && text.Kind == token.STRING {
				constants[name.Name] = append(constants[name.Name], strings.Trim(text.Value, `"`))
			}
			return true
		})
	}
	words := 0
	for _, l := range append(leaves(), leavesOf(reflect.TypeFor[Backend](), "backends", nil)...) {
		if len(l.field.one) == 0 {
			continue
		}
		words++
		if got, want := strings.Join(constants[l.field.typ.Name()], "|"), strings.Join(l.field.one, "|"); got != want {
			t.Errorf("%s: the constants are %s, the tag says %s", l.path, got, want)
		}
	}
	if words == 0 {
		t.Error("no field with words")
	}
}
