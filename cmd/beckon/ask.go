package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/input"
)

// askFlags are the flags of ask.
type askFlags struct {
	form      string
	choices   []string
	confirm   bool
	message   string
	timeout   time.Duration
	gateway   string
	tokenFrom string
	answersTo string
	plain     bool
	asJSON    bool
}

// asked is what came of a question.
type asked struct {
	Outcome input.Outcome   `json:"outcome"`
	Content json.RawMessage `json:"content,omitempty"` // the answers, of an accept
	ID      string          `json:"id,omitempty"`      // of the question at a gateway
	Reason  string          `json:"reason,omitempty"`  // why there are no answers
	Detail  string          `json:"detail,omitempty"`  // the same in a sentence
	Errors  form.Errors     `json:"errors,omitempty"`  // what was wrong with the last ones
}

func (p *program) askCommand() *cobra.Command {
	var flags askFlags
	c := &cobra.Command{
		Use:   "ask [--form FILE | QUESTION] [--gateway URL]",
		Short: "ask a person from a script, and print the answer",
		Long: strings.TrimSpace(`
Ask asks the person at this terminal, even when its own input and output are
something else, and prints the answers as one line of JSON.

QUESTION is answered by a text, by one of the choices or, with --confirm, by yes
or no; the answer is in the member "answer". A form has as many fields as FILE
says. With --confirm, no ends with the exit code 3, so that "&&" does what it seems
to.

With --gateway the question is put to a running gateway, over REST, and can be
answered there by whoever has the same token; its address is told on standard
error. Ctrl-C withdraws it. The token is read from the variable BECKON_TOKEN.

` + exitCodes),
		Example: `  name=$(beckon ask "What is the release called?")
  beckon ask --confirm "Deploy to production?" && ./deploy
  beckon ask --choice eu --choice us "Which region?" | jq -r .answer
  beckon ask --form deploy.json --answers-to answers.json
  beckon ask --form deploy.json --gateway http://127.0.0.1:7878 --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd, args); err != nil {
				return err
			}
			f, err := p.question(flags, args)
			if err != nil {
				return err
			}
			var a asked
			if flags.gateway != "" {
				a, err = p.askGateway(cmd, flags, f)
			} else {
				a, err = p.askHere(cmd.Context(), flags, f)
			}
			if err != nil {
				return err
			}
			return p.tellAsked(a, flags)
		},
	}
	c.Flags().StringVar(&flags.form, "form", "", "ask what the form in `FILE` says; - is standard input")
	c.Flags().StringArrayVar(&flags.choices, "choice", nil, "a possible `ANSWER`; give it once for each")
	c.Flags().BoolVar(&flags.confirm, "confirm", false, "ask for yes or no")
	c.Flags().StringVar(&flags.message, "message", "", "`TEXT` to show above the question")
	c.Flags().DurationVar(&flags.timeout, "timeout", 0, "how long to wait, 1s to 1h (5m, or what the form says)")
	c.Flags().StringVar(&flags.gateway, "gateway", "", "`URL` of a gateway that asks instead")
	c.Flags().StringVar(&flags.tokenFrom, "token-env", config.TokenVariable, "`NAME` of the variable with the token for the gateway")
	c.Flags().StringVar(&flags.answersTo, "answers-to", "", "write what would be printed to `FILE` instead")
	c.Flags().BoolVar(&flags.plain, "plain", false, "ask line by line, as for a screen reader")
	c.Flags().BoolVar(&flags.asJSON, "json", false, `print {"outcome": …, "content": …}, whatever comes of it`)
	return c
}

// check refuses flags that make no sense together.
func (a askFlags) check(c *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return misused(c, "ask takes one QUESTION, and there is %q too: put it into quotes", args[1])
	case (len(args) == 1) == (a.form != ""):
		return misused(c, "ask needs a QUESTION or --form, and not both")
	case a.form != "" && (a.confirm || len(a.choices) > 0):
		return misused(c, "--choice and --confirm are for a QUESTION; a form says itself what can be answered")
	case a.confirm && len(a.choices) > 0:
		return misused(c, "--confirm has the choices yes and no, and no others")
	case len(a.choices) == 1:
		return misused(c, "one --choice leaves nothing to choose")
	case c.Flags().Changed("timeout") && (a.timeout < time.Second || a.timeout > time.Hour):
		return misused(c, "--timeout must be from 1s to 1h")
	case a.plain && a.gateway != "":
		return misused(c, "--plain is for this terminal; with --gateway nobody is asked here")
	}
	return nil
}

// question makes the form that is asked.
func (p *program) question(a askFlags, args []string) (*form.Form, error) {
	if a.form == "" {
		f, err := form.Compile(a.definition(args[0]))
		if faults, ok := errors.AsType[form.Faults](err); ok {
			return nil, usageError{fmt.Errorf("the question cannot be asked: %s", faults[0].Message),
				faults[0].Fix + "; what is long goes into --message"}
		}
		return f, err
	}
	f, err := p.readForm(a.form)
	if err != nil || a.timeout == 0 {
		return f, err
	}
	d := *f.Definition()
	d.Terms.Timeout = a.timeout
	return form.Compile(d)
}

// definition is the form of one question.
func (a askFlags) definition(question string) form.Definition {
	field := form.Field{ID: "answer", Type: form.Text, Label: question, Required: true}
	switch {
	case a.confirm:
		field.Type = form.Boolean
	case len(a.choices) > 0:
		field.Type = form.Select
		for _, choice := range a.choices {
			field.Options = append(field.Options, form.Option{Value: choice})
		}
	}
	return form.Definition{
		ID: "ask", Title: question, Fields: []form.Field{field},
		Terms: form.Terms{Timeout: a.timeout},
	}
}

// tellAsked prints what came of a question, and returns how the command ends.
func (p *program) tellAsked(a asked, flags askFlags) error {
	var line []byte
	switch {
	case flags.asJSON:
		b := &strings.Builder{}
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		if err := e.Encode(a); err != nil {
			return fmt.Errorf("encoding what came of the question: %w", err)
		}
		line = []byte(b.String())
	case a.Outcome == input.Accept:
		line = append(a.Content, '\n')
	}
	if err := p.putAsked(line, flags.answersTo); err != nil {
		return err
	}
	return a.ending(flags)
}

// putAsked writes a line to where the answers go. A file that was there stays when
// there is nothing to write.
func (p *program) putAsked(line []byte, path string) error {
	switch {
	case len(line) == 0:
		return nil
	case path == "":
		_, err := p.out.Write(line)
		return err
	}
	if err := os.WriteFile(path, line, 0o600); err != nil {
		return errWithHint("the folder must be there, and the file must be writable", "writing the answers: %w", err)
	}
	return nil
}

// ending is how ask ends with what came of the question.
func (a asked) ending(flags askFlags) error {
	end := func(code int, hint, what string) error {
		if a.Detail != "" {
			what += ": " + a.Detail
		}
		return ending{errWithHint(hint, "%s", what), code}
	}
	switch a.Outcome {
	case input.Accept:
		if flags.confirm && saysNo(a.Content) {
			return ending{nil, exitDeclined} // the answer has been printed
		}
		return nil
	case input.Decline, input.Cancel:
		return outcomeError(a.Outcome)
	case input.Timeout:
		return end(exitNobody, "--timeout gives people longer", "nobody answered in time")
	case input.Unseen:
		return end(exitNobody, "run it at a terminal, or let a gateway ask: --gateway URL", "nobody can be asked")
	case input.Rejected:
		return end(exitInvalid, "ask again; max_attempts of a form says how often people may try", "the answers were invalid too often")
	}
	return end(exitFailed, "ask again if an answer is still wanted", "the question ended without an answer")
}

// saysNo reports whether the answer to a question for yes or no is no.
func saysNo(content []byte) bool {
	var v struct{ Answer *bool }
	return json.Unmarshal(content, &v) == nil && v.Answer != nil && !*v.Answer
}

// errInterrupted is why ask ends when its own process is told to.
var errInterrupted = errors.New("interrupted")

// interrupted reports whether this process was told to end.
func interrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
