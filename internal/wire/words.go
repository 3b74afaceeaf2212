package wire

import "slices"

// MayAsk reports whether a request for this method may be answered by asking its
// client for input. It is so in both eras: in the legacy one, questions nest in the
// same requests.
//
// "Servers MAY send InputRequiredResult responses on the following client requests:
// […] Servers MUST NOT send InputRequiredResult responses on any other client
// requests."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#supported-requests
func MayAsk(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// Severity tells how severe a log level is, from 0 for debug to 7 for emergency; -1
// for what is no level, the empty text included.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#log-levels
func Severity(level string) int {
	levels := [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	return slices.Index(levels[:], level)
}
