package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// formMetrics count what becomes of forms.
type formMetrics struct {
	open      metric.Int64UpDownCounter // beckon.elicitation.open
	rejected  metric.Int64Counter       // beckon.elicitation.rejected
	warnings  metric.Int64Counter       // beckon.elicitation.warnings
	extended  metric.Int64Counter       // beckon.elicitation.extensions
	abandoned metric.Int64Counter       // beckon.elicitation.abandoned
}

func newFormMetrics(meter metric.Meter) (formMetrics, error) {
	var m formMetrics
	var errs [5]error
	m.open, errs[0] = meter.Int64UpDownCounter("beckon.elicitation.open",
		metric.WithDescription("Forms that Beckon owns and that wait for an answer"))
	m.rejected, errs[1] = meter.Int64Counter("beckon.elicitation.rejected",
		metric.WithDescription("Answers that did not fit their form"))
	m.warnings, errs[2] = meter.Int64Counter("beckon.elicitation.warnings",
		metric.WithDescription("Warnings that a form ends soon"))
	m.extended, errs[3] = meter.Int64Counter("beckon.elicitation.extensions",
		metric.WithDescription("Times that the end of a form was moved"))
	m.abandoned, errs[4] = meter.Int64Counter("beckon.elicitation.abandoned",
		metric.WithDescription("Forms that ended without an answer, by why"))
	return m, errors.Join(errs[:]...)
}

func (m formMetrics) opened(r *input.Request) {
	if r.Lane() {
		m.open.Add(context.Background(), 1)
	}
}

func (m formMetrics) changed(r *input.Request, e input.Event) {
	switch e.What {
	case input.WasRejected:
		m.rejected.Add(context.Background(), 1, metric.WithAttributes(attribute.String("beckon.backend", r.Backend)))
	case input.WasWarned:
		m.warnings.Add(context.Background(), 1)
	case input.WasExtended:
		m.extended.Add(context.Background(), 1)
	}
}

func (m formMetrics) ended(r *input.Request) {
	if r.Lane() {
		m.open.Add(context.Background(), -1)
	}
	if why := abandonment(r); why != "" {
		m.abandoned.Add(context.Background(), 1, metric.WithAttributes(attribute.String("beckon.reason", string(why))))
	}
}

// abandonment is why a form that Beckon owns has ended without an answer; "" for
// everything else.
func abandonment(r *input.Request) input.Abandonment {
	if !r.Lane() {
		return ""
	}
	return r.Status().Abandonment()
}

// formLog tells the operator of forms that were given up, and of those whose answers
// cannot be checked as the configuration wants it, without what they hold.
type formLog struct{ log *slog.Logger }

func (l formLog) Opened(r *input.Request) {
	if r.Kind == input.Form && r.Form() == nil && r.Validate != "" && r.Validate != input.ValidateOff {
		l.log.Warn("the answer to a question is not checked: no form can be made of its schema",
			"input", r.ID, "backend", r.Backend, "validate", string(r.Validate))
	}
}

func (formLog) Changed(*input.Request, input.Event) {}
func (formLog) Refused(input.Question, *wire.Error) {}

func (l formLog) Ended(r *input.Request, _ input.Answer, took time.Duration) {
	if why := abandonment(r); why != "" {
		l.log.Info("form abandoned", "reason", string(why), "elicitation", r.ID, "backend", r.Backend,
			"principal", r.Principal, "session", r.Session, "took", took)
	}
}
