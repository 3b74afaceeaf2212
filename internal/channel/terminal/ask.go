package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
)

// Options say who is asked where. In and Out are needed.
type Options struct {
	// In is what the person types. Of a file - a terminal, a pipe - Ask reads no more
	// than the lines it needs, and stops at once when its context ends. Any other
	// reader cannot be interrupted: a read that was under way ends with the next input,
	// which is lost.
	In io.Reader

	// Out is where the questions go.
	Out io.Writer

	// Plain asks line by line, even on a terminal that could do more.
	Plain bool

	From    string      // who asks, as people call it; "" leaves it out
	Message string      // what for, in the words of who asks; "" leaves it out
	Values  form.Values // earlier answers, to begin with
	Errors  form.Errors // what was wrong with them

	// Environ is the environment of the person: TERM, NO_COLOR, ACCESSIBLE. Nil is that
	// of this process.
	Environ []string
}

// Result is what the person chose: the outcome is accept, decline or cancel, and the
// values are those of an accept, checked and with the defaults.
type Result struct {
	Outcome input.Outcome
	Values  form.Values
}

// ErrNobody says that the form was left without an answer. It is in every error of
// [Ask] that comes from the end of input, from Ctrl-C and from the context.
var ErrNobody = errors.New("nobody answered")

// Ask shows f to a person and waits for what they choose, or for the end of ctx. When
// it returns, it reads no more, but for a reader that cannot be interrupted; see
// [Options]. A timer of the blinking cursor may run for another half second.
func Ask(ctx context.Context, o Options, f *form.Form) (Result, error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if ctx.Err() != nil {
		return Result{}, nobody(context.Cause(ctx))
	}
	s, err := newSheet(f, o.Values, o.Errors)
	if err != nil {
		return Result{}, err
	}
	if in, out, ok := o.screen(); ok {
		return askOnScreen(ctx, o, s, in, out)
	}
	return askByLine(ctx, o, s)
}

// nobody is an [ErrNobody] with the reason.
func nobody(why error) error { return fmt.Errorf("%w: %w", ErrNobody, why) }

// screen returns both ends of a terminal on which pages can be drawn; ok is false
// where the form is asked line by line.
func (o Options) screen() (in, out term.File, ok bool) {
	kind := o.variable("TERM")
	if o.Plain || kind == "dumb" || kind == "" && runtime.GOOS != "windows" || o.variable("ACCESSIBLE") != "" {
		return nil, nil, false
	}
	in, isFile := o.In.(term.File)
	out, isAlso := o.Out.(term.File)
	ok = isFile && isAlso && term.IsTerminal(in.Fd()) && term.IsTerminal(out.Fd())
	return in, out, ok
}

// variable returns a variable of the environment, "" when it is not set.
func (o Options) variable(name string) string {
	value := ""
	for _, v := range o.Environ {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest // as everywhere, the last one counts
		}
	}
	return value
}

// Open opens the terminal that this process belongs to, whatever its standard input
// and output are. Both ends are to be closed; they may be the same file.
func Open() (in, out *os.File, err error) {
	in, out, err = tea.OpenTTY()
	if err != nil {
		return nil, nil, fmt.Errorf("opening the terminal: %w", err)
	}
	return in, out, nil
}

// Interactive reports whether f, which a person types into or reads from, is a
// terminal.
func Interactive(f any) bool {
	file, ok := f.(term.File)
	return ok && term.IsTerminal(file.Fd())
}
