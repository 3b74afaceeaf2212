package wire

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// The generators write JSON as peers might: white space anywhere, escapes that
// nobody needs, numbers in every spelling, members in any order. They keep the
// pieces, so that a test knows what every byte is without reading it back.

var (
	space = rapid.SampledFrom([]string{"", "", "", " ", "  ", "\n", "\t", "\r\n ", " \r"})

	number = rapid.SampledFrom([]string{
		"0", "-0", "1", "-1", "42", "0.10", "1.50", "-0.0", "1e2", "1E+02", "1e-7", "3.14e00",
		"9007199254740993", "123456789012345678901234567890", "0.1000000000000000055511151231257827", "1e400",
	})

	word = rapid.StringOfN(rapid.SampledFrom([]rune("aA1 {}[]:,\"\\/\n\r\t\x00\u007f\u0085é\u2028\ufeff\ufffd語😀")), 0, 6, -1)
)

// spelling writes text as a JSON string, with or without escapes.
func spelling(t *rapid.T, text string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	plain := rapid.Bool().Draw(t, "plain")
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		must := r < ' ' || r == '"' || r == '\\'
		switch how := rapid.IntRange(0, 3).Draw(t, "how"); {
		case !must && (plain || how < 2):
			b.WriteRune(r)
		case how == 2 && short[r] != "":
			b.WriteString(short[r])
		case how == 3:
			for _, u := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		default:
			for _, u := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04X`, u)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// text is a JSON string.
var text = rapid.Custom(func(t *rapid.T) string { return spelling(t, word.Draw(t, "text")) })

// value is a JSON value with depth levels within it at most.
func value(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kinds := 4
		if depth > 0 {
			kinds = 6
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal")
		case 1, 2:
			return number.Draw(t, "number")
		case 3:
			return text.Draw(t, "string")
		case 4:
			elements := rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "elements")
			var b strings.Builder
			b.WriteString("[" + space.Draw(t, "ws"))
			for i, e := range elements {
				if i > 0 {
					b.WriteString("," + space.Draw(t, "ws"))
				}
				b.WriteString(e + space.Draw(t, "ws"))
			}
			return b.String() + "]"
		default:
			return objects(depth).Draw(t, "object").String()
		}
	})
}

// object is a JSON object in pieces.
type object struct {
	open    string // the brace and white space
	members []piece
}

// piece is one member, and what stands around it.
type piece struct {
	name  string // what the name says
	label string // the name as it is spelled
	colon string // with white space on both sides
	value string
	tail  string // white space, and the comma and white space when one follows
}

func (o object) String() string {
	var b strings.Builder
	b.WriteString(o.open)
	for _, m := range o.members {
		b.WriteString(m.label + m.colon + m.value + m.tail)
	}
	return b.String() + "}"
}

// start is where the name of member i begins, end where its value ends.
func (o object) start(i int) int {
	return len(object{o.open, o.members[:i]}.String()) - len("}")
}

func (o object) end(i int) int {
	m := o.members[i]
	return o.start(i) + len(m.label+m.colon+m.value)
}

// with is o with another value in member i.
func (o object) with(i int, value string) object {
	o.members = slices.Clone(o.members)
	o.members[i].value = value
	return o
}

// index is the place of a member by what its name says, or -1.
func (o object) index(name string) int {
	for i, m := range o.members {
		if m.name == name {
			return i
		}
	}
	return -1
}

// assemble writes members, given by name and value, as an object.
func assemble(t *rapid.T, names, values []string) object {
	o := object{open: "{" + space.Draw(t, "ws")}
	for i, name := range names {
		m := piece{
			name:  name,
			label: spelling(t, name),
			colon: space.Draw(t, "ws") + ":" + space.Draw(t, "ws"),
			value: values[i],
			tail:  space.Draw(t, "ws"),
		}
		if i < len(names)-1 {
			m.tail += "," + space.Draw(t, "ws")
		}
		o.members = append(o.members, m)
	}
	return o
}

// memberName is a name that may also stand in an envelope, or be any word.
var memberName = rapid.OneOf(word, rapid.SampledFrom([]string{"id", "method", "params", "_meta", "progressToken", "name", "a", "b"}))

func objects(depth int) *rapid.Generator[object] {
	return rapid.Custom(func(t *rapid.T) object {
		names := rapid.SliceOfNDistinct(memberName, 0, 4, rapid.ID[string]).Draw(t, "names")
		values := make([]string, len(names))
		for i := range values {
			values[i] = value(depth-1).Draw(t, "value")
		}
		return assemble(t, names, values)
	})
}

// someMembers is an object that is not empty.
func someMembers(depth int) *rapid.Generator[object] {
	return objects(depth).Filter(func(o object) bool { return len(o.members) > 0 })
}

// parcel is a message in pieces, as a peer sends it.
type parcel struct {
	object
	kind   Kind
	params object // of a request or notification that has any
}

var messages = rapid.Custom(func(t *rapid.T) parcel {
	p := parcel{kind: rapid.SampledFrom([]Kind{Request, Notification, Result, Failure}).Draw(t, "kind")}
	members := map[string]string{"jsonrpc": `"2.0"`}
	if p.kind != Notification {
		members["id"] = ids.Draw(t, "id")
	}
	switch p.kind {
	case Result:
		members["result"] = value(3).Draw(t, "result")
	case Failure:
		members["error"] = objects(2).Draw(t, "error").String()
	default:
		members["method"] = text.Draw(t, "method")
		if rapid.Bool().Draw(t, "has params") {
			p.params = objects(3).Draw(t, "params")
			members["params"] = p.params.String()
		}
	}
	// Unknown members, none of which may be taken for one of the envelope.
	for _, name := range rapid.SliceOfNDistinct(word, 0, 3, rapid.ID[string]).Draw(t, "unknown") {
		members[name] = value(2).Draw(t, "unknown value")
	}
	var names []string
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	names = rapid.Permutation(names).Draw(t, "order")
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = members[name]
	}
	p.object = assemble(t, names, values)
	return p
})

// ids are strings and integers.
var ids = rapid.OneOf(
	text,
	rapid.SampledFrom([]string{"0", "-0", "7", "-7", "9007199254740993", "123456789012345678901234567890"}),
)

// piecewise hands out b in pieces of random length, one per Read.
type piecewise struct {
	t *rapid.T
	b []byte
}

func (p *piecewise) Read(dst []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := rapid.IntRange(1, min(len(p.b), len(dst))).Draw(p.t, "read")
	n = copy(dst, p.b[:n])
	p.b = p.b[n:]
	return n, nil
}
