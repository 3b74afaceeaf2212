package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// seeds are messages of all kinds, good and bad.
func seeds() [][]byte {
	var all [][]byte
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":3}}}`,
		` { "jsonrpc" : "2.0" , "id" : "\u0061" , "result" : { "n" : 1.50e+02 } } `,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`,
		"{\"jsonrpc\":\"2.0\",\r\n\"method\":\"notifications/cancelled\",\"params\":{ }}",
		`{"jsonrpc":"2.0","id":-0,"method":"x","params":null,"x":[[],{}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","Method":"y"}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\ud800"}}`,
		`[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":1,"result":null}]`,
		`{"elicitation":{"url":{}},"sampling":{"tools":{}},"roots":{"listChanged":true}}`,
		`{"elicitation":{"form":null,"url":null}}`,
		`"\u0037"`, `7`, `-1.0`, `1e3`, ``, "\ufeff{}", `{`, `}`, "\xff",
	} {
		all = append(all, []byte(s))
	}
	return all
}

func addSeeds(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
}

// A message that is taken is JSON to any reader, says of itself what encoding/json
// finds in it, and stays a message however it is rewritten.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		m, err := Parse(data)
		if err != nil {
			checkRefusal(t, m, err)
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("took %q, which is not JSON", data)
		}
		checkEnvelope(t, m)
		sameParts(t, m)
		for _, changed := range changes(m) {
			sameParts(t, changed)
		}
		line := m.Line()
		if bytes.ContainsAny(line, "\r\n") {
			t.Fatalf("Line of %q is %q", data, line)
		}
		if again, err := Parse(line); err != nil || again.Kind() != m.Kind() || again.ID() != m.ID() {
			t.Fatalf("Line of %q is %q: %v", data, line, err)
		}
		if !bytes.Equal(data, before) {
			t.Fatalf("the data became %q", data)
		}
	})
}

func checkRefusal(t *testing.T, m Message, err error) {
	t.Helper()
	e, ok := errors.AsType[*ParseError](err)
	switch {
	case !ok || e.Code != CodeParse && e.Code != CodeInvalidRequest || e.Detail == "":
		t.Fatalf("refused with %#v", err)
	case m.Kind() != Invalid || m.Raw() != nil:
		t.Fatalf("refused, with the message %s", m.Raw())
	case e.ID != "" && e.Answers != "":
		t.Fatalf("refused as a request and as a response: %#v", e)
	}
	if id := e.ID + e.Answers; id != "" {
		if _, ok := ParseID([]byte(id)); !ok {
			t.Fatalf("refused with an id that is none: %q", id)
		}
	}
}

// checkEnvelope compares m with what encoding/json finds.
func checkEnvelope(t *testing.T, m Message) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(m.Raw(), &members); err != nil {
		t.Fatalf("%q: %v", m.Raw(), err)
	}
	if n := count(m.Raw()); n != len(members) {
		t.Fatalf("%q has %d members, encoding/json sees %d", m.Raw(), n, len(members))
	}
	if id := string(members["id"]); id != "null" && id != string(m.ID()) {
		t.Fatalf("%q: id %q", m.Raw(), m.ID())
	}
	if !bytes.Equal(members["params"], m.Params()) || !bytes.Equal(members["result"], m.Result()) {
		t.Fatalf("%q: params %q, result %q", m.Raw(), m.Params(), m.Result())
	}
	// What a reader takes it for that matches names whatever their case.
	var loose struct {
		Method *string
		ID     json.RawMessage
	}
	if err := json.Unmarshal(m.Raw(), &loose); err != nil {
		t.Fatalf("%q: %v", m.Raw(), err)
	}
	if loose.Method != nil && *loose.Method != m.Method() || !bytes.Equal(loose.ID, members["id"]) {
		t.Fatalf("%q is read in two ways", m.Raw())
	}
}

func count(obj []byte) (n int) {
	for range Members(obj) {
		n++
	}
	return n
}

// changes are all changes that m has a place for.
func changes(m Message) []Message {
	var all []Message
	if m.ID() != "" {
		all = append(all, m.WithID(`"another"`))
	}
	if m.Kind() == Result {
		all = append(all, m.WithResult([]byte(`{"a":1}`)))
	}
	if m.Method() == "" {
		return all
	}
	all = append(all, m.WithMethod("another"), m.WithParams([]byte(`{}`)),
		m.WithParams(Set(m.Params(), []byte(`1`), "_meta", "progressToken")))
	for name := range Members(m.Params()) {
		all = append(all, m.WithParams(Drop(m.Params(), name)), m.WithParams(Set(m.Params(), []byte(`{}`), name)),
			m.WithParams(Set(m.Params(), []byte(`[]`), name, "a", "b")), m.WithParams(Drop(m.Params(), name, "a")))
	}
	return all
}

func FuzzParseBatch(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 3
		batch, err := ParseBatch(data, limit)
		if err != nil {
			checkRefusal(t, Message{}, err)
			if batch != nil {
				t.Fatalf("refused, with %d messages", len(batch))
			}
			return
		}
		var want []json.RawMessage
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("took %q: %v", data, err)
		}
		if !IsBatch(data) || len(batch) != len(want) || len(batch) == 0 || len(batch) > limit {
			t.Fatalf("%d messages in %q", len(batch), data)
		}
		for i, m := range batch {
			if !bytes.Equal(m.Raw(), want[i]) {
				t.Fatalf("message %d of %q is %q", i, data, m.Raw())
			}
			sameParts(t, m)
		}
	})
}

var integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func FuzzParseID(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		id, ok := ParseID(data)
		if !ok {
			if id != "" || integer.Match(data) {
				t.Fatalf("refused %q, and gave %q", data, id)
			}
			return
		}
		if string(id) != string(data) {
			t.Fatalf("%q became %q", data, id)
		}
		if quoted := data[0] == '"' && json.Valid(data) && utf8.Valid(data); !quoted && !integer.Match(data) {
			t.Fatalf("took %q, which is neither a string nor an integer", data)
		}
		if got := NewRequest(id, "x", nil); got.ID() != id {
			t.Fatalf("a request with id %q has id %q", id, got.ID())
		}
	})
}

func FuzzParseClientCaps(f *testing.F) {
	addSeeds(f)
	f.Add([]byte(`{"elicitation":{"url":{}}},"":{}`)) // two values, of which one is params
	f.Fuzz(func(t *testing.T, data []byte) {
		got := ParseClientCaps(data)
		if !bytes.Equal(got.Raw, data) {
			t.Fatalf("Raw = %q, want %q", got.Raw, data)
		}
		if _, err := Parse(slices.Concat([]byte(`{"jsonrpc":"2.0","method":"x","params":`), data, []byte(`}`))); err != nil || !json.Valid(data) {
			return // no part of a message: whatever was found is as good
		}
		got.Raw = nil
		if diff := cmp.Diff(wantCaps(data), got); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", data, diff)
		}
	})
}

// wantCaps is ParseClientCaps by encoding/json.
func wantCaps(data []byte) ClientCaps {
	object := func(v any) map[string]any { m, _ := v.(map[string]any); return m }
	var v any
	json.Unmarshal(data, &v)
	caps := object(v)
	elicitation, sampling := object(caps["elicitation"]), object(caps["sampling"])
	c := ClientCaps{
		URL:           object(elicitation["url"]) != nil,
		Form:          object(elicitation["form"]) != nil,
		Sampling:      sampling != nil,
		SamplingTools: object(sampling["tools"]) != nil,
		Roots:         object(caps["roots"]) != nil,
	}
	if elicitation != nil && elicitation["form"] == nil && elicitation["url"] == nil {
		c.Form = true
	}
	return c
}

// arrivals gives the same bytes in several ways: at once, one by one, and in
// pieces of the lengths that cuts says.
func arrivals(data, cuts []byte) map[string]io.Reader {
	return map[string]io.Reader{
		"at once":     bytes.NewReader(data),
		"one by one":  iotest.OneByteReader(bytes.NewReader(data)),
		"in pieces":   &cutReader{data: data, cuts: cuts},
		"end at once": iotest.DataErrReader(&cutReader{data: data, cuts: cuts}),
	}
}

// cutReader reads pieces of the lengths in cuts, over and over.
type cutReader struct {
	data, cuts []byte
	n          int
}

func (r *cutReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	size := len(r.data)
	if len(r.cuts) > 0 {
		size = min(size, 1+int(r.cuts[r.n%len(r.cuts)]))
		r.n++
	}
	n := copy(p, r.data[:size])
	r.data = r.data[n:]
	return n, nil
}

// streamSeeds are streams and the way they are cut.
func streamSeeds(f *testing.F) {
	long := strings.Repeat("x", fieldBytes+1)
	for _, s := range []string{
		"", "\n", "a\nb\n", "a\r\nb\r\n", "a\n\n \nb", "0123456789\r\n0123456789a\n", long + "\na\n" + long,
		"data: x\n\n", "\ufeffid: 7\r\nevent: e\r\nretry: 10\r\ndata: a\r\ndata: b\r\n\r\n", "data\rdata\r\r:c\r\n\r\n",
		"id: a\x00\ndata: 0123456789abcdefg\nid: 7\n\ndata: y\n\ndata: cut", ":" + long + "\n\ndata: x\n\n", "data: " + long + "\r\r",
		"id: " + long + "\n\n", "\xef\xbb", "\xef\xbbdata: x\n\n",
	} {
		f.Add([]byte(s), []byte{})
		f.Add([]byte(s), []byte{0, 2, 200})
	}
}

// How bytes arrive makes no difference to the lines.
func FuzzLineReader(f *testing.F) {
	streamSeeds(f)
	f.Fuzz(func(t *testing.T, data, cuts []byte) {
		const limit = 10
		want := wantLines(data, limit)
		for how, r := range arrivals(data, cuts) {
			if diff := cmp.Diff(want, readLines(t, r, limit)); diff != "" {
				t.Fatalf("%q, read %s (-want +got):\n%s", data, how, diff)
			}
		}
	})
}

// wantLines is LineReader for somebody who has all the bytes.
func wantLines(data []byte, limit int) []string {
	var want []string
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch text := bytes.Trim(line, " \t\r\n"); {
		case len(line) > limit:
			want = append(want, "too long")
		case len(text) > 0:
			want = append(want, string(text))
		}
	}
	return want
}

// How bytes arrive makes no difference to the events.
func FuzzEventReader(f *testing.F) {
	streamSeeds(f)
	f.Fuzz(func(t *testing.T, data, cuts []byte) {
		const limit = 10
		want := wantEvents(data, limit)
		for how, r := range arrivals(data, cuts) {
			if diff := cmp.Diff(want, readEvents(t, r, limit)); diff != "" {
				t.Fatalf("%q, read %s (-want +got):\n%s", data, how, diff)
			}
		}
	})
}

// wantEvents is EventReader for somebody who has all the bytes.
func wantEvents(data []byte, limit int) []string {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	var want []string
	var e Event
	var some, tooLong bool
	lines := bytes.Split(data, []byte("\n"))
	for _, line := range lines[:len(lines)-1] { // what has no line end is cut off
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0 && tooLong:
			want = append(want, "too long "+show(Event{ID: e.ID}))
		case len(line) == 0 && some:
			want = append(want, show(e))
		case string(name) == "data":
			if e.Data == nil {
				e.Data = []byte{}
			} else if !tooLong {
				e.Data = append(e.Data, '\n')
			}
			e.Data = append(e.Data, value...)
			some, tooLong = true, tooLong || len(e.Data) > limit
		case string(name) == "event":
			e.Type = string(value)
			some, tooLong = true, tooLong || len(value) > fieldBytes
		case string(name) == "id" && len(value) > fieldBytes:
			tooLong = true
		case string(name) == "id" && !bytes.Contains(value, []byte{0}):
			e.ID, some = string(value), true
		case string(name) == "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.Retry, some = time.Duration(ms)*time.Millisecond, true
			}
		}
		if len(line) == 0 {
			e, some, tooLong = Event{}, false, false
		}
	}
	return want
}
