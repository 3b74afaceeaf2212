package relay

import (
	"fmt"
	"maps"
	"testing"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// A cursor that a client makes up is refused or means some pages; what we give
// out reads as we wrote it.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("e30")
	f.Add(formatCursor(map[string]string{"a": "two", "b": "\x00\u2028\"}"}))
	f.Fuzz(func(t *testing.T, cursor string) {
		cursors, err := parseCursor(fmt.Appendf(nil, `{"cursor":%s}`, wire.Quote(cursor)))
		if err != nil {
			return
		}
		again, err := parseCursor(fmt.Appendf(nil, `{"cursor":"%s"}`, formatCursor(cursors)))
		if err != nil || !maps.Equal(again, cursors) {
			t.Errorf("%q reads as %v, and written again as %v: %v", cursor, cursors, again, err)
		}
	})
}

// Which URIs a template can give.
func TestExpands(t *testing.T) {
	for _, tt := range []struct {
		template, uri string
		want          bool
	}{
		{"file:///{path}", "file:///a", true},
		{"file:///{path}", "file:///a/b", false},
		{"file:///{+path}", "file:///a/b", true},
		{"file:///{path*}", "file:///a/b", true},
		{"x://{a}/{b}", "x://1/2", true},
		{"x://{a}/{b}", "x://1", false},
		{"x://q{?a,b}", "x://q?a=1&b=2", true},
		{"x://q{?a,b}", "x://q", true},
		{"x://a.b/{c}", "x://aXb/1", false},
		{"x://plain", "x://plain", true},
		{"x://{open", "x://{open", true},
		{"x://{a}", "y://1", false},
		{"", "", true},
	} {
		if got := expands(tt.template, tt.uri); got != tt.want {
			t.Errorf("%s expands to %s: %v, want %v", tt.template, tt.uri, got, tt.want)
		}
	}
}

func FuzzExpands(f *testing.F) {
	f.Add("x://{a}/{+b}{?c}", "x://1/2?c=3")
	f.Fuzz(func(t *testing.T, template, uri string) { expands(template, uri) })
}
