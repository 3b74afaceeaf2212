package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

const (
	// minToken is the length of the shortest bearer token that is accepted.
	minToken = 16

	// maxPrincipal is the length of the longest name of a principal, in bytes.
	maxPrincipal = 128
)

// hostName is what a name of a host may look like.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$`)

// bearerToken is what a header can carry as a bearer token: RFC 6750, b64token.
var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// validate holds the values against each other and against the world.
func (r *reader) validate(c *Config) {
	r.validateListen(c)
	r.validateTokens(c.Auth.Tokens)
	r.validateHosts(c.HTTP)
	r.validateKey("park.key", c.Park.Key)
	r.validateKey("park.previous_key", c.Park.PreviousKey)
	if c.Park.Key.Reveal() == "" && c.Park.PreviousKey.Reveal() != "" && r.known("park.key") {
		r.fault("park.previous_key", complain("set park.key", "there is a previous key and no current one"))
	}
	if f := c.Forms; f.MaxTotal < f.Timeout && r.known("forms.timeout") && r.known("forms.max_total") {
		r.fault("forms.max_total", complain("raise it, or lower forms.timeout", "less than forms.timeout, which is %s", formatDuration(f.Timeout)))
	}
	for i, b := range c.Backends {
		r.validateBackend(b, r.backends[i])
	}
}

// validateListen checks the address, and that it is not open to everybody by
// accident.
func (r *reader) validateListen(c *Config) {
	if !r.known("listen") {
		return
	}
	hint := `host:port, as in "127.0.0.1:7878" or ":7878"`
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil || port == "" || !isHost(host) && host != "" {
		r.reject("listen", complain(hint, "expected an address to listen on, found %s", quoteShort(c.Listen)))
		return
	}
	if err := checkPort(port); err != nil {
		r.reject("listen", err.(complaint))
		return
	}
	if !isLoopback(host) && len(c.Auth.Tokens) == 0 && r.known("auth") && r.known("auth.tokens") &&
		!c.Insecure && r.known("insecure") {
		r.fault("listen", complain(`add auth.tokens, or listen on "127.0.0.1:`+port+`"; insecure: true lets everybody in`,
			"other machines can reach %s, and nobody has to authenticate", c.Listen))
	}
}

// isLoopback reports whether only this machine reaches the host. An empty host
// is every address of the machine.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost")
	}
	return addr.Unmap().IsLoopback()
}

// isHost reports whether host is an IP address or may be a name.
func isHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || len(host) <= 253 && hostName.MatchString(host)
}

// validateTokens checks that tokens are hard to guess and tell principals apart.
func (r *reader) validateTokens(tokens []Token) {
	first := map[string]string{}
	for i, t := range tokens {
		at := fmt.Sprintf("auth.tokens[%d]", i)
		if !r.known(at) {
			continue
		}
		r.validatePrincipal(t.Principal, at+".principal")
		path, text := at+".token", t.Token.Reveal()
		hint := "openssl rand -hex 32 makes a good one"
		switch {
		case !r.known(path):
		case !r.isSet(path):
			r.fault(at, complain(hint, "has no token"))
		case len(text) < minToken:
			r.fault(path, complain(hint, "shorter than %d characters", minToken))
		case !bearerToken.MatchString(text):
			r.fault(path, complain(hint, "holds characters that a bearer token cannot have"))
		case first[text] != "":
			r.fault(path, complain("give each principal a token of its own", "the same token as %s", first[text]))
		default:
			first[text] = path
		}
	}
}

// validatePrincipal checks a name that will stand in logs.
func (r *reader) validatePrincipal(name, path string) {
	switch {
	case !r.known(path):
	case name == "":
		r.fault(path, complain("the name of who connects with it, as in principal: alice", "has no principal"))
	case len(name) > maxPrincipal:
		r.fault(path, complain("", "longer than %d bytes", maxPrincipal))
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsGraphic(c) }) || strings.TrimSpace(name) != name:
		r.fault(path, complain("", "holds characters that cannot be seen"))
	}
}

// validateHosts checks the hosts and origins that are let in.
func (r *reader) validateHosts(h HTTP) {
	for i, text := range h.AllowedHosts {
		at := fmt.Sprintf("http.allowed_hosts[%d]", i)
		host, port := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), ""
		if name, digits, err := net.SplitHostPort(text); err == nil {
			host, port = name, digits
		}
		if r.known(at) && (!isHost(host) || checkPort(port) != nil) {
			r.fault(at, complain("a name such as beckon.example.com, with or without :port; there are no wildcards",
				"expected a host, found %s", quoteShort(text)))
		}
	}
	for i, text := range h.AllowedOrigins {
		at := fmt.Sprintf("http.allowed_origins[%d]", i)
		if r.known(at) && !isOrigin(text) {
			r.fault(at, complain("as in https://app.example.com, without a path; there are no wildcards",
				"expected an origin, found %s", quoteShort(text)))
		}
	}
}

// isOrigin reports whether text is what a browser sends as Origin: scheme, host
// and perhaps a port.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && isHost(u.Hostname()) && checkPort(u.Port()) == nil &&
		u.Scheme+"://"+u.Host == text
}

// minKey is the length of the shortest secret that seals, in characters.
const minKey = 32

// validateKey checks that a secret which seals is hard to guess.
func (r *reader) validateKey(path string, key Secret) {
	if text := key.Reveal(); text != "" && len(text) < minKey && r.known(path) {
		r.fault(path, complain("make one with openssl rand -hex 32", "the key is shorter than %d characters", minKey))
	}
}
