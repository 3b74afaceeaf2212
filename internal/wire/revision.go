package wire

import "slices"

// Revision is a dated revision of the protocol, as peers write it.
type Revision string

// The revisions that Beckon speaks.
const (
	R20241105 Revision = "2024-11-05" // HTTP+SSE, sampling, roots
	R20250326 Revision = "2025-03-26" // streamable HTTP, batches
	R20250618 Revision = "2025-06-18" // elicitation, the version header
	R20251125 Revision = "2025-11-25" // elicitation by URL, tasks, resumable polling
	R20260728 Revision = "2026-07-28" // stateless: no handshake, no sessions, input_required
)

// Legacy lists the revisions of the legacy era that Beckon speaks, oldest first.
func Legacy() []Revision {
	return []Revision{R20241105, R20250326, R20250618, R20251125}
}

// Modern lists the revisions of the modern era that Beckon speaks, oldest first.
func Modern() []Revision { return []Revision{R20260728} }

// Supported lists all revisions that Beckon speaks, newest first, as the modern
// era tells them.
func Supported() []Revision {
	all := append(Legacy(), Modern()...)
	slices.Reverse(all)
	return all
}

// IsModern reports whether r belongs to the modern era, whether Beckon speaks it
// or not.
func (r Revision) IsModern() bool { return r.Since(R20260728) }

// Latest is the newest revision that Beckon offers in an initialize handshake.
const Latest = R20251125

// Known reports whether r is a revision with a handshake that Beckon speaks.
func (r Revision) Known() bool { return slices.Contains(Legacy(), r) }

// Since reports whether r is from or later. Revisions are dates, so that their
// order is the order of their text. Whatever is no date, the zero Revision
// included, is since nothing: peers write what they like into a header.
func (r Revision) Since(from Revision) bool { return r.dated() && r >= from }

func (r Revision) dated() bool {
	const shape = "0000-00-00"
	if len(r) != len(shape) {
		return false
	}
	for i := range len(r) {
		if digit := '0' <= r[i] && r[i] <= '9'; digit != (shape[i] == '0') || !digit && r[i] != '-' {
			return false
		}
	}
	return true
}

// Negotiate returns the revision with which to answer a client that asks for
// want.
//
// "If the server supports the requested protocol version, it MUST respond with
// the same version. Otherwise, the server MUST respond with another protocol
// version it supports. This SHOULD be the latest version supported by the
// server."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
func Negotiate(want Revision) Revision {
	if want.Known() {
		return want
	}
	return Latest
}
