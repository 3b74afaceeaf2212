// Package house holds the project's own rules as tests: which package may import
// which, how big files and functions may grow, which words are avoided, what
// every requirement and every invariant is tested by. A rule that only a person
// remembers is broken within a month.
//
// Each rule is one test, and says what to do when it fails. Where a rule has
// exceptions, they are listed beside it with a reason, and an exception that is
// no longer needed fails the test too, so that the lists only shrink.
//
// The rules read source text by go/parser, without types and without building,
// so that all of them together take about a second. There is nothing to import
// here.
package house
