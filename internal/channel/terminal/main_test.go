package terminal

import (
	"context"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/beckon-mcp/beckon/form"
)

// The timers of a blinking cursor end by themselves, half a second after their form;
// goleak alone is not that patient.
func TestMain(m *testing.M) {
	code := m.Run()
	for range 5 {
		if code != 0 || goleak.Find() == nil {
			os.Exit(code)
		}
	}
	goleak.VerifyTestMain(ran(code))
}

// ran is a test run that is over.
type ran int

func (r ran) Run() int { return int(r) }

// formIn reads a form of testdata.
func formIn(t testing.TB, name string) *form.Form {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

func parse(t testing.TB, definition string) *form.Form {
	t.Helper()
	f, err := form.Parse([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// typing asks f line by line, of somebody who types these lines and leaves.
func typing(t testing.TB, f *form.Form, o Options, typed ...string) (Result, string, error) {
	t.Helper()
	var out strings.Builder
	text := strings.Join(typed, "\n")
	if len(typed) > 0 {
		text += "\n"
	}
	o.In, o.Out, o.Environ = strings.NewReader(text), &out, append([]string{"TERM=xterm"}, o.Environ...)
	r, err := Ask(context.Background(), o, f)
	return r, out.String(), err
}

// wantSaid fails unless said has all of these, in this order.
func wantSaid(t testing.TB, said string, parts ...string) {
	t.Helper()
	rest := said
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("not said, or not in this place: %q\nin:\n%s", part, said)
		}
		rest = after
	}
}
