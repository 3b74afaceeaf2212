package gateway

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// The operator who wants answers checked hears of those that cannot be, and of no other.
func TestUncheckedAnswersAreTold(t *testing.T) {
	for _, tt := range []struct {
		name, properties string
		validate         input.Validation
		told             bool
	}{
		{"no form can be made", `{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}`, input.ValidateEnforce, true},
		{"nobody wants it", `{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}`, input.ValidateOff, false},
		{"a form", `{"a":{"type":"string"}}`, input.ValidateEnforce, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			b := input.NewBroker(input.Limits{Timeout: time.Minute, Total: 1, PerSession: 1},
				formLog{slog.New(slog.NewTextHandler(&log, nil))})
			defer b.Close()
			_, err := b.Open(input.Question{
				Message: wire.NewRequest(wire.IntID(1), "elicitation/create",
					[]byte(`{"message":"m","requestedSchema":{"type":"object","properties":`+tt.properties+`}}`)),
				Caps: wire.ParseClientCaps([]byte(`{"elicitation":{}}`)), Backend: "tickets", Validate: tt.validate,
			}, silent{}, func(*input.Request, input.Answer) {})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(log.String(), "not checked") && strings.Contains(log.String(), "backend=tickets"); got != tt.told {
				t.Errorf("told: %t, want %t: %s", got, tt.told, log.String())
			}
		})
	}
}
