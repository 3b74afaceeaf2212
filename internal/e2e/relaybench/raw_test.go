package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRawPeers has each raw client meet the raw server of its era: one call, one
// question, nothing left open.
func TestRawPeers(t *testing.T) {
	legacy := newRawLegacy()
	for era, handler := range map[string]http.Handler{"legacy": legacy, "modern": http.HandlerFunc(answerModern)} {
		t.Run(era, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			f, err := askAll(era, way{name: era, url: server.URL}, 20*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if f.calls == 0 || f.p50 == 0 {
				t.Errorf("figures %+v, want calls that took time", f)
			}
		})
	}
	if n := legacy.count(); n != 0 {
		t.Errorf("%d calls open, want none", n)
	}
}

// TestRawLegacyDefines has the raw server ask what the call names: with a form
// definition, or without.
func TestRawLegacyDefines(t *testing.T) {
	server := httptest.NewServer(newRawLegacy())
	defer server.Close()
	c, err := connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.http.CloseIdleConnections()
	for name, a := range map[string]asker{"ask": c, "form": definer{c}} {
		if err := a.ask(1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		resp, err := c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `"}}`)
		if err != nil {
			t.Fatal(err)
		}
		question, err := bufio.NewReader(resp.Body).ReadString('\n')
		resp.Body.Close()
		if err != nil || strings.Contains(question, "formDefinition") != (name == "form") {
			t.Errorf("%s asks %s (%v)", name, question, err)
		}
	}
}

// TestRawLegacyHolds has a call open until it is cancelled, by its session and no
// other.
func TestRawLegacyHolds(t *testing.T) {
	held := newRawLegacy()
	server := httptest.NewServer(held)
	defer server.Close()
	var sessions [2]*client
	for i := range sessions {
		c, err := connect(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer c.http.CloseIdleConnections()
		sessions[i] = c
	}
	resp, err := sessions[0].post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hold","arguments":{}}}`)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for i, want := range []int{1, 0} {
		other := sessions[1-i] // first the session that has no such call, then its own
		if err := other.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`); err != nil {
			t.Fatal(err)
		}
		if n := held.count(); n != want {
			t.Errorf("after cancellation %d: %d calls open, want %d", i, n, want)
		}
	}
}

func TestGauge(t *testing.T) {
	const metrics = "# TYPE beckon_input_open gauge\nbeckon_input_open{kind=\"form\"} 3\nbeckon_input_open{kind=\"url\"} 4\nbeckon_input_opened 9\n"
	for name, want := range map[string]int{"beckon_input_open": 7, "beckon_input_opened": 9, "beckon_input": 0, "nothing": 0} {
		if got := gauge(metrics, name); got != want {
			t.Errorf("gauge %s is %d, want %d", name, got, want)
		}
	}
}
