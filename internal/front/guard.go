package front

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard refuses requests that a web page of somebody else made a browser send.
//
// "Servers MUST validate the Origin header on all incoming connections to prevent
// DNS rebinding attacks. If the Origin header is present and invalid, servers
// MUST respond with HTTP 403 Forbidden."
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
//
// After rebinding, the Origin of a page is the gateway's own; only its Host tells
// that the name is a stranger's. So both are checked.
type guard struct {
	hosts   map[string]bool
	origins map[string]bool
}

func newGuard(hosts, origins []string) guard {
	g := guard{hosts: make(map[string]bool), origins: make(map[string]bool)}
	for _, h := range hosts {
		g.hosts[strings.ToLower(h)] = true
	}
	for _, o := range origins {
		g.origins[strings.ToLower(strings.TrimSuffix(o, "/"))] = true
	}
	return g
}

// check lets a request pass, or says why not. It tells the browser of an allowed
// page what that may read.
func (g guard) check(w http.ResponseWriter, r *http.Request) *refusal {
	if !g.host(r) {
		return refused(http.StatusForbidden, reasonOrigin, "the Host header names no host of this gateway").
			hint("use the address that the gateway listens on, or allow the name in its configuration")
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if !g.origin(origin, r.Host) {
		return refused(http.StatusForbidden, reasonOrigin, "requests from the origin of this web page are not allowed").
			hint("allow the origin in the configuration of the gateway")
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	return nil
}

// preflight answers the question of a browser whether a page may send a request.
func preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	h.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// host reports whether the Host header names this gateway: the loopback
// interface, the very address that was connected to, or a name that is allowed.
func (g guard) host(r *http.Request) bool {
	name := hostname(r.Host)
	if isLoopback(name) || g.hosts[name] {
		return true
	}
	want, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return local != nil && local.AddrPort().Addr().Unmap().WithZone("") == want.Unmap()
}

// origin reports whether a page from there may call: a page of the gateway
// itself, of the same machine when the gateway was called by a name of the
// loopback interface, or one that is allowed.
func (g guard) origin(origin, host string) bool {
	if g.origins[strings.ToLower(origin)] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return strings.EqualFold(u.Host, host) ||
		isLoopback(hostname(u.Host)) && isLoopback(hostname(host))
}

// hostname returns the host of a Host header without port, brackets and the dot
// at the end, in lower case.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		hostport = host
	}
	hostport = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	return strings.ToLower(strings.TrimSuffix(hostport, "."))
}

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}
