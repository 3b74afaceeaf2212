// Package mirror knows the HTTP headers of the modern era that repeat what stands
// in the message, so that intermediaries can read it without the body: how they are
// written ([SetStandard], [Params.Set]) and how they are checked ([CheckStandard],
// [Params.Check]).
//
// Both sides of the gateway need it: the front checks what clients send, the back
// writes what backends get.
//
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata
package mirror
