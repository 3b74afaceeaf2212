package mirror

import (
	"encoding/base64"
	"errors"
	"strings"
)

const sentinelStart, sentinelEnd = "=?base64?", "?="

// Encode writes a value so that it can stand in a header.
//
// "When a value cannot be safely represented as a plain ASCII header value (e.g.,
// it contains non-ASCII characters, control characters, or has leading/trailing
// whitespace), clients MUST use Base64 encoding of the UTF-8 representation."
// "clients MUST also Base64-encode any plain-ASCII value that matches the sentinel
// pattern"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
func Encode(value string) string {
	if plain(value) && strings.Trim(value, " \t") == value && !encoded(value) {
		return value
	}
	return sentinelStart + base64.StdEncoding.EncodeToString([]byte(value)) + sentinelEnd
}

// Decode reads what [Encode] wrote. It refuses what no header may hold, and
// Base64 that is none.
//
// "These markers are case-sensitive and MUST appear exactly as shown (lowercase).
// Servers and intermediaries that need to inspect these values MUST decode them
// accordingly."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
func Decode(header string) (string, error) {
	if !plain(header) {
		return "", errors.New("it holds characters that no header may hold")
	}
	if !encoded(header) {
		return header, nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(header[len(sentinelStart) : len(header)-len(sentinelEnd)])
	if err != nil {
		return "", errors.New("it is marked as Base64 and is none")
	}
	return string(b), nil
}

func encoded(s string) bool {
	return len(s) >= len(sentinelStart)+len(sentinelEnd) &&
		strings.HasPrefix(s, sentinelStart) && strings.HasSuffix(s, sentinelEnd)
}

// plain reports whether s has only characters that a header value may have.
//
// "HTTP header field values must consist of visible ASCII characters (0x21-0x7E),
// space (0x20), and horizontal tab (0x09)."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 || c > 0x7e) && c != '\t' {
			return false
		}
	}
	return true
}
