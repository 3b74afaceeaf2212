package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files and docs/configuration.md")

// checkGolden compares got with a file, or writes it there.
func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", path, diff)
	}
}

// sources lists the input files of a folder in testdata, with their contents.
func sources(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.[yj][as][mo][ln]"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no input files in %s: %v", folder, err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = data
	}
	return files
}

// environFor reads the variables beside an input file; without them there are
// none.
func environFor(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".env")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// outcome is what a golden file holds: the configuration, or what is wrong.
func outcome(text []byte, notes []string, err error) string {
	if err != nil {
		return "faults:\n" + err.Error() + "\n"
	}
	var b strings.Builder
	for _, note := range notes {
		b.WriteString("# note: " + note + "\n")
	}
	return b.String() + string(text)
}

// R67, R68, R69, R80: what is read is the effective configuration, and every
// fault of a bad one is reported with its position.
func TestParseGolden(t *testing.T) {
	for path, data := range sources(t, "parse") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, err := Parse(filepath.Base(path), data, environFor(t, path))
			if err != nil {
				if _, ok := errors.AsType[Faults](err); !ok {
					t.Errorf("Parse: error of the type %T, want Faults", err)
				}
			}
			checkGolden(t, path+".golden", outcome(c.YAML(), c.Notes, err))
		})
	}
}

func TestImportGolden(t *testing.T) {
	for path, data := range sources(t, "import") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			imported, err := Import(filepath.Base(path), data)
			checkGolden(t, path+".golden", outcome(imported.YAML(), imported.Notes, err))
		})
	}
}
