package form

import (
	"net/netip"
	"net/url"
	"strings"
)

// format is a format that a text can have, and how it is described to a person.
type format struct {
	name  string
	what  string
	valid func(string) bool
}

// formats are those that this package checks.
var formats = []format{
	{"email", "an email address, such as ada@example.org", isEmail},
	{"uri", "an absolute URL, such as https://example.org/page", isURI},
	{"uuid", "a UUID, such as 123e4567-e89b-12d3-a456-426614174000", isUUID},
	{"ipv4", "an IPv4 address, such as 192.0.2.1", isIPv4},
	{"ipv6", "an IPv6 address, such as 2001:db8::1", isIPv6},
	{"hostname", "a host name, such as www.example.org", isHostname},
	{"date", "a date that exists, such as 2026-02-28", isDate},
	{"date-time", "a date and time with its zone, such as 2026-02-28T15:04:05Z", isDateTime},
}

// formatOf returns the format of a name, or nil.
func formatOf(name string) *format {
	for _, f := range formats {
		if f.name == name {
			return &f
		}
	}
	return nil
}

func isDate(s string) bool {
	_, ok := parseDate(s)
	return ok
}

func isDateTime(s string) bool {
	_, ok := parseDateTime(s)
	return ok
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	return true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// isHostname reports whether s is labels of letters, digits and hyphens.
//
// "one aspect of host name syntax is hereby changed: the restriction on the first
// character is relaxed to allow either a letter or a digit"
// https://www.rfc-editor.org/rfc/rfc1123#page-13
func isHostname(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if !isAlphanumeric(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// isEmail reports whether s is an address as RFC 5321 has it, in ASCII: a local part
// of words with dots between them, or quoted, and a host name or an address literal.
func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 0 || len(s) > 254 || at > 64 {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if !isLocalPart(local) {
		return false
	}
	if literal, ok := strings.CutPrefix(domain, "["); ok && strings.HasSuffix(literal, "]") {
		literal = strings.TrimSuffix(literal, "]")
		if v6, ok := strings.CutPrefix(literal, "IPv6:"); ok {
			return isIPv6(v6)
		}
		return isIPv4(literal)
	}
	return isHostname(domain)
}

func isLocalPart(s string) bool {
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		return !strings.ContainsAny(s[1:len(s)-1], `"\`)
	}
	if strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") || strings.Contains(s, "..") {
		return false
	}
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && strings.IndexByte(".!#$%&'*+-/=?^_`{|}~", s[i]) < 0 {
			return false
		}
	}
	return true
}

func isURI(s string) bool {
	_, ok := parseURI(s)
	return ok
}

// parseURI reads an absolute URI. An IPv6 address in it is in brackets, and one.
func parseURI(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	if err != nil || !u.IsAbs() {
		return nil, false
	}
	if host := u.Hostname(); strings.Contains(host, ":") && (!isIPv6(host) || !strings.HasPrefix(u.Host, "[")) {
		return nil, false
	}
	return u, true
}
