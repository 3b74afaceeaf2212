package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// audit writes two lines for each input request, when it is opened and when it
// ends, or one when it is refused: who asked, through which call, whom, how it
// ended and how long it took. What was asked and answered stands there as a
// digest, which proves the text to somebody who has it, or in full where the
// configuration says so. It never blocks on anything but the log's writer.
type audit struct {
	log  *slog.Logger
	full bool // the text itself instead of its digest
}

func (a audit) Opened(r *input.Request) {
	a.log.Info("input request opened", append(a.about(r.Question), "input", r.ID, "kind", string(r.Kind),
		a.content("question", r.Message.Params()), "deadline", r.Deadline)...)
}

func (a audit) Ended(r *input.Request, ans input.Answer, took time.Duration) {
	attrs := append(a.about(r.Question), "input", r.ID, "kind", string(r.Kind),
		"outcome", string(ans.Outcome), "took", took)
	if why := abandonment(r); why != "" {
		attrs = append(attrs, "abandoned", string(why))
	}
	switch {
	case ans.Err != nil:
		attrs = append(attrs, "reason", string(ans.Err.Reason))
	case ans.Response.Kind() == wire.Failure:
		attrs = append(attrs, "answered_by", r.Principal, a.content("answer", ans.Response.Error()))
	default:
		attrs = append(attrs, "answered_by", r.Principal, a.content("answer", withoutSecrets(r, ans.Response.Result())))
	}
	a.log.Info("input request ended", attrs...)
}

// withoutSecrets is an answer as it may be kept: what the form asked for as a
// secret, where the configuration lets it, is not even there as a digest, which
// would tell a short one to somebody who tries.
func withoutSecrets(r *input.Request, answer []byte) []byte {
	if r.Kind != input.Form {
		return answer
	}
	secrets := input.Secrets(wire.Get(r.Ask().Params(), "requestedSchema"))
	if f := r.Form(); f != nil {
		secrets = append(secrets, f.Sensitive()...)
	}
	for _, name := range secrets {
		if wire.Get(answer, "content", name) != nil {
			answer = wire.Set(answer, []byte(`"[redacted]"`), "content", name)
		}
	}
	return answer
}

// Changed writes down what happens to a form while it is open.
func (a audit) Changed(r *input.Request, e input.Event) {
	a.log.Info("input request "+string(e.What), append(a.about(r.Question), "input", r.ID,
		"state", string(e.Status.State), "timeout_at", e.Status.TimeoutAt, "attempts", e.Status.Attempts)...)
}

func (a audit) Refused(q input.Question, err *wire.Error) {
	a.log.Info("input request refused", append(a.about(q), "method", q.Message.Method(),
		"outcome", string(input.Refused), "reason", string(err.Reason), "code", err.Code)...)
}

// Called writes down a call that asked: how long it worked and how long people
// were asked, which are two clocks.
func (a audit) Called(r relay.Report) {
	if r.Human == 0 {
		return
	}
	a.log.Info("call that asked ended", "backend", r.Backend, "method", r.Method, "principal", r.Principal,
		"session", r.Session, "working", r.Took-r.Human, "human", r.Human, "error", errorType(r.Response))
}

// Passed writes down a question that a modern backend put to a modern client, or the
// answer: who asked, through which call, and whom. What was answered stands there as a
// digest in any case, because the form that would tell secrets apart is not at hand.
func (a audit) Passed(p relay.Passing) {
	about := append(a.about(p.Question), "key", p.Key)
	if p.Answer == nil {
		m := p.Question.Message
		a.log.Info("input request passed", append(about, "method", m.Method(), a.content("question", m.Params()))...)
		return
	}
	action, _ := wire.Text(p.Answer, "action")
	a.log.Info("answer passed", append(about, "action", action, "answered_by", p.Question.Principal,
		audit{}.content("answer", p.Answer))...)
}

func (a audit) about(q input.Question) []any {
	return []any{"backend", q.Backend, "call", q.Call, "principal", q.Principal, "session", q.Session}
}

func (a audit) content(name string, text []byte) slog.Attr {
	if a.full {
		return slog.String(name, string(text))
	}
	sum := sha256.Sum256(text)
	return slog.String(name+"_sha256", hex.EncodeToString(sum[:]))
}

// callObservers are each told of calls.
type callObservers []relay.Observer

func (o callObservers) Passed(p relay.Passing) {
	for _, each := range o {
		each.Passed(p)
	}
}

func (o callObservers) Called(r relay.Report) {
	for _, each := range o {
		each.Called(r)
	}
}

// inputObservers are each told of input requests.
type inputObservers []input.Observer

func (o inputObservers) Opened(r *input.Request) {
	for _, each := range o {
		each.Opened(r)
	}
}

func (o inputObservers) Ended(r *input.Request, a input.Answer, took time.Duration) {
	for _, each := range o {
		each.Ended(r, a, took)
	}
}

func (o inputObservers) Changed(r *input.Request, e input.Event) {
	for _, each := range o {
		each.Changed(r, e)
	}
}

func (o inputObservers) Refused(q input.Question, err *wire.Error) {
	for _, each := range o {
		each.Refused(q, err)
	}
}
