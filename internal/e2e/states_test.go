//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The two principals, by their tokens.
const aliceToken, bobToken = "alice-0123456789abcdef", "bob-0123456789abcdef"

// stateKey is a key whose states outlive the process.
var stateKey = strings.Repeat("0123456789abcdef", 4)

// stateSettings are those of a Beckon with two principals, and these for parked
// calls.
func stateSettings(park map[string]any) map[string]any {
	return map[string]any{
		"park": park,
		"auth": map[string]any{"tokens": []map[string]string{
			{"principal": "alice", "token": aliceToken},
			{"principal": "bob", "token": bobToken},
		}},
	}
}

// A parkedCall is a call of alice's that waits for her answer.
type parkedCall struct {
	cell    cell // names the call and has the answer
	first   rawRequest
	state   string
	answers map[string]json.RawMessage
}

func park(ctx context.Context, t *testing.T, c cell, alice rawClient) *parkedCall {
	t.Helper()
	first := rawCall(1, c.arguments(1, false))
	asked, answers := ask(ctx, t, c, alice, first)
	return &parkedCall{c, first, asked.Result.RequestState, answers}
}

// retry is the retry that alice should make.
func (p *parkedCall) retry() rawRequest { return p.first.with(2, p.state, p.answers) }

// TestStates retries parked calls in ways that must be refused, always with
// -32602 and without running the tool again. Until a state is known to be
// genuine and the caller's own, the refusal says the same whatever is wrong.
// D7
func TestStates(t *testing.T) {
	for _, transport := range []string{"http", "stdio"} {
		t.Run(transport, func(t *testing.T) {
			s := &stateStage{ledger: ledgerFolder(t.TempDir()), transport: transport}
			s.backends = map[string]backend{"peer": s.backend(t), "other": s.backend(t)}
			t.Run("foreign", s.foreign)
			t.Run("expired", s.expired)
			t.Run("restarted", s.restarted)
			t.Run("restarted with other keys", s.rekeyed)
		})
	}
}

// A stateStage is what the tests share for one transport of the legacy backend.
type stateStage struct {
	ledger    ledgerFolder
	transport string
	backends  map[string]backend
}

func (s *stateStage) backend(t *testing.T) backend {
	t.Helper()
	return backendOf(s.ledger.server(t, side{legacy, s.transport}))
}

// launch starts Beckon and returns how to stop it.
func (s *stateStage) launch(t *testing.T, settings map[string]any) (baseURL string, stop func()) {
	t.Helper()
	p, baseURL := launchBeckon(t, writeSettings(t, s.backends, settings))
	return baseURL, func() { stopBeckon(t, p) }
}

func (s *stateStage) cell(name string) cell {
	return cell{side{modern, "http"}, side{legacy, s.transport}, "form", name, false}
}

// foreign tries what is not alice's state for her call. None of it may spoil
// the call, which she answers in the end with her arguments in another order.
func (s *stateStage) foreign(t *testing.T) {
	ctx := t.Context()
	baseURL, stop := s.launch(t, stateSettings(map[string]any{}))
	defer stop()
	peer, other := baseURL+"/mcp/peer", baseURL+"/mcp/other"
	alice := newRawHTTP(t, peer, aliceToken)
	p := park(ctx, t, s.cell("foreign"), alice)

	with := func(change func(r *rawRequest)) rawRequest {
		r := p.retry()
		change(&r)
		return r
	}
	state := func(state string) rawRequest {
		return with(func(r *rawRequest) { r.Params.RequestState = &state })
	}
	arguments := func(c cell, rounds int) rawRequest {
		return with(func(r *rawRequest) { r.Params.Arguments = json.RawMessage(c.arguments(rounds, false)) })
	}
	tests := []struct {
		name   string
		client rawClient
		retry  rawRequest
	}{
		{"no state at all", alice, state("not a state")},
		{"an empty state", alice, state("")},
		{"another kind of state", alice, state(`{"key":"foreign","round":1}`)},
		{"cut short", alice, state(p.state[:len(p.state)-1])},
		{"longer", alice, state(p.state + "A")},
		{"another first byte", alice, state(tamper(p.state, 0))},
		{"another byte in the middle", alice, state(tamper(p.state, len(p.state)/2))},
		{"another byte near the end", alice, state(tamper(p.state, len(p.state)-2))},
		{"other arguments", alice, arguments(s.cell("foreign"), 2)},
		{"the arguments of another call", alice, arguments(s.cell("other"), 1)},
		{"another tool", alice, with(func(r *rawRequest) { r.Params.Name = "other" })},
		{"another principal", newRawHTTP(t, peer, bobToken), p.retry()},
		{"another backend", newRawHTTP(t, other, aliceToken), p.retry()},
		{"another principal at another backend", newRawHTTP(t, other, bobToken), p.retry()},
	}
	var generic *rawError
	for _, tt := range tests {
		got := refused(ctx, t, tt.name, tt.client, tt.retry)
		if generic == nil {
			generic = got
		}
		if diff := cmp.Diff(generic, got); diff != "" {
			t.Errorf("%s is told more than %s (-%[2]s +%[1]s):\n%s", tt.name, tests[0].name, diff)
		}
	}
	// Without a state there is none to keep to oneself.
	refused(ctx, t, "answers alone", alice, with(func(r *rawRequest) { r.Params.RequestState = nil }))
	s.ledger.check(t, p.cell.key(), ending{Executed: executed{Entered: []int{1}}})
	s.ledger.check(t, s.cell("other").key(), ending{})

	reordered := with(func(r *rawRequest) {
		r.Params.Arguments = json.RawMessage(fmt.Sprintf(`{ "hold":false, "atOnce":1.0, "rounds":1, "kind":"form", "key":%q }`, p.cell.key()))
	})
	got, err := alice.send(ctx, reordered)
	if err != nil {
		t.Fatal(err)
	}
	if got.report() != p.cell.report() {
		t.Errorf("alice got %s, want %s", got.report(), p.cell.report())
	}
	s.ledger.check(t, p.cell.key(), ending{Executed: executed{Entered: []int{1}, Ended: "worked"}})
}

// expired comes back when it is too late. By then the backend has got an error.
func (s *stateStage) expired(t *testing.T) {
	ctx := t.Context()
	baseURL, stop := s.launch(t, stateSettings(map[string]any{"ttl": "1s"}))
	defer stop()
	alice := newRawHTTP(t, baseURL+"/mcp/peer", aliceToken)
	p := park(ctx, t, s.cell("expired"), alice)
	soon, cancel := soon(ctx)
	defer cancel()
	if err := s.ledger.awaitEnded(soon, p.cell.key()); err != nil {
		t.Fatal(err)
	}
	s.wantHelp(ctx, t, p, alice, "expired")
	s.ledger.check(t, p.cell.key(), ending{Executed: executed{Entered: []int{1}, Ended: "failed"}})
}

// restarted comes back to a Beckon that has the keys and not the call.
func (s *stateStage) restarted(t *testing.T) {
	ctx := t.Context()
	settings := stateSettings(map[string]any{"key": stateKey})
	p := s.parkAndStop(ctx, t, "restarted", settings)
	baseURL, stop := s.launch(t, settings)
	defer stop()
	s.wantHelp(ctx, t, p, newRawHTTP(t, baseURL+"/mcp/peer", aliceToken), "restart")
	generic := refused(ctx, t, "another principal", newRawHTTP(t, baseURL+"/mcp/peer", bobToken), p.retry())
	if strings.Contains(generic.Message, "restart") {
		t.Errorf("bob is told of alice's call: %s", generic.Message)
	}
	s.ledger.check(t, p.cell.key(), ending{Executed: executed{Entered: []int{1}, Ended: "failed"}})
}

// rekeyed comes back to a Beckon that does not even know the key: the state
// might be anybody's.
func (s *stateStage) rekeyed(t *testing.T) {
	ctx := t.Context()
	settings := stateSettings(map[string]any{}) // a new key with every start
	p := s.parkAndStop(ctx, t, "rekeyed", settings)
	baseURL, stop := s.launch(t, settings)
	defer stop()
	alice := newRawHTTP(t, baseURL+"/mcp/peer", aliceToken)
	nonsense := "not a state"
	want := refused(ctx, t, "no state at all", alice, p.first.with(3, nonsense, p.answers))
	if diff := cmp.Diff(want, refused(ctx, t, "a state of old keys", alice, p.retry())); diff != "" {
		t.Errorf("(-no state at all +a state of old keys):\n%s", diff)
	}
	s.ledger.check(t, p.cell.key(), ending{Executed: executed{Entered: []int{1}, Ended: "failed"}})
}

// parkAndStop parks a call and stops Beckon, which ends it at the backend.
func (s *stateStage) parkAndStop(ctx context.Context, t *testing.T, name string, settings map[string]any) *parkedCall {
	t.Helper()
	baseURL, stop := s.launch(t, settings)
	p := park(ctx, t, s.cell(name), newRawHTTP(t, baseURL+"/mcp/peer", aliceToken))
	stop()
	soon, cancel := soon(ctx)
	defer cancel()
	if err := s.ledger.awaitEnded(soon, p.cell.key()); err != nil {
		t.Fatal(err)
	}
	return p
}

// wantHelp wants the rightful caller to be told what happened. The end of the
// call and that of its state need not fall together to the millisecond.
func (s *stateStage) wantHelp(ctx context.Context, t *testing.T, p *parkedCall, alice rawClient, word string) {
	t.Helper()
	ctx, cancel := soon(ctx)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		got := refused(ctx, t, word, alice, p.retry())
		if strings.Contains(got.Message, word) {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("alice is told %q, without %q", got.Message, word)
		}
	}
}

// refused sends a retry that must be refused.
func refused(ctx context.Context, t *testing.T, name string, client rawClient, retry rawRequest) *rawError {
	t.Helper()
	got, err := client.send(ctx, retry)
	switch {
	case err != nil:
		t.Fatalf("%s: %v", name, err)
	case got.Error == nil:
		t.Fatalf("%s was not refused but got %s", name, got.report())
	case got.Status != http.StatusBadRequest || got.Error.Code != -32602:
		t.Errorf("%s got HTTP %d and %d, want 400 and -32602: %s", name, got.Status, got.Error.Code, got.Error.Message)
	}
	return got.Error
}

// tamper changes one byte into another that may stand there.
func tamper(state string, at int) string {
	other := "A"
	if state[at] == 'A' {
		other = "B"
	}
	return state[:at] + other + state[at+1:]
}
