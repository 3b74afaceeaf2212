package front

import (
	"net/http"
	"strings"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// API serves the paths under /api/, which are none of the protocol, behind the
// same checks of Host and Origin and the same authentication.
type API interface {
	// Serve serves a request of principal, "" where nobody has to tell who they are.
	// The connection has a deadline for reading the body, which Serve takes away
	// once it has read that. It may take as long as it likes.
	Serve(w http.ResponseWriter, r *http.Request, principal string)

	// Refuse answers a request that the front does not let through, in the form that
	// callers of the API know. It returns when it has written that.
	Refuse(w http.ResponseWriter, r *http.Request, status int, err *wire.Error)

	// Close ends what is in progress, and makes Serve refuse what comes then. It is
	// called when the gateway stops, after the last call has ended, and does not
	// wait.
	Close()
}

// ofAPI reports whether a path is one of the API.
func (h *HTTP) ofAPI(path string) bool {
	return h.o.API != nil && strings.HasPrefix(path, "/api/")
}

// refuse answers a request that is not let through.
func (h *HTTP) refuse(w http.ResponseWriter, r *http.Request, f *refusal) {
	if h.ofAPI(r.URL.Path) {
		h.o.API.Refuse(w, r, f.status, f.err)
		return
	}
	f.send(w)
}

// serveAPI serves a request of the API, by whom it may come from.
func (h *HTTP) serveAPI(w http.ResponseWriter, r *http.Request, principal string) {
	if h.open {
		principal = "" // a name that everybody has is no name
	}
	h.o.API.Serve(w, r, principal)
}
