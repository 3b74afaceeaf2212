package back

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeGroup is a group that dies by what the test says, in fake time.
type fakeGroup struct {
	began       time.Time
	exit        chan struct{} // of the program
	rest        atomic.Bool   // something else of the group lives
	programEnds string        // what ends the program: "eof", "term" or "kill"
	restEnds    string        // what ends the rest; "" when there is none
	after       time.Duration // how long eof and term take
	told        []string      // signals with their times
}

func (g *fakeGroup) start() {
	g.began, g.exit = time.Now(), make(chan struct{})
	g.rest.Store(g.restEnds != "")
	g.hear("eof")
}

func (g *fakeGroup) hear(what string) {
	end := func() {
		if g.programEnds == what {
			close(g.exit)
		}
		if g.restEnds == what {
			g.rest.Store(false)
		}
	}
	if what == "kill" {
		end()
		return
	}
	time.AfterFunc(g.after, end)
}

func (g *fakeGroup) gone() <-chan struct{} { return g.exit }

func (g *fakeGroup) alive() bool {
	select {
	case <-g.exit:
		return g.rest.Load()
	default:
		return true
	}
}

func (g *fakeGroup) terminate() { g.tell("term") }
func (g *fakeGroup) kill()      { g.tell("kill") }

func (g *fakeGroup) tell(what string) {
	if g.alive() {
		g.told = append(g.told, what+" "+time.Since(g.began).String())
		g.hear(what)
	}
}

// "First, closing the input stream to the child process (the server). Waiting for
// the server to exit, or sending SIGTERM if the server does not exit within a
// reasonable time. Sending SIGKILL if the server does not exit within a reasonable
// time after SIGTERM."
func TestStopSteps(t *testing.T) {
	const grace = 2 * time.Second
	tests := []struct {
		name        string
		group       *fakeGroup
		told        string
		took        time.Duration
		unsignalled bool
	}{
		{"exits at the end of its input", &fakeGroup{programEnds: "eof", after: grace - 1}, "", grace - 1, true},
		{"exits too late by itself", &fakeGroup{programEnds: "eof", after: grace + 1}, "term 2s", grace, false},
		{"exits at TERM", &fakeGroup{programEnds: "term", after: time.Second}, "term 2s", grace + time.Second, false},
		{"exits at KILL", &fakeGroup{programEnds: "kill"}, "term 2s, kill 4s", 2 * grace, false},
		{"leaves a child that heeds TERM", &fakeGroup{programEnds: "eof", restEnds: "term", after: time.Second},
			"term 1s", 2 * time.Second, true},
		{"leaves a child that does not", &fakeGroup{programEnds: "eof", restEnds: "kill", after: time.Second},
			"term 1s, kill 3s", time.Second + grace, true},
		{"leaves a child at TERM", &fakeGroup{programEnds: "term", restEnds: "kill", after: time.Second},
			"term 2s, kill 4s", 2 * grace, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := tt.group
				g.start()
				unsignalled := stop(g, grace)
				if got := strings.Join(g.told, ", "); got != tt.told {
					t.Errorf("told %q, want %q", got, tt.told)
				}
				if took := time.Since(g.began); took < tt.took || took > tt.took+pollGroup {
					t.Errorf("took %v, want %v and at most one poll more", took, tt.took)
				}
				if unsignalled != tt.unsignalled {
					t.Errorf("unsignalled %v, want %v", unsignalled, tt.unsignalled)
				}
				if g.alive() {
					t.Error("something is left")
				}
			})
		})
	}
}

// fakeGroups is what a guard ends, in fake time.
type fakeGroups struct {
	began   time.Time
	heeding map[int]bool // groups that heed TERM, at once
	dead    map[int]bool
	told    []string
}

func (g *fakeGroups) alive(n int) bool { return !g.dead[n] }

func (g *fakeGroups) terminate(n int) {
	g.told = append(g.told, "term "+time.Since(g.began).String())
	g.dead[n] = g.heeding[n]
}

func (g *fakeGroups) kill(n int) {
	g.told = append(g.told, "kill "+time.Since(g.began).String())
	g.dead[n] = true
}

func TestGuardWatches(t *testing.T) { // no orphans
	tests := []struct {
		name, lines string
		heeding     map[int]bool
		told        []string
		took        time.Duration
	}{
		{"nothing registered", "", nil, nil, 0},
		{"everything stopped in order", "+10\n+11\n-11\n-10\n", nil, nil, 0},
		{"one left, which heeds TERM", "+10\n+11\n-11\n", map[int]bool{10: true}, []string{"term 0s"}, 10 * time.Millisecond},
		{"one left, which does not", "+10\n", nil, []string{"term 0s", "kill 2s"}, guardGrace},
		{"nonsense", "x\n0\n+0\n\n10x\n", nil, nil, 0},
		{"the last line broke off", "+10\n+1", map[int]bool{10: true, 1: true}, []string{"term 0s", "term 0s"}, 10 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &fakeGroups{began: time.Now(), heeding: tt.heeding, dead: make(map[int]bool)}
				watch(bytes.NewBufferString(tt.lines), g)
				if took := time.Since(g.began); !slices.Equal(g.told, tt.told) || took != tt.took {
					t.Errorf("told %q and took %v, want %q and %v", g.told, took, tt.told, tt.took)
				}
			})
		})
	}
}
