package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"charm.land/huh/v2"

	"github.com/beckon-mcp/beckon/form"
)

// perPage is how many fields stand together. Each that may be hidden has a page of
// its own, because only whole pages can be.
const perPage = 5

// groups are the pages of the fields.
func (s *screen) groups() []*huh.Group {
	var groups []*huh.Group
	var together []huh.Field
	flush := func() {
		if len(together) > 0 {
			groups = append(groups, huh.NewGroup(together...))
			together = nil
		}
	}
	depends := s.dependent()
	for i := range s.fields {
		f := &s.fields[i]
		if depends[f.ID] {
			flush()
			groups = append(groups, huh.NewGroup(s.control(f)).WithHideFunc(func() bool { return !s.visible(f.ID) }))
			continue
		}
		if together = append(together, s.control(f)); len(together) == perPage {
			flush()
		}
	}
	flush()
	if !slices.ContainsFunc(s.fields, func(f form.Field) bool { return s.visible(f.ID) }) {
		return nil
	}
	return groups
}

// dependent are the fields that may be hidden.
func (s *screen) dependent() map[string]bool {
	depends := make(map[string]bool)
	for _, d := range s.form.Definition().Dependencies {
		depends[d.Field] = true
	}
	for _, f := range s.fields {
		if len(f.When) > 0 || f.Hints.ConditionalDisplay != nil || f.Hints.Hidden {
			depends[f.ID] = true
		}
	}
	return depends
}

// control is what the person sees of a field.
func (s *screen) control(f *form.Field) huh.Field {
	if f.Hints.Readonly {
		return huh.NewNote().Title(label(f)).Description(s.show(f, f.Default) + " (cannot be changed)").Next(true)
	}
	switch f.Type {
	case form.Boolean:
		return s.booleanControl(f)
	case form.Select:
		return s.selectControl(f)
	case form.MultiSelect:
		return s.multiControl(f)
	}
	if f.Type == form.Text && f.Hints.Rows > 1 && !s.secret[f.ID] {
		return s.longControl(f)
	}
	return s.inputControl(f)
}

// explanation stands under the label.
func explanation(f *form.Field) string {
	lines := describe(f)
	if f.Type == form.File || len(lines) == 0 && f.Type != form.Text && f.Type != form.Boolean && f.Type != form.Select {
		lines = append(lines, expected(f))
	}
	return strings.Join(lines, "\n")
}

// inputControl is one line of text: also a number, a date, an address, a path.
func (s *screen) inputControl(f *form.Field) huh.Field {
	typed := ""
	if raw := s.current(f); raw != nil && f.Type != form.File {
		typed = plainText(raw)
	}
	c := huh.NewInput().Title(title(f)).Description(explanation(f)).Placeholder(line(f.Hints.Placeholder)).Value(&typed)
	if s.secret[f.ID] {
		c.EchoMode(huh.EchoModePassword)
	}
	return c.Validate(func(text string) error { return s.typed(f, text) })
}

// longControl is several lines of text. An editor of the person's is not started:
// what it leaves behind is on their disk.
func (s *screen) longControl(f *form.Field) huh.Field {
	typed := ""
	if raw := s.current(f); raw != nil {
		typed = plainText(raw)
	}
	return huh.NewText().Title(title(f)).Description(explanation(f)).Placeholder(line(f.Hints.Placeholder)).
		Lines(min(f.Hints.Rows, 10)).CharLimit(0).ExternalEditor(false).Value(&typed).
		Validate(func(text string) error { return s.typed(f, text) })
}

// typed takes a line as the answer to f. An emptied one is an answer only where it
// takes the place of a default.
func (s *screen) typed(f *form.Field, text string) error {
	if text == "" && f.Type == form.File {
		return s.passed(f, s.given[f.ID]) // the path is not shown again: nothing typed keeps the file
	}
	if text == "" {
		if f.Type == form.Text && f.Default != nil {
			return s.passed(f, quoted(""))
		}
		return s.passed(f, nil)
	}
	if f.Type != form.File {
		return s.passed(f, quoted(text))
	}
	raw, err := s.file(f, text)
	if err != nil {
		if s.going {
			return nil
		}
		return err
	}
	return s.passed(f, raw)
}

// file is the newest upload of a field. A field is checked more than once on the way
// out of it, and is read again only when the file has changed.
type file struct {
	path    string
	size    int64
	changed time.Time
	raw     json.RawMessage
}

func (s *screen) file(f *form.Field, typed string) (json.RawMessage, error) {
	path := s.pathOf(typed)
	info, err := os.Stat(path)
	have, ok := s.files[f.ID]
	if ok && err == nil && have.path == path && have.size == info.Size() && have.changed.Equal(info.ModTime()) {
		return have.raw, nil
	}
	raw, uploaded := upload(f, path)
	if uploaded != nil {
		return nil, uploaded
	}
	if err == nil {
		s.files[f.ID] = file{path, info.Size(), info.ModTime(), raw}
	}
	return raw, nil
}

// booleanControl is a switch where there is an answer to begin with, and a list of
// both answers where there is none: nothing is to look answered before it is.
func (s *screen) booleanControl(f *form.Field) huh.Field {
	raw := s.current(f)
	if raw != nil {
		yes := truth(raw)
		return huh.NewConfirm().Title(title(f)).Description(explanation(f)).Value(&yes).
			Validate(func(yes bool) error { return s.passed(f, fmt.Appendf(nil, "%t", yes)) })
	}
	var options []huh.Option[string]
	if !f.Required {
		options = append(options, huh.NewOption("(no answer)", ""))
	}
	options = append(options, huh.NewOption("Yes", "true"), huh.NewOption("No", "false"))
	picked := options[0].Value
	return huh.NewSelect[string]().Title(title(f)).Description(explanation(f)).Options(options...).Value(&picked).
		Validate(func(answer string) error {
			if answer == "" {
				return s.passed(f, nil)
			}
			return s.passed(f, []byte(answer))
		})
}

// selectControl is a list of the options, by their places.
func (s *screen) selectControl(f *form.Field) huh.Field {
	const none = -1
	var options []huh.Option[int]
	if !f.Required && f.Default == nil {
		options = append(options, huh.NewOption("(no answer)", none))
	}
	for i, o := range f.Options {
		options = append(options, huh.NewOption(optionTitle(o), i))
	}
	place := options[0].Value
	if raw := s.current(f); raw != nil {
		if at := chosen(f, raw); len(at) == 1 {
			place = at[0]
		}
	}
	c := huh.NewSelect[int]().Title(title(f)).Description(explanation(f)).Options(options...).Value(&place).
		Validate(func(place int) error {
			if place == none {
				return s.passed(f, nil)
			}
			return s.passed(f, quoted(f.Options[place].Value))
		})
	if len(options) > listed {
		c.Height(listed)
	}
	return c
}

// listed is how many lines of a list are shown before it scrolls.
const listed = 12

// multiControl is a list in which options are marked. With none marked, the field is
// left out where that is possible.
func (s *screen) multiControl(f *form.Field) huh.Field {
	var options []huh.Option[int]
	for i, o := range f.Options {
		options = append(options, huh.NewOption(optionTitle(o), i))
	}
	var places []int
	if raw := s.current(f); raw != nil {
		places = chosen(f, raw)
	}
	c := huh.NewMultiSelect[int]().Title(title(f)).Description(explanation(f)).Options(options...).Value(&places).
		Validate(func(places []int) error {
			if len(places) == 0 && !f.Required && f.Default == nil {
				return s.passed(f, nil)
			}
			return s.passed(f, picked(f, slices.Sorted(slices.Values(places))))
		})
	if len(options) > listed {
		c.Height(listed)
	}
	return c
}

// errInterrupted is Ctrl-C.
var errInterrupted = errors.New("it was interrupted with Ctrl-C")
