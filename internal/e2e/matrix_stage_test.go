//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// A temper is how long Beckon waits for an answer.
type temper string

const (
	patient   temper = "patient"
	impatient temper = "impatient" // questions time out soon
	forgetful temper = "forgetful" // clients that do not come back are given up soon
)

// settings are those of the configuration that make the temper.
func (h temper) settings() map[string]any {
	park := map[string]any{"grace": "300ms"}
	settings := map[string]any{"park": park}
	switch h {
	case impatient:
		settings["input"] = map[string]any{"timeout": "1s"}
	case forgetful:
		park["ttl"] = "1s"
	}
	return settings
}

// temper is that of the Beckon which the cell needs.
func (c cell) temper() temper {
	switch {
	case c.outcome == byTimeout:
		return impatient
	case c.outcome == byError && c.client.era == modern && c.backend.era == legacy:
		return forgetful
	}
	return patient
}

// A stage has what the cells share: the servers that listen, and Beckon in front
// of all four kinds of backends, once for each temper.
type stage struct {
	ledger  ledgerFolder
	servers map[side]endpoint
	beckon  map[temper]string // base URLs; empty when cells are direct
	stop    []func()

	mu   sync.Mutex
	seen map[string]bool // guarded by mu; the keys of the cells that were played
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{
		ledger:  ledgerFolder(t.TempDir()),
		servers: make(map[side]endpoint),
		beckon:  make(map[temper]string),
		seen:    make(map[string]bool),
	}
	for _, b := range sides() {
		s.servers[b] = s.ledger.server(t, b)
	}
	return s
}

// server starts eraserver on one side, or says how to.
func (l ledgerFolder) server(t *testing.T, b side) endpoint {
	t.Helper()
	binary := binaries.path(t, "./eraserver", "-tags=e2e")
	args := []string{"-era", string(b.era), "-ledger", string(l)}
	if b.transport == "stdio" {
		return endpoint{Command: binary, Args: args, Env: map[string]string{askEnvName: askEnvValue}}
	}
	cmd := exec.Command(binary, append(args, "-http", "127.0.0.1:0")...)
	cmd.Env = append(os.Environ(), askEnvName+"="+askEnvValue)
	return endpoint{URL: startListening(t, cmd) + "/mcp", Transport: "http"}
}

// openHouses starts the Beckons that cells share.
func (s *stage) openHouses(t *testing.T) {
	t.Helper()
	backends := make(map[string]backend)
	for b, e := range s.servers {
		backends[b.String()] = backendOf(e)
	}
	for _, h := range []temper{patient, impatient, forgetful} {
		p, baseURL := launchBeckon(t, writeSettings(t, backends, h.settings()))
		s.beckon[h] = baseURL
		s.stop = append(s.stop, func() { stopBeckon(t, p) })
	}
}

func (s *stage) closeHouses() {
	for _, stop := range s.stop {
		stop()
	}
}

// reach makes the way of a cell. A backend that is to be killed is the cell's
// own, and so is the Beckon in front of it; a Beckon over stdio always is.
func (s *stage) reach(t *testing.T, c cell) endpoint {
	t.Helper()
	behind := s.servers[c.backend]
	if c.outcome == byBackendGone {
		behind = s.ledger.server(t, c.backend)
	}
	if c.direct {
		return behind
	}
	return s.front(t, c, behind)
}

func (s *stage) front(t *testing.T, c cell, behind endpoint) endpoint {
	t.Helper()
	if c.client.transport == "http" && c.outcome != byBackendGone {
		return endpoint{URL: s.beckon[c.temper()] + "/mcp/" + c.backend.String(), Transport: "http"}
	}
	config := writeSettings(t, map[string]backend{"peer": backendOf(behind)}, c.temper().settings())
	if c.client.transport == "http" {
		p, baseURL := launchBeckon(t, config)
		t.Cleanup(func() { stopBeckon(t, p) })
		return endpoint{URL: baseURL + "/mcp/peer", Transport: "http"}
	}
	return endpoint{
		Command:    beckonBinary(t),
		Args:       []string{"run", "--config", config},
		Env:        map[string]string{raceName: raceValue},
		ExitsClean: true,
	}
}

// played returns the key of a cell that was played, so that a run of some cells
// looks at those alone.
func (s *stage) played(c cell) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[c.key()] {
		return c.key()
	}
	return ""
}

func (s *stage) plays(c cell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[c.key()] = true
}
