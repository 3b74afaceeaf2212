package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parse is Parse for sources without a fault.
func parse(t *testing.T, source string, environ ...string) Config {
	t.Helper()
	c, err := Parse("test.yaml", []byte(source), environ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantFaults checks that a source is refused with exactly these problems.
func wantFaults(t *testing.T, source string, environ []string, want ...string) {
	t.Helper()
	_, err := Parse("test.yaml", []byte(source), environ)
	var got []string
	if faults, ok := err.(Faults); ok {
		for _, f := range faults {
			got = append(got, f.Key+": "+f.Problem)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse(%q) (-want +got):\n%s", source, diff)
	}
}

func TestDefault(t *testing.T) {
	for name, source := range map[string]string{
		"nothing": "", "null": "null", "comment": "# x", "empty object": "{}", "marks": "\uFEFF---\n", "headings": "http:\ninput: {}\nbackends:\n",
	} {
		if diff := cmp.Diff(Default(), parse(t, source)); diff != "" {
			t.Errorf("%s: a configuration other than the default (-want +got):\n%s", name, diff)
		}
	}
}

// R67, R68, R69, R70
func TestInputDefaults(t *testing.T) {
	in := Default().Input
	if got, want := in.Elicitation && in.Sampling && in.Roots, true; got != want {
		t.Errorf("elicitation, sampling and roots = %v, want %v", got, want)
	}
	if got, want := in.Timeout.Seconds(), 60.0; got != want {
		t.Errorf("input.timeout = %v s, want %v s", got, want)
	}
	if got, want := in.MaxConcurrent, 10000; got != want {
		t.Errorf("input.max_concurrent = %v, want %v", got, want)
	}
	if got, want := in.MaxPerSession, 100; got != want {
		t.Errorf("input.max_per_session = %v, want %v", got, want)
	}
}

func TestListen(t *testing.T) {
	const open = "and nobody has to authenticate"
	const token = "\nauth: {tokens: [{principal: a, token: 0123456789abcdef}]}"
	for _, test := range []struct {
		listen, rest, problem string
	}{
		{"127.0.0.1:0", "", ""},
		{"127.8.9.1:80", "", ""},
		{"localhost:65535", "", ""},
		{"LOCALHOST:1", "", ""},
		{"[::1]:1", "", ""},
		{"[::ffff:127.0.0.1]:1", "", ""},
		{":1", "", open},
		{"0.0.0.0:1", "", open},
		{"[::]:1", "", open},
		{"10.0.0.1:1", "", open},
		{"localhost.example.com:1", "", open},
		{"[::ffff:10.0.0.1]:1", "", open},
		{":1", "\ninsecure: true", ""},
		{":1", token, ""},
		{":1", "\nauth: {tokens: []}", open},
		{"127.0.0.1", "", "expected an address to listen on"},
		{"127.0.0.1:", "", "expected an address to listen on"},
		{"127.0.0.1:65536", "", "the port is not a number"},
		{"127.0.0.1:http", "", "the port is not a number"},
		{"127.0.0.1:080", "", "the port is not a number"},
		{"http://localhost:1", "", "expected an address to listen on"},
		{"a b:1", "", "expected an address to listen on"},
		{"", "", "expected an address to listen on"},
	} {
		_, err := Parse("test.yaml", []byte("listen: "+quote(test.listen)+test.rest), nil)
		switch {
		case test.problem == "" && err != nil:
			t.Errorf("listen %q%s: %v", test.listen, test.rest, err)
		case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
			t.Errorf("listen %q%s: error %v, want %q", test.listen, test.rest, err, test.problem)
		}
	}
}

// A fault in the tokens is not answered with the advice to add some.
func TestListenWithFaultyTokens(t *testing.T) {
	wantFaults(t, "listen: \":1\"\nauth: {tokens: x}", nil,
		"auth.tokens: expected a list of mappings, as in [{key: value}], found a text")
	wantFaults(t, "listen: \":1\"\nauth: x", nil, "auth: expected a mapping (key: value), found a text")
}

func TestBackendsKeepTheirOrder(t *testing.T) {
	c := parse(t, "backends:\n  z: {command: a}\n  10: {command: a}\n  a: {url: http://x}\n  9-b: {command: a}\n")
	var got []string
	for _, b := range c.Backends {
		got = append(got, b.Name)
	}
	if want := []string{"z", "10", "a", "9-b"}; !slices.Equal(got, want) {
		t.Errorf("backends in the order %q, want %q", got, want)
	}
}

func TestBackendNames(t *testing.T) {
	long := strings.Repeat("x", 32)
	for name, want := range map[string]bool{
		"a": true, "0": true, "a-": true, long: true,
		"": false, "-a": false, "A": false, "a_b": false, "a__b": false, "a.b": false, "ä": false, long + "x": false,
	} {
		_, err := Parse("test.yaml", []byte("backends: {"+quote(name)+": {command: a}}"), nil)
		if got := err == nil; got != want {
			t.Errorf("backend %q accepted: %v, want %v (%v)", name, got, want, err)
		}
	}
}

func TestExpand(t *testing.T) {
	environ := []string{"A=one", "EMPTY=", "BRACE=${A}", "LINES=x: 1\ny: 2", "A=two", "BAD=\xff"}
	for text, want := range map[string]string{
		"${A}":            "two",
		"x${A}y${A}":      "xtwoytwo",
		"${NONE:-b c}":    "b c",
		"${EMPTY:-b}":     "b",
		"[${EMPTY}]":      "[]",
		"${NONE:-}":       "",
		"${BRACE}":        "${A}",
		"${LINES}":        "x: 1\ny: 2",
		"$${A}":           "${A}",
		"$$${A}":          "$${A}",
		"$A $5 $$ { } ${": "fault: a ${ that does not end",
		"$A $5 $$ { }":    "$A $5 $$ { }",
		"${NONE}":         "fault: the variable NONE is not set",
		"${}":             "fault: ${} does not name a variable",
		"${A-b}":          "fault: ${A-b} does not name a variable",
		"${A:-${A}}":      "fault: a ${ in the default of ${A}; defaults are plain text",
		"${BAD}":          "fault: the variable BAD holds control characters or is not UTF-8",
		"${env:A}":        "fault: ${env:...} is an editor's way to name a variable",
	} {
		c, err := Parse("test.yaml", []byte("audit: {path: "+quote(text)+"}"), environ)
		got := c.Audit.Path
		if faults, ok := err.(Faults); ok {
			got = "fault: " + faults[0].Problem
		}
		if got != want {
			t.Errorf("%s reads as %q, want %q", text, got, want)
		}
	}
}

// Repeated keys are all reported, and the source is not read twice.
func TestRepeatedKeys(t *testing.T) {
	wantFaults(t, "listen: localhost:1\nlisten: x\nlisten: localhost:2\nlog: {level: info, level: debug}", nil,
		"listen: the same key stands in line 1", "listen: the same key stands in line 1", "log.level: the same key stands in line 4")
}

func TestKeysThatUpsetATerminal(t *testing.T) {
	wantFaults(t, `{"a\u001b[31m\n": 1}`, nil, `"a\x1b[31m\n": unknown key`)
}

// What would cost the parser of YAML too much time is refused before.
func TestCostlySources(t *testing.T) {
	for name, source := range map[string]string{
		"deep flow":  "listen: " + strings.Repeat("[", 100_000),
		"deep block": strings.Repeat("- ", 1_000),
		"deep JSON":  strings.Repeat(`{"a":`, 100_000),
		"many keys":  strings.Repeat("a: b\n", 100_000),
		"long":       "# " + strings.Repeat("x", MaxFileBytes),
	} {
		_, err := Parse("test.yaml", []byte(source), nil)
		faults, _ := err.(Faults)
		if len(faults) != 1 {
			t.Errorf("%s: %d faults, want 1", name, len(faults))
		}
	}
}
