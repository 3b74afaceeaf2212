//go:build unix

package terminal

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// glass is what a person sees: a terminal of so many rows and columns, as far as our
// pages need one. Every character takes one cell.
type glass struct {
	cells    [][]rune
	row, col int
	last     rune
	rest     string   // of a sequence that has not come whole
	unknown  []string // sequences that would change the picture, and are not known here
}

func newGlass(rows, cols int) *glass {
	g := &glass{}
	for range rows {
		g.cells = append(g.cells, blank(cols))
	}
	return g
}

func blank(n int) []rune { return []rune(strings.Repeat(" ", n)) }

// sequence is one control sequence: CSI with its parameters, OSC, or a short one.
func sequence() *regexp.Regexp {
	return regexp.MustCompile(`^\x1b(?:\[([0-9;:?<>=]*)([ -/]*[@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|P[^\x1b]*\x1b\\|[()][0-9A-Z]|[=>78MDEc])`)
}

// write shows what a program wrote.
func (g *glass) write(text string) {
	text = g.rest + text
	g.rest = ""
	re := sequence()
	for text != "" {
		if text[0] == 0x1b {
			m := re.FindStringSubmatch(text)
			if m == nil {
				g.rest = text
				return
			}
			if m[0] == "\x1bM" {
				g.back()
			} else {
				g.control(m[0], m[1], m[2])
			}
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text[:min(len(text), 4)])[0]
		if r == '\ufffd' && len(text) < 4 {
			g.rest = text // a character that has not come whole
			return
		}
		g.put(r)
		text = text[len(string(r)):]
	}
}

func (g *glass) put(r rune) {
	switch r {
	case '\r':
		g.col = 0
	case '\b':
		g.col = max(g.col-1, 0)
	case '\t':
		g.col = min(g.col/8*8+8, len(g.cells[0])-1)
	case '\n':
		g.feed()
	case '\a':
	default:
		if g.col == len(g.cells[0]) {
			g.col = 0
			g.feed()
		}
		g.cells[g.row][g.col] = r
		g.col++
		g.last = r
	}
}

// feed goes a line down; at the bottom all lines go up.
func (g *glass) feed() {
	if g.row < len(g.cells)-1 {
		g.row++
		return
	}
	g.cells = append(g.cells[1:], blank(len(g.cells[0])))
}

// back goes a line up; at the top all lines go down.
func (g *glass) back() {
	if g.row > 0 {
		g.row--
		return
	}
	copy(g.cells[1:], g.cells)
	g.cells[0] = blank(len(g.cells[1]))
}

func (g *glass) control(whole, parameters, final string) {
	n, err := strconv.Atoi(parameters)
	if err != nil || n == 0 {
		n = 1
	}
	rows, cols := len(g.cells), len(g.cells[0])
	line := g.cells[g.row]
	switch final {
	case "A":
		g.row = max(g.row-n, 0)
	case "B":
		g.row = min(g.row+n, rows-1)
	case "C":
		g.col = min(g.col+n, cols-1)
	case "D":
		g.col = max(g.col-n, 0)
	case "G", "`":
		g.col = min(n, cols) - 1
	case "d":
		g.row = min(n, rows) - 1
	case "H":
		row, col, _ := strings.Cut(parameters, ";")
		g.row, g.col = place(row, rows), place(col, cols)
	case "J":
		from := g.row + 1
		if parameters == "2" {
			from = 0
		} else {
			copy(line[g.col:], blank(cols))
		}
		for i := from; i < rows; i++ {
			g.cells[i] = blank(cols)
		}
	case "K":
		switch parameters {
		case "1":
			copy(line[:g.col+1], blank(cols))
		case "2":
			copy(line, blank(cols))
		default:
			copy(line[g.col:], blank(cols))
		}
	case "X":
		copy(line[g.col:min(g.col+n, cols)], blank(cols))
	case "P":
		copy(line[g.col:], append(line[min(g.col+n, cols):], blank(n)...))
	case "@":
		g.cells[g.row] = append(append(append([]rune{}, line[:g.col]...), blank(n)...), line[g.col:]...)[:cols]
	case "b":
		for range n {
			g.put(g.last)
		}
	case "L":
		for range n {
			copy(g.cells[g.row+1:], g.cells[g.row:])
			g.cells[g.row] = blank(cols)
		}
	case "M":
		for range n {
			copy(g.cells[g.row:], g.cells[g.row+1:])
			g.cells[rows-1] = blank(cols)
		}
	case "m", "h", "l", "u", "q", "t", "n", "c", "p", "$p", " q":
		// colours, modes, questions: nothing that is seen
	default:
		if final != "" || whole == "\x1bc" {
			g.unknown = append(g.unknown, whole)
		}
	}
}

// place is a row or column counted from zero.
func place(text string, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		n = 1
	}
	return min(max(n, 1), most) - 1
}

// picture is what is seen, without the space at the ends of lines.
func (g *glass) picture() string {
	var b strings.Builder
	for _, l := range g.cells {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestGlass(t *testing.T) {
	tests := []struct{ written, want string }{
		{"one\r\ntwo", "one\ntwo"},
		{"one\ntwo", "one\n   two"},
		{"a\x1b[2Cb\x1b[1;31mc\x1b[m", "a  bc"},
		{"abc\r\x1b[K", ""},
		{"abc\b\bX", "aXc"},
		{"abc\x1b[2D\x1b[Px", "axc"[:1] + "x"},
		{"a\r\nb\x1b[A\rx", "x\nb"},
		{"x\x1b[3b", "xxxx"},
		{"1\r\n2\x1bMx\x1bM\ry", "y\n1x\n2"},
		{"1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5"},
		{"\x1b]0;title\x07seen", "seen"},
		{"abcdefghijkl", "abcdefghij\nkl"},
		{"a\tb", "a       b"},
	}
	for _, tt := range tests {
		whole, split := newGlass(4, 10), newGlass(4, 10)
		whole.write(tt.written)
		for _, b := range []byte(tt.written) {
			split.write(string([]byte{b}))
		}
		if whole.picture() != tt.want || split.picture() != tt.want {
			t.Errorf("%q: %q and %q, want %q", tt.written, whole.picture(), split.picture(), tt.want)
		}
	}
}
