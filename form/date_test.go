package form

import (
	"cmp"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// R94: a date is a day that exists. R106.
func TestParseDate(t *testing.T) {
	for in, want := range map[string]bool{
		"2026-02-28": true, "2024-02-29": true, "2000-02-29": true, "0000-01-01": true, "9999-12-31": true,
		"2026-02-29": false, "2026-02-30": false, "1900-02-29": false, "2026-04-31": false, "2026-13-01": false, "2026-00-10": false,
		"2026-01-00": false, "2026-1-1": false, "26-01-01": false, "2026/01/01": false, "20260101": false, "2026-W01-1": false,
		"": false, " 2026-01-01": false, "2026-01-01 ": false, "+026-01-01": false, "2026-01-01T00:00:00Z": false, "２026-01-1": false,
	} {
		if got := isDate(in); got != want {
			t.Errorf("isDate(%q) = %v, want %v", in, got, want)
		}
	}
}

// R94
func TestParseDateTime(t *testing.T) {
	for in, want := range map[string]bool{
		"2026-01-01T00:00:00Z": true, "2026-01-01t23:59:59z": true, "2026-01-01T00:00:00.123456789012Z": true, "2026-01-01T00:00:00+23:59": true,
		"2026-01-01T00:00:00-00:00": true, "2016-12-31T23:59:60Z": true, "2016-12-31T18:59:60-05:00": true, "2017-01-01T00:59:60.5+01:00": true,
		"2016-12-31T23:58:60Z": false, "2016-12-31T23:59:60+01:00": false, "2016-12-31T23:59:61Z": false,
		"2026-01-01": false, "2026-01-01T00:00:00": false, "2026-01-01T24:00:00Z": false, "2026-01-01T00:60:00Z": false,
		"2026-01-01 00:00:00Z": false, "2026-01-01T00:00Z": false, "2026-01-01T00:00:00.Z": false, "2026-01-01T00:00:00+0100": false,
		"2026-01-01T00:00:00+24:00": false, "2026-01-01T00:00:00+01:60": false, "2026-02-30T00:00:00Z": false, "2026-01-01T+1:00:00Z": false,
		"2026-01-01T00:00:00Zx": false, "2026-01-01T00:00:00,5Z": false, "2026-01-01T00:00:00++1:00": false, "2026-01-01TT0:00:00Z": false,
	} {
		if got := isDateTime(in); got != want {
			t.Errorf("isDateTime(%q) = %v, want %v", in, got, want)
		}
	}
}

// R94: bounds of dates are chronological, and a date beside a date and time means
// the whole day.
func TestCompareDates(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"2026-01-01", "2026-01-01", 0}, {"2025-12-31", "2026-01-01", -1}, {"0999-01-01", "1000-01-01", -1},
		{"2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", 0}, {"2026-01-01T00:00:00Z", "2025-12-31T23:30:00-01:00", -1},
		{"2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.50Z", 0}, {"2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.45Z", 1},
		{"2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.51Z", -1}, {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", 0},
		{"2016-12-31T23:59:60Z", "2016-12-31T23:59:59.9Z", 1}, {"2016-12-31T23:59:60Z", "2017-01-01T00:00:01Z", -1},
		{"2026-12-31", "2026-12-31T23:59:59-11:00", 0}, {"2026-12-31", "2027-01-01T00:00:00+14:00", -1}, {"2026-12-31T10:00:00Z", "2026-12-30", 1},
	} {
		if got := compareDates(tt.a, tt.b); got != tt.want {
			t.Errorf("compareDates(%s, %s) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := compareDates(tt.b, tt.a); got != -tt.want {
			t.Errorf("compareDates(%s, %s) = %d, want %d", tt.b, tt.a, got, -tt.want)
		}
	}
}

func TestDatesAgreeWithTime(t *testing.T) {
	at := func(t *rapid.T, what string) time.Time {
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60-59, 23*60+59).Draw(t, what+" zone"))
		s := rapid.Int64Range(-62167219200+86400*2, 253402300799-86400*2).Draw(t, what) // the years 0 to 9999
		return time.Unix(s, rapid.Int64Range(0, 999_999_999).Draw(t, what+" fraction")).In(zone)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := at(t, "a"), at(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = a.Add(time.Duration(rapid.Int64Range(-2e9, 2e9).Draw(t, "distance"))).In(b.Location())
		}
		x, y := a.Format(time.RFC3339Nano), b.Format(time.RFC3339Nano)
		if !isDateTime(x) || !isDateTime(y) {
			t.Fatalf("%s or %s is refused", x, y)
		}
		if got, want := compareDates(x, y), a.Compare(b); got != want {
			t.Fatalf("%s and %s: %d, want %d", x, y, got, want)
		}
		x, y = a.Format(time.DateOnly), b.Format(time.DateOnly)
		if got, want := compareDates(x, y), cmp.Compare(x, y); got != want {
			t.Fatalf("%s and %s: %d, want %d", x, y, got, want)
		}
	})
}

var dateTimeShape = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$`)

// FuzzDate holds the verdict against an independent one, and the order against its
// own mirror image.
func FuzzDate(f *testing.F) {
	for _, s := range []string{"2026-02-28", "2026-02-30", "2016-12-31T23:59:60Z", "2026-01-01T00:00:00.5+01:00", "2026-01-01T+1:00:00Z", ""} {
		f.Add(s, "2026-02-28T00:00:00Z")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if got, want := isDate(a), oracle("date", a); got != want {
			t.Errorf("isDate(%q) = %v, want %v", a, got, want)
		}
		// The oracle takes signs for digits: 2026-01-01T+1:00:00Z.
		if got, want := isDateTime(a), dateTimeShape.MatchString(a) && oracle("date-time", a); got != want {
			t.Errorf("isDateTime(%q) = %v, want %v", a, got, want)
		}
		if compareDates(a, b) != -compareDates(b, a) || compareDates(a, a) != 0 {
			t.Errorf("%q and %q have no order", a, b)
		}
	})
}
