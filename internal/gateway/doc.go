// Package gateway is the composition root: it makes a running Beckon out of a
// configuration, and is the only package that knows all others. It holds what
// lives as long as the process: the guard of the children, the connections to
// HTTP backends, the audit file and the metrics.
package gateway
