package house

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// find reports every place in the texts of the repository that matches pattern,
// unless what is found there is good. Only files that have the text near are
// searched, which is much faster.
func find(t *testing.T, near, pattern, good, message string) {
	t.Helper()
	re, but := regexp.MustCompile(pattern), regexp.MustCompile(good)
	for _, f := range repository(t).texts {
		if strings.HasPrefix(f.path, "internal/house/") || !bytes.Contains(f.data, []byte(near)) {
			continue // the rules name what they forbid
		}
		for _, at := range re.FindAllIndex(f.data, -1) {
			if good != "" && but.Match(f.data[at[0]:at[1]]) {
				continue
			}
			line := 1 + bytes.Count(f.data[:at[0]], []byte("\n"))
			t.Errorf("%s:%d: %q: %s", f.path, line, f.data[at[0]:at[1]], message)
		}
	}
}

// A link without a date shows another text next year than the one quoted.
func TestLinksToTheSpecificationAreDated(t *testing.T) {
	find(t, "/specification", `modelcontextprotocol\.io/specification[^\s)"'>]*`, `/specification/\d{4}-\d{2}-\d{2}(/|$)`,
		"link a page of a dated revision")
}

// What is downloaded comes from where the user's own settings say.
func TestNoRegistryHosts(t *testing.T) {
	for _, host := range []string{"npmjs", "yarnpkg", "npmmirror", "pypi", "pythonhosted", "artifactory"} {
		find(t, host, `\b`+host+`\.\w+`, "", "name no package registry")
	}
	find(t, ".golang", `\b(proxy|sum)\.golang\.\w+`, "", "name no package registry")
	for _, f := range repository(t).texts {
		if strings.HasSuffix(f.path, "package-lock.json") && bytes.Contains(f.data, []byte(`"resolved"`)) {
			t.Errorf(`%s has "resolved" members, which name a registry: take them out`, f.path)
		}
	}
}

// The repository works wherever it lies.
func TestNoMachinePaths(t *testing.T) {
	for _, dir := range []string{"work", "root", "home", "Users", "tmp"} {
		find(t, "/"+dir+"/", `\B/`+dir+`/[\w.-]+`, "", "a path of somebody's machine")
	}
	find(t, `:\Users\`, `[A-Z]:\\Users\\`, "", "a path of somebody's machine")
}
