package house

import (
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
	id := regexp.MustCompile(`\b[RD]\d{1,3}\b`)
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
	form := regexp.MustCompile(`^([RD]\d{1,3}) +(\S.{9,})$`)
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

// Each sentence of docs/invariants.md names the tests that would fail.
func TestInvariantsAreTested(t *testing.T) {
	data, err := os.ReadFile(path.Join(root, "docs/invariants.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := make(map[string]bool) // "wire.TestParse"
	for _, s := range repository(t).sources {
		for _, d := range s.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(s.path, "_test.go") && f.Recv == nil {
				tests[path.Base(s.dir)+"."+f.Name.Name] = true
			}
		}
	}
	number := regexp.MustCompile(`(?m)^(\d+)\. `)
	test := regexp.MustCompile("`(\\w+\\.(?:Test|Fuzz)\\w+)`")
	starts := number.FindAllSubmatchIndex(data, -1)
	if len(starts) == 0 {
		t.Fatal("docs/invariants.md has no numbered sentence")
	}
	for i, at := range starts {
		end := len(data)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		n := string(data[at[2]:at[3]])
		if n != strconv.Itoa(i+1) {
			t.Errorf("docs/invariants.md: sentence %s stands in place %d: others refer to the numbers", n, i+1)
		}
		names := test.FindAllSubmatch(data[at[0]:end], -1)
		if len(names) == 0 {
			t.Errorf("docs/invariants.md: sentence %s names no test, as `package.TestName`", n)
		}
		for _, name := range names {
			if !tests[string(name[1])] {
				t.Errorf("docs/invariants.md: sentence %s names %s, which is no test", n, name[1])
			}
		}
	}
}
