//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPeersDirect shows that every client and every server can do every
// scenario without Beckon: what it sees is what Beckon must let through.
func TestPeersDirect(t *testing.T) {
	for _, c := range clients() {
		for _, s := range servers() {
			t.Run(c.name+"/"+s.name, func(t *testing.T) {
				meet(t, c, s, direct(), playable(c, s, direct()))
			})
		}
	}
}

// TestPeersThrough plays every script directly and then through Beckon, and
// wants the same transcript. R1 R7 R10 R19 R25 R28 D9
func TestPeersThrough(t *testing.T) {
	for _, c := range clients() {
		for _, s := range servers() {
			baselines := make(map[string]string) // direct transcripts, by what was played
			for _, r := range through() {
				if _, ok := r.transport(s); !ok {
					continue
				}
				t.Run(c.name+"/"+s.name+"/"+r.name, func(t *testing.T) {
					scenarios := playable(c, s, direct(), r)
					played := fmt.Sprintf("%q", names(scenarios))
					if _, ok := baselines[played]; !ok {
						baselines[played] = meet(t, c, s, direct(), scenarios).text(t)
					}
					got := meet(t, c, s, r, scenarios).text(t)
					if diff := cmp.Diff(baselines[played], got); diff != "" {
						t.Errorf("through Beckon the client sees something else (-direct +through):\n%s", diff)
					}
				})
			}
		}
	}
}

func names(scenarios []scenario) []string {
	var list []string
	for _, sc := range scenarios {
		list = append(list, sc.Name)
	}
	return list
}

// meet starts the server, plays the scenarios with the client and checks them.
func meet(t *testing.T, c client, s server, r reach, scenarios []scenario) *transcript {
	t.Helper()
	script := newScript(c.name, scenarios)
	seen := newTranscript(script, c.run(t, r.open(t, s.start(t)), script))
	for _, sc := range scenarios {
		t.Run(r.name+": "+sc.Name, func(t *testing.T) { sc.check(t, seen.step(sc.Name)) })
	}
	return seen
}
