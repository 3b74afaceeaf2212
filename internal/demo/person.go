package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Terminal is a person at a terminal. Typing !decline or !cancel answers a whole
// form. Its methods are called one at a time.
type Terminal struct {
	lines chan string // closed at the end of input
	out   io.Writer
}

// NewTerminal reads what the person types from in, until its end, and prompts on
// out.
func NewTerminal(in io.Reader, out io.Writer) *Terminal {
	t := &Terminal{lines: make(chan string), out: out}
	go func() { // ends with the input, which lives as long as the process
		defer close(t.lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			t.lines <- strings.TrimSpace(s.Text())
		}
	}()
	return t
}

// errGone says that there is nobody any more; it is an error and no answer.
var errGone = errors.New("the terminal was closed before the question was answered")

func (t *Terminal) ask(ctx context.Context, label string) (string, error) {
	fmt.Fprintf(t.out, "  %s: ", label)
	select {
	case line, ok := <-t.lines:
		if !ok {
			return "", errGone
		}
		return line, nil
	case <-ctx.Done():
		fmt.Fprintln(t.out, "\n  (no longer needed)")
		return "", context.Cause(ctx)
	}
}

// Fill asks field by field, and again where an answer does not fit.
func (t *Terminal) Fill(ctx context.Context, message string, form Form) (string, map[string]any, error) {
	fmt.Fprintf(t.out, "\n  %s   (!decline or !cancel to refuse)\n", message)
	content := map[string]any{}
	for _, f := range form {
		for {
			typed, err := t.ask(ctx, f.Label())
			if err != nil {
				return "", nil, err
			}
			if typed == "!decline" || typed == "!cancel" {
				return typed[1:], nil, nil
			}
			v, err := f.Parse(typed)
			if err != nil {
				fmt.Fprintf(t.out, "  not quite: %v\n", err)
				continue
			}
			if v != nil {
				content[f.Name] = v
			}
			break
		}
	}
	return "accept", content, nil
}

// Write lets the person play the model.
func (t *Terminal) Write(ctx context.Context, prompt string) (string, error) {
	fmt.Fprintf(t.out, "\n  You are the model now. %s\n", prompt)
	return t.ask(ctx, "your sentence")
}

// Script is a person who always answers the same, for `demo --once`.
type Script struct{}

// Fill accepts with the defaults, and a name where there is none.
func (Script) Fill(_ context.Context, _ string, form Form) (string, map[string]any, error) {
	content := map[string]any{}
	for _, f := range form {
		v, err := f.Parse("")
		if err != nil {
			v, err = f.Parse("Ada")
		}
		if err != nil {
			return "", nil, err
		}
		content[f.Name] = v
	}
	return "accept", content, nil
}

// Write answers without a model.
func (Script) Write(context.Context, string) (string, error) {
	return "A table for two on the terrace for Ada, please - thank you!", nil
}
