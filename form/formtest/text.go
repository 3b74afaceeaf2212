package formtest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/beckon-mcp/beckon/form"
)

// bounds are how long a text may be, in runes.
type bounds struct{ least, most int }

func boundsOf(r *form.FieldRules) bounds {
	b := bounds{0, 1 << 20}
	if r.MinLength != nil {
		b.least = *r.MinLength
	}
	if r.MaxLength != nil {
		b.most = *r.MaxLength
	}
	return b
}

func (b bounds) hold(s string) bool {
	n := utf8.RuneCountInString(s)
	return b.least <= n && n <= b.most
}

// length returns how long a text could be: near the least, mostly.
func (b bounds) length(rng *rand.Rand) int {
	n := b.least + rng.IntN(1+min(max(b.most-b.least, 0), 16))
	if n == 0 && b.most > 0 && rng.IntN(4) > 0 {
		n = 1
	}
	return n
}

// text makes a text that obeys the rules; ok says whether it could.
func text(rng *rand.Rand, r *form.FieldRules) (s string, ok bool) {
	b := boundsOf(r)
	if b.least > b.most {
		return "", false
	}
	if r.Pattern != "" {
		return patterned(rng, r, b)
	}
	if r.Format == "" {
		return prose(rng, b.length(rng)), true
	}
	for range 200 {
		if s = formatted(rng, r.Format, b.length(rng)); b.hold(s) {
			return s, true
		}
	}
	return "", false
}

// patterned makes texts of a pattern, longer and longer ones, until one has the length.
// Where there is a format too, most are of the format, and may match the pattern.
func patterned(rng *rand.Rand, r *form.FieldRules, b bounds) (string, bool) {
	re, err := regexp.Compile(r.Pattern)
	if err != nil {
		return "", false
	}
	more := []int{0, 1, 3, 8, max(b.least, 20), 2 * max(b.least, 20)}
	for i := range 600 {
		var s string
		if r.Format != "" && i%4 > 0 {
			s = formatted(rng, r.Format, b.length(rng))
		} else {
			s, _ = match(rng, r.Pattern, more[i%len(more)])
			if n := b.least - utf8.RuneCountInString(s); n > 0 && i%2 == 0 {
				s += word(rng, n) // it is found anywhere in the text, if it has no anchors
			}
		}
		if b.hold(s) && re.MatchString(s) && (r.Format == "" || looksLike(r.Format, s)) {
			return s, true
		}
	}
	return "", false
}

// formatted makes a text of a format, of n runes where it can be.
func formatted(rng *rand.Rand, format string, n int) string {
	switch format {
	case "email":
		s := word(rng, min(max(1, n-len("@example.com")), 64)) + "@example.com"
		if n < len("a@example.com") {
			s = "a@" + word(rng, max(1, n-2))
		}
		for n > len(s)+1 && len(s) < 254 {
			s += "." + word(rng, min(n-len(s)-1, 60, 253-len(s)))
		}
		return s
	case "uri":
		if n < len("https://example.com/") {
			return "a:" + word(rng, max(1, n-2))
		}
		return "https://example.com/" + word(rng, n-len("https://example.com/"))
	case "uuid":
		return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", rng.Uint32(), rng.Uint32()&0xffff, rng.Uint32()&0xffff, rng.Uint32()&0xffff, rng.Uint64()&0xffffffffffff)
	case "ipv4":
		return fmt.Sprintf("%d.%d.%d.%d", number(rng, n), number(rng, n), number(rng, n), number(rng, n))
	case "ipv6":
		if n < 16 {
			return "::" + fmt.Sprintf("%x", rng.Uint32()&0xffff)
		}
		return fmt.Sprintf("2001:db8:%x:%x:%x:%x:%x:%x", rng.Uint32()&0xffff, rng.Uint32()&0xffff, rng.Uint32()&0xffff, rng.Uint32()&0xffff, rng.Uint32()&0xffff, rng.Uint32()&0xffff)
	case "hostname":
		s := word(rng, min(max(1, n), 60))
		for n > len(s)+1 && len(s) < 252 {
			s += "." + word(rng, min(n-len(s)-1, 60, 252-len(s)))
		}
		return s
	case "date":
		return fmt.Sprintf("20%02d-%02d-%02d", rng.IntN(100), 1+rng.IntN(12), 1+rng.IntN(28))
	case "date-time":
		s := fmt.Sprintf("20%02d-%02d-%02dT%02d:%02d:%02d", rng.IntN(100), 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60))
		if n > len(s)+2 {
			s += "." + strings.Repeat("5", n-len(s)-2)
		}
		return s + "Z"
	}
	return prose(rng, n)
}

// number returns one for an IPv4 address of about n runes.
func number(rng *rand.Rand, n int) int {
	if n <= 7 {
		return rng.IntN(10)
	}
	return 1 + rng.IntN(254)
}

// shapes are formats as far as what [match] makes may have them.
var shapes = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := make(map[string]*regexp.Regexp)
	for format, expr := range map[string]string{
		"email":     `^[a-zA-Z0-9_+-]{1,64}@[a-zA-Z0-9]{1,60}(\.[a-zA-Z0-9]{1,60}){0,3}$`,
		"uri":       `^[a-z]+:(//[a-z]+\.[a-z]+)?[a-z/]*$`,
		"uuid":      `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`,
		"ipv4":      `^(1?[1-9]?[0-9]\.){3}1?[1-9]?[0-9]$`,
		"ipv6":      `^(2001:db8(:(0|[1-9a-f][0-9a-f]{0,3})){6}|::[0-9a-f]{1,4})$`,
		"hostname":  `^[a-zA-Z0-9]{1,60}(\.[a-zA-Z0-9]{1,60}){0,3}$`,
		"date":      `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$`,
		"date-time": `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?Z$`,
	} {
		all[format] = regexp.MustCompile(expr)
	}
	return all
})

// looksLike reports whether s is of a format.
func looksLike(format, s string) bool {
	shape := shapes()[format]
	return shape == nil || shape.MatchString(s)
}
