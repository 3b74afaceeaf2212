package form

import (
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// reach is what a host can lead to that is none of a stranger's business, as far as
// its spelling tells. Nothing is resolved: a name that leads to a private address is
// for whoever connects to look at, at that moment.
type reach uint8

const (
	local   reach = 1 << iota // this machine
	private                   // a network that is not the public one, or an address that is for nobody
	unclear                   // programs disagree about what it means, so that any check of it is worth nothing

	public reach = 0
)

// reachOf classifies the host of a URL: a name, or an address in any of the spellings
// that some program takes for one.
func reachOf(host string) reach {
	host, ok := foldHost(host)
	if !ok {
		return unclear
	}
	if literal, ok := strings.CutPrefix(host, "["); ok {
		host, ok = strings.CutSuffix(literal, "]")
		if !ok || !strings.Contains(host, ":") {
			return unclear
		}
	}
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil || a.Zone() != "" { // a zone is a network interface, and so never public
			return unclear
		}
		return reachOfAddr(a)
	}
	host = strings.TrimRight(host, ".")
	if host == "" || strings.ContainsAny(host, "]") {
		return unclear
	}
	switch {
	case isLocalName(host):
		return local
	case isPrivateName(host):
		return private
	}
	return reachOfNumbers(host)
}

// foldHost maps characters as IDNA does where that can turn them into a digit, a dot
// or an ASCII letter: ①②⑦.⓪.⓪.①, ｌｏｃａｌｈｏｓｔ, 127。0。0。1. It refuses
// characters that end a host for some programs.
func foldHost(s string) (string, bool) {
	for i := range len(s) {
		if s[i] >= 0x80 {
			s = norm.NFKC.String(s)
			s = norm.NFKC.String(strings.Map(foldRune, s))
			break
		}
	}
	s = strings.ToLower(s)
	for _, r := range s {
		if endsHost(r) {
			return s, false
		}
	}
	return s, true
}

// endsHost reports whether r cannot be in a host.
func endsHost(r rune) bool {
	switch {
	case r >= 0x80:
		return unicode.IsSpace(r) || r == unicode.ReplacementChar
	case r <= ' ':
		return true
	}
	switch r {
	case '"', '#', '%', '/', '<', '>', '?', '@', '\\', '^', '`', '{', '|', '}', 0x7f:
		return true
	}
	return false
}

func foldRune(r rune) rune {
	switch {
	case r == '。':
		return '.'
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return unicode.ToLower(r)
}

// isLocalName reports whether a name means this machine.
//
// "The domain "localhost." and any names falling within ".localhost." are special"
// https://www.rfc-editor.org/rfc/rfc6761#section-6.3
//
// The others stand in the hosts files of common systems.
func isLocalName(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch last {
	case "localhost", "localdomain", "localdomain4", "localdomain6":
		return true
	}
	switch host {
	case "localhost4", "localhost6", "ip6-localhost", "ip6-loopback":
		return true
	}
	return false
}

// isPrivateName reports whether a name is reserved for networks that are not the
// public one, such as that at which clouds tell a machine its credentials. Any other
// name may lead there as well, and nobody can tell by its spelling.
//
// .local: https://www.rfc-editor.org/rfc/rfc6762#section-3
// .home.arpa: https://www.rfc-editor.org/rfc/rfc8375
// .internal: https://www.icann.org/en/board-activities-and-meetings/materials/approved-resolutions-special-meeting-of-the-icann-board-29-07-2024-en
func isPrivateName(host string) bool {
	host = "." + host
	return strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".home.arpa") || strings.HasSuffix(host, ".internal")
}

// reachOfNumbers classifies a host without colons: a name is public; what ends in a
// number is an IPv4 address, for which the C library, and browsers after it, take
// one to four numbers, decimal, octal and hexadecimal. Others read 010 as ten: such
// a host is whatever any of them makes of it.
//
// "If the last item in parts ... consists solely of ASCII digits ... return true"
// https://url.spec.whatwg.org/#ends-in-a-number-checker
func reachOfNumbers(host string) reach {
	if last := host[strings.LastIndexByte(host, '.')+1:]; countDigits(last) != len(last) {
		if _, ok := parsePart(last, true); !ok {
			return public
		}
	}
	a, err := netip.ParseAddr(host)
	if err == nil {
		return reachOfAddr(a)
	}
	r := unclear
	for _, octal := range []bool{true, false} {
		if a, ok := parseNumbers(host, octal); ok {
			r |= reachOfAddr(a)
		}
	}
	return r
}

// parseNumbers reads an IPv4 address of one to four numbers. The last fills what the
// others leave: 127.1 is 127.0.0.1.
func parseNumbers(host string, octal bool) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var whole uint64
	for i, part := range parts {
		n, ok := parsePart(part, octal)
		room := 8
		if i == len(parts)-1 {
			room = 8 * (4 - i)
		}
		if !ok || n >= 1<<room {
			return netip.Addr{}, false
		}
		whole = whole<<room | n
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}), true
}

// parsePart reads one number, at most of 32 bits; larger ones come out larger than
// that.
func parsePart(s string, octal bool) (uint64, bool) {
	base := uint64(10)
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		s, base = digits, 16
		if s == "" {
			return 0, true
		}
	} else if octal && len(s) > 1 && s[0] == '0' {
		base = 8
	}
	var n uint64
	for i := range len(s) {
		digit := uint64(16)
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digit = uint64(c - '0')
		case 'a' <= c && c <= 'f':
			digit = uint64(c-'a') + 10
		}
		if digit >= base {
			return 0, false
		}
		n = min(n*base+digit, 1<<33)
	}
	return n, s != ""
}

// reserved are the IPv4 networks that are not public.
// https://www.iana.org/assignments/iana-ipv4-special-registry
var reserved = []struct {
	prefix netip.Prefix
	reach  reach
}{
	{netip.MustParsePrefix("0.0.0.0/8"), local | private}, // 0.0.0.0 connects to this machine
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), private}, // behind a carrier's NAT
	{netip.MustParsePrefix("127.0.0.0/8"), local},
	{netip.MustParsePrefix("169.254.0.0/16"), private}, // link, and the metadata of clouds
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.0.0.0/24"), private},
	{netip.MustParsePrefix("192.0.2.0/24"), private}, // documentation
	{netip.MustParsePrefix("192.88.99.0/24"), private},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("198.18.0.0/15"), private}, // benchmarks
	{netip.MustParsePrefix("198.51.100.0/24"), private},
	{netip.MustParsePrefix("203.0.113.0/24"), private},
	{netip.MustParsePrefix("224.0.0.0/3"), private}, // multicast, reserved, broadcast
}

// reserved6 are the networks within 2000::/3 that are not public. Outside of it
// nothing is.
// https://www.iana.org/assignments/iana-ipv6-special-registry
var reserved6 = []netip.Prefix{
	netip.MustParsePrefix("2001::/23"), // Teredo and other protocols
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("3fff::/20"),
}

// reachOfAddr classifies an address. One that carries an IPv4 address is at most as
// public as that.
func reachOfAddr(a netip.Addr) reach {
	a = a.Unmap()
	if a.Is4() {
		for _, r := range reserved {
			if r.prefix.Contains(a) {
				return r.reach
			}
		}
		return public
	}
	switch {
	case a.IsUnspecified():
		return local | private
	case a.IsLoopback():
		return local
	}
	b := a.As16()
	var r reach
	for _, carried := range carriers {
		if carried.prefix.Contains(a) {
			r |= reachOfAddr(netip.AddrFrom4([4]byte(b[carried.at:])))
			if carried.public {
				return r
			}
		}
	}
	// "The interface identifier ... 24-bit IANA OUI (00-00-5E) ... type FE"
	// https://www.rfc-editor.org/rfc/rfc5214#section-6.1
	if b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
		r |= reachOfAddr(netip.AddrFrom4([4]byte(b[12:])))
	}
	if b[0]>>5 != 1 {
		r |= private
	}
	for _, p := range reserved6 {
		if p.Contains(a) {
			r |= private
		}
	}
	return r
}

// carriers are the IPv6 networks whose addresses carry an IPv4 address.
var carriers = []struct {
	prefix netip.Prefix
	at     int  // byte at which it stands
	public bool // nothing else makes such an address private
}{
	{netip.MustParsePrefix("::/96"), 12, false},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12, false}, // IPv4-translated
	{netip.MustParsePrefix("64:ff9b::/96"), 12, true},     // NAT64
	{netip.MustParsePrefix("2002::/16"), 2, true},         // 6to4
}
