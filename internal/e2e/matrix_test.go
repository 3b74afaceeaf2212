//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// The matrix is every way in which a question can go through Beckon: the era
// and transport of the client, those of the backend, the kind of question and
// what becomes of it. Its cells are generated; what cannot exist is left out by
// a rule that says why. What must come out is a function of the cell
// (matrix_want_test.go).

// An era is one of the two ways to speak.
type era string

const (
	legacy era = "legacy"
	modern era = "modern"
)

// A side is one end of a cell.
type side struct {
	era       era
	transport string // "http" or "stdio"
}

func (s side) String() string { return string(s.era) + "-" + s.transport }

func sides() []side {
	return []side{{legacy, "http"}, {legacy, "stdio"}, {modern, "http"}, {modern, "stdio"}}
}

// The kinds of questions.
var kinds = []string{"form", "url", "sampling", "roots"}

// The outcomes: what becomes of the questions of a call.
const (
	byAccept      = "accept"
	byDecline     = "decline"
	byCancel      = "cancel"
	byError       = "error"        // the client has no answer
	byTimeout     = "timeout"      // nobody answers
	byWithdrawal  = "withdrawn"    // the backend wants no answer any more
	byClientGone  = "client-gone"  // the client goes in the middle
	byBackendGone = "backend-gone" // the backend goes in the middle
	twoRounds     = "two-rounds"   // one question after the other
	twoAtOnce     = "two-at-once"
)

// What a raw client does (matrix_replay_test.go) is no outcome of the matrix.
const (
	atOnce      = "duplicates"
	oldState    = "old-state"
	leaveAtOnce = "leave-at-once"
)

var outcomes = []string{byAccept, byDecline, byCancel, byError, byTimeout, byWithdrawal, byClientGone, byBackendGone, twoRounds, twoAtOnce}

// A cell is one call of the matrix.
type cell struct {
	client, backend side
	kind, outcome   string
	direct          bool // the client reaches the backend without Beckon
}

func (c cell) String() string {
	return fmt.Sprintf("%v/%v/%s/%s", c.client, c.backend, c.kind, c.outcome)
}

func (c cell) rounds() int {
	if c.outcome == twoRounds || c.outcome == oldState {
		return 2
	}
	return 1
}

func (c cell) atOnce() int {
	if c.outcome == twoAtOnce {
		return 2
	}
	return 1
}

// holds reports whether the tool is to work until it is stopped. Between the
// requests of a modern call there is nothing that could break off: such a client
// goes while it waits for the tool, and such a backend while its tool works.
func (c cell) holds() bool {
	return c.outcome == byClientGone && c.client.era == modern ||
		c.outcome == byBackendGone && c.backend.era == modern
}

// leftOut says why a cell cannot exist, or nothing.
func (c cell) leftOut() string {
	elicits := c.kind == "form" || c.kind == "url"
	switch {
	case c.direct && c.client != c.backend:
		return "without Beckon both ends speak the same"
	case !elicits && (c.outcome == byDecline || c.outcome == byCancel):
		return "only an elicitation can be declined or cancelled; what else a client says is an answer or an error"
	case c.outcome == byWithdrawal && c.backend.era == modern:
		return "a modern backend has ended the request with its question, and has nothing to withdraw it with"
	case c.outcome == byTimeout && c.client.era == modern && c.backend.era == modern:
		return "input_required and the retry are two requests to Beckon, between which it keeps nothing that could time out"
	case c.outcome == byTimeout && c.direct:
		return "the time limit is Beckon's"
	case c.outcome == byClientGone && c.direct && c.client == side{legacy, "http"}:
		return "a legacy client may resume what it dropped, and go-sdk waits for it; it is Beckon that tells the server"
	}
	return ""
}

// cells generates the matrix.
func cells(direct bool) []cell {
	var list []cell
	for _, client := range sides() {
		for _, backend := range sides() {
			for _, kind := range kinds {
				for _, outcome := range outcomes {
					list = append(list, cell{client, backend, kind, outcome, direct})
				}
			}
		}
	}
	return slices.DeleteFunc(list, func(c cell) bool { return c.leftOut() != "" })
}

// cellsAtOnce is how many cells are played at a time. Most of what they do is
// waiting.
const cellsAtOnce = 12

// TestMatrixDirect shows that the peers can do every cell by themselves, where
// client and server speak the same.
func TestMatrixDirect(t *testing.T) {
	playMatrix(t, cells(true), newStage(t))
}

// TestMatrixThrough plays every cell through Beckon. R1 R7 R16 R25 R59 D6 D10
func TestMatrixThrough(t *testing.T) {
	s := newStage(t)
	s.openHouses(t)
	playMatrix(t, cells(false), s)
}

// playMatrix plays the cells, several at a time whatever -parallel says, and
// looks at the ledger once more when everything has stopped: nothing may have
// happened late.
func playMatrix(t *testing.T, list []cell, s *stage) {
	t.Helper()
	t.Logf("%d cells", len(list))
	turns := make(chan struct{}, cellsAtOnce)
	var playing sync.WaitGroup
	for _, c := range list {
		turns <- struct{}{}
		playing.Go(func() {
			defer func() { <-turns }()
			t.Run(c.String(), func(t *testing.T) { s.play(t, c) })
		})
	}
	playing.Wait()
	s.closeHouses()
	for _, c := range list {
		if key := s.played(c); key != "" {
			t.Run(c.String()+"/afterwards", func(t *testing.T) { s.ledger.check(t, key, c.want()) })
		}
	}
}
