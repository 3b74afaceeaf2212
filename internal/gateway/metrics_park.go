package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/beckon-mcp/beckon/internal/park"
)

// parkMetrics counts the calls that wait for their clients. It is the observer of
// the lot.
type parkMetrics struct {
	rounds  metric.Int64Counter     // beckon.park.rounds
	away    metric.Float64Histogram // beckon.park.away.duration
	refused metric.Int64Counter     // beckon.park.refused
}

func newParkMetrics(meter metric.Meter, seconds metric.HistogramOption) (parkMetrics, error) {
	var m parkMetrics
	var errs [3]error
	m.rounds, errs[0] = meter.Int64Counter("beckon.park.rounds",
		metric.WithDescription("Times that a call was given questions for its client, which then went away with them"))
	m.away, errs[1] = meter.Float64Histogram("beckon.park.away.duration", metric.WithUnit("s"), seconds,
		metric.WithDescription("How long clients were away, by whether they came back"))
	m.refused, errs[2] = meter.Int64Counter("beckon.park.refused",
		metric.WithDescription("Requests whose requestState was not accepted, by what was wrong"))
	return m, errors.Join(errs[:]...)
}

// Parked counts a round.
func (m parkMetrics) Parked(int) { m.rounds.Add(context.Background(), 1) }

// Resumed measures how long a client was away that came back.
func (m parkMetrics) Resumed(after time.Duration) { m.record(after, true) }

// Expired measures how long a client was waited for that did not.
func (m parkMetrics) Expired(after time.Duration) { m.record(after, false) }

func (m parkMetrics) record(after time.Duration, back bool) {
	m.away.Record(context.Background(), after.Seconds(), metric.WithAttributes(attribute.Bool("beckon.back", back)))
}

// Refused counts a state that was not accepted.
func (m parkMetrics) Refused(why park.Refusal) {
	m.refused.Add(context.Background(), 1, metric.WithAttributes(attribute.String("beckon.reason", string(why))))
}

// watchParked shows how many calls are parked at the moment.
func (m *metrics) watchParked(parked func() int) error {
	_, err := m.provider.Meter(meterName).Int64ObservableGauge("beckon.park.calls",
		metric.WithDescription("Calls that wait for their clients to come back"),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(parked()))
			return nil
		}))
	if err != nil {
		return fmt.Errorf("watching parked calls: %w", err)
	}
	return nil
}
