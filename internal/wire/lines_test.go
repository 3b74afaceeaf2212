package wire

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readLines reads all of r, and writes down what LineReader said.
func readLines(t *testing.T, r io.Reader, limit int) []string {
	t.Helper()
	var got []string
	for lines := NewLineReader(r, limit); ; {
		line, err := lines.Next()
		switch {
		case err == nil:
			got = append(got, string(line))
		case errors.Is(err, ErrTooLong):
			got = append(got, "too long")
		case err == io.EOF:
			return got
		default:
			t.Fatalf("reading lines: %v", err)
		}
	}
}

func TestLineReader(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "abc\n", []string{"abc"}},
		{"two", "abc\ndef\n", []string{"abc", "def"}},
		{"no final line break", "abc\ndef", []string{"abc", "def"}},
		{"CRLF", "abc\r\ndef\r\n", []string{"abc", "def"}},
		{"blank lines", "\n\r\n \t\nabc\n\n\n", []string{"abc"}},
		{"blank last line", "abc\n  ", []string{"abc"}},
		{"white space around", " \tabc \n", []string{"abc"}},
		{"a carriage return inside is no line break", "a\rb\n", []string{"a\rb"}},
		{"white space that JSON does not know", "\u00a0a\u0085\n", []string{"\u00a0a\u0085"}},

		{"exactly the limit", "12345678\n", []string{"12345678"}},
		{"exactly the limit, CRLF", "12345678\r\n", []string{"12345678"}},
		{"exactly the limit, no line break", "12345678", []string{"12345678"}},
		{"one over", "123456789\nabc\n", []string{"too long", "abc"}},
		{"one over, CRLF", "123456789\r\nabc\n", []string{"too long", "abc"}},
		{"one over, no line break", "123456789", []string{"too long"}},
		{"far over", strings.Repeat("x", 100_000) + "\nabc\n", []string{"too long", "abc"}},
		{"far over, no line break", strings.Repeat("x", 100_000), []string{"too long"}},
		{"two over", strings.Repeat("x", 9) + "\n" + strings.Repeat("x", 70_000) + "\nabc", []string{"too long", "too long", "abc"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readLines(t, strings.NewReader(tt.in), 8)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// A line of 100 MB is read past: what is kept of it never exceeds the limit, and
// the lines around it arrive.
func TestLineReaderMemory(t *testing.T) {
	const limit, long = 1 << 20, 100 << 20
	in := io.MultiReader(strings.NewReader("before\n"), io.LimitReader(filler{}, long), strings.NewReader("\nbehind\n"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := readLines(t, in, limit)
	runtime.ReadMemStats(&after)
	if diff := cmp.Diff([]string{"before", "too long", "behind"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	// All that was allocated, freed or not: the line grows to its limit by
	// doubling, and by steps of a quarter when it is big.
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8*limit {
		t.Errorf("reading past %d MB allocated %d KB, want at most %d KB", long>>20, allocated>>10, 8*limit>>10)
	}
}

// filler is an endless line.
type filler struct{}

func (filler) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A line is handed out when its line break is there, without waiting for more.
func TestLineReaderDoesNotWait(t *testing.T) {
	lines := NewLineReader(io.MultiReader(strings.NewReader("\nabc\r\n"), mustNotRead{t}), 8)
	if line, err := lines.Next(); err != nil || string(line) != "abc" {
		t.Errorf("got %q, %v", line, err)
	}
}

// Lines stay as they are when the next one is read: messages are kept.
func TestLineReaderKeepsNothing(t *testing.T) {
	lines := NewLineReader(strings.NewReader("abc\ndef\n"), 8)
	first, _ := lines.Next()
	lines.Next()
	if string(first) != "abc" {
		t.Errorf("the first line became %q", first)
	}
}

func TestLineReaderError(t *testing.T) {
	broken := errors.New("pipe broke")
	lines := NewLineReader(io.MultiReader(strings.NewReader("abc\nde"), iotest.ErrReader(broken)), 8)
	if line, err := lines.Next(); err != nil || string(line) != "abc" {
		t.Fatalf("first line: %q, %v", line, err)
	}
	if line, err := lines.Next(); !errors.Is(err, broken) || line != nil {
		t.Fatalf("half a line: %q, %v, want %v", line, err, broken)
	}
}
