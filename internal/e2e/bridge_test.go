//go:build e2e

package e2e

import (
	"maps"
	"os/exec"
	"slices"
	"testing"
)

// A reference is a server that speaks one era, or is made to, and has what the
// suite of the other era needs.
type reference struct {
	name      string
	transport string // "stdio" or "http"
	modern    bool
	start     func(*testing.T) endpoint
	paths     []string // of Beckon, that it is reached by
}

// references are what stands behind Beckon when the suite is of the other era.
// The servers of the go-sdk's module are what people have: tools written for one
// era. Those of bridgeserver have tools of both.
func references() []reference {
	one, all := "/mcp/peer", "/mcp"
	return []reference{
		{"go-sdk-legacy", "http", false, func(t *testing.T) endpoint { return startReference(t, false) }, []string{one}},
		{"bridge-legacy-http", "http", false, func(t *testing.T) endpoint { return startBridge(t, "legacy") }, []string{one, all}},
		{"bridge-legacy-stdio", "stdio", false, func(t *testing.T) endpoint { return bridgeCommand(t, "legacy") }, []string{all}},
		{"go-sdk-modern", "http", true, func(t *testing.T) endpoint {
			to := startReference(t, true)
			to.Era = "modern" // it would serve a legacy peer as well
			return to
		}, []string{one}},
		{"bridge-modern-http", "http", true, func(t *testing.T) endpoint { return startBridge(t, "modern") }, []string{one, all}},
		{"bridge-modern-stdio", "stdio", true, func(t *testing.T) endpoint { return bridgeCommand(t, "modern") }, []string{all}},
	}
}

func startBridge(t *testing.T, era string) endpoint {
	t.Helper()
	baseURL := startListening(t, exec.Command(bridgeBinary(t), "-era", era, "-http", "127.0.0.1:0"))
	return endpoint{URL: baseURL + "/mcp", Transport: "http"}
}

func bridgeCommand(t *testing.T, era string) endpoint {
	t.Helper()
	return endpoint{Command: bridgeBinary(t), Args: []string{"-era", era}, ExitsClean: true}
}

func bridgeBinary(t *testing.T) string {
	t.Helper()
	return binaries.path(t, "./bridgeserver", "-tags=e2e")
}

// A gap is a scenario that nothing can bridge, with the reason. The server says
// which of the references it is about; empty: all.
type gap struct {
	suite    func(suite) bool
	server   string
	scenario string
	why      string
}

// gaps is everything that the suites find worse through Beckon than directly
// when the server behind is of the other era. A scenario that is listed and
// passes fails the test, so that the list can only shrink.
func gaps() []gap {
	modern, legacy := suite.modern, func(s suite) bool { return !s.modern() }
	const pushes = "the tool pushes its question, which the go-sdk refuses on a modern connection"
	return []gap{
		{modern, "", "input-required-result-basic-elicitation",
			"wants the question under the key user_name; a question that was pushed has no key, so that the gateway makes one"},
		{modern, "", "input-required-result-ignore-extra-params",
			"answers before it was asked, and without requestState; a legacy server can be answered what it has asked, and nothing else"},
		{modern, "", "input-required-result-missing-input-response",
			"the same, with answers to nothing; without requestState the gateway refuses them, as the call they belong to may have run already"},
		{modern, "go-sdk-legacy", "input-required-result-multi-round",
			"the go-sdk asks a legacy client one round for such a tool, and returns the second to it as if it were the result"},
		{legacy, "go-sdk-modern", "tools-call-sampling", pushes},
		{legacy, "go-sdk-modern", "tools-call-elicitation", pushes},
		{legacy, "go-sdk-modern", "elicitation-sep1034-defaults", pushes},
		{legacy, "go-sdk-modern", "elicitation-sep1330-enums", pushes},
	}
}

// gapsOf returns the reasons by scenario. Older suites have fewer scenarios.
func gapsOf(s suite, server string, scenarios map[string]verdict) map[string]string {
	reasons := make(map[string]string)
	for _, g := range gaps() {
		if _, ok := scenarios[g.scenario]; ok && g.suite(s) && (g.server == "" || g.server == server) {
			reasons[g.scenario] = g.why
		}
	}
	return reasons
}

// TestBridgesDirect shows that each server passes the suites of its own era, so
// that what fails in those of the other is the era, and what passes there
// passes by Beckon. The suite itself speaks HTTP alone.
func TestBridgesDirect(t *testing.T) {
	for _, s := range suites() {
		for _, r := range references() {
			if r.transport != "http" {
				continue
			}
			t.Run(s.revision+"/"+r.name, func(t *testing.T) {
				to := r.start(t)
				got := s.run(t, to)
				if r.modern == s.modern() {
					s.check(t, got)
				} else if to.Era == "" && passed(got) > s.scenarios/5 {
					t.Errorf("%d of %d scenarios of the other era passed: the server speaks both", passed(got), s.scenarios)
				}
			})
		}
	}
}

// TestBridgesThrough runs each suite against Beckon with a server of the other
// era behind it, and wants every scenario to end as it does directly with a
// server of its own, except those that cannot.
func TestBridgesThrough(t *testing.T) {
	for _, s := range suites() {
		t.Run(s.revision, func(t *testing.T) {
			want := s.run(t, s.reference(t))
			for _, r := range references() {
				if r.modern == s.modern() {
					continue
				}
				for _, path := range r.paths {
					t.Run(r.name+path, func(t *testing.T) {
						s.checkBridged(t, r.name, want, s.run(t, serve(path, "http")(t, r.start(t))))
					})
				}
			}
		})
	}
}

// checkBridged fails the test unless got is as good as want but for the gaps.
func (s suite) checkBridged(t *testing.T, server string, want, got map[string]verdict) {
	t.Helper()
	reasons := gapsOf(s, server, want)
	for _, scenario := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[scenario]; !ok {
			t.Errorf("%s has no result", scenario)
			continue
		}
		worse := got[scenario].worse(want[scenario], slices.Contains(ownFraming[:], scenario))
		why, known := reasons[scenario]
		switch {
		case len(worse) > 0 && !known:
			t.Errorf("%s is worse than directly: %v", scenario, worse)
		case len(worse) == 0 && known:
			t.Errorf("%s is listed as a gap (%s), but is as good as directly: take it off the list", scenario, why)
		case known:
			t.Logf("gap: %s: %s", scenario, why)
		}
	}
	t.Logf("%s in front of %s: %d of %d scenarios passed", s.revision, server, passed(got), s.scenarios)
}

// worse returns the checks that neither passed nor occur in want. With
// ownFraming, what a server SHOULD do does not count.
func (v verdict) worse(want verdict, ownFraming bool) []check {
	var list []check
	for c := range v {
		bad := c.Status == "FAILURE" || c.Status == "WARNING" && !ownFraming
		if bad && want[c] == 0 {
			list = append(list, c)
		}
	}
	return list
}

func passed(verdicts map[string]verdict) int {
	n := 0
	for _, v := range verdicts {
		if v.passed() {
			n++
		}
	}
	return n
}
