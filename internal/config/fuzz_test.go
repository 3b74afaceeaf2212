package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fuzzEnviron gives references in fuzzed sources something to find.
var fuzzEnviron = []string{"A=", "TOKEN=0123456789abcdef", "N=5", "D=5s", "L=a\nb", "R=${A}"}

// FuzzParse holds that no source makes Parse panic or return another error
// than Faults with a position inside the source, and that an accepted
// configuration, printed with its secrets, is read again as the same value.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"parse", "import"} {
		paths, err := filepath.Glob(filepath.Join("testdata", folder, "*[lnd]"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte("backends: {a: {command: \"$$${x} ${A:-b} $${c}\", args: [\"\\u2028\\x7f\\U0001F600\", '', ' ', '#', '5', 'null']}}"))
	f.Add([]byte("auth: {tokens: [{principal: '${N}', token: '${TOKEN}'}]}\nhttp: {max_sessions: '${N}', keepalive: '${D}'}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("fuzz", data, fuzzEnviron)
		if err != nil {
			checkFaults(t, data, err)
			return
		}
		checkPrinted(t, c)
	})
}

// FuzzVariable holds the same for the value of any variable.
func FuzzVariable(f *testing.F) {
	for i, l := range leaves() {
		f.Add(uint(i), l.field.def)
		f.Add(uint(i), "\xff")
	}
	f.Fuzz(func(t *testing.T, i uint, value string) {
		all := leaves()
		l := all[i%uint(len(all))]
		c, err := Parse("", nil, []string{l.variable + "=" + value})
		if err != nil {
			checkFaults(t, nil, err)
			return
		}
		checkPrinted(t, c)
	})
}

// checkPrinted holds that a configuration, printed with its secrets, is read
// again as the same value.
func checkPrinted(t *testing.T, c Config) {
	t.Helper()
	c.Notes = nil
	tree := encoder{reveal: true}.section(reflect.ValueOf(c))
	for _, printed := range [][]byte{writeYAML(tree), writeJSON(tree)} {
		again, err := Parse("printed", printed, nil)
		if err != nil {
			t.Fatalf("printed configuration is refused: %v\n%s", err, printed)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Fatalf("printed configuration reads differently (-first +again):\n%s\n%s", diff, printed)
		}
	}
}

// FuzzImport holds that what Import writes is a configuration, with the same
// backends as those that Parse reads out of the client's file.
func FuzzImport(f *testing.F) {
	paths, err := filepath.Glob("testdata/import/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		imported, err := Import("fuzz", data)
		if err != nil {
			checkFaults(t, data, err)
			return
		}
		direct, err := Parse("fuzz", data, fuzzEnviron)
		if err != nil {
			// A reference finds nothing, or what it finds does not fit.
			return
		}
		moved, err := Parse("beckon.yaml", imported.YAML(), fuzzEnviron)
		if err != nil {
			t.Fatalf("imported configuration is refused: %v\n%s", err, imported.YAML())
		}
		if diff := cmp.Diff(direct.Backends, moved.Backends); diff != "" {
			t.Fatalf("imported configuration reads differently (-direct +moved):\n%s\n%s", diff, imported.YAML())
		}
	})
}

// checkFaults checks what every error of Parse and Import has to be.
func checkFaults(t *testing.T, data []byte, err error) {
	t.Helper()
	faults, ok := err.(Faults)
	if !ok || len(faults) == 0 {
		t.Fatalf("error of the type %T: %v, want Faults", err, err)
	}
	for _, fault := range faults {
		if fault.Problem == "" || (fault.Line == 0) != (fault.Column == 0) || fault.Line > len(data)+1 {
			t.Errorf("fault without a problem or with a strange place: %#v", fault)
		}
	}
}

// FuzzText holds that any text survives: out of a source, and through what is
// printed in both notations.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"", " ", "a b", "#", "a #b", "a: b", "- a", "${A}", "$${A}", "$$$${", "'", `"\`, "\t", "a\r\nb\n", "~", "null", "5", "0x1f",
		"1e3", ".inf", "5m", "é\u0085\u2028\ufeff\ufffe\U0001F600", "\x7f\u009f", "@a", "`", "%", "!a", "&a", "*a", "|", ">", "?", "<<", "=",
		"{a}", "[a]", "a,b", "true", "Off", "2001-01-01", "\\u0041",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.ToValidUTF8(text, "?")
		source, err := json.Marshal(map[string]any{"backends": map[string]any{"a": map[string]any{
			"command": "c", "args": []string{strings.ReplaceAll(want, "${", "$${")}, "env": map[string]string{want: "v"},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse("source", []byte(quoteControls(string(source))), nil)
		if want == "" || strings.ContainsAny(want, "=\x00") {
			if err == nil {
				t.Fatalf("the variable %q is accepted", want)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		tree := encoder{reveal: true}.section(reflect.ValueOf(c))
		for _, printed := range [][]byte{writeYAML(tree), writeJSON(tree)} {
			again, err := Parse("printed", printed, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, printed)
			}
			if got := again.Backends[0].Args[0]; got != want {
				t.Errorf("args[0] = %q, want %q, printed as\n%s", got, want, printed)
			}
			if _, found := again.Backends[0].Env[want]; !found {
				t.Errorf("env = %q, want the key %q, printed as\n%s", slices.Collect(maps.Keys(again.Backends[0].Env)), want, printed)
			}
		}
	})
}

// quoteControls escapes what encoding/json leaves as it is and Parse refuses
// to see bare.
func quoteControls(source string) string {
	var b strings.Builder
	for _, c := range source {
		if 0x7F <= c && c < 0xA0 {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// FuzzJSON holds that the reader takes every document that encoding/json
// takes, and sees the same in it.
func FuzzJSON(f *testing.F) {
	for _, source := range []string{
		`{}`, `{"a":1,"b":[],"c":{"":null}}`, "{\n\t\"a\" :\t[ true , false,null ]\r\n}", `{"a":"\u0041\/\b\f\"\\ ' \ud83d\ude00 \ud800"}`,
		`{"a":-0.5e+10,"b":[[1],[{}]]}`, `{"a":1,}`, `{"a":01}`, `{"a" "b"}`, `{,}`, `[`, `{"a":"`, `{"a":tru}`, `{/**/}`, `{//`, "{\"a\":1 // x\n,/* y */\"b\":2}",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if checkCharacters(source) != nil || !json.Valid([]byte(source)) {
			_, _ = readJSON(source)
			return
		}
		got, err := readJSON(source)
		if err != nil {
			if strings.Count(source, "{")+strings.Count(source, "[") >= maxDepth && strings.Contains(err.Error(), tooDeep) {
				return
			}
			t.Fatal(err)
		}
		decoder := json.NewDecoder(strings.NewReader(source))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, plain(got)); diff != "" {
			t.Errorf("readJSON(%q) (-encoding/json +ours):\n%s", source, diff)
		}
	})
}

// plain gives what encoding/json makes of the same document; of repeated
// members the last one counts there.
func plain(n *node) any {
	switch n.kind {
	case kindMapping:
		m := map[string]any{}
		for _, e := range n.entries {
			m[e.key] = plain(e.value)
		}
		return m
	case kindList:
		list := []any{}
		for _, item := range n.items {
			list = append(list, plain(item))
		}
		return list
	case kindText:
		return n.text
	case kindNumber:
		return json.Number(n.text)
	case kindBool:
		return n.text == "true"
	}
	return nil
}
