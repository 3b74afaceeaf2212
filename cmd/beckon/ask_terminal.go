package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/channel/terminal"
	"github.com/beckon-mcp/beckon/internal/input"
)

// errTooLong is why a question at a terminal ends by itself.
var errTooLong = errors.New("the time is over")

// askHere asks the person at this terminal.
func (p *program) askHere(ctx context.Context, flags askFlags, f *form.Form) (asked, error) {
	in, out, closing, err := p.terminal()
	if err != nil {
		return asked{Outcome: input.Unseen, Reason: "no_channel", Detail: err.Error()}, nil
	}
	defer closing()
	limit := cmp.Or(f.Definition().Terms.Timeout, input.DefaultTerms().Timeout)
	ctx, stop := context.WithTimeoutCause(ctx, limit, errTooLong)
	defer stop()
	result, err := terminal.Ask(ctx, terminal.Options{
		In: in, Out: out, Plain: flags.plain, Message: flags.message, Environ: p.environ,
	}, f)
	switch {
	case err == nil && result.Outcome == input.Accept:
		return asked{Outcome: input.Accept, Content: result.Values.JSON()}, nil
	case err == nil:
		return asked{Outcome: result.Outcome, Reason: string(input.UserCancelled)}, nil
	case errors.Is(err, errTooLong):
		return asked{Outcome: input.Timeout, Reason: string(input.RanOut), Detail: fmt.Sprintf("%v were over", limit.Round(time.Millisecond))}, nil
	case errors.Is(err, terminal.ErrNobody):
		return asked{Outcome: input.Abandoned, Reason: string(input.ClientDisconnected), Detail: "the terminal was left"}, nil
	}
	return asked{}, err
}

// terminal returns both ends of the terminal at which this process runs. Standard
// input is the person only when it is a terminal: what else comes there was not meant
// as an answer, and standard output is for the answers alone.
func (p *program) terminal() (io.Reader, io.Writer, func(), error) {
	if terminal.Interactive(p.in) && terminal.Interactive(p.err) {
		return p.in, p.err, func() {}, nil
	}
	in, out, err := terminal.Open()
	if err != nil {
		return nil, nil, nil, errors.New("there is no terminal here")
	}
	return in, out, func() { in.Close(); out.Close() }, nil
}
