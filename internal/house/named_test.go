package house

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pending are the requirements that no test names yet.
var pending = strings.Fields(``)

// Each requirement of docs/requirements.txt is named in a comment of a test that
// holds it: of a Go file, or of a script of the product.
func TestRequirementsAreTested(t *testing.T) {
	id := regexp.MustCompile(`\b[RDC]\d{1,3}\b`)
	named := make(map[string]bool)
	for _, f := range repository(t).texts {
		if !strings.HasSuffix(f.path, ".txtar") {
			continue
		}
		for line := range strings.Lines(string(f.data)) {
			if ids, ok := strings.CutPrefix(line, "# "); ok {
				for _, name := range id.FindAllString(ids, -1) {
					named[name] = true
				}
			}
		}
	}
	for _, s := range repository(t).sources {
		if !strings.HasSuffix(s.path, "_test.go") || s.dir == "internal/house" {
			continue
		}
		for _, group := range s.Comments {
			for _, name := range id.FindAllString(group.Text(), -1) {
				named[name] = true
			}
		}
	}
	required := requirements(t)
	for _, name := range slices.Sorted(maps.Keys(required)) {
		switch waits := slices.Contains(pending, name); {
		case !named[name] && !waits:
			t.Errorf("no test names %s (%s)", name, required[name])
		case named[name] && waits:
			t.Errorf("a test names %s: take it out of the pending ones", name)
		}
	}
	for _, name := range pending {
		if required[name] == "" {
			t.Errorf("%s is pending, but docs/requirements.txt has no such line", name)
		}
	}
}

// requirements reads docs/requirements.txt: an id and what it demands, by line.
func requirements(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path.Join(root, "docs/requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^([RDC]\d{1,3}) +(\S.{9,})$`)
	all := make(map[string]string)
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := form.FindStringSubmatch(line)
		switch {
		case m == nil:
			t.Errorf("docs/requirements.txt:%d: want an id and what it demands", n)
		case all[m[1]] != "":
			t.Errorf("docs/requirements.txt:%d: %s is there twice", n, m[1])
		default:
			all[m[1]] = m[2]
		}
	}
	return all
}

// testNames are the tests of the project, as "wire.TestParse", and the scripts of the
// product, as "run-question.txtar".
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for _, s := range repository(t).sources {
		for _, d := range s.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(s.path, "_test.go") && f.Recv == nil {
				names[path.Base(s.dir)+"."+f.Name.Name] = true
			}
		}
	}
	for _, f := range repository(t).texts {
		if path.Dir(f.path) == "cmd/beckon/testdata/script" {
			names[path.Base(f.path)] = true
		}
	}
	return names
}

// testName is how a document names a test or a script.
var testName = regexp.MustCompile("`(\\w+\\.(?:Test|Fuzz)\\w+|[\\w-]+\\.txtar)`")

// checkNames reports what text, which is place in a document, names and is no test;
// and that it names none.
func checkNames(t *testing.T, tests map[string]bool, place, text string) {
	t.Helper()
	names := testName.FindAllStringSubmatch(text, -1)
	if len(names) == 0 {
		t.Errorf("%s names no test, as `package.TestName`", place)
	}
	for _, name := range names {
		if !tests[name[1]] {
			t.Errorf("%s names %s, which is no test", place, name[1])
		}
	}
}

// numbered cuts a document at the headings of its numbered parts, which number
// matches; the numbers must be 1, 2, 3 and so on, because others refer to them.
func numbered(t *testing.T, doc, number string) []string {
	t.Helper()
	data, err := os.ReadFile(path.Join(root, doc))
	if err != nil {
		t.Fatal(err)
	}
	starts := regexp.MustCompile(number).FindAllSubmatchIndex(data, -1)
	if len(starts) == 0 {
		t.Fatalf("%s has no numbered part", doc)
	}
	var parts []string
	for i, at := range starts {
		end := len(data)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		if n := string(data[at[2]:at[3]]); n != strconv.Itoa(i+1) {
			t.Errorf("%s: part %s stands in place %d: others refer to the numbers", doc, n, i+1)
		}
		parts = append(parts, string(data[at[0]:end]))
	}
	return parts
}

// Each sentence of docs/invariants.md names the tests that would fail.
func TestInvariantsAreTested(t *testing.T) {
	tests := testNames(t)
	for i, part := range numbered(t, "docs/invariants.md", `(?m)^(\d+)\. `) {
		checkNames(t, tests, fmt.Sprintf("docs/invariants.md: sentence %d", i+1), part)
	}
}

// Each difference between the eras in docs/eras.md says what happens in each pairing,
// and names the tests that would fail; so does each row of its tables, and what it
// says of eras as such.
func TestErasAreTested(t *testing.T) {
	const doc = "docs/eras.md"
	tests := testNames(t)
	parts := numbered(t, doc, `(?m)^### (\d+)\. `)
	if len(parts) != 29 {
		t.Errorf("%s has %d differences, want 29", doc, len(parts))
	}
	for i, part := range parts {
		part, _, _ = strings.Cut(part, "\n## ")
		place := fmt.Sprintf("%s: difference %d", doc, i+1)
		checkNames(t, tests, place, part)
		for _, pairing := range []string{"LL", "ML", "LM", "MM"} {
			if n := strings.Count(part, "**"+pairing+"**"); n != 1 {
				t.Errorf("%s speaks of %s %d times", place, pairing, n)
			}
		}
	}
	data, err := os.ReadFile(path.Join(root, doc))
	if err != nil {
		t.Fatal(err)
	}
	whole := string(data)
	checkNames(t, tests, doc, whole)
	for row := range strings.Lines(whole[strings.Index(whole, "## What could go wrong"):]) {
		if strings.HasPrefix(row, "| ") && !strings.HasSuffix(row, "| held by |\n") {
			checkNames(t, tests, doc, row)
		}
	}
}
