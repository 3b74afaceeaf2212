package formtest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/beckon-mcp/beckon/form"
)

// brokenText breaks the rules of a text. They are looked at in this order, so that
// what breaks one obeys those before it.
func brokenText(r *form.FieldRules) []Scenario {
	b := boundsOf(r)
	var all []Scenario
	if r.MinLength != nil && b.least > 0 {
		all = append(all, unmet("too_short_text", "minLength", func(rng *rand.Rand) (any, bool) {
			return prose(rng, b.least-1), true
		}))
	}
	if r.MaxLength != nil && b.most < 100_000 && b.least <= b.most {
		all = append(all, unmet("too_long_text", "maxLength", func(rng *rand.Rand) (any, bool) {
			return prose(rng, b.most+1+rng.IntN(3)), true
		}))
	}
	if b.least > b.most {
		return all
	}
	if r.Pattern != "" {
		re := regexp.MustCompile(r.Pattern)
		all = append(all, unmet("pattern_mismatch", "pattern", func(rng *rand.Rand) (any, bool) {
			return odd(rng, b, func(s string) bool { return !re.MatchString(s) })
		}))
	}
	if r.Format != "" {
		all = append(all, unmet("invalid_format", "format", func(rng *rand.Rand) (any, bool) {
			if r.Pattern == "" {
				return odd(rng, b, func(s string) bool { return strings.ContainsAny(s, " !\x7f") || s == "" || s == "%" })
			}
			re := regexp.MustCompile(r.Pattern)
			for range 200 {
				// A space or a control character spoils every format.
				s, _ := match(rng, r.Pattern, max(b.least, 3))
				if s += " \x7f"; b.hold(s) && re.MatchString(s) {
					return s, true
				}
			}
			return nil, false
		}))
	}
	return all
}

// odd makes texts of the length, until one is good enough.
func odd(rng *rand.Rand, b bounds, good func(string) bool) (any, bool) {
	alphabets := []string{"!", " ", "abc", "ABC", "012", "-_.", "é漢", " !\x7f", "%", "aA0-!"}
	for i := range 300 {
		letters := []rune(alphabets[i%len(alphabets)])
		r := make([]rune, b.length(rng))
		for k := range r {
			r[k] = letters[rng.IntN(len(letters))]
		}
		if s := string(r); good(s) {
			return s, true
		}
	}
	if b.least == 0 && good("") {
		return "", true
	}
	return nil, false
}

// brokenNumber breaks the rules of a number. Inclusive bounds are looked at before
// exclusive ones, lower before upper, and multiples last.
func brokenNumber(r *form.FieldRules) []Scenario {
	all := []Scenario{{Name: "invalid_number", Code: form.CodeInvalidNumber, Constraint: "type", wrong: only("12a")}}
	low, high := rational(r.Minimum), rational(r.Maximum)
	lowOpen, highOpen := rational(r.ExclusiveMinimum), rational(r.ExclusiveMaximum)
	beyond := func(bound *big.Rat, sign int64) func(*rand.Rand) (any, bool) {
		return func(rng *rand.Rand) (any, bool) {
			x := big.NewRat(sign*(1+rng.Int64N(50)), 1+rng.Int64N(2))
			return json.RawMessage(decimal(x.Add(x, bound))), true
		}
	}
	if low != nil {
		all = append(all, unmet("below_minimum", "minimum", beyond(low, -1)))
	}
	if lowOpen != nil && (low == nil || low.Cmp(lowOpen) <= 0) {
		all = append(all, unmet("at_exclusive_minimum", "exclusiveMinimum", only(json.RawMessage(decimal(lowOpen)))))
	}
	s := spanOf(r)
	if s.pick(rand.New(rand.NewPCG(1, 1))) == nil {
		return all // nothing is valid, and so everything is wrong in several ways
	}
	if high != nil {
		all = append(all, unmet("above_maximum", "maximum", beyond(high, 1)))
	}
	if highOpen != nil && (high == nil || high.Cmp(highOpen) >= 0) {
		all = append(all, unmet("at_exclusive_maximum", "exclusiveMaximum", only(json.RawMessage(decimal(highOpen)))))
	}
	if s.step != nil {
		all = append(all, unmet("not_multiple", "multipleOf", func(rng *rand.Rand) (any, bool) { return between(rng, s) }))
	}
	return all
}

// between returns a number within the bounds that is no multiple.
func between(rng *rand.Rand, s span) (any, bool) {
	free := s
	free.step = nil
	for range 50 {
		x := s.pick(rng)
		if x == nil {
			return nil, false
		}
		half := new(big.Rat).Mul(s.step, big.NewRat(1-2*rng.Int64N(2), 2))
		if x.Add(x, half); free.holds(x) && !s.holds(x) {
			return json.RawMessage(decimal(x)), true
		}
	}
	return nil, false
}

// brokenDate breaks the rules of a date, by two days, as a bound may be of another
// time zone.
func brokenDate(r *form.FieldRules) []Scenario {
	layout, wrong := day, "2026-02-30"
	if r.Format == "date-time" {
		layout, wrong = "2006-01-02T15:04:05Z", "2026-02-30T12:00:00Z"
	}
	all := []Scenario{{Name: "invalid_date", Code: form.CodeInvalidDate, Constraint: "format", wrong: only(wrong)}}
	if first, ok := moment(r.Minimum); ok && first.Year() > 1 {
		all = append(all, unmet("before_minimum", "minimum", only(first.AddDate(0, 0, -2).Format(layout))))
	}
	if last, ok := moment(r.Maximum); ok && last.Year() < 9999 {
		all = append(all, unmet("after_maximum", "maximum", only(last.AddDate(0, 0, 2).Format(layout))))
	}
	return all
}

func notAnOption(field *form.Field) func(*rand.Rand) (any, bool) {
	return func(rng *rand.Rand) (any, bool) {
		s := word(rng, 12)
		for _, o := range field.Options {
			if o.Value == s {
				return nil, false
			}
		}
		return s, true
	}
}

// brokenChoice breaks the rules of a multiple choice.
func brokenChoice(field *form.Field, unique bool) []Scenario {
	values := make([]string, len(field.Options))
	for i, o := range field.Options {
		values[i] = o.Value
	}
	one := notAnOption(field)
	all := []Scenario{unmet("not_an_option", "enum", func(rng *rand.Rand) (any, bool) {
		s, ok := one(rng)
		return []any{s}, ok
	})}
	if unique && len(values) > 0 {
		all = append(all, unmet("duplicate_choice", "uniqueItems", only([]string{values[0], values[0]})))
	}
	some := func(n int) func(*rand.Rand) (any, bool) {
		return func(rng *rand.Rand) (any, bool) {
			chosen := make([]string, 0, n)
			for _, i := range rng.Perm(len(values))[:n] {
				chosen = append(chosen, values[i])
			}
			return chosen, true
		}
	}
	least := 0
	if n := field.Rules.MinItems; n != nil && *n > 0 && *n-1 <= len(values) {
		least = *n
		all = append(all, unmet("too_few_choices", "minItems", some(*n-1)))
	}
	if n := field.Rules.MaxItems; n != nil && *n < len(values) && *n+1 >= least {
		all = append(all, unmet("too_many_choices", "maxItems", some(*n+1)))
	}
	return all
}

// brokenURL breaks the rules of a URL: that it is one first, then its length, its
// scheme, and where it leads.
func brokenURL(r *form.FieldRules) []Scenario {
	all := []Scenario{{Name: "invalid_url", Code: form.CodeInvalidURL, Constraint: "format", wrong: only("no url")}}
	schemes := r.AllowedSchemes
	if schemes == nil {
		schemes = []string{"https"}
	}
	scheme := ""
	for _, s := range schemes {
		if !hostless(s) {
			scheme = s
			break
		}
	}
	fits := func(s string) func(*rand.Rand) (any, bool) {
		return func(*rand.Rand) (any, bool) { return s, r.MaxLength == nil || len(s) <= *r.MaxLength }
	}
	if r.MaxLength != nil && *r.MaxLength < 100_000 {
		all = append(all, unmet("too_long_url", "maxLength", func(rng *rand.Rand) (any, bool) {
			return schemes[0] + "://a.io/" + word(rng, *r.MaxLength), !hostless(schemes[0])
		}))
	}
	for _, s := range []string{"http", "ftp", "gopher", "wss"} {
		if !strings.Contains(" "+strings.ToLower(strings.Join(schemes, " "))+" ", " "+s+" ") {
			all = append(all, unmet("invalid_url_scheme", "allowedSchemes", fits(s+"://a.io")))
			break
		}
	}
	if on := r.BlockPrivateIPs; scheme != "" && (on == nil || *on) {
		all = append(all, unmet("invalid_url_private_ip", "blockPrivateIPs", func(rng *rand.Rand) (any, bool) {
			s := fmt.Sprintf("%s://%s", scheme, []string{"10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1"}[rng.IntN(4)])
			return s, r.MaxLength == nil || len(s) <= *r.MaxLength
		}))
	}
	if on := r.BlockLocalhost; scheme != "" && (on == nil || *on) {
		all = append(all, unmet("invalid_url_localhost", "blockLocalhost", fits(scheme+"://localhost")))
	}
	return all
}

// brokenFile breaks the rules of a file: size, extension, declared type, content.
func brokenFile(r *form.FieldRules) []Scenario {
	all := []Scenario{{Name: "invalid_file", Code: form.CodeInvalidFile, Constraint: "type", wrong: only(map[string]any{"filename": "a.txt"})}}
	elsewhere := func(change func(*upload)) func(*rand.Rand) (any, bool) {
		return func(rng *rand.Rand) (any, bool) {
			v, ok := file(rng, r)
			if !ok {
				return nil, false
			}
			u := v.(upload)
			u.Content = form.Reference{Type: "s3", Location: "bucket/file"}
			change(&u)
			return u, true
		}
	}
	size := int64(10 << 20)
	if r.MaxSize != nil {
		size = *r.MaxSize
	}
	all = append(all, unmet("file_too_large", "maxSize", elsewhere(func(u *upload) { u.Size = size + 1 })))
	if len(r.AllowedExtensions) > 0 {
		all = append(all, unmet("file_extension", "allowedExtensions", elsewhere(func(u *upload) { u.Filename = "file.zzz" })))
	}
	if len(r.AllowedMimeTypes) > 0 {
		all = append(all, unmet("file_type", "allowedMimeTypes", elsewhere(func(u *upload) { u.ContentType = "application/x-nothing" })))
	}
	return append(all, unmet("file_content", "contentType", func(rng *rand.Rand) (any, bool) {
		const program = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00\x01\x00\x00\x00"
		for range 20 {
			v, _ := file(rng, r)
			u, _ := v.(upload)
			_, here := u.Content.([]byte)
			if u.Content, u.Size = []byte(program), int64(len(program)); here && u.Size <= size {
				return u, true
			}
		}
		return nil, false
	}))
}
