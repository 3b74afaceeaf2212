package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// metrics counts what passes. The names of the first group are those of the
// OpenTelemetry conventions for MCP, which have none for input requests; the
// others are Beckon's own. No label holds what a peer can choose freely.
type metrics struct {
	provider *sdk.MeterProvider
	registry *prometheus.Registry

	operations metric.Float64Histogram // mcp.server.operation.duration
	working    metric.Float64Histogram // beckon.call.working.duration
	human      metric.Float64Histogram // beckon.call.human.duration

	open    metric.Int64UpDownCounter // beckon.input.open
	ended   metric.Float64Histogram   // beckon.input.duration
	refused metric.Int64Counter       // beckon.input.refused
	passed  metric.Int64Counter       // beckon.input.passed
	late    metric.Int64Counter       // beckon.input.late
	noise   metric.Int64Counter       // beckon.backend.noise

	park   parkMetrics
	forms  formMetrics
	labels labelSets
}

const meterName = "github.com/beckon-mcp/beckon"

func newMetrics() (*metrics, error) {
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("making the exporter: %w", err)
	}
	m := &metrics{provider: sdk.NewMeterProvider(sdk.WithReader(exporter)), registry: registry}
	meter := m.provider.Meter(meterName)
	human := metric.WithExplicitBucketBoundaries(.1, .3, 1, 3, 10, 30, 60, 120, 300, 600, 1800, 3600)
	working := metric.WithExplicitBucketBoundaries(.001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 100, 300)
	var errs [11]error
	m.operations, errs[0] = meter.Float64Histogram("mcp.server.operation.duration", metric.WithUnit("s"), working,
		metric.WithDescription("How long a client waited for the response to a request, people included"))
	m.open, errs[1] = meter.Int64UpDownCounter("beckon.input.open",
		metric.WithDescription("Input requests that wait for an answer"))
	m.ended, errs[2] = meter.Float64Histogram("beckon.input.duration", metric.WithUnit("s"), human,
		metric.WithDescription("How long input requests were open, by how they ended"))
	m.refused, errs[3] = meter.Int64Counter("beckon.input.refused",
		metric.WithDescription("Input requests that were not admitted"))
	m.late, errs[4] = meter.Int64Counter("beckon.input.late",
		metric.WithDescription("Answers that came after the input request had ended, and changed nothing"))
	m.noise, errs[5] = meter.Int64Counter("beckon.backend.noise",
		metric.WithDescription("What backends sent that is no message"))
	m.working, errs[6] = meter.Float64Histogram("beckon.call.working.duration", metric.WithUnit("s"), working,
		metric.WithDescription("How long backends worked on calls, without the time in which people were asked"))
	m.human, errs[7] = meter.Float64Histogram("beckon.call.human.duration", metric.WithUnit("s"), human,
		metric.WithDescription("How long calls that asked waited for people"))
	m.passed, errs[9] = meter.Int64Counter("beckon.input.passed",
		metric.WithDescription("Input requests that passed from modern backends to modern clients, by whose requests they are answered"))
	m.park, errs[8] = newParkMetrics(meter, human)
	m.forms, errs[10] = newFormMetrics(meter)
	return m, errors.Join(errs[:]...)
}

// handler serves the metrics in the Prometheus text format.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) close(ctx context.Context) error { return m.provider.Shutdown(ctx) }

// Called counts one call of a client.
func (m *metrics) Called(r relay.Report) {
	ctx, l := context.Background(), labels{backend: r.Backend, method: known(r.Method)}
	about := m.labels.of(l)
	m.working.Record(ctx, (r.Took - r.Human).Seconds(), about)
	if r.Human > 0 {
		m.human.Record(ctx, r.Human.Seconds(), about)
	}
	if l.errorType = errorType(r.Response); l.errorType != "" {
		about = m.labels.of(l)
	}
	m.operations.Record(ctx, r.Took.Seconds(), about)
}

// Passed counts a question that passed between two of the modern era.
func (m *metrics) Passed(p relay.Passing) {
	if p.Answer == nil {
		m.passed.Add(context.Background(), 1, m.labels.of(labels{backend: p.Question.Backend}))
	}
}

// errorType is the code of an error, "tool_error" for a tool that says it failed,
// and "" for a success.
func errorType(response wire.Message) string {
	if response.Kind() == wire.Failure {
		code, err := strconv.Atoi(string(wire.Get(response.Error(), "code")))
		if err != nil {
			return "_OTHER"
		}
		return strconv.Itoa(code)
	}
	if string(wire.Get(response.Result(), "isError")) == "true" {
		return "tool_error"
	}
	return ""
}

// known is method itself if it is one of the protocol's, so that clients cannot
// make up labels.
func known(method string) string {
	switch method {
	case "completion/complete", "logging/setLevel", "server/discover", "subscriptions/listen",
		"elicitation/cancel", "elicitation/create", "elicitation/extend_timeout", "elicitation/status", "elicitation/submit",
		"prompts/get", "prompts/list",
		"resources/list", "resources/read", "resources/subscribe", "resources/templates/list", "resources/unsubscribe",
		"tasks/cancel", "tasks/get", "tasks/list", "tasks/result",
		"tools/call", "tools/list":
		return method
	}
	return "_OTHER"
}

// Opened counts an input request in.
func (m *metrics) Opened(r *input.Request) {
	m.open.Add(context.Background(), 1, m.labels.of(labels{backend: r.Backend, kind: string(r.Kind)}))
	m.forms.opened(r)
}

// Ended counts an input request out.
func (m *metrics) Ended(r *input.Request, a input.Answer, took time.Duration) {
	l := labels{backend: r.Backend, kind: string(r.Kind)}
	m.open.Add(context.Background(), -1, m.labels.of(l))
	l.outcome = string(a.Outcome)
	m.ended.Record(context.Background(), took.Seconds(), m.labels.of(l))
	m.forms.ended(r)
}

// Changed counts what happens to a form while it is open.
func (m *metrics) Changed(r *input.Request, e input.Event) { m.forms.changed(r, e) }

// Refused counts an input request that was not admitted.
func (m *metrics) Refused(q input.Question, err *wire.Error) {
	m.refused.Add(context.Background(), 1, m.labels.of(labels{backend: q.Backend, reason: string(err.Reason)}))
}

// Late counts an answer that came too late.
func (m *metrics) Late() { m.late.Add(context.Background(), 1) }

// Noise counts what a backend sent that is no message.
func (m *metrics) Noise(backend string) {
	m.noise.Add(context.Background(), 1, m.labels.of(labels{backend: backend}))
}
