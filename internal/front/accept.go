package front

import (
	"net/http"
	"strings"
)

// accepted is what a client takes as the response to a request.
type accepted struct{ json, events bool }

// acceptOf reads the Accept header. A client that sends none takes everything.
//
// "The client MUST include an Accept header, listing both application/json and
// text/event-stream as supported content types."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
//
// One that lists only the first gets JSON and cannot be asked on that stream; one
// that lists only the second gets event streams.
func acceptOf(r *http.Request) accepted {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return accepted{true, true}
	}
	var a accepted
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			switch mediaType(item) {
			case "*/*":
				a.json, a.events = true, true
			case typeJSON, "application/*":
				a.json = true
			case typeEvents, "text/*":
				a.events = true
			}
		}
	}
	return a
}

// mediaType returns a media type without parameters, in lower case.
func mediaType(value string) string {
	value, _, _ = strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(value))
}
