package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// say tells a person something on standard error. Forms, answers and gateways are
// quoted in it, and what somebody else wrote must not steer the terminal, or turn the
// direction of writing.
func (p *program) say(format string, args ...any) {
	fmt.Fprint(p.err, harmless(fmt.Sprintf(format, args...)))
}

// harmless writes characters that are not seen as their numbers: \x1b, \u202e. Those
// that join others stay.
func harmless(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d', unicode.IsPrint(r), unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
