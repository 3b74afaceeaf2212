package wire

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readEvents reads all of r, and writes down what EventReader said.
func readEvents(t *testing.T, r io.Reader, limit int) []string {
	t.Helper()
	var got []string
	for events := NewEventReader(r, limit); ; {
		e, err := events.Next()
		switch {
		case err == nil:
			got = append(got, show(e))
		case errors.Is(err, ErrTooLong):
			got = append(got, "too long "+show(e))
		case err == io.EOF:
			return got
		default:
			t.Fatalf("reading events: %v", err)
		}
	}
}

// show writes an event in one line, so that data of no length and no data differ.
func show(e Event) string {
	var parts []string
	if e.ID != "" {
		parts = append(parts, fmt.Sprintf("id=%q", e.ID))
	}
	if e.Type != "" {
		parts = append(parts, fmt.Sprintf("type=%q", e.Type))
	}
	if e.Retry != 0 {
		parts = append(parts, fmt.Sprintf("retry=%v", e.Retry))
	}
	if e.Data != nil {
		parts = append(parts, fmt.Sprintf("data=%q", e.Data))
	}
	return strings.Join(parts, " ")
}

// The limit is on the data. What else is in an event costs nothing of it.
func TestEventReaderLimit(t *testing.T) {
	const limit = 10
	longID := strings.Repeat("i", fieldBytes)
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"exactly", "data: 0123456789\n\n", []string{`data="0123456789"`}},
		{"one over", "data: 0123456789a\n\n", []string{"too long "}},
		{"exactly in two lines", "data: 01234\ndata: 6789\n\n", []string{`data="01234\n6789"`}},
		{"one over in two lines", "data: 01234\ndata: 6789a\n\n", []string{"too long "}},
		{"over by empty lines", "data: 01234567\ndata\ndata\ndata\n\n", []string{"too long "}},
		{"far over", "data: " + strings.Repeat("x", 100_000) + "\n\ndata: x\n\n", []string{"too long ", `data="x"`}},
		{"far over in many lines", strings.Repeat("data: xx\n", 1000) + "\ndata: x\n\n", []string{"too long ", `data="x"`}},
		{"the id before is told", "id: 7\ndata: 0123456789a\n\n", []string{`too long id="7"`}},
		{"the id behind is told", "data: 0123456789a\nid: 7\n\n", []string{`too long id="7"`}},
		{"data behind too much data", "data: 0123456789a\ndata: x\n\n", []string{"too long "}},

		{"id and type with no room left", "data: 0123456789\nid: abcdefghijklmnop\nevent: message\nretry: 1000\n\n",
			[]string{`id="abcdefghijklmnop" type="message" retry=1s data="0123456789"`}},
		{"longest id with no room left", "data: 0123456789\nid: " + longID + "\n\n", []string{`id="` + longID + `" data="0123456789"`}},
		{"id too long", "id: " + longID + "i\ndata: x\n\n", []string{"too long "}},
		{"type too long", "event: " + longID + "i\ndata: x\n\n", []string{"too long "}},
		{"long comment", ":" + strings.Repeat(" ", 100_000) + "\ndata: x\n\n", []string{`data="x"`}},
		{"long comment with no room left", "data: 0123456789\n:" + strings.Repeat(" ", 2000) + "\n\n", []string{`data="0123456789"`}},
		{"long unknown field", "data: 0123456789\nfoo: " + strings.Repeat("x", 100_000) + "\n\n", []string{`data="0123456789"`}},
		{"long line without colon", strings.Repeat("x", 100_000) + "\ndata: x\n\n", []string{`data="x"`}},
		{"nothing but a long comment", ":" + strings.Repeat("x", 100_000) + "\n\ndata: x\n\n", []string{`data="x"`}},
		{"long retry", "retry: " + strings.Repeat("1", 100_000) + "\ndata: x\n\n", []string{`data="x"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readEvents(t, strings.NewReader(tt.in), limit)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			got = readEvents(t, iotest.OneByteReader(strings.NewReader(tt.in)), limit)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events, read byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventReader(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"data", "data: x\n\n", []string{`data="x"`}},
		{"all fields", "id: 7\nevent: message\nretry: 1500\ndata: x\n\n", []string{`id="7" type="message" retry=1.5s data="x"`}},
		{"two events", "data: x\n\ndata: y\n\n", []string{`data="x"`, `data="y"`}},
		{"CR", "data: x\rdata: y\r\rdata: z\r\r", []string{`data="x\ny"`, `data="z"`}},
		{"CRLF", "data: x\r\ndata: y\r\n\r\ndata: z\r\n\r\n", []string{`data="x\ny"`, `data="z"`}},
		{"all line ends at once", "data: x\ndata: y\rdata: z\r\n\n\r\rdata: w\r\n\r", []string{`data="x\ny\nz"`, `data="w"`}},
		{"LF CR is two ends", "data: x\n\rdata: y\n\r", []string{`data="x"`, `data="y"`}},
		{"byte order mark", "\ufeffdata: x\n\n", []string{`data="x"`}},
		{"byte order mark alone", "\ufeff", nil},
		{"half a byte order mark", "\xef\xbb", nil},
		{"second byte order mark is no field", "\ufeff\ufeffdata: x\n\n", nil},
		{"byte order mark inside", "data: x\n\n\ufeffdata: y\n\n", []string{`data="x"`}},
		{"multi-line data", "data: a\ndata: b\ndata: c\n\n", []string{`data="a\nb\nc"`}},
		{"no space behind the colon", "data:x\nid:7\n\n", []string{`id="7" data="x"`}},
		{"only one space goes", "data:  x \n\n", []string{`data=" x "`}},
		{"tab stays", "data:\tx\n\n", []string{`data="\tx"`}},
		{"colons in the value", "data: a:b: c\n\n", []string{`data="a:b: c"`}},
		{"field without colon", "data\n\n", []string{`data=""`}},
		{"fields without colon", "data\ndata\n\n", []string{`data="\n"`}},
		{"empty data", "id: 1\ndata:\n\n", []string{`id="1" data=""`}},
		{"empty data line first", "data:\ndata: x\n\n", []string{`data="\nx"`}},
		{"field names keep their case", "DATA: x\nData: y\n\n", nil},
		{"space before the colon", "data : x\n\n", nil},
		{"unknown field", "foo: 1\ndata: x\nbar\n\n", []string{`data="x"`}},
		{"comments", ": ok\n:\n\n:ping\ndata: x\n: y\n\n", []string{`data="x"`}},
		{"blank lines", "\n\n\r\n\rdata: x\n\n\n\n", []string{`data="x"`}},
		{"id alone", "id: 7\n\n", []string{`id="7"`}},
		{"id with NUL is none", "id: 7\x007\ndata: x\n\n", []string{`data="x"`}},
		{"id with NUL does not undo one", "id: 7\nid: 8\x00\ndata: x\n\n", []string{`id="7" data="x"`}},
		{"last id counts", "id: 7\nid: 8\ndata: x\n\n", []string{`id="8" data="x"`}},
		{"id is the event's own", "id: 7\ndata: x\n\ndata: y\n\n", []string{`id="7" data="x"`, `data="y"`}},
		{"type is the event's own", "event: a\ndata: x\n\ndata: y\n\n", []string{`type="a" data="x"`, `data="y"`}},
		{"retry alone", "retry: 500\n\n", []string{`retry=500ms`}},
		{"retry that is no number", "retry: 1.5\nretry: -1\nretry: +1\nretry: 5s\nretry:\nretry\nretry: 1_0\ndata: x\n\n", []string{`data="x"`}},
		{"retry beyond reason", "retry: 99999999999999999999\nretry: 9223372036854775807\ndata: x\n\n", []string{`data="x"`}},
		{"cut off in the data", "data: x\n\ndata: y", []string{`data="x"`}},
		{"cut off behind a line", "data: x\n\ndata: y\n", []string{`data="x"`}},
		{"cut off behind CR", "data: x\r\rdata: y\r", []string{`data="x"`}},
		{"cut off in CRLF", "data: x\r\n\r", []string{`data="x"`}},
		{"bytes that are no UTF-8 pass", "data: \xff\x00\n\n", []string{`data="\xff\x00"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":             strings.NewReader(tt.in),
				"byte by byte":        iotest.OneByteReader(strings.NewReader(tt.in)),
				"with its end":        iotest.DataErrReader(strings.NewReader(tt.in)),
				"in halves of buffer": iotest.HalfReader(strings.NewReader(tt.in)),
			} {
				if diff := cmp.Diff(tt.want, readEvents(t, r, 1<<10)); diff != "" {
					t.Errorf("events, read %s (-want +got):\n%s", how, diff)
				}
			}
		})
	}
}

// Line ends that fall on the edge of the reader's buffer are line ends too.
func TestEventReaderBufferEdge(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		// The buffer is 16 KB; the first event ends within a few bytes of it.
		for size := 16<<10 - 24; size < 16<<10; size++ {
			data := strings.Repeat("x", size)
			in := "data: " + data + end + end + ":" + end + "data: y" + end + end
			want := []string{fmt.Sprintf("data=%q", data), `data="y"`}
			if diff := cmp.Diff(want, readEvents(t, strings.NewReader(in), 1<<20)); diff != "" {
				t.Fatalf("line end %q, %d bytes (-want +got):\n%s", end, size, diff)
			}
		}
	}
}

// An event is handed out when its last byte is there, without waiting for one
// more: the LF of a CRLF may come with the next event, minutes later.
func TestEventReaderDoesNotWait(t *testing.T) {
	for _, in := range []string{"data: x\n\n", "data: x\r\n\r", "data: x\r\r", "\ufeffdata: x\n\n", "id\n\rdata: x\r\n\r"} {
		events := NewEventReader(io.MultiReader(strings.NewReader(in), mustNotRead{t}), 1<<10)
		e, err := events.Next()
		for err == nil && e.Data == nil {
			e, err = events.Next()
		}
		if err != nil || string(e.Data) != "x" {
			t.Errorf("%q: got %s, %v", in, show(e), err)
		}
	}
}

// mustNotRead is a connection on which nothing comes.
type mustNotRead struct{ t *testing.T }

func (r mustNotRead) Read([]byte) (int, error) {
	r.t.Error("reads on, where a connection would block")
	return 0, io.EOF
}

// An error in the middle of an event is told, and the half event is not.
func TestEventReaderError(t *testing.T) {
	broken := errors.New("connection reset")
	events := NewEventReader(io.MultiReader(strings.NewReader("data: x\n\ndata: y\n"), iotest.ErrReader(broken)), 1<<10)
	if e, err := events.Next(); err != nil || string(e.Data) != "x" {
		t.Fatalf("first event: %s, %v", show(e), err)
	}
	for range 2 {
		if e, err := events.Next(); !errors.Is(err, broken) || e.Data != nil {
			t.Fatalf("after the break: %s, %v, want %v", show(e), err, broken)
		}
	}
}

func TestAppendEvent(t *testing.T) {
	for _, tt := range []struct {
		e    Event
		want string
	}{
		{Event{Data: []byte(`{}`)}, "data: {}\n\n"},
		{Event{ID: "7", Type: "message", Retry: 1500 * time.Millisecond, Data: []byte(`{}`)},
			"id: 7\nevent: message\nretry: 1500\ndata: {}\n\n"},
		{Event{ID: "7"}, "id: 7\ndata: \n\n"},
		{Event{Retry: time.Second}, "retry: 1000\ndata: \n\n"},
		{Event{Type: "endpoint", Data: []byte("/message?session=1")}, "event: endpoint\ndata: /message?session=1\n\n"},
	} {
		got := AppendEvent([]byte("before "), tt.e)
		if want := "before " + tt.want; string(got) != want {
			t.Errorf("AppendEvent(%s) = %q, want %q", show(tt.e), got, want)
		}
	}
}

// An event of 100 MB is read past without being kept.
func TestEventReaderMemory(t *testing.T) {
	const limit, long = 1 << 20, 100 << 20
	for name, in := range map[string]io.Reader{
		"one line": io.MultiReader(strings.NewReader("data: "), io.LimitReader(filler{}, long)),
		"comment":  io.MultiReader(strings.NewReader(":"), io.LimitReader(filler{}, long)),
		"lines":    io.LimitReader(&forever{data: []byte("data: some of the data\ndata:\n: comment\n")}, long),
	} {
		t.Run(name, func(t *testing.T) {
			in := io.MultiReader(in, strings.NewReader("\nid: 7\n\ndata: behind\n\n"))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := readEvents(t, in, limit)
			runtime.ReadMemStats(&after)
			if len(got) == 0 || got[len(got)-1] != `data="behind"` {
				t.Errorf("events = %.200q", got)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 10*limit {
				t.Errorf("reading past %d MB allocated %d KB, want at most %d KB", long>>20, allocated>>10, 10*limit>>10)
			}
		})
	}
}
