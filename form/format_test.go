package form

import (
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// oracles are schemas that check one format each.
var oracles = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := make(map[string]*jsonschema.Schema)
	for _, f := range formats {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("x:"+f.name, map[string]any{"format": f.name}); err != nil {
			panic(err)
		}
		all[f.name] = c.MustCompile("x:" + f.name)
	}
	return all
})

// oracle is the verdict of an independent implementation.
func oracle(format, s string) bool { return oracles()[format].Validate(s) == nil }

// R87: the formats. Where want and the independent implementation differ, it takes
// signs for digits.
func TestFormats(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, tt := range []struct {
		format    string
		good, bad []string
	}{
		{"email", []string{"ada@example.org", "a+b.c@x", `"a b"@example.org`, "a@[192.0.2.1]", "a@[IPv6:2001:db8::1]", "@example.org", long(64) + "@x.org"},
			[]string{"", "ada", "ada@", ".a@x.org", "a.@x.org", "a..b@x.org", "a b@x.org", "a@x_y.org", "a@-x.org", `"a"b"@x.org`, "a@[::1]",
				"a@[192.0.2.256]", "ä@x.org", "a@ä.org", long(65) + "@x.org", "a@" + long(63) + "." + long(63) + "." + long(63) + "." + long(63), "a@x..org"}},
		{"uri", []string{"https://example.org", "mailto:a@b", "urn:x:y", "http://[::1]/", "x:", "https://example.org:99999/", "https://ä.example/"},
			[]string{"", "/a", "example.org", "//example.org", "http://[::1", "http://a:b:c/", "http://[fe80::1%25eth0]/", "https://a b/", "1:x", "http://%31/", "a\nb:", "https://a/%zz"}},
		{"uuid", []string{"123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"},
			[]string{"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", "{123e4567-e89b-12d3-a456-42661417400}", "123e4567-e89b-12d3-a456-4266141740000"}},
		{"ipv4", []string{"0.0.0.0", "255.255.255.255", "192.0.2.1"}, []string{"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.0.0.0", "1.2.3.-4", "1..2.3", "0x7f.0.0.1", "::1"}},
		{"ipv6", []string{"::", "::1", "2001:db8::1", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8"}, []string{"", "1.2.3.4", ":::", "1:2:3:4:5:6:7", "fe80::1%eth0", "[::1]", "g::", "1::2::3"}},
		{"hostname", []string{"a", "a.b", "a-b.c1", "EXAMPLE.org.", "1", "xn--nxasmq6b", long(63)}, []string{"", ".", "-a", "a-", "a..b", "a_b", "ä", "a b", long(64), "a.b..", strings.Repeat("a.", 127) + "ab"}},
	} {
		for _, s := range tt.good {
			if !formatOf(tt.format).valid(s) || !oracle(tt.format, s) {
				t.Errorf("%s %q is refused; want it taken", tt.format, s)
			}
		}
		for _, s := range tt.bad {
			if formatOf(tt.format).valid(s) || oracle(tt.format, s) {
				t.Errorf("%s %q is taken; want it refused", tt.format, s)
			}
		}
	}
	for _, s := range []string{"+1.2.3.4", "1.2.3.+4"} {
		if isIPv4(s) || !oracle("ipv4", s) {
			t.Errorf("ipv4 %q: the oracle is better than was thought, or we are worse", s)
		}
	}
}

// Every verdict on a format is that of an independent implementation.
func TestFormatsAgree(t *testing.T) {
	pieces := []string{"a", "Z", "0", "1", "19", "255", "256", ".", "..", ":", "::", "-", "@", "[", "]", "/", "//", "https", "mailto", `"`, " ", "%", "25", "ä", "IPv6:", "f", "00", "_", "?", "#", "\\", "2001:db8::1", "example.org", "192.0.2.1"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 9).Draw(t, "pieces"), "")
		for _, f := range formats {
			if got, want := f.valid(s), oracle(f.name, s); got != want {
				t.Fatalf("%s %q: %v, want %v", f.name, s, got, want)
			}
		}
	})
}
