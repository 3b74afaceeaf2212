//go:build e2e

package e2e

import (
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A meeting is a server with its clients, at least one side of each pair on the
// TypeScript SDK of the modern era.
type meeting struct {
	name   string
	server server
	guests []guest
	// alone is a client and a server that speak an era in common, so that they
	// need no Beckon. What that client sees, all guests must see.
	alone func() (client, server)
}

// A guest is a client with the names of its ways through Beckon.
type guest struct {
	name   string
	client client
	ways   []string
}

// typescriptModern is the SDK of the modern era, which speaks both: "auto" finds
// out what the server speaks, "legacy" does not ask, and a revision is insisted on.
// What its user sees is the same.
func typescriptModern(mode string) client {
	return client{"typescript-modern", playNode("modern.mjs", mode)}
}

// typescriptLegacy is the SDK of the legacy era.
func typescriptLegacy() client { return client{"typescript", playNode("client.mjs")} }

// Servers of the modern era alone; the third of both, for clients of the legacy
// era that have no Beckon.
func typescriptServers() []server {
	return []server{
		{"typescript-stdio", "stdio", func(t *testing.T) endpoint { return typescriptCommand(t) }, eraScenarios},
		{"typescript-http", "http", startTypescript, eraScenarios},
	}
}

func typescriptBoth() server {
	return server{"typescript-both", "stdio", func(t *testing.T) endpoint { return typescriptCommand(t, "legacy") }, eraScenarios}
}

func typescriptCommand(t *testing.T, args ...string) endpoint {
	return endpoint{Command: nodeBinary(t), Args: append([]string{nodeFile(t, "server.mjs"), "stdio"}, args...)}
}

func startTypescript(t *testing.T) endpoint {
	t.Helper()
	baseURL := startListening(t, exec.Command(nodeBinary(t), nodeFile(t, "server.mjs"), "http"))
	return endpoint{URL: baseURL + "/mcp", Transport: "http"}
}

// meetings lists who meets whom: the modern client all servers of both eras, the
// legacy client the modern servers.
func meetings() []meeting {
	var list []meeting
	askLegacy := func(t *testing.T) endpoint {
		to := askStdio(t)
		to.Era = "legacy" // over stdio the go-sdk speaks both, but a tool that pushes works in one
		return to
	}
	legacy := []server{
		{"askserver-stdio", "stdio", askLegacy, eraScenarios},
		{"askserver-http", "http", askHTTP, eraScenarios},
		{"everything-stdio", "stdio", everythingStdio, everythingEraScenarios},
		{"everything-http", "http", everythingHTTP, everythingEraScenarios},
	}
	for mode, servers := range map[string][]server{modernRevision: typescriptServers(), "legacy": legacy} {
		for _, s := range servers {
			list = append(list, meeting{"modern client/" + s.name, s, []guest{
				{"auto", typescriptModern("auto"), []string{"serve-one", "serve-all", "run-config"}},
				{"pinned", typescriptModern(modernRevision), []string{"serve-one"}},
			}, func() (client, server) { return typescriptModern(mode), s }})
		}
	}
	for _, s := range typescriptServers() {
		list = append(list, meeting{"legacy client/" + s.name, s, []guest{
			{"legacy", typescriptLegacy(), []string{"serve-one", "serve-all", "serve-sse", "run-config"}},
		}, func() (client, server) { return typescriptLegacy(), typescriptBoth() }})
	}
	return list
}

// eraScenarios are those of askserver that mean the same in both eras. The
// others have something that one of them cannot say: the client's own error, the
// end of a visit, -32042, and what a cancelled call leaves behind. Progress is not
// among them either: the SDK of the modern era forgets what comes just before the
// result.
func eraScenarios() []scenario {
	list := pick(askScenarios(),
		"echo", "form accepted", "form accepted in part", "form declined", "form cancelled",
		"two rounds", "two questions at once", "three calls that ask at once",
		"question in a prompt", "question in a resource",
		"URL accepted", "URL declined", "sampling", "sampling in part", "roots")
	for i := range list {
		if list[i].Name == "URL accepted" {
			list[i].Await, list[i].notified = nil, nil // the visit ends after the answer, and only legacy servers tell
		}
	}
	return list
}

// everythingEraScenarios leaves out, besides, what the server asks on its own
// account and not in a call: a modern client cannot be asked that.
func everythingEraScenarios() []scenario {
	return pick(everythingScenarios(),
		"echo", "form accepted", "form declined", "form cancelled", "two questions at once",
		"URL accepted", "sampling")
}

// pick keeps the scenarios with these names, all of which there must be.
func pick(all []scenario, names ...string) []scenario {
	var list []scenario
	for _, name := range names {
		i := slices.IndexFunc(all, func(sc scenario) bool { return sc.Name == name })
		list = append(list, all[i])
	}
	return list
}

// TestErasDirect shows that each pair works where there is an era that both
// speak, and that the modern client sees the same however it found out.
func TestErasDirect(t *testing.T) {
	for _, m := range meetings() {
		t.Run(m.name, func(t *testing.T) { m.meetAlone(t) })
	}
	for _, s := range typescriptServers() {
		t.Run("auto/"+s.name, func(t *testing.T) {
			want := meet(t, typescriptModern(modernRevision), s, direct(), s.scenarios())
			got := meet(t, typescriptModern("auto"), s, direct(), s.scenarios())
			if diff := cmp.Diff(want.seenByUser(t), got.seenByUser(t)); diff != "" {
				t.Errorf("who finds out sees something else (-pinned +auto):\n%s", diff)
			}
		})
	}
}

// TestErasThrough wants each client to see through Beckon, whatever the era of
// the server, what a client sees of the same server without Beckon in an era that
// both speak.
func TestErasThrough(t *testing.T) {
	for _, m := range meetings() {
		t.Run(m.name, func(t *testing.T) {
			want := m.meetAlone(t).seenByUser(t)
			for _, g := range m.guests {
				for _, r := range through() {
					if !slices.Contains(g.ways, r.name) {
						continue
					}
					t.Run(g.name+"/"+r.name, func(t *testing.T) {
						got := meet(t, g.client, m.server, r, m.server.scenarios()).seenByUser(t)
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("through Beckon the client sees something else (-direct +through):\n%s", diff)
						}
					})
				}
			}
		})
	}
}

func (m meeting) meetAlone(t *testing.T) *transcript {
	t.Helper()
	c, s := m.alone()
	return meet(t, c, s, direct(), s.scenarios())
}

// seenByUser is what a transcript says of the calls and questions themselves:
// without the handshake, and without the members that one era has for its own
// ends, which are listed here.
func (t *transcript) seenByUser(tb testing.TB) string {
	tb.Helper()
	var users transcript
	for _, step := range t.Steps[1:] {
		seen := &seenStep{Name: step.Name, Failures: step.Failures}
		for _, e := range step.Calls {
			seen.Calls = append(seen.Calls, e.common(tb))
		}
		for _, e := range step.Asked {
			seen.Asked = append(seen.Asked, e.common(tb))
		}
		for _, e := range step.Notified {
			if e.Method != elicitationComplete {
				seen.Notified = append(seen.Notified, e.common(tb))
			}
		}
		slices.SortFunc(seen.Asked, compareExchanges)
		users.Steps = append(users.Steps, seen)
	}
	return users.text(tb)
}

func (e *exchange) common(tb testing.TB) *exchange {
	tb.Helper()
	return &exchange{
		Method: e.Method,
		Params: without(tb, e.Params, "_meta", "progressToken", "elicitationId", "inputResponses", "requestState"),
		Result: without(tb, e.Result, "_meta", "resultType", "ttlMs", "cacheScope"),
		Error:  e.Error,
	}
}

// without drops members of an object, and sorts the others.
func without(tb testing.TB, text json.RawMessage, names ...string) json.RawMessage {
	tb.Helper()
	if len(text) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return text // not an object
	}
	for _, name := range names {
		delete(members, name)
	}
	if len(members) == 0 {
		return nil
	}
	kept, err := json.Marshal(members)
	if err != nil {
		tb.Fatalf("encoding %s: %v", text, err)
	}
	return kept
}
