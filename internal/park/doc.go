// Package park carries calls of modern clients whose backend is legacy.
package park
