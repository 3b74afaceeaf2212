package formtest

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strings"

	"github.com/beckon-mcp/beckon/form"
)

// span is the numbers that a field takes.
type span struct {
	low, high         *big.Rat // nil for none
	lowOpen, highOpen bool     // the bound itself is not taken
	step              *big.Rat // nil for any number
}

func rational(number json.RawMessage) *big.Rat {
	if len(number) == 0 {
		return nil
	}
	r, ok := new(big.Rat).SetString(string(number))
	if !ok {
		return nil
	}
	return r
}

// spanOf reads the rules of a number field. Of an inclusive and an exclusive bound,
// the stricter counts.
func spanOf(r *form.FieldRules) span {
	s := span{low: rational(r.Minimum), high: rational(r.Maximum), step: rational(r.MultipleOf)}
	if x := rational(r.ExclusiveMinimum); x != nil && (s.low == nil || x.Cmp(s.low) >= 0) {
		s.low, s.lowOpen = x, true
	}
	if x := rational(r.ExclusiveMaximum); x != nil && (s.high == nil || x.Cmp(s.high) <= 0) {
		s.high, s.highOpen = x, true
	}
	return s
}

// holds reports whether the span has x.
func (s span) holds(x *big.Rat) bool {
	if s.low != nil && (x.Cmp(s.low) < 0 || s.lowOpen && x.Cmp(s.low) == 0) {
		return false
	}
	if s.high != nil && (x.Cmp(s.high) > 0 || s.highOpen && x.Cmp(s.high) == 0) {
		return false
	}
	return s.step == nil || new(big.Rat).Quo(x, s.step).IsInt()
}

// pick returns a number of the span; nil when it has none.
func (s span) pick(rng *rand.Rand) *big.Rat {
	step := s.step
	if step == nil {
		if x := s.between(rng); x != nil {
			return x
		}
		step = big.NewRat(1, 1)
	}
	// Count in steps from the bound that there is.
	first, last := int64(-1000), int64(1000)
	from := new(big.Rat)
	switch {
	case s.low != nil:
		from, first = ceiling(s.low, step), 0
	case s.high != nil:
		from, last = ceiling(s.high, step), 0
	}
	for range 200 {
		k := first + rng.Int64N(last-first+1)
		if s.low != nil && s.high != nil {
			k = min(k, steps(from, s.high, step))
		}
		if rng.IntN(8) == 0 {
			k = []int64{first, last, first + 1, last - 1}[rng.IntN(4)]
		}
		x := new(big.Rat).Mul(step, new(big.Rat).SetInt64(k))
		if x.Add(x, from); s.holds(x) {
			return x
		}
	}
	// The span is narrow.
	for k := int64(-3); k <= 3; k++ {
		x := new(big.Rat).Mul(step, new(big.Rat).SetInt64(k))
		if x.Add(x, from); s.holds(x) {
			return x
		}
	}
	return nil
}

// between returns a number between two bounds that need not be a multiple, or nil.
func (s span) between(rng *rand.Rand) *big.Rat {
	if s.low == nil || s.high == nil {
		return nil
	}
	x := new(big.Rat).Sub(s.high, s.low)
	x.Mul(x, big.NewRat(rng.Int64N(1025), 1024))
	if x.Add(x, s.low); s.holds(x) {
		return x
	}
	x.Add(s.low, s.high)
	if x.Quo(x, big.NewRat(2, 1)); s.holds(x) {
		return x
	}
	return nil
}

// ceiling returns the smallest multiple of step that is not below x.
func ceiling(x, step *big.Rat) *big.Rat {
	q := new(big.Rat).Quo(x, step)
	n := new(big.Int).Div(q.Num(), q.Denom()) // floor
	if !q.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	return q.Mul(step, q.SetInt(n))
}

// steps returns how many steps lead from one number to another, a thousand at most.
func steps(from, to, step *big.Rat) int64 {
	q := new(big.Rat).Sub(to, from)
	q.Quo(q, step)
	n := new(big.Int).Div(q.Num(), q.Denom())
	if n.Sign() < 0 {
		return 0
	}
	if !n.IsInt64() || n.Int64() > 1000 {
		return 1000
	}
	return n.Int64()
}

// decimal writes a number that has finitely many decimals, as all sums and products
// of JSON numbers do.
func decimal(x *big.Rat) string {
	if x.IsInt() {
		return x.RatString()
	}
	n, _ := x.FloatPrec()
	return strings.TrimRight(x.FloatString(n), "0")
}
