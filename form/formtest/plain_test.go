//go:build !race

package formtest_test

const fewer = 1
