package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/channel/terminal"
	"github.com/beckon-mcp/beckon/internal/input"
)

func (p *program) formTryCommand() *cobra.Command {
	var plain, asJSON bool
	var answers string
	c := &cobra.Command{
		Use:   "try FILE",
		Short: "fill in a form at this terminal",
		Long: strings.TrimSpace(`
Try asks the form in FILE as a gateway would, and prints the answers as JSON. The
dialogue is on the terminal, or on standard input and standard error where there
is none.

With --answers nobody is asked: the answers in a file are read, converted and
checked as those of a person are.

` + exitCodes),
		Example: `  beckon form try deploy.json
  beckon form try --plain deploy.json > answers.json
  beckon form try deploy.json --answers answers.json
  echo '{"region": "us-east-1"}' | beckon form try deploy.json --answers - --json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if answers == "-" && args[0] == "-" {
				return misused(cmd, "only one of FILE and --answers can be standard input")
			}
			f, err := p.readForm(args[0])
			if err != nil {
				return err
			}
			if answers != "" {
				return p.tryAnswers(f, answers, asJSON)
			}
			return p.tryPerson(cmd.Context(), f, terminal.Options{Plain: plain}, args[0] == "-", asJSON)
		},
	}
	c.Flags().BoolVar(&plain, "plain", false, "ask line by line, as for a screen reader")
	c.Flags().StringVar(&answers, "answers", "", "check the answers in `FILE` instead of asking; - is standard input")
	c.Flags().BoolVar(&asJSON, "json", false, "print what came of it as JSON, errors included")
	return c
}

// tryAnswers checks the answers at path.
func (p *program) tryAnswers(f *form.Form, path string, asJSON bool) error {
	data, err := p.readFile(path)
	if err != nil {
		return errWithHint("give a JSON file with an object of answers, or - for standard input", "reading the answers: %w", err)
	}
	values, err := f.Read(data, form.Coerce)
	wrong, invalid := errors.AsType[form.Errors](err)
	if err != nil && !invalid {
		return err
	}
	if !asJSON && !invalid {
		return p.printAnswers(values)
	}
	if !asJSON {
		for _, e := range wrong {
			p.say("%s: %v\n", path, e)
		}
		return ending{nil, exitInvalid}
	}
	verdict := struct {
		Valid   bool            `json:"valid"`
		Answers json.RawMessage `json:"answers,omitempty"`
		Errors  form.Errors     `json:"errors"`
	}{!invalid, nil, form.Errors{}}
	if invalid {
		verdict.Errors = wrong
	} else {
		verdict.Answers = values.JSON()
	}
	if err := p.printJSON(verdict, false); err != nil || !invalid {
		return err
	}
	return ending{nil, exitInvalid}
}

// tryPerson lets the person at this terminal fill in the form. taken says that
// standard input is no longer theirs.
func (p *program) tryPerson(ctx context.Context, f *form.Form, o terminal.Options, taken, asJSON bool) error {
	in, out, closing, err := p.person(taken)
	if err != nil {
		return err
	}
	defer closing()
	o.In, o.Out, o.Environ = in, out, p.environ
	result, err := terminal.Ask(ctx, o, f)
	if err != nil {
		return err
	}
	if asJSON {
		if err := p.printOutcome(result); err != nil {
			return err
		}
	} else if result.Outcome == input.Accept {
		return p.printAnswers(result.Values)
	}
	return outcomeError(result.Outcome)
}

// outcomeError is how a command ends with what a person chose.
func outcomeError(o input.Outcome) error {
	switch o {
	case input.Decline:
		return ending{errors.New("the person declined"), exitDeclined}
	case input.Cancel:
		return ending{errors.New("the person cancelled"), exitCancelled}
	}
	return nil
}

// person returns both ends of the dialogue. Answers are for standard output alone.
func (p *program) person(taken bool) (io.Reader, io.Writer, func(), error) {
	asIs := !taken && (!terminal.Interactive(p.in) || terminal.Interactive(p.err))
	if asIs {
		return p.in, p.err, func() {}, nil
	}
	in, out, err := terminal.Open()
	switch {
	case err == nil:
		return in, out, func() { in.Close(); out.Close() }, nil
	case taken:
		return nil, nil, nil, errWithHint("put the form into a file, or give --answers", "nobody can be asked: the form came on standard input, and there is no terminal: %w", err)
	}
	return p.in, p.err, func() {}, nil
}

func (p *program) printAnswers(v form.Values) error {
	_, err := fmt.Fprintf(p.out, "%s\n", v.JSON())
	return err
}

func (p *program) printOutcome(r terminal.Result) error {
	record := struct {
		Outcome input.Outcome   `json:"outcome"`
		Content json.RawMessage `json:"content,omitempty"`
	}{Outcome: r.Outcome}
	if r.Outcome == input.Accept {
		record.Content = r.Values.JSON()
	}
	return p.printJSON(record, true)
}
