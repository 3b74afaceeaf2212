//go:build race

package formtest_test

// The race detector makes the longest test several times slower and has little to find in
// it: it runs in full without it, in make test-plain.
const fewer = 4
