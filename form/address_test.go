package form

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// R117, C21: every spelling of a host that some program takes for an address that is
// not public.
func TestReachOf(t *testing.T) {
	for want, hosts := range map[reach][]string{
		local: {
			"localhost", "LOCALHOST", "LocalHost.", "localhost..", "a.localhost", "a.b.localhost.", "localhost.localdomain", "x.localdomain", "ip6-localhost", "ip6-loopback", "localhost6",
			"localhost6.localdomain6", "ｌｏｃａｌｈｏｓｔ", "loc\u00adalhost", "local\u200dhost", "locaⓛhost", "𝓁ocalhost", "localho\u017ft", "localhost。", "a．localhost", "localhost\ufe0f",
			"127.0.0.1", "127.255.255.255", "127.0.0.1.", "[::1]", "::1", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]",
			"127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "１２７.0.0.1", "①②⑦.⓪.⓪.①", "¹²⁷.0.0.1", "𝟭𝟮𝟳.𝟬.𝟬.𝟭", "127\u00ad.0.0.1",
		},
		local | unclear: {
			"127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.0.0.1", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.0x1", "127.0.0.01", "0x7f.0.0.0x1.",
			"０ｘ７ｆ.1", "127。1", "127.0.0x000001",
		},
		local | private: {"0.0.0.0", "0.1.2.3", "[::]", "[::ffff:0.0.0.0]", "[::2]", "0.0.0.0."},
		private: {
			"metadata.google.internal", "METADATA.google.internal.", "host.docker.internal", "printer.local", "local", "nas.home.arpa", "ｐｒｉｎｔｅｒ。local",
			"10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.1", "192.0.2.1", "192.88.99.1",
			"198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
			"[fc00::1]", "[fdff::1]", "[fe80::1]", "[febf::1]", "[fec0::1]", "[ff02::1]", "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]",
			"[2002:a00:1::]", "[2002:c0a8:101::1]", "[2001:db8::1]", "[2001::1]", "[3fff::1]", "[100::1]", "[5f00::1]", "[::8.8.8.8]", "[::ffff:0:8.8.8.8]", "[4000::1]",
			"[2a00::5efe:10.0.0.1]", "[2a00::200:5efe:192.168.0.1]", "FE80::1", "[FD00::1]",
		},
		local | private | unclear: {"0", "08", "0x0", "00", "0x", "0.0", "0000.0000", "0x.0x.0x"},
		private | unclear:         {"10.1", "0xa.0.0.1", "012.0.0.1", "010.8.8.8", "010.010.010.010", "167772161", "192.168.257", "0300.0250.0.1", "3232235777", "0xc0a80101", "0xA9FEA9FE", "2852039166", "169.254.43518"},
		unclear: {
			"", ".", "..", "256.0.0.1", "1.2.3.4.5", "127.0.0.1.5", "1.2.3.999", "4294967296", "0x100000000", "1.2.3.08", "1..2", "127..1", ".1", "1.2.3.", "9.16777216", "a.b.09", "a.0x7f", "99999999999999999999",
			"8.8.8.010", "8.8.8.0x8.", "1.1", "134744072", "0x08080808", "8.8", "a%41", "a b", "a/b", "a@b", "a#b", "a?b", "a\\b", "a\x00b", "a\tb", "a\nb", "a／b", "a＠b", "a：b", "a℀b", "a％b", "[", "]", "[]", "[::1", "::1]", "[127.0.0.1]",
			"[localhost]", "[fe80::1%eth0]", "fe80::1%25eth0", "[::g]", "1:2", "[1:2]", "\ufffd", "a\u2028b", "\u00ad", "a]b",
		},
		public: {
			"example.org", "example.org.", "EXAMPLE.ORG", "localhost.example.org", "notlocalhost", "xlocalhost", "localhost-1", "127.0.0.1.example.org", "10.example", "1a", "0xg", "a.0xg", "münchen.example", "例え.jp", "xn--nxasmq6b",
			"8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
			"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "８.8.8.8",
			"[2606:4700:4700::1111]", "[2a00:1450::1]", "[::ffff:8.8.8.8]", "[64:ff9b::8.8.8.8]", "[2002:808:808::1]", "a_b.example", "intranet", "internal.example", "notlocal", "a.xlocal", "arpa", "home.arpa.example",
		},
	} {
		for _, host := range hosts {
			if got := reachOf(host); got != want {
				t.Errorf("reachOf(%q) = %03b, want %03b", host, got, want)
			}
		}
	}
}

// spellings are ways to write four bytes that C libraries and browsers read alike.
var spellings = []func(a uint32) string{
	func(a uint32) string { return fmt.Sprintf("%d.%d.%d.%d", a>>24, a>>16&255, a>>8&255, a&255) },
	func(a uint32) string { return fmt.Sprintf("%d.%d.%d.%d.", a>>24, a>>16&255, a>>8&255, a&255) },
	func(a uint32) string { return fmt.Sprintf("%d.%d.%d", a>>24, a>>16&255, a&0xffff) },
	func(a uint32) string { return fmt.Sprintf("%d.%d", a>>24, a&0xffffff) },
	func(a uint32) string { return fmt.Sprint(a) },
	func(a uint32) string { return fmt.Sprintf("0x%08x", a) },
	func(a uint32) string { return fmt.Sprintf("0X%X.0x%x.%d.0%o", a>>24, a>>16&255, a>>8&255, a&255) },
	func(a uint32) string { return fmt.Sprintf("%#o", a) },
	func(a uint32) string { return fmt.Sprintf("0%o.0%o.0%o.0%o", a>>24, a>>16&255, a>>8&255, a&255) },
	func(a uint32) string { return fmt.Sprintf("000%o.0x000%x.%d.%d", a>>24, a>>16&255, a>>8&255, a&255) },
	func(a uint32) string { return fmt.Sprintf("[::ffff:%x:%x]", a>>16, a&0xffff) },
	func(a uint32) string { return fmt.Sprintf("[0:0:0:0:0:FFFF:%X:%X]", a>>16, a&0xffff) },
	func(a uint32) string { return fmt.Sprintf("[::%x:%x]", a>>16, a&0xffff) },
	func(a uint32) string { return fmt.Sprintf("[64:ff9b::%x:%x]", a>>16, a&0xffff) },
	func(a uint32) string { return fmt.Sprintf("[2002:%x:%x::1]", a>>16, a&0xffff) },
	func(a uint32) string {
		return strings.Map(func(r rune) rune { return r - '0' + '０' }, fmt.Sprint(a))
	},
	func(a uint32) string {
		return strings.ReplaceAll(fmt.Sprintf("%d.%d.%d.%d", a>>24, a>>16&255, a>>8&255, a&255), ".", "。")
	},
}

// C21
func TestNoSpellingHides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(reserved).Draw(t, "network")
		b := r.prefix.Addr().As4()
		base := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		a := base | rapid.Uint32().Draw(t, "host")&(1<<(32-r.prefix.Bits())-1)
		host := rapid.SampledFrom(spellings).Draw(t, "spelling")(a)
		if got := reachOf(host); got&r.reach == 0 {
			t.Fatalf("reachOf(%q) = %03b, want %03b of %v", host, got, r.reach, r.prefix)
		}
	})
}

// browserAddress reads an IPv4 address as the URL standard says, step by step and
// with no thought of speed.
// https://url.spec.whatwg.org/#concept-ipv4-parser
func browserAddress(host string) (netip.Addr, bool) {
	parts := strings.Split(strings.ToLower(host), ".")
	if parts[len(parts)-1] == "" && len(parts) > 1 {
		parts = parts[:len(parts)-1]
	}
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var numbers []uint64
	for _, p := range parts {
		var n uint64
		var err error
		switch {
		case p == "" || strings.ContainsAny(p, "+-_"):
			return netip.Addr{}, false
		case p == "0x":
		case strings.HasPrefix(p, "0x"):
			n, err = strconv.ParseUint(p[2:], 16, 64)
		case len(p) > 1 && p[0] == '0':
			n, err = strconv.ParseUint(p[1:], 8, 64)
		default:
			n, err = strconv.ParseUint(p, 10, 64)
		}
		if err != nil {
			return netip.Addr{}, false
		}
		numbers = append(numbers, n)
	}
	last := numbers[len(numbers)-1]
	if last >= 1<<(8*(5-len(numbers))) {
		return netip.Addr{}, false
	}
	for i, n := range numbers[:len(numbers)-1] {
		if n > 255 {
			return netip.Addr{}, false
		}
		last += n << (8 * (3 - i))
	}
	return netip.AddrFrom4([4]byte{byte(last >> 24), byte(last >> 16), byte(last >> 8), byte(last)}), true
}

// notPublic is what the standard library has to say of an address.
func notPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsPrivate() || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() || !a.IsGlobalUnicast()
}

// FuzzAddress holds that whatever the standard library or a browser reads as an
// address that is not public is not taken for public; and that no URL gets such a
// host past the check.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"localhost", "127.1", "0x7f.1", "[::1]", "[fe80::1%25eth0]", "10.0.0.1.", "①.1", "a@b", "2130706433", "%31", "", "example.org:80", "[::ffff:7f00:1]", "0300.0xa8.1", "[64:ff9b::a00:1]", "127。1"} {
		f.Add(s)
	}
	p := &plan{Field: &Field{ID: "u", Type: URL}, name: "U", schemes: []string{"https"}, blocks: local | private}
	f.Fuzz(func(t *testing.T, host string) {
		got := reachOf(host)
		if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err == nil && notPublic(a) && got == public {
			t.Errorf("%q is %v, and taken for public", host, a)
		}
		if a, ok := browserAddress(host); ok && notPublic(a) && got == public {
			t.Errorf("%q is %v to a browser, and taken for public", host, a)
		}
		e := p.constrainURL("https://" + host + "/")
		if e != nil {
			return
		}
		name, _, _ := strings.Cut(host, ":")
		if i := strings.IndexAny(host, "/?#"); i >= 0 {
			name, _, _ = strings.Cut(host[:i], ":")
		}
		if a, ok := browserAddress(name); ok && notPublic(a) {
			t.Errorf("https://%s/ leads a browser to %v", host, a)
		}
		if strings.ContainsAny(name, "@\\ \t\r\n") {
			t.Errorf("https://%s/ passes", host)
		}
	})
}

// R92, R117: URLs. Nothing is resolved or fetched.
func TestReadURL(t *testing.T) {
	readAll(t, `"type":"url"`, []readTest{
		good(Coerce, `"https://api.example.com/webhook?a=b#c"`, `"https://api.example.com/webhook?a=b#c"`), good(Strict, `"HTTPS://example.org:8443"`, `"HTTPS://example.org:8443"`),
		good(Strict, `"https://8.8.8.8/"`, `"https://8.8.8.8/"`), good(Strict, `"https://[2606:4700:4700::1111]:443/"`, `"https://[2606:4700:4700::1111]:443/"`), good(Coerce, `""`, ``),
		good(Strict, `"https://münchen.example/ä"`, `"https://münchen.example/ä"`), good(Strict, `"https://example.org/a@b:c"`, `"https://example.org/a@b:c"`),
		bad(Coerce, `1`, CodeType, "type", ""), bad(Strict, `""`, CodeInvalidURL, "format", "must be an absolute URL"),
		bad(Coerce, `"example.org"`, CodeInvalidURL, "format", "must be an absolute URL, such as"), bad(Coerce, `"//example.org/"`, CodeInvalidURL, "format", ""), bad(Coerce, `"/a"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https://"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https:///a"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https:example.org"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https:/example.org"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://:443/"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://?a"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https://example.org:/"`, CodeInvalidURL, "format", "a port from 1 to 65535"), bad(Coerce, `"https://example.org:0/"`, CodeInvalidURL, "format", "a port"),
		bad(Coerce, `"https://example.org:65536/"`, CodeInvalidURL, "format", "a port"), bad(Coerce, `"https://example.org:0443/"`, CodeInvalidURL, "format", "a port"), bad(Coerce, `"https://example.org:a/"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https://example.org@10.0.0.1/"`, CodeInvalidURL, "format", "before the host, which hides"), bad(Coerce, `"https://a:b@example.org/"`, CodeInvalidURL, "format", "before the host"),
		bad(Coerce, `"https://@example.org/"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://a@b@example.org/"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https://example.org\\@10.0.0.1/"`, CodeInvalidURL, "format", "backslashes"), bad(Coerce, `"https:\\\\example.org"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https://exa\tmple.org/"`, CodeInvalidURL, "format", "without spaces"), bad(Coerce, `"https://example.org/\n"`, CodeInvalidURL, "format", ""), bad(Coerce, `" https://example.org/"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https://example.org/a b"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://example.org/\u0000"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://example.org/\u00a0"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https://%31%30.0.0.1/"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://%6cocalhost/"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://[fe80::1%25eth0]/"`, CodeInvalidURL, "format", ""),
		bad(Coerce, `"https://[::1/"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://[10.0.0.1]/"`, CodeInvalidURL, "format", ""), bad(Coerce, `"https://1.2.3.4.5/"`, CodeInvalidURL, "format", "as it is usually written"),
		bad(Coerce, `"https://134744072/"`, CodeInvalidURL, "format", "as it is usually written"), bad(Coerce, `"https://example.org%00.evil/"`, CodeInvalidURL, "format", ""),
		bad(Strict, `"http://example.org/"`, CodeConstraint, "allowedSchemes", "must begin with https:"), bad(Strict, `"javascript:alert(1)"`, CodeInvalidURL, "format", ""), bad(Strict, `"file:///etc/passwd"`, CodeConstraint, "allowedSchemes", ""),
		bad(Strict, `"data:text/html,x"`, CodeInvalidURL, "format", ""), bad(Strict, `"mailto:a@b.org"`, CodeConstraint, "allowedSchemes", ""),
		bad(Strict, `"https://192.168.1.1/webhook"`, CodeConstraint, "blockPrivateIPs", "must not lead to a private address, and leads to 192.168.1.1"),
		bad(Strict, `"https://[::ffff:10.0.0.1]/"`, CodeConstraint, "blockPrivateIPs", "leads to [::ffff:10.0.0.1]"), bad(Strict, `"https://167772161/"`, CodeConstraint, "blockPrivateIPs", ""),
		bad(Strict, `"https://%E2%91%A0%30.0.0.1/"`, CodeInvalidURL, "format", ""), bad(Strict, `"https://①0.0.0.1/"`, CodeConstraint, "blockPrivateIPs", ""), bad(Strict, `"https://%E2%91%A00.0.0.1/"`, CodeConstraint, "blockPrivateIPs", ""),
		bad(Strict, `"https://169.254.169.254/latest"`, CodeConstraint, "blockPrivateIPs", ""), bad(Strict, `"https://0.0.0.0/"`, CodeConstraint, "blockPrivateIPs", ""),
		bad(Strict, `"https://localhost/"`, CodeConstraint, "blockLocalhost", "must not lead to this machine, and leads to localhost"), bad(Strict, `"https://127.1:8080/"`, CodeConstraint, "blockLocalhost", ""),
		bad(Strict, `"https://[::1]/"`, CodeConstraint, "blockLocalhost", ""), bad(Strict, `"https://a.localhost./"`, CodeConstraint, "blockLocalhost", ""), bad(Strict, `"https://ｌocalhost/"`, CodeConstraint, "blockLocalhost", ""),
	})
	readAll(t, `"type":"url","validation":{"allowedSchemes":["http","https","mailto"],"maxLength":30}`, []readTest{
		good(Strict, `"http://example.org/"`, `"http://example.org/"`), good(Strict, `"mailto:a@b.org"`, `"mailto:a@b.org"`),
		bad(Strict, `"ftp://example.org/"`, CodeConstraint, "allowedSchemes", "must begin with http: or https: or mailto:"), bad(Strict, `"http://example.org/23456789012345"`, CodeConstraint, "maxLength", "and has 33"),
		bad(Strict, `"http:example.org"`, CodeInvalidURL, "format", ""),
	})
	readAll(t, `"type":"url","validation":{"blockLocalhost":false}`, []readTest{
		good(Strict, `"https://localhost:8080/"`, `"https://localhost:8080/"`), good(Strict, `"https://127.0.0.1/"`, `"https://127.0.0.1/"`), good(Strict, `"https://[::1]/"`, `"https://[::1]/"`),
		bad(Strict, `"https://10.0.0.1/"`, CodeConstraint, "blockPrivateIPs", ""), bad(Strict, `"https://0.0.0.0/"`, CodeConstraint, "blockPrivateIPs", ""),
		bad(Strict, `"https://127.1/"`, CodeInvalidURL, "format", "as it is usually written"),
	})
	readAll(t, `"type":"url","validation":{"blockPrivateIPs":false}`, []readTest{
		good(Strict, `"https://10.0.0.1/"`, `"https://10.0.0.1/"`), good(Strict, `"https://[fd00::1]/"`, `"https://[fd00::1]/"`),
		bad(Strict, `"https://127.0.0.1/"`, CodeConstraint, "blockLocalhost", ""), bad(Strict, `"https://0.0.0.0/"`, CodeConstraint, "blockLocalhost", ""), bad(Strict, `"https://[::]/"`, CodeConstraint, "blockLocalhost", ""),
	})
	readAll(t, `"type":"url","validation":{"blockPrivateIPs":false,"blockLocalhost":false}`, []readTest{
		good(Strict, `"https://127.1/"`, `"https://127.1/"`), good(Strict, `"https://0x7f000001/"`, `"https://0x7f000001/"`), bad(Strict, `"https://a@127.0.0.1/"`, CodeInvalidURL, "format", ""),
	})
}
