package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func parse(t *rapid.T, raw string) Message {
	t.Helper()
	m, err := Parse([]byte(raw))
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return m
}

// What a peer may send is read as what it is.
func TestParseProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := messages.Draw(t, "message")
		raw := p.String()
		m := parse(t, space.Draw(t, "before")+raw+space.Draw(t, "behind"))
		if string(m.Raw()) != raw {
			t.Fatalf("Raw = %q, want %q", m.Raw(), raw)
		}
		if m.Kind() != p.kind {
			t.Fatalf("%q is a %v, want a %v", raw, m.Kind(), p.kind)
		}
		member := func(name string) string {
			if i := p.index(name); i >= 0 {
				return p.members[i].value
			}
			return ""
		}
		if string(m.ID()) != member("id") || string(m.Params()) != member("params") || string(m.Result()) != member("result") {
			t.Fatalf("%q: id %q, params %q, result %q", raw, m.ID(), m.Params(), m.Result())
		}
		var method string
		if v := member("method"); v != "" {
			if err := json.Unmarshal([]byte(v), &method); err != nil {
				t.Fatal(err)
			}
		}
		if m.Method() != method {
			t.Fatalf("%q: method %q, want %q", raw, m.Method(), method)
		}
	})
}

// R8, R10, R26, R28, D9: everything outside the rewritten members leaves as it
// came, whatever is rewritten in whatever order.
func TestRewriteProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := messages.Draw(t, "message")
		m, want := parse(t, p.String()), p.object
		replace := func(name, value string) {
			want = want.with(want.index(name), value)
		}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			switch what := rapid.SampledFrom([]string{"id", "method", "params", "result"}).Draw(t, "what"); {
			case want.index(what) < 0:
				continue
			case what == "id":
				id := ids.Draw(t, "id")
				m = m.WithID(ID(id))
				replace(what, id)
			case what == "method":
				name := word.Draw(t, "method")
				m = m.WithMethod(name)
				replace(what, string(Quote(name)))
			case what == "params":
				v := objects(2).Draw(t, "params").String()
				m = m.WithParams([]byte(v))
				replace(what, v)
			default:
				v := value(2).Draw(t, "result")
				m = m.WithResult([]byte(v))
				replace(what, v)
			}
		}
		if got := string(m.Raw()); got != want.String() {
			t.Fatalf("from %q\ngot  %q\nwant %q", p, got, want)
		}
		sameParts(t, m)
	})
}

// A member of params is replaced and its neighbours stay. R8, R26, D9
func TestSetProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outer, inner := someMembers(2).Draw(t, "outer"), someMembers(2).Draw(t, "inner")
		i := rapid.IntRange(0, len(outer.members)-1).Draw(t, "i")
		j := rapid.IntRange(0, len(inner.members)-1).Draw(t, "j")
		v := value(1).Draw(t, "value")
		from := outer.with(i, inner.String()).String()
		got := Set([]byte(from), []byte(v), outer.members[i].name, inner.members[j].name)
		if want := outer.with(i, inner.with(j, v).String()).String(); string(got) != want {
			t.Fatalf("from %q\ngot  %q\nwant %q", from, got, want)
		}
	})
}

// A member of params goes, with one comma, and the others stay. D9
func TestDropProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := someMembers(2).Draw(t, "object")
		i, last := rapid.IntRange(0, len(o.members)-1).Draw(t, "i"), len(o.members)-1
		start, end := o.start(i), o.end(i)
		switch {
		case i > 0:
			start = o.end(i - 1)
		case i < last:
			end = o.start(i + 1)
		}
		raw := o.String()
		got := Drop([]byte(raw), o.members[i].name)
		if want := raw[:start] + raw[end:]; string(got) != want {
			t.Fatalf("from %q\ngot  %q\nwant %q", raw, got, want)
		}
		names := make([]string, 0, last)
		for name := range Members(got) {
			names = append(names, name)
		}
		for i, m := range slices.Delete(slices.Clone(o.members), i, i+1) {
			if names[i] != m.name {
				t.Fatalf("%q: member %d is %q, want %q", got, i, names[i], m.name)
			}
		}
	})
}

// What was put in and taken out again leaves no trace. D9
func TestDropUndoesSetProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := objects(2).Draw(t, "object")
		name := memberName.Filter(func(name string) bool { return o.index(name) < 0 }).Draw(t, "name")
		v := value(2).Draw(t, "value")
		with := Set([]byte(o.String()), []byte(v), name)
		if got := Get(with, name); string(got) != v {
			t.Fatalf("Get of what was set = %q, want %q", got, v)
		}
		if got := Drop(with, name); string(got) != o.String() {
			t.Fatalf("from %q\nover %q\nto   %q", o, with, got)
		}
	})
}

// Locate finds what encoding/json finds: a gateway that reads one thing and
// forwards another is a hole.
func TestLocateProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(objects(3).Draw(t, "object").String())
		agree(t, raw)
	})
}

// agree compares what Locate and Members find in obj with what encoding/json
// decodes, and goes on in the values.
func agree(t *rapid.T, obj []byte) {
	var want map[string]json.RawMessage
	if json.Unmarshal(obj, &want) != nil {
		return // no object
	}
	for name, value := range want {
		if at, ok := Locate(obj, name); !ok || !bytes.Equal(obj[at.Start:at.End], value) {
			t.Fatalf("Locate(%q, %q) = %q, %v, want %q", obj, name, obj[at.Start:at.End], ok, value)
		}
		text, isText := decode(t, value).(string)
		if got, ok := Text(obj, name); got != text || ok != isText {
			t.Fatalf("Text(%q, %q) = %q, %v, want %q, %v", obj, name, got, ok, text, isText)
		}
		agree(t, value)
	}
	n := 0
	for name, value := range Members(obj) {
		n++
		if !bytes.Equal(want[name], value) {
			t.Fatalf("Members(%q): %q is %q, want %q", obj, name, value, want[name])
		}
	}
	if n != len(want) {
		t.Fatalf("Members(%q) lists %d, want %d", obj, n, len(want))
	}
}

// A message on one line is the same value, and the same bytes where it was on one
// line before. R10, D9
func TestLineProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := messages.Draw(t, "message").String()
		got := parse(t, raw).Line()
		if bytes.ContainsAny(got, "\r\n") {
			t.Fatalf("Line of %q has a line break: %q", raw, got)
		}
		if !strings.ContainsAny(raw, "\r\n") {
			if string(got) != raw {
				t.Fatalf("Line of %q is %q", raw, got)
			}
			return
		}
		var want bytes.Buffer // the tokens as they were spelled, without what is between them
		if err := json.Compact(&want, []byte(raw)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("Line of %q is %q, want %q", raw, got, want.Bytes())
		}
		if a, b := decode(t, []byte(raw)), decode(t, got); !reflect.DeepEqual(a, b) {
			t.Fatalf("Line of %q is another value: %q", raw, got)
		}
	})
}

// decode reads JSON without loss, by other means than this package.
func decode(t *rapid.T, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decoding %q: %v", raw, err)
	}
	return v
}

// A member that is there twice, however it is spelled and however deep, refuses
// the message.
func TestDuplicatesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(memberName, 1, 4, rapid.ID[string]).Draw(t, "names")
		twice := rapid.SampledFrom(names).Draw(t, "twice")
		names = rapid.Permutation(append(names, twice)).Draw(t, "order")
		values := make([]string, len(names))
		for i := range values {
			values[i] = value(1).Draw(t, "value")
		}
		bad := assemble(t, names, values).String()
		for range rapid.IntRange(0, 3).Draw(t, "depth") {
			if rapid.Bool().Draw(t, "in an array") {
				bad = "[" + value(0).Draw(t, "before") + "," + bad + "]"
			} else {
				bad = `{"x":` + bad + `}`
			}
		}
		p := messages.Draw(t, "message")
		i := rapid.IntRange(0, len(p.members)-1).Draw(t, "i")
		raw := p.with(i, bad).String()
		_, err := Parse([]byte(raw))
		if e, ok := errors.AsType[*ParseError](err); !ok || !strings.HasPrefix(e.Detail, "duplicate member name") {
			t.Fatalf("%q has a member twice, but Parse says %v", raw, err)
		}
	})
}

// Messages written as lines or as events are read as what they were, however the
// bytes arrive.
func TestFramingProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		var lines, events []byte
		for range rapid.IntRange(0, 5).Draw(t, "messages") {
			line := parse(t, messages.Draw(t, "message").String()).Line()
			want = append(want, string(line))
			lines = append(append(lines, line...), rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", " \n\t\r\n"}).Draw(t, "end")...)
			events = append(events, rapid.SampledFrom([]string{"", ": ok\n", ":\r\n\r\n", "\n"}).Draw(t, "between")...)
			events = AppendEvent(events, Event{ID: rapid.StringMatching(`[a-z0-9]{0,5}`).Draw(t, "id"), Data: line})
		}
		var got []string
		for r := NewLineReader(&piecewise{t, lines}, 1<<20); ; {
			line, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("lines (-want +got):\n%s", diff)
		}
		got = nil
		for r := NewEventReader(&piecewise{t, events}, 1<<20); ; {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(e.Data))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("events (-want +got):\n%s", diff)
		}
	})
}
