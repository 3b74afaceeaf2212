// Package formtest tests forms, and programs that ask them.
//
// [Valid] makes answers that a form takes, whatever the form; [Scenarios] lists how
// answers to it can be wrong, and [Invalid] makes answers that are wrong in just that
// way. A [Person] treats a question as people do: answers at once, errs and corrects,
// never answers, or too late. [AssertValid] and [AssertErrors] look at the verdict,
// and [Measure] at how long it took. [Comprehensive] and [Minimal] are forms to begin
// with.
//
// What is answered depends on the given source of randomness alone, so that a failure
// comes again. Answers are made from the rules of a form, and only then shown to it:
// a check that is missing in it is an error of [Invalid].
package formtest
