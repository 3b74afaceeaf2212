package wire

import (
	"math"
	"testing"
)

// Ids are told apart by their bytes, kind included, and nothing but one
// string or one integer is an id.
func TestParseID(t *testing.T) {
	for _, tt := range []struct {
		raw string
		ok  bool
	}{
		{`7`, true},
		{`-7`, true},
		{`0`, true},
		{`-0`, true},
		{`"7"`, true},
		{`"\u0037"`, true},
		{`""`, true},
		{`"a b"`, true},
		{`"\ud83d\ude00"`, true},
		{`123456789012345678901234567890`, true},

		{``, false},
		{`null`, false},
		{`true`, false},
		{`1.0`, false},
		{`1e3`, false},
		{`1E3`, false},
		{`{}`, false},
		{`[1]`, false},
		{`-`, false},
		{`+7`, false},
		{`07`, false},
		{`7 `, false},
		{` 7`, false},
		{`0x7`, false},
		{`7,8`, false},
		{`"`, false},
		{`"a`, false},
		{` "a"`, false},
		{"\"a\"\n", false},
		{`"a""b"`, false},
		{`"\x"`, false},
		{`"\ud83d"`, false},
		{"\"\xff\"", false},
		{"\"\n\"", false},
		{"\"\x00\"", false},
	} {
		id, ok := ParseID([]byte(tt.raw))
		if ok != tt.ok {
			t.Errorf("ParseID(%q) reports %v, want %v", tt.raw, ok, tt.ok)
		}
		want := ID("")
		if tt.ok {
			want = ID(tt.raw)
		}
		if id != want {
			t.Errorf("ParseID(%q) = %q, want %q", tt.raw, id, want)
		}
	}
}

// Two peers, or one, may use ids that look alike.
func TestIDsAreDistinct(t *testing.T) {
	pending := make(map[ID]string)
	for _, raw := range []string{`7`, `"7"`, `"\u0037"`, `-7`, `70`, `0`, `-0`, `""`, `" 7"`, `"7 "`} {
		id, ok := ParseID([]byte(raw))
		if !ok {
			t.Fatalf("%s is no id", raw)
		}
		if other, taken := pending[id]; taken {
			t.Errorf("%s and %s are one id", raw, other)
		}
		pending[id] = raw
	}
}

func TestIntID(t *testing.T) {
	for _, n := range []uint64{0, 1, 7, 1 << 53, math.MaxUint64} {
		id := IntID(n)
		if got, ok := ParseID([]byte(id)); !ok || got != id {
			t.Errorf("IntID(%d) = %s, which is no id", n, id)
		}
	}
}
