//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/beckon-mcp/beckon/internal/back"
)

// patience is how long a script waits for what must come. It says nothing about
// how fast Beckon is: where that matters, a script gives its own limit.
const patience = 20 * time.Second

// atOnce is how many scripts run side by side. They wait for processes more than
// they compute, so it is more than there are processors.
const atOnce = "6"

// The scripts run the real main: the test binary is installed in their PATH under
// the names of these commands, and knows by its name what it is to be. A Beckon
// that starts itself again, as the backend of the demo, finds itself under the
// same name. As its guard it has another name, and is told by a variable.
func TestMain(m *testing.M) {
	back.RunGuard()
	testscript.Main(leakless{m}, map[string]func(){
		"beckon":  main,
		"backend": backendMain,
		"curl":    curlMain,
		"jq":      jqMain,
	})
}

// leakless runs the tests, and fails when one of them leaves a goroutine behind.
type leakless struct{ *testing.M }

func (m leakless) Run() int {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if code := m.M.Run(); code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Each file of testdata/script is one behaviour of the product, and its name says
// which. In it act
//
//	beckon    the program itself
//	backend   a server behind it, which does what its flags and the called tool say
//	client    a client on the wire, over HTTP or stdio
//	person    who answers what a client is asked
//	attacker  who sends what no client would
//	curl, jq  a program that speaks no MCP
//
// and the commands of process_test.go see processes come and go.
func TestScript(t *testing.T) {
	races := t.TempDir()
	t.Cleanup(func() { reportRaces(t, races) })
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// A program under the race detector sleeps for a second before it exits.
			env.Setenv("GORACE", "atexit_sleep_ms=0 log_path="+filepath.Join(races, "race"))
			project, err := filepath.Abs("../..")
			env.Setenv("PROJECT", project)
			env.Values[castKey{}] = newCast(env)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"client":   clientCommand,
			"person":   personCommand,
			"attacker": attackerCommand,
			"fetch":    fetchCommand,
			"waitfile": waitfileCommand,
			"waitline": waitlineCommand,
			"status":   statusCommand,
			"signal":   signalCommand,
			"gone":     goneCommand,
			"member":   memberCommand,
			"blocks":   blocksCommand,
		},
	})
}

// reportRaces fails the test with what the race detector wrote in any process of
// any script.
func reportRaces(t *testing.T, dir string) {
	reports, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range reports {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("the race detector spoke:\n%s", text)
	}
}
