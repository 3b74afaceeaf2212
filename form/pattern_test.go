package form

import (
	"strings"
	"testing"
)

// What RE2 cannot express is refused with the reason and a way out.
func TestPatterns(t *testing.T) {
	for _, c := range []struct{ expr, message, fix string }{
		{`^sk-[a-zA-Z0-9]{40,}$`, "", ""},
		{`^(?:a|b)+\d{1,1000}$`, "", ""},
		{`(a+)+$`, "", ""},
		{`\/\-\p{L}(?i)x(?<n>a)`, "", ""},
		{`(?=.*\d).{8,}`, "a lookahead", "minLength"},
		{`a(?!b)`, "a negative lookahead", "whole value"},
		{`(?<=a)b`, "a lookbehind", "whole value"},
		{`(?<!a)b`, "a negative lookbehind", "whole value"},
		{`(?>a)`, "atomic", "(?:"},
		{`(?#c)a`, "does not know: (?#", "(?:"},
		{`(a)\1`, `a backreference (\1`, "write out"},
		{`(?<n>a)\k<n>`, `a backreference (\k`, "write out"},
		{`\u0041`, `\u`, `\x{`},
		{`\cA`, `\c`, `\x01`},
		{`[\b]`, `\b within a class`, `\x08`},
		{`a\Z`, `\Z`, `\z`},
		{`\h`, `\h`, "without the backslash"},
		{`a++`, "repeats a repetition (++)", "second"},
		{`a{1001}`, "1000", "maxLength"},
		{`(a{100}){100}`, "1000", "maxLength"},
		{`a{3,1}`, "from more to less", "1000"},
		{`[a`, "without its ]", `\[`},
		{`(a`, "parentheses", `\(`},
		{`a)`, "parentheses", `\(`},
		{`a\`, "single", `\\`},
		{`*a`, "nothing that *", `\*`},
		{`[z-a]`, "z-a", "low to high"},
		{`\p{Klingon}`, "Klingon", `\pL`},
		{"a\xff", "UTF-8", "UTF-8"},
		{strings.Repeat("a", maxPatternLength), "", ""},
		{strings.Repeat("a", maxPatternLength+1), "4097 bytes", "shorter"},
		{strings.Repeat("a{1000}", 4), "", ""},
		{strings.Repeat("a{1000}", 6), "too large", "less often"},
		{strings.Repeat("(", 2000) + strings.Repeat(")", 2000), "nests too deeply", "simpler"},
	} {
		re, fault := compilePattern("$.fields[0].validation.pattern", c.expr)
		if c.message == "" {
			if fault != nil || re == nil {
				t.Errorf("%.40s: %v, want none", c.expr, fault)
			}
			continue
		}
		if fault == nil || re != nil {
			t.Errorf("%.40s: accepted, want a fault", c.expr)
			continue
		}
		if !strings.Contains(fault.Message, c.message) || !strings.Contains(fault.Fix, c.fix) || fault.Path != "$.fields[0].validation.pattern" {
			t.Errorf("%.40s: %v, want %q and %q", c.expr, fault, c.message, c.fix)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"minLength", "maxLength", "pattern", "format", "allow_partial"}
	for word, want := range map[string]string{
		"min_length": "minLength", "maxlength": "maxLength", "patern": "pattern", "fromat": "format", "AllowPartial": "allow_partial",
		"x": "", "": "", "somethingElse": "", strings.Repeat("pattern", 1000): "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
}
