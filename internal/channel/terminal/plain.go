package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
)

// move is what a person does next.
type move int

const (
	onward   move = iota // to what comes next
	back                 // to the question before
	change               // to answers that were given
	declined             // they will not answer
	left                 // they do not answer now
)

// dialogue asks a form line by line. It is used by one goroutine.
type dialogue struct {
	*sheet
	Options
	in    *lines
	out   *printer
	asked map[string]bool // by field id
	trail []string        // the fields that were asked, in that order
}

// printer writes lines, and remembers when it could not.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) say(format string, args ...any) { p.print(fmt.Sprintf(format, args...) + "\n") }

func (p *printer) print(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

// Write is print, for who writes to an io.Writer. It returns no error.
func (p *printer) Write(b []byte) (int, error) {
	p.print(string(b))
	return len(b), nil
}

// askByLine asks the form in a conversation.
func askByLine(ctx context.Context, o Options, s *sheet) (Result, error) {
	d := &dialogue{sheet: s, Options: o, in: newLines(o.In), out: &printer{w: o.Out}, asked: make(map[string]bool)}
	defer d.in.close()
	result, err := d.run(ctx)
	if ctx.Err() != nil && err != nil {
		d.out.say("(no longer needed: %s)", line(context.Cause(ctx).Error()))
	}
	return result, err
}

func (d *dialogue) run(ctx context.Context) (Result, error) {
	d.out.print(intro(ctx, d.Options, d.form))
	d.out.say("Enter takes the answer in [brackets], or leaves out what is not required. Other\nanswers are ? for help, !back, !skip, !decline and !cancel.")
	for {
		m, err := d.fill(ctx)
		if err == nil && m == onward {
			m, err = d.review(ctx)
		}
		switch {
		case err != nil:
			return Result{}, err
		case m == declined:
			return Result{Outcome: input.Decline}, nil
		case m == left:
			return Result{Outcome: input.Cancel}, nil
		case m == onward:
			if values, ok := d.finish(); ok {
				return Result{Outcome: input.Accept, Values: values}, nil
			}
		}
	}
}

// intro says who asks, what and why.
func intro(ctx context.Context, o Options, f *form.Form) string {
	var b strings.Builder
	if from := line(o.From); from != "" {
		fmt.Fprintf(&b, "%s asks:\n", from)
	}
	def := f.Definition()
	if t := line(def.Title); t != "" {
		fmt.Fprintf(&b, "%s\n", t)
	}
	for _, text := range []string{o.Message, def.Description} {
		for _, l := range paragraph(text) {
			fmt.Fprintf(&b, "  %s\n", l)
		}
	}
	if end, ok := ctx.Deadline(); ok {
		fmt.Fprintf(&b, "It can be answered until %s.\n", end.Local().Format(time.TimeOnly))
	}
	if len(o.Errors) > 0 {
		b.WriteString("The answers that were given are not valid yet:\n")
		writeErrors(&b, o.Errors, f)
	}
	return b.String()
}

// writeErrors writes a line for each error.
func writeErrors(w io.Writer, all form.Errors, f *form.Form) {
	for _, e := range all {
		fmt.Fprintf(w, "  - %s\n", complaint(e, f))
	}
}

// complaint is an error for a person, with the label of its field when it does not
// say it itself.
func complaint(e form.Error, f *form.Form) string {
	message := line(e.Message)
	for i := range f.Definition().Fields {
		if one := &f.Definition().Fields[i]; one.ID == e.Field && !strings.Contains(message, label(one)) {
			return label(one) + ": " + message
		}
	}
	return message
}

// fill asks what is visible and was not asked yet. Answers change what is visible, of
// earlier fields, too.
func (d *dialogue) fill(ctx context.Context) (move, error) {
	for {
		f := d.nextField()
		if f == nil {
			return onward, nil
		}
		if f.Hints.Readonly {
			d.out.say("\n%s: %s (cannot be changed)", label(f), d.show(f, f.Default))
			d.asked[f.ID] = true
			continue
		}
		m, err := d.ask(ctx, f)
		switch {
		case err != nil || m == declined || m == left:
			return m, err
		case m == onward:
			d.asked[f.ID] = true
			d.trail = append(d.trail, f.ID)
		case len(d.trail) == 0:
			d.out.say("This is the first question.")
		default:
			last := len(d.trail) - 1
			delete(d.asked, d.trail[last])
			d.trail = d.trail[:last]
		}
	}
}

// nextField is the first that is to be asked; nil when all were.
func (d *dialogue) nextField() *form.Field {
	for i := range d.fields {
		if f := &d.fields[i]; !d.asked[f.ID] && d.visible(f.ID) {
			return f
		}
	}
	return nil
}

// again marks a field as not asked.
func (d *dialogue) again(id string) {
	delete(d.asked, id)
	d.trail = slices.DeleteFunc(d.trail, func(one string) bool { return one == id })
}

// review shows all answers and asks what to do with them. What is wrong is asked
// again before anything can be sent.
func (d *dialogue) review(ctx context.Context) (move, error) {
	values, ok := d.finish()
	if !ok {
		d.out.say("\nThat is not valid yet:")
		writeErrors(d.out, d.errors, d.form)
		if d.reopen() {
			return change, nil
		}
	}
	d.out.say("\nYour answers:")
	listed := d.list(values)
	prompt := "Send? [y]es / [e]dit / [d]ecline / [c]ancel: "
	if !ok {
		prompt = "Not valid yet: [e]dit / [d]ecline / [c]ancel: "
	}
	for {
		typed, err := d.prompt(ctx, prompt, false)
		if err != nil {
			return left, err
		}
		switch strings.ToLower(strings.TrimSpace(typed)) {
		case "y", "yes":
			if ok {
				return onward, nil
			}
		case "e", "edit", "!back":
			return d.edit(ctx, listed)
		case "d", "decline", "!decline":
			return declined, nil
		case "c", "cancel", "!cancel":
			return left, nil
		}
	}
}

// reopen marks the fields with an error as not asked; false when there is none that a
// person could answer.
func (d *dialogue) reopen() bool {
	found := false
	for _, e := range d.errors {
		if f := d.field(e.Field); f != nil && !f.Hints.Readonly && d.visible(f.ID) {
			d.again(f.ID)
			found = true
		}
	}
	return found
}

// list prints the answers with numbers, and returns the fields.
func (d *dialogue) list(values form.Values) []*form.Field {
	all, err := members(values)
	if err != nil {
		all = d.given // what Read returned is an object; if ever it were not, this is what was typed
	}
	var listed []*form.Field
	for i := range d.fields {
		if f := &d.fields[i]; values.Visible(f.ID) {
			listed = append(listed, f)
			d.out.say("  %d. %s: %s", len(listed), label(f), d.show(f, all[f.ID]))
		}
	}
	return listed
}

// edit asks which answer is to be changed.
func (d *dialogue) edit(ctx context.Context, listed []*form.Field) (move, error) {
	for {
		typed, err := d.prompt(ctx, "Which answer? Its number, or Enter for all: ", false)
		if err != nil {
			return left, err
		}
		typed = strings.TrimSpace(typed)
		n, err := strconv.Atoi(typed)
		switch {
		case typed == "":
			for _, f := range listed {
				d.again(f.ID)
			}
			return change, nil
		case err == nil && n >= 1 && n <= len(listed):
			d.again(listed[n-1].ID)
			return change, nil
		}
		d.out.say("Type a number from 1 to %d.", len(listed))
	}
}

// prompt asks for one line. What cannot be read as text is asked for again; every
// other error means that nobody answered.
func (d *dialogue) prompt(ctx context.Context, text string, hide bool) (string, error) {
	for {
		d.out.print(text)
		if d.out.err != nil {
			return "", fmt.Errorf("writing the question: %w", d.out.err)
		}
		var typed string
		var err error
		if hide {
			typed, err = d.in.hidden(ctx)
		} else {
			typed, err = d.in.next(ctx)
		}
		if hide || err != nil || d.in.tty == nil {
			d.out.say("") // nobody has seen the end of the line that was typed
		}
		switch {
		case errors.Is(err, errTooLong) || errors.Is(err, errNoText):
			d.out.say("Not understood: %v.", err)
		case err != nil:
			return "", nobody(err)
		default:
			return typed, nil
		}
	}
}
