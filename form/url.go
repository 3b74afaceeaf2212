package form

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// constrainURL looks at a URL. Nothing is resolved or fetched: a name that leads to a
// private address passes, and whoever connects must look at where it leads.
func (p *plan) constrainURL(s string) *Error {
	u, why := parseURL(s)
	if u == nil {
		return p.badURL(s, why)
	}
	if e := p.constrainText(s); e != nil { // its length
		return e
	}
	if !slices.ContainsFunc(p.schemes, func(scheme string) bool { return strings.EqualFold(scheme, u.Scheme) }) {
		return p.unmet("allowedSchemes", p.schemes, p.shown(u.Scheme), "must begin with %s", strings.Join(p.schemes, ": or ")+":")
	}
	return p.constrainHost(u)
}

func (p *plan) badURL(s, why string) *Error {
	return p.fail(CodeInvalidURL, "format", "uri", p.shown(s), "must be %s", why)
}

// constrainHost looks where a URL leads.
func (p *plan) constrainHost(u *url.URL) *Error {
	host := u.Hostname()
	if p.blocks == public || host == "" {
		return nil
	}
	if strings.HasPrefix(u.Host, "[") {
		host = "[" + host + "]"
	}
	switch at := reachOf(host); {
	case at&p.blocks&private != 0:
		return p.unmet("blockPrivateIPs", "public IP", p.shown(host), "must not lead to a private address%s", p.and("leads to %s", host))
	case at&p.blocks&local != 0:
		return p.unmet("blockLocalhost", "public host", p.shown(host), "must not lead to this machine%s", p.and("leads to %s", host))
	case at&unclear != 0:
		return p.badURL(host, "a URL whose host is a name, or an address as it is usually written, such as 192.0.2.1")
	}
	return nil
}

// parseURL reads an absolute URL that every program reads alike; otherwise it says
// what a URL must be.
func parseURL(s string) (*url.URL, string) {
	const usual = "an absolute URL, such as https://example.org/page"
	for _, r := range s {
		if dropped(r) {
			return nil, "a URL without spaces, line breaks and backslashes" // browsers drop some, and take others for slashes
		}
	}
	u, ok := parseURI(s)
	switch {
	case !ok:
		return nil, usual
	case u.User != nil: // https://example.org@198.51.100.1/
		return nil, "a URL without a name or password before the host, which hides where it leads"
	case u.Host == "" && !hostless(u.Scheme), u.Host != "" && u.Hostname() == "":
		return nil, usual
	case strings.HasSuffix(u.Host, ":"), !isPort(u.Port()):
		return nil, "a URL with a port from 1 to 65535, or none"
	}
	return u, ""
}

// dropped reports whether some program leaves r out of a URL, or takes it for another.
func dropped(r rune) bool {
	if r < 0x80 {
		return r <= ' ' || r == 0x7f || r == '\\'
	}
	return unicode.IsSpace(r) || unicode.IsControl(r)
}

// hostless reports whether URLs of a scheme have no host.
func hostless(scheme string) bool {
	switch scheme {
	case "mailto", "tel", "sms", "urn", "file":
		return true
	}
	return false
}

func isPort(s string) bool {
	if s == "" {
		return true
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && s[0] != '0'
}
