//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// suiteTimeout bounds one run of the suite, which takes three seconds.
const suiteTimeout = 3 * time.Minute

// modernRevision is the first without a handshake.
const modernRevision = "2026-07-28"

// suites are the revisions and the number of scenarios that the suite has for
// each.
func suites() []suite {
	return []suite{{"2025-06-18", 27}, {"2025-11-25", 33}, {modernRevision, 40}}
}

// A suite is the official conformance suite for one revision.
type suite struct {
	revision  string
	scenarios int
}

func (s suite) modern() bool { return s.revision >= modernRevision }

// reference starts the server that passes everything of this suite directly.
func (s suite) reference(t *testing.T) endpoint { return startReference(t, s.modern()) }

// A check is one line of the suite's findings. The JSON is the suite's.
type check struct {
	ID      string `json:"id"`
	Status  string `json:"status"` // SUCCESS, FAILURE, WARNING, INFO or SKIPPED
	Message string `json:"errorMessage"`
}

// A verdict is what the suite found in one scenario, and how often: a check may
// occur many times.
type verdict map[check]int

// passed is what the suite itself counts as passed. Warnings are about what a
// server SHOULD do.
func (v verdict) passed() bool {
	for c := range v {
		if c.Status == "FAILURE" {
			return false
		}
	}
	return true
}

// ownFraming are the scenarios that look at how a server frames its answers:
// one JSON object or an event stream, resumable or not. Each hop decides that
// for itself, so they must pass but need not find the same.
var ownFraming = [...]string{"server-sse-polling", "server-sse-multiple-streams"}

// relayed returns the verdicts that must be the same through Beckon.
func relayed(verdicts map[string]verdict) map[string]verdict {
	kept := maps.Clone(verdicts)
	for _, scenario := range ownFraming {
		delete(kept, scenario)
	}
	return kept
}

// TestConformanceDirect shows that the reference server passes everything
// without Beckon, so that what fails behind Beckon is Beckon's.
func TestConformanceDirect(t *testing.T) {
	for _, s := range suites() {
		t.Run(s.revision, func(t *testing.T) {
			s.check(t, s.run(t, s.reference(t)))
		})
	}
}

// TestConformanceThrough runs the suite against Beckon, with the reference
// server behind streamable HTTP and behind stdio, and wants every check to end
// as it does directly.
func TestConformanceThrough(t *testing.T) {
	for _, s := range suites() {
		behind := map[string]func(*testing.T) endpoint{
			"http":  s.reference,
			"stdio": func(t *testing.T) endpoint { return endpoint{Command: referenceBinary(t)} },
		}
		t.Run(s.revision, func(t *testing.T) {
			want := s.run(t, s.reference(t))
			for transport, start := range behind {
				for _, path := range []string{"/mcp/peer", "/mcp"} {
					t.Run(transport+path, func(t *testing.T) {
						got := s.run(t, serve(path, "http")(t, start(t)))
						s.check(t, got)
						if diff := cmp.Diff(relayed(want), relayed(got)); diff != "" {
							t.Errorf("through Beckon the suite finds something else (-direct +through):\n%s", diff)
						}
					})
				}
			}
		})
	}
}

// check fails the test unless every scenario of the suite ran and passed.
func (s suite) check(t *testing.T, got map[string]verdict) {
	t.Helper()
	passed := 0
	for _, scenario := range slices.Sorted(maps.Keys(got)) {
		if got[scenario].passed() {
			passed++
			continue
		}
		t.Errorf("%s failed: %v", scenario, got[scenario])
	}
	t.Logf("%s: %d of %d scenarios passed", s.revision, passed, s.scenarios)
	if len(got) != s.scenarios {
		t.Errorf("%d scenarios have a result, want %d", len(got), s.scenarios)
	}
}

// run returns the verdict of each scenario.
func (s suite) run(t *testing.T, to endpoint) map[string]verdict {
	t.Helper()
	dir := t.TempDir()
	var output bytes.Buffer
	cmd := exec.Command(nodeBinary(t), nodeFile(t, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
		"server", "--url", to.URL, "--suite", "all", "--spec-version", s.revision, "--timeout", "30000", "-o", dir)
	cmd.Stdout = &output
	p := startProcess(t, cmd)
	ctx, cancel := context.WithTimeoutCause(t.Context(), suiteTimeout, fmt.Errorf("the suite took longer than %v", suiteTimeout))
	defer cancel()
	code, err := p.wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := readVerdicts(dir)
	if err != nil {
		t.Fatal(err)
	}
	if code != 0 || len(verdicts) != s.scenarios {
		t.Logf("the suite exited with code %d:\n%s", code, output.String())
	}
	return verdicts
}

// resultFolder is where the suite puts a scenario: the name between a prefix
// and the time.
var resultFolder = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[0-9-]+Z$`)

// readVerdicts reads the folder of results of one run.
func readVerdicts(dir string) (map[string]verdict, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		return nil, fmt.Errorf("finding the results: %w", err)
	}
	verdicts := make(map[string]verdict)
	for _, file := range files {
		name := resultFolder.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if name == nil {
			return nil, fmt.Errorf("reading the results: unexpected folder of %s", file)
		}
		if verdicts[name[1]], err = readChecks(file); err != nil {
			return nil, fmt.Errorf("reading the results of %s: %w", name[1], err)
		}
	}
	return verdicts, nil
}

func readChecks(file string) (verdict, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var checks []check
	if err := json.Unmarshal(data, &checks); err != nil {
		return nil, err
	}
	v := make(verdict)
	for _, c := range checks {
		v[c]++
	}
	return v, nil
}
