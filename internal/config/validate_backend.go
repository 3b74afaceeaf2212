package config

import (
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// backendName is what a backend may be called: fit for a path, for a log, and
// for standing in front of [Separator].
var backendName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// headerName is the token of RFC 9110, section 5.6.2.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// ownHeaders are set by Beckon itself, from the protocol or the connection.
var ownHeaders = []string{
	"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Last-Event-Id",
	"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "Transfer-Encoding", "Upgrade",
}

// validateBackend checks one backend, whose path is at.
func (r *reader) validateBackend(b Backend, at string) {
	if !backendName.MatchString(b.Name) {
		hint := "1 to 32 of a-z, 0-9 and -, beginning with a letter or digit"
		if name := plainName(b.Name); name != "" {
			hint += "; " + name + " would do"
		}
		r.fault(at, complaint{"not a name for a backend", hint})
	}
	if !r.known(at) {
		return
	}
	command, url := r.isSet(at+".command"), r.isSet(at+".url")
	switch {
	case command && url:
		r.fault(at, complaint{"has both command and url", "a backend is either started (command) or called (url)"})
	case !command && !url:
		r.fault(at, complaint{"has neither command nor url", "command starts a program, url calls a server"})
	default:
		r.validateOnly(at)
	}
	if command && r.known(at+".command") && strings.TrimSpace(b.Command) == "" {
		r.fault(at+".command", complaint{"is empty", "the program to start, as in npx"})
	}
	r.validateEnv(b.Env, at+".env")
	r.validateHeaders(b.Headers, at+".headers")
}

// validateOnly refuses keys that mean nothing for this kind of backend.
func (r *reader) validateOnly(at string) {
	for _, f := range fieldsOf(reflect.TypeFor[Backend]()) {
		if f.only != "" && !r.isSet(join(at, f.only)) && r.isSet(join(at, f.key)) {
			other := map[string]string{"command": "url", "url": "command"}[f.only]
			r.fault(join(at, f.key), complain("remove it", "means nothing beside %s; it belongs to %s", other, f.only))
		}
	}
}

// validateEnv checks that the variables can be given to a program.
func (r *reader) validateEnv(env map[string]Secret, at string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		path := join(at, name)
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			r.fault(path, complaint{"not the name of a variable", "a name without ="})
		case strings.ContainsRune(env[name].Reveal(), 0):
			r.fault(path, complaint{"the value contains a NUL character, which no program can be given", ""})
		}
	}
}

// validateHeaders checks that the headers can be sent.
func (r *reader) validateHeaders(headers map[string]Secret, at string) {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		path, header := join(at, name), http.CanonicalHeaderKey(name)
		switch {
		case !headerName.MatchString(name):
			r.fault(path, complaint{"not the name of a header", "letters, digits and -, as in Authorization"})
		case slices.Contains(ownHeaders, header):
			r.fault(path, complaint{"Beckon sets this header itself", "remove it"})
		case seen[header]:
			r.fault(path, complaint{"the same header stands here in another spelling", "keep one of them"})
		case !isHeaderValue(headers[name].Reveal()):
			r.fault(path, complaint{"the value cannot be sent in a header", "one line, without space at its ends"})
		}
		seen[header] = true
	}
}

// isHeaderValue reports whether a header can carry value: RFC 9110, section
// 5.5, without the obsolete line folding.
func isHeaderValue(value string) bool {
	return strings.TrimSpace(value) == value &&
		!strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7F })
}
