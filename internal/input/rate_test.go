package input

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// R119, C14: ten in a minute and no more; then one whenever a tenth of a minute is over.
func TestMeter(t *testing.T) {
	m := newMeter(10)
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	ada, bob := opener{Party: Party{"ada", "1"}}, opener{Party: Party{"bob", "1"}}
	for i := range 10 {
		if wait := m.take(ada, now); wait != 0 {
			t.Fatalf("number %d has to wait %v", i+1, wait)
		}
	}
	if wait := m.take(ada, now); wait != 6*time.Second {
		t.Errorf("the eleventh has to wait %v, want 6 s", wait)
	}
	if wait := m.take(bob, now); wait != 0 {
		t.Error("somebody else has to wait as well")
	}
	if wait := m.take(opener{Party: Party{"ada", "2"}}, now); wait != 0 {
		t.Error("another session of the same principal has to wait as well")
	}
	if wait := m.take(opener{ada.Party, "shop"}, now); wait != 0 {
		t.Error("a backend of the same session has to wait as well")
	}
	if wait := m.take(ada, now.Add(6*time.Second-time.Millisecond)); wait == 0 {
		t.Error("just before its time the eleventh passed")
	}
	if wait := m.take(ada, now.Add(6*time.Second)); wait != 0 {
		t.Errorf("at its time the eleventh has to wait %v", wait)
	}
	if wait := m.take(ada, now.Add(6*time.Second)); wait == 0 {
		t.Error("the twelfth did not have to wait")
	}
}

// What is counted lasts from one generation to the next, and takes bounded memory
// however many come.
func TestMeterForgets(t *testing.T) {
	m := newMeter(2)
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	m.take(opener{}, now)
	last := opener{Party: Party{Session: "last"}}
	m.take(last, now.Add(59*time.Second))
	m.take(last, now.Add(59*time.Second))
	m.take(opener{}, now.Add(time.Minute))
	if wait := m.take(last, now.Add(61*time.Second)); wait != 28*time.Second {
		t.Errorf("after the turn of the minute: wait %v, want 28 s", wait)
	}
	for i := range 10 * mostMetered {
		m.take(opener{Party: Party{Session: fmt.Sprint(i)}}, now.Add(2*time.Minute))
		if n := len(m.recent) + len(m.older); n > 2*mostMetered {
			t.Fatalf("%d openers are remembered, want at most %d", n, 2*mostMetered)
		}
	}
}

// R119: a backend that has opened as many forms as it may keeps neither another backend
// of the same session nor the client itself from opening theirs.
func TestRateOfEachBackend(t *testing.T) {
	l := roomy()
	l.Forms.PerMinute = 2
	d := &desk{}
	b := NewBroker(l, d)
	defer b.Close()
	asks := func(backend string) Question {
		q := of(t, settings(""))
		q.Backend = backend
		return q
	}
	for range 2 {
		mustOpen(t, b, asks("one"), d)
	}
	_, err := b.Open(asks("one"), d, nil)
	wantReason(t, err, wire.ReasonRate)
	if want := "by backend one"; !strings.Contains(err.Message, want) {
		t.Errorf("%q does not say %q", err.Message, want)
	}
	mustOpen(t, b, asks("two"), d)
	mustOpen(t, b, managed(t, settings("")), nil)
}
