package form

import (
	"os"
	"testing"
)

func example(b *testing.B, name string) []byte {
	b.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// R127: a definition that is not known yet takes less than a millisecond.
func BenchmarkCompileCold(b *testing.B) {
	text := example(b, "eight.json")
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		f.Schema()
	}
}

func BenchmarkStates(b *testing.B) {
	f, err := Parse(example(b, "oauth.json"))
	if err != nil {
		b.Fatal(err)
	}
	all := values(b, f, `{"client_name":"server one","client_type":"confidential","expires":"2026-02-01","scopes":["openid"]}`)
	room := make([]state, len(all))
	b.ReportAllocs()
	for b.Loop() {
		room = f.states(all, room)
	}
}

func BenchmarkMarshal(b *testing.B) {
	f, err := Parse(example(b, "eight.json"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
}
