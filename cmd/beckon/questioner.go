package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/internal/api"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// questioner asks questions at a gateway over REST.
type questioner struct {
	base  *url.URL // with the path of the API
	token string   // "" for none
	http  *http.Client
}

// questioner makes one for the gateway that the flags name.
func (p *program) questioner(cmd *cobra.Command, flags askFlags) (*questioner, error) {
	base, err := url.Parse(flags.gateway)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "":
		return nil, usageError{fmt.Errorf("--gateway must be a URL such as http://127.0.0.1:7878"), "beckon serve tells its own when it starts"}
	case strings.HasSuffix(strings.TrimSuffix(base.Path, "/"), "/mcp"):
		return nil, usageError{errors.New("--gateway is the address of the gateway, without /mcp"), "leave /mcp away"}
	}
	token, set := p.variable(flags.tokenFrom)
	if !set && cmd.Flags().Changed("token-env") {
		return nil, usageError{fmt.Errorf("the variable %s is not set", flags.tokenFrom), "export it with the token of the gateway"}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, usageError{fmt.Errorf("what the variable %s holds is no token", flags.tokenFrom), "a token has no spaces and no line breaks"}
	}
	const patience = 30 * time.Second // until a response begins; a stream may be silent for longer
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = patience
	return &questioner{
		base: base.JoinPath(api.Root), token: token,
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a token is for the gateway that was named
		}},
	}, nil
}

// variable looks up a variable of the environment.
func (p *program) variable(name string) (value string, set bool) {
	for _, v := range p.environ {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			value, set = text, true
		}
	}
	return value, set
}

// address is where a question is.
func (c *questioner) address(id string) string { return c.base.JoinPath("questions", id).String() }

// ask opens a question. It is not interrupted half-way, when the question might be
// open and nobody would know its id.
func (c *questioner) ask(ctx context.Context, body api.Asking) (api.Question, error) {
	const patience = 10 * time.Second
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	return c.call(ctx, http.MethodPost, c.base.JoinPath("questions").String(), body)
}

func (c *questioner) show(ctx context.Context, id string) (api.Question, error) {
	return c.call(ctx, http.MethodGet, c.address(id), nil)
}

func (c *questioner) withdraw(ctx context.Context, id, why string) (api.Question, error) {
	return c.call(ctx, http.MethodPost, c.address(id)+"/withdraw", api.Withdrawing{Reason: why})
}

// maxReply is the longest response that is read, and the longest event.
const maxReply = 64 << 20

// call sends one request that is answered by a question.
func (c *questioner) call(ctx context.Context, method, to string, body any) (api.Question, error) {
	var q api.Question
	resp, err := c.send(ctx, method, to, body, "")
	if err != nil {
		return q, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxReply)).Decode(&q); err != nil {
		return q, errWithHint("is there a gateway at that address?", "reading what %s says: %w", c.base.Host, err)
	}
	return q, nil
}

// send sends one request, and returns the response if it tells of a success.
func (c *questioner) send(ctx context.Context, method, to string, body any, last string) (*http.Response, error) {
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
		text = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, to, text)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	r.Header.Set("User-Agent", "beckon/"+version())
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, errWithHint("is a gateway running there? beckon serve starts one", "reaching the gateway: %w", err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.refusal(resp)
}

// refusal is the error that a response tells of.
func (c *questioner) refusal(resp *http.Response) error {
	const maxProblem = 1 << 20
	var problem api.Problem
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if err != nil || kind != "application/problem+json" || json.Unmarshal(text, &problem) != nil {
		return errWithHint("is it the address of a gateway, and are questions over REST switched on there (api.enabled)?",
			"%s says %s", c.base.Host, resp.Status)
	}
	hint := problem.Hint
	if problem.Status == http.StatusUnauthorized {
		hint = "put a token of the gateway into the variable BECKON_TOKEN, or name another with --token-env"
	}
	return hinted{problemError{problem}, cmp.Or(hint, problem.Title)}
}

// listen follows a question until its end, or that of the connection.
func (c *questioner) listen(ctx context.Context, id string, at *place) error {
	resp, err := c.send(ctx, http.MethodGet, c.address(id)+"/events", nil, at.last)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	at.begun()
	events := wire.NewEventReader(resp.Body, maxReply)
	for !at.ended {
		e, err := events.Next()
		if err != nil {
			return fmt.Errorf("following the question: %w", err)
		}
		if err := at.seen(e.ID, e.Type, e.Data); err != nil {
			return err
		}
	}
	return nil
}
