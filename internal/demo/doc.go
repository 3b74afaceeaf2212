// Package demo is what `beckon demo` shows: a real backend that asks in the
// middle of a call, and a client at the terminal that lets a person answer. Both
// are made with the MCP Go SDK and know nothing of Beckon, which stands between
// them like between any other two.
package demo
