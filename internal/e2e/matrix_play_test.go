//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// cellTimeout bounds one cell. Only one that hangs reaches it.
	cellTimeout = 30 * time.Second
	// promptly is how soon who is left must know. It is a second on a machine
	// that has nothing else to do, and far below every other time limit.
	promptly = 5 * time.Second
)

// play plays one cell and checks what came out.
func (s *stage) play(t *testing.T, c cell) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), cellTimeout, fmt.Errorf("the cell took longer than %v", cellTimeout))
	defer cancel()
	s.plays(c)
	p := connect(ctx, t, c, s.reach(t, c))
	t.Cleanup(func() {
		if t.Failed() {
			for _, f := range p.log.all() {
				t.Logf("%s %s", f.Dir, f.Message)
			}
		}
	})
	run := &cellRun{cell: c, client: p, ledger: s.ledger}
	got, err := run.play(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := c.want()
	asked, wrong := p.seen()
	for _, w := range wrong {
		t.Error(w)
	}
	if c.kind == "form" && p.formsSeen() != len(want.Asked) {
		t.Errorf("%d forms came in byte for byte, want %d", p.formsSeen(), len(want.Asked))
	}
	got.Asked = asked
	if got.Executed, _, _, err = s.ledger.read(c.key()); err != nil {
		t.Fatal(err)
	}
	want.check(t, got)
}

// A cellRun is a cell while it is played.
type cellRun struct {
	cell   cell
	client *cellClient
	ledger ledgerFolder
}

func (r *cellRun) play(ctx context.Context) (ending, error) {
	switch c := r.cell; {
	case c.outcome == byClientGone:
		return r.clientGoes(ctx)
	case c.outcome == byBackendGone:
		return r.backendGoes(ctx)
	case r.client.desk.manual:
		return r.comeBackLate(ctx)
	case c.outcome == byWithdrawal:
		call := r.call(ctx, nil)
		if err := r.client.desk.await(ctx, 1); err != nil {
			return ending{}, err
		}
		if err := r.ledger.withdraw(c.key()); err != nil {
			return ending{}, err
		}
		return call.ending(ctx)
	default:
		return r.call(ctx, nil).ending(ctx)
	}
}

// clientGoes cuts the connection with the question open, or if there is nothing
// open then, with the tool at work. The tool must hear of it soon, as an error
// and not as an answer. What a modern backend has asked has no one to tell.
func (r *cellRun) clientGoes(ctx context.Context) (ending, error) {
	ctx, cancel := context.WithCancel(ctx)
	call := r.call(ctx, nil)
	defer call.wait()
	defer cancel()
	if r.cell.holds() {
		if err := r.ledger.awaitHeld(ctx, r.cell.key()); err != nil {
			return ending{}, err
		}
	} else if err := r.client.desk.await(ctx, 1); err != nil {
		return ending{}, err
	}
	r.client.cut()
	if !r.cell.holds() && r.cell.backend.era == modern {
		return ending{Ends: nothing}, nil
	}
	soon, cancel := soon(ctx)
	defer cancel()
	return ending{Ends: nothing}, r.ledger.awaitEnded(soon, r.cell.key())
}

// backendGoes kills the backend with the question open, or if it has none open
// then, with its tool at work. The client must hear of it soon, if it is there;
// a modern one hears it when it comes back.
func (r *cellRun) backendGoes(ctx context.Context) (ending, error) {
	if r.client.desk.manual {
		retry, err := r.question(ctx)
		if err != nil {
			return ending{}, err
		}
		if err := r.ledger.kill(ctx, r.cell.key()); err != nil {
			return ending{}, err
		}
		soon, cancel := soon(ctx)
		defer cancel()
		return r.call(ctx, retry).ending(soon)
	}
	call := r.call(ctx, nil)
	if r.cell.holds() {
		if err := r.ledger.awaitHeld(ctx, r.cell.key()); err != nil {
			return ending{}, err
		}
	} else if err := r.client.desk.await(ctx, 1); err != nil {
		return ending{}, err
	}
	if err := r.ledger.kill(ctx, r.cell.key()); err != nil {
		return ending{}, err
	}
	soon, cancel := soon(ctx)
	defer cancel()
	return call.ending(soon)
}

// comeBackLate plays a modern client that is away until the call has ended, and
// then answers all the same: late is late. One that has no answer never comes
// back.
func (r *cellRun) comeBackLate(ctx context.Context) (ending, error) {
	retry, err := r.question(ctx)
	if err != nil {
		return ending{}, err
	}
	if r.cell.outcome == byWithdrawal {
		if err := r.ledger.withdraw(r.cell.key()); err != nil {
			return ending{}, err
		}
	}
	if r.cell.backend.era == legacy {
		if err := r.ledger.awaitEnded(ctx, r.cell.key()); err != nil {
			return ending{}, err
		}
	}
	if r.cell.outcome == byError {
		return ending{Ends: nothing}, nil
	}
	return r.call(ctx, retry).ending(ctx)
}

func soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, promptly, fmt.Errorf("not within %v", promptly))
}

// A pendingCall is a call of the tool, on a goroutine that ends with its context.
type pendingCall struct {
	done   chan struct{} // closed when result and err are set
	result *mcp.CallToolResult
	err    error
}

// call calls the tool; as a retry if it is given what to add.
func (r *cellRun) call(ctx context.Context, retry *retry) *pendingCall {
	c := r.cell
	params := &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{
		"key": c.key(), "kind": c.kind, "rounds": c.rounds(), "atOnce": c.atOnce(), "hold": c.holds(),
	}}
	if retry != nil {
		params.RequestState, params.InputResponses = retry.state, retry.answers
	}
	p := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.result, p.err = r.client.session.CallTool(ctx, params)
	}()
	return p
}

func (p *pendingCall) wait() { <-p.done }

// ending waits for the end of the call.
func (p *pendingCall) ending(ctx context.Context) (ending, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		return ending{}, fmt.Errorf("waiting for the call to end: %w", context.Cause(ctx))
	}
	if p.err != nil {
		return ending{Ends: callFail, Says: p.err.Error()}, nil
	}
	if len(p.result.Content) != 1 {
		return ending{}, fmt.Errorf("a result with %d contents, needing input: %v", len(p.result.Content), p.result.NeedsInput())
	}
	text, ok := p.result.Content[0].(*mcp.TextContent)
	switch {
	case !ok:
		return ending{}, fmt.Errorf("a result of %T", p.result.Content[0])
	case p.result.IsError:
		return ending{Ends: toolFail, Says: text.Text}, nil
	}
	return ending{Ends: reports, Report: text.Text}, nil
}

// A retry is what a modern client adds to a call that ended with input_required.
type retry struct {
	state   string
	answers mcp.InputResponseMap
}

// question makes a call that must end with input_required, and takes the
// questions to the desk.
func (r *cellRun) question(ctx context.Context) (*retry, error) {
	p := r.call(ctx, nil)
	select {
	case <-p.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to be asked: %w", context.Cause(ctx))
	}
	switch {
	case p.err != nil:
		return nil, fmt.Errorf("waiting to be asked: %w", p.err)
	case !p.result.NeedsInput() || p.result.RequestState == "":
		return nil, errors.New("the call ended without asking")
	}
	answers := make(mcp.InputResponseMap)
	for id, asked := range p.result.InputRequests {
		answers[id] = r.client.desk.answer(r.client.desk.note(asked))
	}
	return &retry{p.result.RequestState, answers}, nil
}
