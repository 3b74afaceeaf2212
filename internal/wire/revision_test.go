package wire

import "testing"

func TestNegotiate(t *testing.T) {
	for _, tt := range []struct{ ask, want Revision }{
		{R20241105, R20241105},
		{R20250326, R20250326},
		{R20250618, R20250618},
		{R20251125, R20251125},
		{"", Latest},
		{"2026-07-28", Latest}, // known to the world, but without a handshake
		{"2024-10-07", Latest},
		{"2099-01-01", Latest},
		{"1.0.0", Latest},
		{"2025-11-25 ", Latest},
	} {
		if got := Negotiate(tt.ask); got != tt.want {
			t.Errorf("Negotiate(%q) = %s, want %s", tt.ask, got, tt.want)
		}
	}
}

func TestSince(t *testing.T) {
	legacy := Legacy()
	for i, r := range legacy {
		for j, from := range legacy {
			if got, want := r.Since(from), i >= j; got != want {
				t.Errorf("%s since %s = %v, want %v", r, from, got, want)
			}
		}
	}
	for _, tt := range []struct {
		r    Revision
		want bool
	}{
		{"2026-07-28", true},
		{"2025-11-26", true},
		{"2025-11-24", false},
		{"", false},
		// A header holds anything. What is no date is before all others, lest a
		// word pass for the newest revision.
		{"latest", false},
		{"DRAFT-2026-v1", false},
		{"2026", false},
		{"2026-7-28", false},
		{"2026-07-28x", false},
		{"2026/07/28", false},
		{"２０２６-07-28", false},
		{"9", false},
	} {
		if got := tt.r.Since(R20251125); got != tt.want {
			t.Errorf("%q since %s = %v, want %v", tt.r, R20251125, got, tt.want)
		}
	}
}

func TestKnown(t *testing.T) {
	for _, r := range Legacy() {
		if !r.Known() {
			t.Errorf("%s is not known", r)
		}
	}
	for _, r := range []Revision{"", "2026-07-28", "2025-11-25 "} {
		if r.Known() {
			t.Errorf("%q is known", r)
		}
	}
	legacy := Legacy()
	legacy[0] = "changed"
	if got := Legacy()[0]; got != R20241105 {
		t.Errorf("a caller changed the list of revisions: it begins with %s", got)
	}
}
