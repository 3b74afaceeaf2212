package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// call is a tools/call of about n bytes, as the SDKs write it.
func call(n int) []byte {
	const frame = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"items":[%s]},"_meta":{"progressToken":3}}}`
	const item = `{"path":"src/main.go","line":117,"text":"a \"quoted\" line\n","score":0.75}`
	items := max(1, (n-len(frame))/(len(item)+1))
	return fmt.Appendf(nil, frame, strings.TrimSuffix(strings.Repeat(item+",", items), ","))
}

var sizes = []struct {
	name  string
	bytes int
}{{"200B", 200}, {"4KB", 4 << 10}, {"16KB", 16 << 10}, {"256KB", 256 << 10}}

// BenchmarkReplaceID reads a message and gives it another id: what every relayed
// message costs, beside what it would cost by decoding and encoding.
func BenchmarkReplaceID(b *testing.B) {
	for _, how := range []struct {
		name    string
		replace func([]byte) ([]byte, error)
	}{
		{"wire", replaceBySplice},
		{"json-struct", replaceByStruct},
		{"json-map", replaceByMap},
		{"go-sdk", replaceBySDK},
	} {
		for _, size := range sizes {
			data := call(size.bytes)
			b.Run(how.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := how.replace(data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func replaceBySplice(data []byte) ([]byte, error) {
	m, err := Parse(data)
	if err != nil {
		return nil, err
	}
	return m.WithID("2").Raw(), nil
}

func replaceByStruct(data []byte) ([]byte, error) {
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Method  string          `json:"method,omitempty"`
		Params  json.RawMessage `json:"params,omitempty"`
		Result  json.RawMessage `json:"result,omitempty"`
		Error   json.RawMessage `json:"error,omitempty"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	m.ID = json.RawMessage("2")
	return json.Marshal(m)
}

func replaceByMap(data []byte) ([]byte, error) {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	m["id"] = 2
	return json.Marshal(m)
}

func replaceBySDK(data []byte) ([]byte, error) {
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, err
	}
	if m.(*jsonrpc.Request).ID, err = jsonrpc.MakeID(2.0); err != nil {
		return nil, err
	}
	return jsonrpc.EncodeMessage(m)
}

// The ways that the benchmark compares do the same.
func TestReplaceIDAlike(t *testing.T) {
	for _, size := range sizes {
		data := call(size.bytes)
		want, err := replaceByMap(data)
		if err != nil {
			t.Fatal(err)
		}
		for name, replace := range map[string]func([]byte) ([]byte, error){
			"wire": replaceBySplice, "json-struct": replaceByStruct, "go-sdk": replaceBySDK,
		} {
			got, err := replace(data)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var v any
			if err := json.Unmarshal(got, &v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if canonical, _ := json.Marshal(v); !bytes.Equal(canonical, want) {
				t.Errorf("%s, %s: %.300s", name, size.name, got)
			}
		}
	}
}

func BenchmarkGet(b *testing.B) {
	for _, size := range sizes {
		m, err := Parse(call(size.bytes))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if Get(m.Params(), "_meta", "progressToken") == nil {
					b.Fatal("no progress token")
				}
			}
		})
	}
}

func BenchmarkSet(b *testing.B) {
	for _, size := range sizes {
		m, err := Parse(call(size.bytes))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Set(m.Params(), []byte("4"), "_meta", "progressToken")
			}
		})
	}
}

// forever is the same bytes over and over.
type forever struct {
	data []byte
	at   int
}

func (r *forever) Read(p []byte) (int, error) {
	n := copy(p, r.data[r.at:])
	r.at = (r.at + n) % len(r.data)
	return n, nil
}

func BenchmarkLineReader(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			data := append(call(size.bytes), '\n')
			r := NewLineReader(&forever{data: data}, 1<<20)
			benchmarkReader(b, len(data), func() error { _, err := r.Next(); return err })
		})
	}
}

func BenchmarkEventReader(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			data := AppendEvent(nil, Event{ID: "17", Data: call(size.bytes)})
			r := NewEventReader(&forever{data: data}, 1<<20)
			benchmarkReader(b, len(data), func() error { _, err := r.Next(); return err })
		})
	}
	// Nothing but line ends, as only somebody hostile sends them.
	for name, end := range map[string]string{"LF": "\n", "CR": "\r"} {
		b.Run("blank lines/"+name, func(b *testing.B) {
			blank := strings.Repeat(end, 1<<20)
			benchmarkReader(b, len(blank), func() error {
				if _, err := NewEventReader(strings.NewReader(blank), 1<<20).Next(); err != io.EOF {
					return fmt.Errorf("got %w, want the end", err)
				}
				return nil
			})
		})
	}
}

func benchmarkReader(b *testing.B, size int, next func() error) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if err := next(); err != nil {
			b.Fatal(err)
		}
	}
}
