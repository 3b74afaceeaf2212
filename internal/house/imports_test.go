package house

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

// layers are the packages from the ground up. What is not listed is placed in
// the layer of the folder around it.
var layers = []struct {
	packages []string
	why      string
}{
	{[]string{"internal/wire", "internal/config", "internal/demo", "internal/pipenet", "form", "sdk"},
		"stands on nothing of ours, so that it can be understood and tested alone"},
	{[]string{"internal/input", "internal/mirror"},
		"stands on the wire alone, and knows neither transports nor storage"},
	{[]string{"internal/front", "internal/back", "internal/park", "internal/script", "internal/channel", "internal/store", "internal/api"},
		"is an adapter: adapters are ignorant of each other, and what they share goes through the domain"},
	{[]string{"internal/relay"},
		"joins fronts and backs, and knows nothing of how the process is put together"},
	{[]string{"internal/gateway"},
		"is the composition root: the one place that knows everything"},
	{[]string{"cmd"},
		"parses arguments, and leaves the rest to the gateway"},
	{[]string{"internal/e2e", "internal/house"},
		"looks at the whole from the outside, and nothing depends on it"},
}

// layer returns the number of the layer of dir, or -1.
func layer(dir string) int {
	for i, l := range layers {
		for _, p := range l.packages {
			if within(dir, p) {
				return i
			}
		}
	}
	return -1
}

// Imports go down, and packages of one layer do not import each other.
func TestImportsGoDown(t *testing.T) {
	r := repository(t)
	for _, s := range r.sources {
		from := layer(s.dir)
		if from < 0 {
			t.Errorf("%s: %s has no layer: give it one in this test", s.path, s.dir)
			continue
		}
		for _, spec := range s.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			dir, ours := strings.CutPrefix(name, module+"/")
			if !ours || within(dir, s.dir) || within(s.dir, dir) {
				continue
			}
			if layer(dir) >= from {
				t.Errorf("%s imports %s, which is not below it: %s %s", r.at(spec.Pos()), dir, s.dir, layers[from].why)
			}
		}
	}
}

// Some modules are for one place each.
func TestLibrariesKeepTheirPlace(t *testing.T) {
	rules := []struct {
		module string
		tests  bool // any test may use it
		dirs   []string
		why    string
	}{
		{"github.com/modelcontextprotocol/go-sdk", true, []string{"internal/demo"},
			"it is the independent peer of the tests, and the relay owns its wire"},
		{"github.com/go-json-experiment/json", false, []string{"internal/wire", "form"},
			"it is an experiment, to be swapped for the standard library in as few places as can be"},
		{"github.com/goccy/go-yaml", false, []string{"internal/config"},
			"the rest of Beckon sees values, not files"},
		{"github.com/spf13/cobra", false, []string{"cmd"},
			"the gateway can be started without a command line"},
	}
	r := repository(t)
	for _, s := range r.sources {
		for _, spec := range s.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			for _, rule := range rules {
				allowed := rule.tests && s.test
				for _, dir := range rule.dirs {
					allowed = allowed || within(s.dir, dir)
				}
				if within(name, rule.module) && !allowed {
					t.Errorf("%s imports %s, which is only for %s: %s", r.at(spec.Pos()), name, strings.Join(rule.dirs, ", "), rule.why)
				}
			}
		}
	}
}

// "go install" refuses a module that replaces others, and a toolchain line makes
// every build fetch that toolchain.
func TestModuleFile(t *testing.T) {
	for _, f := range repository(t).texts {
		if f.path != "go.mod" {
			continue
		}
		for line := range bytes.Lines(f.data) {
			word, _, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
			if word == "replace" || word == "toolchain" || word == "exclude" {
				t.Errorf("go.mod has the line %q", line)
			}
		}
		if !bytes.Contains(f.data, []byte("\ngo 1.26.0\n")) {
			t.Error("go.mod does not say go 1.26.0")
		}
	}
}
