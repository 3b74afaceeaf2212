package gateway

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// labels are the labels of one measurement. "" leaves one out, except backend, where
// it means the gateway itself. No label holds what a peer can choose freely.
type labels struct{ backend, method, errorType, kind, outcome, reason string }

// labelSets makes each set of labels once. That takes longer than to measure, and a
// stack that the goroutine of a call would keep for as long as a person is asked.
// The zero labelSets is ready to use.
type labelSets struct {
	mu   sync.Mutex
	made map[labels]metric.MeasurementOption // guarded by mu
}

// maxLabelSets bounds what is kept: error codes are the backends' to choose.
const maxLabelSets = 10_000

// of returns l for use with an instrument.
func (s *labelSets) of(l labels) metric.MeasurementOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	if set, ok := s.made[l]; ok {
		return set
	}
	if s.made == nil || len(s.made) >= maxLabelSets {
		s.made = make(map[labels]metric.MeasurementOption)
	}
	s.made[l] = metric.WithAttributeSet(l.set())
	return s.made[l]
}

func (l labels) set() attribute.Set {
	all := []attribute.KeyValue{attribute.String("beckon.backend", l.backend)}
	for _, label := range [...]struct{ key, value string }{
		{"mcp.method.name", l.method},
		{"error.type", l.errorType},
		{"beckon.input.kind", l.kind},
		{"beckon.outcome", l.outcome},
		{"beckon.reason", l.reason},
	} {
		if label.value != "" {
			all = append(all, attribute.String(label.key, label.value))
		}
	}
	return attribute.NewSet(all...)
}
