package form

import (
	"cmp"
	"math/big"
	"strings"
)

// The bounds of a number. What is beyond them is refused, so that a few bytes
// cannot ask for much memory or time.
const (
	maxNumberDigits   = 400
	maxNumberExponent = 400
)

// decimal is a JSON number, taken apart. Its value is exact: nothing is rounded.
type decimal struct {
	negative bool
	digits   string // from the first digit that is not 0 to the last; the point may be among them; "" for zero
	top, low int    // the powers of ten of the first and of the last of them
}

// sizing is what parseDecimal says of a text.
type sizing int

const (
	isNumber sizing = iota
	noNumber        // against the grammar of JSON
	hugeNumber
)

// parseDecimal reads a number as JSON has it: no plus sign before it, no leading
// zeros, digits on both sides of the point.
func parseDecimal(s string) (decimal, sizing) {
	var d decimal
	rest, negative := strings.CutPrefix(s, "-")
	whole := countDigits(rest)
	if whole == 0 || whole > 1 && rest[0] == '0' {
		return d, noNumber
	}
	end, digits := whole, whole
	if end < len(rest) && rest[end] == '.' {
		n := countDigits(rest[end+1:])
		if n == 0 {
			return d, noNumber
		}
		end, digits = end+1+n, digits+n
	}
	exponent, ok := parseExponent(rest[end:])
	switch {
	case !ok:
		return d, noNumber
	case digits > maxNumberDigits || exponent > maxNumberExponent || exponent < -maxNumberExponent:
		return d, hugeNumber
	}
	first := strings.IndexFunc(rest[:end], notZero)
	if first < 0 {
		return d, isNumber // zero has no sign
	}
	last := strings.LastIndexFunc(rest[:end], notZero)
	return decimal{
		negative: negative,
		digits:   rest[first : last+1],
		top:      power(first, whole) + exponent,
		low:      power(last, whole) + exponent,
	}, isNumber
}

// power returns the power of ten of the digit at i, when the point is at, or would
// be.
func power(i, point int) int {
	if i < point {
		return point - 1 - i
	}
	return point - i
}

func notZero(r rune) bool { return '1' <= r && r <= '9' }

func countDigits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// parseExponent reads what may follow the digits, to the end of s. Beyond a
// million it does not count on.
func parseExponent(s string) (int, bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	sign := 1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if s == "" || countDigits(s) != len(s) {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		n = min(n*10+int(s[i]-'0'), 1_000_000)
	}
	return sign * n, true
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compare returns -1, 0 or 1.
func (d decimal) compare(e decimal) int {
	sign := d.sign()
	if c := cmp.Compare(sign, e.sign()); c != 0 || sign == 0 {
		return c
	}
	if c := cmp.Compare(d.top, e.top); c != 0 {
		return sign * c
	}
	a, b := d.digits, e.digits
	for {
		a, b = strings.TrimPrefix(a, "."), strings.TrimPrefix(b, ".")
		switch {
		case a == "" || b == "": // the last digits are not 0: who has more has the larger amount
			return sign * cmp.Compare(len(a), len(b))
		case a[0] != b[0]:
			return sign * cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
}

// isInteger reports whether nothing stands behind the point.
func (d decimal) isInteger() bool { return d.digits == "" || d.low >= 0 }

// multipleOf reports whether d is a whole multiple of m, which is not zero.
func (d decimal) multipleOf(m decimal) bool {
	if d.digits == "" {
		return true
	}
	shift := d.low - m.low
	if shift < 0 {
		return false // d has a digit behind the last of m, and so behind the last of all its multiples
	}
	by := m.top - m.low + 1 // digits
	if by > 18 {
		return d.multipleOfLong(m, shift)
	}
	// d is a multiple when its digits, with shift zeros behind them, are one of
	// those of m.
	divisor, rest := uint64(0), uint64(0)
	for i := range len(m.digits) {
		if c := m.digits[i]; c != '.' {
			divisor = divisor*10 + uint64(c-'0')
		}
	}
	for i := range len(d.digits) {
		if c := d.digits[i]; c != '.' {
			rest = (rest*10 + uint64(c-'0')) % divisor
		}
	}
	for ; shift > 0 && rest != 0; shift-- {
		rest = rest * 10 % divisor
	}
	return rest == 0
}

func (d decimal) multipleOfLong(m decimal, shift int) bool {
	a, _ := new(big.Int).SetString(strings.Replace(d.digits, ".", "", 1), 10)
	b, _ := new(big.Int).SetString(strings.Replace(m.digits, ".", "", 1), 10)
	a.Mul(a, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), nil))
	return a.Rem(a, b).Sign() == 0
}

// compareNumbers compares two JSON numbers, exactly, whatever their spelling. What
// is no number counts as zero.
func compareNumbers(a, b string) int {
	x, _ := parseDecimal(a)
	y, _ := parseDecimal(b)
	return x.compare(y)
}
