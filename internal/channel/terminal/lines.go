package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
)

// longest is how long one line may be, in bytes.
const longest = 1 << 20

var (
	errClosed  = errors.New("the input ended before the form was finished")
	errTooLong = fmt.Errorf("the line is longer than %d bytes", longest)
	errNoText  = errors.New("the line is not valid UTF-8")
)

// lines reads what a person types, a line at a time and no byte more, so that what
// comes after the form is left to whoever reads next.
type lines struct {
	r      io.Reader
	cancel func() bool // interrupts a Read of r; false when it could not
	close  func() error
	tty    term.File // the terminal that r is; nil for none
}

func newLines(r io.Reader) *lines {
	l := &lines{r: r, cancel: func() bool { return false }, close: func() error { return nil }}
	if f, ok := r.(term.File); ok && term.IsTerminal(f.Fd()) {
		l.tty = f
	}
	// It refuses regular files, which need no cancelling: reading them does not wait.
	if c, err := cancelreader.NewReader(r); err == nil {
		l.r, l.cancel, l.close = c, c.Cancel, c.Close
	}
	return l
}

// typed is one line, or why there is none.
type typed struct {
	text string
	err  error
}

// next returns the next line without its end. When ctx ends first, so does next,
// with its cause. The goroutine that reads ends before next does, unless the reader
// cannot be interrupted.
func (l *lines) next(ctx context.Context) (string, error) {
	got := make(chan typed, 1)
	go func() {
		text, err := l.read()
		got <- typed{text, err}
	}()
	select {
	case t := <-got:
		return t.text, t.err
	case <-ctx.Done():
		if l.cancel() {
			<-got
		}
		return "", context.Cause(ctx)
	}
}

// read reads up to the end of a line, byte by byte. A last line without an end is
// none: somebody left in the middle of it.
func (l *lines) read() (string, error) {
	var text []byte
	var b [1]byte
	for {
		n, err := l.r.Read(b[:])
		switch {
		case n == 1 && b[0] == '\n':
			return finished(text)
		case n == 1 && len(text) <= longest:
			text = append(text, b[0])
		case errors.Is(err, io.EOF):
			return "", errClosed
		case n == 0 && err != nil:
			return "", fmt.Errorf("reading the terminal: %w", err)
		}
	}
}

func finished(text []byte) (string, error) {
	switch {
	case len(text) > longest:
		return "", errTooLong
	case !utf8.Valid(text):
		return "", errNoText
	}
	return strings.TrimSuffix(string(text), "\r"), nil
}

// hidden is next without showing what is typed, where there is a terminal that shows
// it.
func (l *lines) hidden(ctx context.Context) (string, error) {
	if l.tty == nil {
		return l.next(ctx)
	}
	show, err := echoOff(l.tty.Fd())
	if err != nil {
		return "", fmt.Errorf("hiding what is typed: %w", err)
	}
	defer show()
	return l.next(ctx)
}
