package wire

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplice(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edits []Edit
		want  string
	}{
		{"none", nil, "0123456789"},
		{"replace", []Edit{{Span{2, 4}, []byte("ab")}}, "01ab456789"},
		{"replace by longer", []Edit{{Span{2, 4}, []byte("abcd")}}, "01abcd456789"},
		{"replace by nothing", []Edit{{Span{2, 4}, nil}}, "01456789"},
		{"insert in front", []Edit{{Span{0, 0}, []byte("ab")}}, "ab0123456789"},
		{"insert at the end", []Edit{{Span{10, 10}, []byte("ab")}}, "0123456789ab"},
		{"replace all", []Edit{{Span{0, 10}, []byte("ab")}}, "ab"},
		{"several", []Edit{{Span{0, 1}, []byte("a")}, {Span{1, 1}, []byte("b")}, {Span{1, 2}, nil}, {Span{9, 10}, []byte("cde")}}, "ab2345678cde"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := []byte("0123456789")
			if got := string(Splice(src, tt.edits...)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if string(src) != "0123456789" {
				t.Errorf("the source became %s", src)
			}
		})
	}
}

const nested = `{ "a" : 1 , "b":{"c":[1,2],"d":{"e":"x\ny"}} ,"n\u0061me":"\u0041", "":{"":0},"nil":null,"a/b":{"~":2}}`

func TestLocate(t *testing.T) {
	for _, tt := range []struct {
		path []string
		want string
	}{
		{nil, nested},
		{[]string{"a"}, `1`},
		{[]string{"b"}, `{"c":[1,2],"d":{"e":"x\ny"}}`},
		{[]string{"b", "c"}, `[1,2]`},
		{[]string{"b", "d", "e"}, `"x\ny"`},
		{[]string{"name"}, `"\u0041"`},
		{[]string{"", ""}, `0`},
		{[]string{"nil"}, `null`},
		{[]string{"a/b", "~"}, `2`},
	} {
		at, ok := Locate([]byte(nested), tt.path...)
		if got := nested[at.Start:at.End]; !ok || got != tt.want {
			t.Errorf("Locate(%q) = %s, %v, want %s", tt.path, got, ok, tt.want)
		}
		if got := string(Get([]byte(nested), tt.path...)); got != tt.want {
			t.Errorf("Get(%q) = %s, want %s", tt.path, got, tt.want)
		}
	}
	for _, path := range [][]string{{"A"}, {"c"}, {"b", "x"}, {"a", "b"}, {"b", "c", "0"}, {"nil", "x"}, {`n\u0061me`}, {"b", "c", "1"}} {
		if at, ok := Locate([]byte(nested), path...); ok || at != (Span{}) {
			t.Errorf("Locate(%q) = %v, %v, want nothing", path, at, ok)
		}
		if got := Get([]byte(nested), path...); got != nil {
			t.Errorf("Get(%q) = %s, want nil", path, got)
		}
	}
	if _, ok := Locate(nil); ok {
		t.Error("Locate finds something in nothing")
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		path []string
		want string
		ok   bool
	}{
		{[]string{"name"}, "A", true},
		{[]string{"b", "d", "e"}, "x\ny", true},
		{[]string{"a"}, "", false},
		{[]string{"b"}, "", false},
		{[]string{"nil"}, "", false},
		{[]string{"none"}, "", false},
	} {
		if got, ok := Text([]byte(nested), tt.path...); got != tt.want || ok != tt.ok {
			t.Errorf("Text(%q) = %q, %v, want %q, %v", tt.path, got, ok, tt.want, tt.ok)
		}
	}
}

func TestMembers(t *testing.T) {
	var got []string
	for name, value := range Members([]byte(nested)) {
		got = append(got, fmt.Sprintf("%q=%s", name, value))
	}
	want := []string{`"a"=1`, `"b"={"c":[1,2],"d":{"e":"x\ny"}}`, `"name"="\u0041"`, `""={"":0}`, `"nil"=null`, `"a/b"={"~":2}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	for _, in := range []string{``, `{}`, `[{"a":1}]`, `"a"`, `1`, `null`} {
		if got := maps.Collect(Members([]byte(in))); len(got) > 0 {
			t.Errorf("Members(%s) = %v, want none", in, got)
		}
	}
	for range Members([]byte(nested)) {
		break // must not call on
	}
}

func TestElements(t *testing.T) {
	var got []string
	for e := range Elements([]byte(`[ 1 , "a,]" ,[2,[3]],{"b":[4]} , null]`)) {
		got = append(got, string(e))
	}
	if diff := cmp.Diff([]string{`1`, `"a,]"`, `[2,[3]]`, `{"b":[4]}`, `null`}, got); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
	for _, in := range []string{``, `[]`, `[ ]`, `{"a":[1]}`, `"[1]"`, `1`, `null`} {
		if got := slices.Collect(Elements([]byte(in))); len(got) > 0 {
			t.Errorf("Elements(%s) = %q, want none", in, got)
		}
	}
	for range Elements([]byte(`[1,2]`)) {
		break // must not call on
	}
}

// R8, R26, D9: a member goes in and the others stay as they are.
func TestSet(t *testing.T) {
	for _, tt := range []struct {
		obj  string
		path []string
		want string
	}{
		{`{}`, []string{"a"}, `{"a":9}`},
		{`{ }`, []string{"a"}, `{"a":9 }`},
		{`{"a":1}`, []string{"a"}, `{"a":9}`},
		{`{ "a" : 1.0 , "b":2}`, []string{"a"}, `{ "a" : 9 , "b":2}`},
		{`{"b":1.50 }`, []string{"a"}, `{"b":1.50,"a":9 }`},
		{`{"b":1, "c":{"d":2} }`, []string{"a"}, `{"b":1, "c":{"d":2},"a":9 }`},
		{`{"\u0061":1}`, []string{"a"}, `{"\u0061":9}`},
		{`{"a":{"b":1}}`, []string{"a", "b"}, `{"a":{"b":9}}`},
		{`{"a":{"c":1} ,"d":2}`, []string{"a", "b"}, `{"a":{"c":1,"b":9} ,"d":2}`},
		{`{"a":{} }`, []string{"a", "b"}, `{"a":{"b":9} }`},
		{`{"c":1}`, []string{"a", "b"}, `{"c":1,"a":{"b":9}}`},
		{`{"a":null}`, []string{"a", "b"}, `{"a":{"b":9}}`},
		{`{"a":[1]}`, []string{"a", "b", "c"}, `{"a":{"b":{"c":9}}}`},
		{`{"a":"}"}`, []string{"b"}, `{"a":"}","b":9}`},
		{`{}`, []string{"q\"\n"}, `{"q\"\n":9}`},
	} {
		obj := []byte(tt.obj)
		if got := string(Set(obj, []byte(`9`), tt.path...)); got != tt.want {
			t.Errorf("Set(%s, %q) = %s, want %s", tt.obj, tt.path, got, tt.want)
		}
		if string(obj) != tt.obj {
			t.Errorf("Set(%s, %q) changed what it was given: %s", tt.obj, tt.path, obj)
		}
	}
}

// D9: a member goes and the others stay as they are.
func TestDrop(t *testing.T) {
	for _, tt := range []struct {
		obj  string
		path []string
		want string
	}{
		{`{"a":1}`, []string{"a"}, `{}`},
		{`{ "a" : 1 }`, []string{"a"}, `{  }`},
		{`{"a":1,"b":2}`, []string{"a"}, `{"b":2}`},
		{`{"a":1,"b":2}`, []string{"b"}, `{"a":1}`},
		{`{"a":1,"b":2,"c":3}`, []string{"b"}, `{"a":1,"c":3}`},
		{`{ "a":1 , "b":2 , "c":3 }`, []string{"a"}, `{ "b":2 , "c":3 }`},
		{`{ "a":1 , "b":2 , "c":3 }`, []string{"b"}, `{ "a":1 , "c":3 }`},
		{`{ "a":1 , "b":2 , "c":3 }`, []string{"c"}, `{ "a":1 , "b":2 }`},
		{`{"\u0061":1,"b":2}`, []string{"a"}, `{"b":2}`},
		{`{"x":{"a":1,"b":2},"a":3}`, []string{"x", "a"}, `{"x":{"b":2},"a":3}`},
		{`{"x":{"a":{}}}`, []string{"x", "a"}, `{"x":{}}`},
		{`{"a":1}`, []string{"b"}, `{"a":1}`},
		{`{"a":1}`, []string{"a", "b"}, `{"a":1}`},
		{`{"a":1}`, []string{"b", "a"}, `{"a":1}`},
		{`[]`, []string{"a"}, `[]`},
		{`null`, []string{"a"}, `null`},
		{``, []string{"a"}, ``},
	} {
		obj := []byte(tt.obj)
		if got := string(Drop(obj, tt.path...)); got != tt.want {
			t.Errorf("Drop(%s, %q) = %s, want %s", tt.obj, tt.path, got, tt.want)
		}
		if string(obj) != tt.obj {
			t.Errorf("Drop(%s, %q) changed what it was given: %s", tt.obj, tt.path, obj)
		}
	}
}

// Parameters that a peer left out, or sent as null, are no reason to fall over:
// whoever sets a member gets an object with that member.
func TestSetMakesTheObject(t *testing.T) {
	for _, obj := range []string{``, `null`, `[]`, `"}"`, `[{"b":1}]`, `7`} {
		if got, want := string(Set([]byte(obj), []byte(`1`), "a")), `{"a":1}`; got != want {
			t.Errorf("Set(%q, a) = %s, want %s", obj, got, want)
		}
		if got, want := string(Set([]byte(obj), []byte(`1`), "a", "b")), `{"a":{"b":1}}`; got != want {
			t.Errorf("Set(%q, a, b) = %s, want %s", obj, got, want)
		}
	}
	if got, want := string(Set(nil, []byte(`1`), "a")), `{"a":1}`; got != want {
		t.Errorf("Set(nil, a) = %s, want %s", got, want)
	}
}

// A member that was put in and taken out again leaves no trace, whatever white
// space the peer put where. // D9
func TestDropUndoesSet(t *testing.T) {
	for _, obj := range []string{
		`{}`, `{ }`, "{\n}", `{"a":1}`, `{"a":1 }`, "{ \"a\" : 1\n\t}", `{"a":1,"b":{"c":2} , "d":"}" }`,
	} {
		set := Set([]byte(obj), []byte(`[1, 2]`), "new")
		if got, want := string(Drop(set, "new")), obj; got != want {
			t.Errorf("%s: with the member %s, and without it again %s", want, set, got)
		}
	}
}

// The readers of parts are made for parts of parsed messages. On anything else
// they may find nothing, but do not fall over.
func TestReadersOfPartsAreTotal(t *testing.T) {
	for _, in := range []string{
		``, ` `, `{`, `}`, `[`, `]`, `"`, `{"a`, `{"a"`, `{"a":`, `{"a":}`, `{a:1}`, `[1,`, `[1 2]`, `{"a":1 "b":2}`,
		`{"\ud800":1}`, "{\"\xff\\n\":1}", `{"a":"\ud800"}`, "{\"a\":\"\\t\xff\"}", `{"a":1,"a":2}`, `nul`, "\x00",
	} {
		part := []byte(in)
		for range Members(part) {
			continue
		}
		for range Elements(part) {
			continue
		}
		Get(part, "a")
		Text(part)
		Text(part, "a")
		Drop(part, "a")
		Set(part, []byte(`1`), "b")
		ParseClientCaps(part)
	}
}

// Taking several members out at once is the same as dropping one after the other.
func TestWithout(t *testing.T) {
	for _, obj := range []string{
		`{}`, `{ }`, `{"a":1}`, `{ "a" : 1 }`, `{"a":1,"b":2}`, `{"a":1 , "b":2}`, `{"b":2,"a":1}`, `{ "x":0, "a":1,"b":2 , "y":3,"a2":4 }`,
		`{"\u0061":1,"y":[{"a":1}]}`, `{"a":1,"y":2,"b":3}`, `{"a":1,"b":2,"y":3}`, `{"y":3,"a":1,"b":2}`,
	} {
		want := Drop(Drop([]byte(obj), "a"), "b")
		got, left := without([]byte(obj), func(name []byte) bool { return string(name) == "a" || string(name) == "b" })
		if string(got) != string(want) {
			t.Errorf("%s: %s, want %s", obj, got, want)
		}
		n := 0
		for range Members(want) {
			n++
		}
		if left != n {
			t.Errorf("%s: %d left, want %d", obj, left, n)
		}
	}
}
