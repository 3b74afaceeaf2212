//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stopTimeout bounds how long Beckon may drain after SIGTERM.
const stopTimeout = 15 * time.Second

// A backend is one entry of Beckon's configuration.
type backend struct {
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	URL       string            `json:"url,omitempty"`
	Transport string            `json:"transport,omitempty"`
	Era       string            `json:"era,omitempty"`
	Validate  string            `json:"validate,omitempty"`
}

func backendOf(e endpoint) backend {
	return backend{Command: e.Command, Args: e.Args, Env: e.Env, URL: e.URL, Transport: e.Transport, Era: e.Era, Validate: e.Validate}
}

// writeConfig writes a configuration with these backends, all on a free port of
// this machine, and returns its path.
func writeConfig(t *testing.T, backends map[string]backend) string {
	t.Helper()
	return writeSettings(t, backends, map[string]any{"http": map[string]any{"sse": true}})
}

// writeSettings is writeConfig with other settings.
func writeSettings(t *testing.T, backends map[string]backend, settings map[string]any) string {
	t.Helper()
	config := map[string]any{"listen": "127.0.0.1:0", "backends": backends}
	maps.Copy(config, settings)
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatalf("encoding the configuration: %v", err)
	}
	path := filepath.Join(t.TempDir(), "beckon.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// startBeckon runs `beckon serve` in front of backends and returns its base
// URL. When the test ends it is told to stop, and must do so with exit code 0
// and without a data race.
func startBeckon(t *testing.T, backends map[string]backend) (baseURL string) {
	t.Helper()
	p, baseURL := launchBeckon(t, writeConfig(t, backends))
	t.Cleanup(func() { stopBeckon(t, p) })
	return baseURL
}

// launchBeckon is startBeckon without the stop.
func launchBeckon(t *testing.T, config string) (p *process, baseURL string) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.Command(beckonBinary(t), "serve", "--config", config, "--ready-file", ready)
	cmd.Env = append(os.Environ(), raceName+"="+raceValue)
	p = startProcess(t, cmd)

	ctx, cancel := context.WithTimeoutCause(t.Context(), startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()
	err := p.poll(ctx, func() bool {
		content, err := os.ReadFile(ready)
		baseURL = strings.TrimSpace(string(content))
		return err == nil && baseURL != ""
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, baseURL
}

func stopBeckon(t *testing.T, p *process) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), stopTimeout, fmt.Errorf("still there %v after SIGTERM", stopTimeout))
	defer cancel()
	code, err := p.terminate(ctx)
	if err != nil {
		t.Error(err)
	} else if code != 0 {
		t.Errorf("beckon stopped with exit code %d, want 0", code)
	}
	if stderr := p.stderr.all(); strings.Contains(stderr, "DATA RACE") {
		t.Errorf("the race detector spoke:\n%s", stderr)
	}
}

// runCommand reaches a stdio server as a client does that has
// `beckon run -- CMD ARGS` in its configuration.
func runCommand(t *testing.T, to endpoint) endpoint {
	t.Helper()
	env := map[string]string{raceName: raceValue}
	maps.Copy(env, to.Env)
	return endpoint{
		Command:    beckonBinary(t),
		Args:       append([]string{"run", "--", to.Command}, to.Args...),
		Env:        env,
		ExitsClean: true,
	}
}

// runConfig reaches any server over stdio, by `beckon run --config FILE`.
func runConfig(t *testing.T, to endpoint) endpoint {
	t.Helper()
	config := writeConfig(t, map[string]backend{"peer": backendOf(to)})
	return endpoint{
		Command:    beckonBinary(t),
		Args:       []string{"run", "--config", config},
		Env:        map[string]string{raceName: raceValue},
		ExitsClean: true,
	}
}

// The race detector makes each exit last a second, to let other threads report.
// A gateway that has drained has none, and clients count the time.
const raceName, raceValue = "GORACE", "atexit_sleep_ms=0"

// beckonBinary is the program under test, with the race detector.
func beckonBinary(t *testing.T) string {
	t.Helper()
	return binaries.path(t, "github.com/beckon-mcp/beckon/cmd/beckon", "-race")
}
