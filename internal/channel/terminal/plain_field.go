package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/beckon-mcp/beckon/form"
)

// ask asks one field until there is a valid answer, or none is needed.
func (d *dialogue) ask(ctx context.Context, f *form.Field) (move, error) {
	d.out.say("")
	if e, ok := d.wrong(f.ID); ok {
		d.out.say("Not valid: %s", line(e.Message))
	}
	prompt := d.present(f)
	for {
		typed, err := d.prompt(ctx, prompt, d.secret[f.ID])
		if err != nil {
			return left, err
		}
		switch strings.TrimSpace(typed) {
		case "?":
			for _, l := range explain(f) {
				d.out.say("  %s", l)
			}
			d.out.say(`  Where ? or a word with ! is meant as the answer, write \ before it.`)
			continue
		case "!back":
			return back, nil
		case "!decline":
			return declined, nil
		case "!cancel":
			return left, nil
		case "!skip":
			d.set(f.ID, nil)
			typed = ""
		case "":
			typed = "" // white space alone is not meant as an answer
		}
		err = d.take(f, typed)
		if err == nil {
			return onward, nil
		}
		d.out.say("Not valid: %s", line(message(err)))
	}
}

// present prints what is asked, and returns the prompt.
func (d *dialogue) present(f *form.Field) string {
	name := title(f)
	now := ""
	if raw := d.current(f); raw != nil {
		now = " [" + d.show(f, raw) + "]"
	}
	switch f.Type {
	case form.Select, form.MultiSelect:
		d.out.say("%s", name)
		for i, o := range f.Options {
			d.out.say("  %d. %s", i+1, optionTitle(o))
		}
		if f.Type == form.MultiSelect {
			return "Numbers, with commas between; 0 for none" + now + ": "
		}
		return "Number" + now + ": "
	case form.Boolean:
		return name + " (yes, no)" + now + ": "
	case form.File:
		return name + " (path of a file)" + now + ": "
	}
	return name + now + ": "
}

// take reads what was typed and notes it as the answer. Nothing typed leaves things as
// they are; then the answer so far must do, or none be needed.
func (d *dialogue) take(f *form.Field, typed string) error {
	if typed == "" {
		return d.check(f, d.given[f.ID])
	}
	raw, err := d.parse(f, unescaped(typed))
	if err != nil {
		return err
	}
	if err := d.check(f, raw); err != nil {
		return err
	}
	d.set(f.ID, raw)
	return nil
}

// unescaped is a line without the \ that makes it an answer and no command.
func unescaped(typed string) string {
	switch strings.TrimLeft(strings.TrimSpace(typed), `\`) {
	case "?", "!back", "!skip", "!decline", "!cancel":
		return strings.TrimPrefix(strings.TrimSpace(typed), `\`)
	}
	return typed
}

// parse reads a line as an answer to f, in JSON. What a number, a date or an address
// is, the form knows better.
func (d *dialogue) parse(f *form.Field, typed string) (json.RawMessage, error) {
	switch f.Type {
	case form.Boolean:
		return parseBoolean(typed)
	case form.Select:
		at, err := option(f, typed)
		if err != nil {
			return nil, err
		}
		return quoted(f.Options[at].Value), nil
	case form.MultiSelect:
		return parseOptions(f, typed)
	case form.File:
		return upload(f, d.pathOf(typed))
	}
	return quoted(typed), nil
}

func parseBoolean(typed string) (json.RawMessage, error) {
	switch strings.ToLower(strings.TrimSpace(typed)) {
	case "y", "yes", "true":
		return json.RawMessage("true"), nil
	case "n", "no", "false":
		return json.RawMessage("false"), nil
	}
	return nil, errors.New("type yes or no")
}

// option is the place of the option that was typed: by its number, its title or its
// value.
func option(f *form.Field, typed string) (int, error) {
	typed = strings.TrimSpace(typed)
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(f.Options) {
		return n - 1, nil
	}
	for i, o := range f.Options {
		if o.Value == typed || strings.EqualFold(optionTitle(o), typed) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is none of the choices; type a number from 1 to %d", line(typed), len(f.Options))
}

// parseOptions reads several of them. A title may have commas in it.
func parseOptions(f *form.Field, typed string) (json.RawMessage, error) {
	if strings.TrimSpace(typed) == "0" {
		return picked(f, nil), nil
	}
	if at, err := option(f, typed); err == nil {
		return picked(f, []int{at}), nil
	}
	var at []int
	for word := range strings.SplitSeq(typed, ",") {
		if strings.TrimSpace(word) == "" {
			continue
		}
		one, err := option(f, word)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(at, one) {
			at = append(at, one)
		}
	}
	slices.Sort(at)
	return picked(f, at), nil
}

// message is what an error says to a person; that of a form is without the id of its
// field.
func message(err error) string {
	if e, ok := errors.AsType[form.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
