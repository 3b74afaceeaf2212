package formtest

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matcher makes strings that an expression matches, by walking its syntax tree.
type matcher struct {
	rng  *rand.Rand
	more int // how often something without bound is repeated beyond its least, at most
	out  strings.Builder
	fail bool // what was met matches nothing
}

// match returns a string that expr probably matches; it may not where the expression
// looks around itself, as \b does.
func match(rng *rand.Rand, expr string, more int) (string, bool) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", false
	}
	m := &matcher{rng: rng, more: more}
	m.walk(tree)
	return m.out.String(), !m.fail
}

// longest bounds what is made, whatever the repetitions within repetitions.
const longest = 20000

func (m *matcher) walk(re *syntax.Regexp) {
	if m.out.Len() > longest {
		m.fail = true
	}
	if m.fail {
		return
	}
	switch re.Op {
	case syntax.OpNoMatch:
		m.fail = true
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			m.out.WriteRune(r)
		}
	case syntax.OpCharClass:
		m.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.out.WriteRune(letter(m.rng))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			m.walk(sub)
		}
	case syntax.OpAlternate:
		m.walk(re.Sub[m.rng.IntN(len(re.Sub))])
	case syntax.OpStar:
		m.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		m.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		m.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		m.repeat(re.Sub[0], re.Min, re.Max)
	}
}

// repeat walks sub as often as it may be repeated; most is -1 for no bound.
func (m *matcher) repeat(sub *syntax.Regexp, least, most int) {
	if most < 0 {
		most = least + m.more
	}
	for range least + m.rng.IntN(most-least+1) {
		m.walk(sub)
	}
}

// class writes one of the runes of ranges, one that can be seen if there is any.
func (m *matcher) class(ranges []rune) {
	var seen, all []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		low, high := ranges[i], ranges[i+1]
		all = append(all, low, high)
		if low, high = max(low, '!'), min(high, '~'); low <= high {
			seen = append(seen, low, high)
		}
	}
	if len(seen) > 0 {
		all = seen
	}
	for range 100 {
		if len(all) == 0 {
			break
		}
		i := 2 * m.rng.IntN(len(all)/2)
		r := all[i] + m.rng.Int32N(all[i+1]-all[i]+1)
		if utf8.ValidRune(r) {
			m.out.WriteRune(r)
			return
		}
	}
	m.fail = true
}

// letter returns a rune that any text may have; sometimes one of several bytes.
func letter(rng *rand.Rand) rune {
	if rng.IntN(12) == 0 {
		return []rune("éßЖ漢😀")[rng.IntN(5)]
	}
	const plain = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return rune(plain[rng.IntN(len(plain))])
}

// word returns n lower-case letters.
func word(rng *rand.Rand, n int) string {
	b := make([]byte, max(n, 0))
	for i := range b {
		b[i] = byte('a' + rng.IntN(26))
	}
	return string(b)
}

// prose returns n runes that do not begin or end with a space.
func prose(rng *rand.Rand, n int) string {
	r := make([]rune, max(n, 0))
	for i := range r {
		for r[i] = letter(rng); unicode.IsSpace(r[i]) && (i == 0 || i == n-1); {
			r[i] = letter(rng)
		}
	}
	return string(r)
}
