package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// environment stands in [Fault.File] for the environment of the process.
const environment = "environment"

// Fault is one thing that is wrong with a configuration, and where.
type Fault struct {
	// The name of the file, or "environment" for a variable.
	File string

	// Where in the file, counted from 1, columns in characters. Both are zero
	// for a variable, and when the fault has no place.
	Line, Column int

	// The path of the key, as in backends.github.url, or the name of the
	// variable. Empty when the fault is not about a key.
	Key string

	// What is wrong, in lower case. It never quotes a secret.
	Problem string

	// What to do about it. May be empty.
	Hint string
}

// String is file:line:column: key: problem, and the hint on a second line.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	if f.Key != "" {
		b.WriteString(": " + f.Key)
	}
	b.WriteString(": " + f.Problem)
	if f.Hint != "" {
		b.WriteString("\n  hint: " + f.Hint)
	}
	return b.String()
}

// Faults are all the faults of a configuration, those of the file first, in
// the order of their positions. As an error it is never empty.
type Faults []Fault

// Error lists the faults, each on a line of its own with its hint below.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// sorted gives the faults in the order in which they are reported, without
// repetitions.
func (f Faults) sorted() Faults {
	f = slices.Clone(f)
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(min(b.Line, 1), min(a.Line, 1)),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
		)
	})
	return slices.Compact(f)
}

// complaint is what is wrong with a value, before it is known where the value
// stands.
type complaint struct {
	// What is wrong, and what to do about it; the latter may be empty.
	problem, hint string
}

// Error is what is wrong.
func (c complaint) Error() string { return c.problem }

// complain makes a complaint with a hint out of a format.
func complain(hint, format string, args ...any) complaint {
	return complaint{problem: fmt.Sprintf(format, args...), hint: hint}
}

// maxQuoted is how many bytes of a wrong value a fault repeats.
const maxQuoted = 40

// quoteShort quotes a wrong value for a fault, cut when it is long.
func quoteShort(text string) string {
	if len(text) <= maxQuoted {
		return strconv.Quote(text)
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(text[:cut]) + "…"
}
