package form

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// RE2 matches in time proportional to the length of the text, whatever the pattern;
// but also to the size of the pattern, counted repetitions written out. So that is
// bounded.
const (
	maxPatternLength = 4096   // bytes
	maxPatternSize   = 5000   // steps of the compiled pattern, roughly: a{100} has 100
	maxPatternSizes  = 50_000 // of all patterns of a form together

	// maxMatching is how many steps the patterns of a form may take with the answers of
	// one submission, by their size and the length of the texts: about a second.
	maxMatching = 20_000_000
)

// compilePattern compiles an RE2 expression that stands at path. Patterns in JSON
// Schema are those of ECMA-262, which differs little where both can say something;
// what RE2 cannot say is refused, with the reason.
func compilePattern(path, expr string) (*regexp.Regexp, *Fault) {
	if len(expr) > maxPatternLength {
		return nil, &Fault{path, fmt.Sprintf("the pattern is %d bytes long; %d are possible", len(expr), maxPatternLength),
			"write a shorter pattern; minLength and maxLength bound a length better than a pattern"}
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		message, fix := explainPattern(err)
		return nil, &Fault{path, fmt.Sprintf("the pattern %s %s", quoted(expr), message), fix}
	}
	if patternSize(tree) > maxPatternSize {
		return nil, &Fault{path, fmt.Sprintf("the pattern %s is too large with its repetitions written out", quoted(expr)),
			"repeat less often, or use + and *; minLength and maxLength bound a length better than a pattern"}
	}
	re, err := regexp.Compile(expr)
	if err != nil { // a limit that Parse does not know
		return nil, &Fault{path, fmt.Sprintf("the pattern %s cannot be compiled: %v", quoted(expr), err), "write a simpler pattern"}
	}
	return re, nil
}

// sizeOfPattern is the size of an expression; 0 of none, and of one that cannot be
// compiled.
func sizeOfPattern(expr string) int {
	if expr == "" || len(expr) > maxPatternLength {
		return 0
	}
	return matchingSize(expr)
}

// matchingSize is the size of an expression, however long; 0 of what is none.
func matchingSize(expr string) int {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0
	}
	return patternSize(tree)
}

// looks adds the patterns of a condition to those of the fields that it looks at.
func (p *program) looks(t *test) {
	if t.pattern != nil {
		p.fields[t.field].matching += matchingSize(t.pattern.String())
	}
	for i := range t.tests {
		p.looks(&t.tests[i])
	}
}

// match counts what the patterns that look at s will take, and refuses what is too
// much of it.
func (r *submission) match(p *plan, s string) *Error {
	if r.matching += p.matching * len(s); r.matching <= maxMatching {
		return nil
	}
	return p.fail(CodeTooLarge, "pattern", nil, len(s), "is too long to be compared with its pattern: it has %d bytes", len(s))
}

// patternSize estimates how many steps the compiled pattern has.
func patternSize(re *syntax.Regexp) int {
	size := 0
	for _, sub := range re.Sub {
		size += patternSize(sub)
	}
	switch re.Op {
	case syntax.OpRepeat:
		return size * max(re.Min, re.Max, 1)
	case syntax.OpLiteral:
		return len(re.Rune)
	}
	return size + 1
}

// explainPattern says why RE2 does not take a pattern, and what to do.
func explainPattern(err error) (message, fix string) {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return "is not valid", "write a simpler pattern"
	}
	switch e.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		return explainGroup(e.Expr)
	case syntax.ErrInvalidEscape:
		return explainEscape(e.Expr)
	case syntax.ErrInvalidRepeatOp:
		return fmt.Sprintf("repeats a repetition (%s), which RE2 does not have: it never goes back, so that nothing needs to be possessive", e.Expr),
			"leave out the second sign"
	case syntax.ErrInvalidRepeatSize:
		return fmt.Sprintf("repeats more than 1000 times, or from more to less (%s), which RE2 does not do", e.Expr),
			"repeat at most 1000 times, and use minLength and maxLength for the length"
	case syntax.ErrMissingBracket:
		return "has a [ without its ]", `close the class with ], or write \[ for the character; for any character at all write (?s:.)`
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return "has parentheses that do not match", `give each ( its ), or write \( and \) for the characters`
	case syntax.ErrTrailingBackslash:
		return `ends with a single \`, `write \\ for the character, which is "\\\\" in JSON`
	case syntax.ErrMissingRepeatArgument:
		return fmt.Sprintf("has nothing that %s could repeat", e.Expr), `write what is repeated before it, or \` + e.Expr + " for the character"
	case syntax.ErrInvalidCharRange, syntax.ErrInvalidCharClass:
		return fmt.Sprintf("has a range or class that RE2 does not know: %s", e.Expr), `write ranges from low to high, as a-z, and classes such as \d, \pL or [[:alpha:]]`
	case syntax.ErrInvalidUTF8:
		return "is no valid UTF-8", "write the pattern in UTF-8"
	}
	return fmt.Sprintf("is not valid: %s", e.Code), "write a simpler pattern"
}

// explainGroup explains a group that RE2 does not have; expr begins with it.
func explainGroup(expr string) (message, fix string) {
	for _, g := range []struct{ prefix, name string }{
		{"(?=", "a lookahead"}, {"(?!", "a negative lookahead"},
		{"(?<=", "a lookbehind"}, {"(?<!", "a negative lookbehind"},
	} {
		if strings.HasPrefix(expr, g.prefix) {
			return fmt.Sprintf("has %s (%s…), which RE2 cannot express", g.name, g.prefix),
				"say what the whole value looks like without it; for several demands at once, use minLength, maxLength or format for some of them"
		}
	}
	if strings.HasPrefix(expr, "(?>") {
		return "has an atomic group (?>…), which RE2 does not have", "write (?:…): RE2 never goes back, so that the group is not needed"
	}
	return fmt.Sprintf("has a group that RE2 does not know: %s", clip(expr, 20)), "write (?:…) for a group without a name, (?P<name>…) for one with a name"
}

// explainEscape explains an escape that RE2 does not have.
func explainEscape(expr string) (message, fix string) {
	switch c := strings.TrimPrefix(expr, `\`); {
	case c >= "1" && c <= "9", c == "k":
		return fmt.Sprintf("has a backreference (%s…), which RE2 cannot express", expr), "write out what is repeated"
	case c == "u":
		return `has an escape \u, which RE2 does not have`, `write the character itself, or \x{1F600} with its number`
	case c == "c":
		return `has an escape \c, which RE2 does not have`, `write \x and two hexadecimal digits, such as \x01`
	case c == "b":
		return `has \b within a class, where RE2 does not know it`, `write \x08 for a backspace`
	case c == "Z":
		return `has an escape \Z, which RE2 does not have`, `write \z or $ for the end`
	}
	return fmt.Sprintf("has an escape that RE2 does not know: %s", expr), "write the character without the backslash, or its number as \\x{…}"
}

// quoted is s in quotes for a message, shortened.
func quoted(s string) string { return fmt.Sprintf("%q", clip(s, 60)) }

// clip shortens s to about so many characters.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
