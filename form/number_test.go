package form

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDecimal(t *testing.T) {
	for in, want := range map[string]sizing{
		"0": isNumber, "-0": isNumber, "-0.0e5": isNumber, "10": isNumber, "1.50": isNumber, "1E+3": isNumber, "1e-03": isNumber,
		"": noNumber, "-": noNumber, "+1": noNumber, "01": noNumber, "-01": noNumber, ".5": noNumber, "5.": noNumber, "1e": noNumber,
		"1e+": noNumber, "1e+-1": noNumber, "0x10": noNumber, "1_000": noNumber, "1,5": noNumber, "Infinity": noNumber, "NaN": noNumber,
		" 1": noNumber, "1 ": noNumber, "1.2.3": noNumber, "--1": noNumber, "１": noNumber, "1e1.5": noNumber,
		"1e400": isNumber, "1e401": hugeNumber, "1e-400": isNumber, "-1e-401": hugeNumber, "1e99999999999999999999": hugeNumber,
		strings.Repeat("9", 400): isNumber, strings.Repeat("9", 401): hugeNumber,
		"0." + strings.Repeat("0", 399): isNumber, "0." + strings.Repeat("0", 400): hugeNumber,
	} {
		if _, got := parseDecimal(in); got != want {
			t.Errorf("parseDecimal(%.20q) = %v, want %v", in, got, want)
		}
	}
}

// R88: numbers are compared as they are, not as the nearest float64.
func TestCompareNumbers(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"1", "1.0", 0}, {"1", "10e-1", 0}, {"-0", "0", 0}, {"0", "0e9", 0}, {"1000", "1e3", 0}, {"0.001", "1e-3", 0},
		{"9007199254740993", "9007199254740992", 1}, {"0.1", "0.10000000000000000001", -1}, {"-1", "1", -1}, {"-2", "-1", -1},
		{"2", "10", -1}, {"0.2", "0.10", 1}, {"1e400", "9e399", 1}, {"-1e400", "1e-400", -1}, {"12.5", "125e-1", 0}, {"100", "99.999", 1},
	} {
		if got := compareNumbers(tt.a, tt.b); got != tt.want {
			t.Errorf("compareNumbers(%s, %s) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := compareNumbers(tt.b, tt.a); got != -tt.want {
			t.Errorf("compareNumbers(%s, %s) = %d, want %d", tt.b, tt.a, got, -tt.want)
		}
	}
}

// R88
func TestMultipleOf(t *testing.T) {
	for _, tt := range []struct {
		d, m string
		want bool
	}{
		{"0", "7", true}, {"14", "7", true}, {"15", "7", false}, {"-14", "7", true}, {"0.1", "0.01", true}, {"0.3", "0.1", true},
		{"19.99", "0.01", true}, {"19.995", "0.01", false}, {"1e3", "1", true}, {"1.5", "1", false}, {"15e-1", "0.5", true},
		{"1e400", "3", false}, {"3e400", "3", true}, {"1e-400", "1", false}, {"1", "1e-400", true}, {"7", "2.5", false}, {"7.5", "2.5", true},
		{"123456789012345678901234567890", "123456789012345678901234567890", true},
		{"123456789012345678901234567891", "123456789012345678901234567890", false},
		{"1" + strings.Repeat("0", 30), "1234567890123456789012345", false},
	} {
		d, _ := parseDecimal(tt.d)
		m, _ := parseDecimal(tt.m)
		if got := d.multipleOf(m); got != tt.want {
			t.Errorf("%s multiple of %s: %v, want %v", tt.d, tt.m, got, tt.want)
		}
	}
}

// FuzzNumber holds the grammar against encoding/json, and the arithmetic against
// math/big.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0.0", "1e3", "12.50", "-7e-2", "01", "1e", "0.1", "1e400", "123456789012345678901", "."} {
		f.Add(s, "0.01")
		f.Add("10", s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, sa := parseDecimal(a)
		if isNum := json.Valid([]byte(a)) && a != "" && strings.Trim(a, "0123456789+-.eE") == ""; isNum != (sa != noNumber) {
			t.Fatalf("parseDecimal(%q) says %v, JSON says %v", a, sa, isNum)
		}
		y, sb := parseDecimal(b)
		if sa != isNumber || sb != isNumber {
			return
		}
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		if got, want := x.compare(y), p.Cmp(q); got != want {
			t.Errorf("%s and %s: %d, want %d", a, b, got, want)
		}
		if x.isInteger() != p.IsInt() {
			t.Errorf("%s is an integer: %v, want %v", a, x.isInteger(), p.IsInt())
		}
		if q.Sign() != 0 {
			if got, want := x.multipleOf(y), new(big.Rat).Quo(p, q).IsInt(); got != want {
				t.Errorf("%s multiple of %s: %v, want %v", a, b, got, want)
			}
		}
	})
}

func TestNumbersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,2})?`)
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, _ := parseDecimal(a)
		y, _ := parseDecimal(b)
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		if got, want := x.compare(y), p.Cmp(q); got != want {
			t.Fatalf("%s and %s: %d, want %d", a, b, got, want)
		}
		if q.Sign() != 0 {
			if got, want := x.multipleOf(y), new(big.Rat).Quo(p, q).IsInt(); got != want {
				t.Fatalf("%s multiple of %s: %v, want %v", a, b, got, want)
			}
		}
	})
}
