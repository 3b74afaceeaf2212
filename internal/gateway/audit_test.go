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

// silent is a channel that shows nothing.
type silent struct{}

func (silent) Offer(*input.Request)           {}
func (silent) Retract(*input.Request, string) {}

// R73: the audit has the text, or what proves it, and a secret in neither form.
func TestAuditKeepsNoSecret(t *testing.T) {
	const form = `{"message":"log in","requestedSchema":{"type":"object","properties":{"user":{"type":"string"},"pass\u0077ord":{"type":"string"},"pin":{"type":"string","format":"password"}}}}`
	answer := func(secret string) string {
		return `{"action":"accept","content":{"pin":"` + secret + `","user":"ada","password":"` + secret + `"}}`
	}
	for _, full := range []bool{true, false} {
		written := func(secret string) string {
			var log bytes.Buffer
			b := input.NewBroker(input.Limits{Timeout: time.Minute, Total: 1, PerSession: 1},
				audit{slog.New(slog.NewTextHandler(&log, nil)), full})
			defer b.Close()
			r, err := b.Open(input.Question{
				Message: wire.NewRequest(wire.IntID(1), "elicitation/create", []byte(form)),
				Caps:    wire.ParseClientCaps([]byte(`{"elicitation":{}}`)),
			}, silent{}, func(*input.Request, input.Answer) {})
			if err != nil {
				t.Fatal(err)
			}
			log.Reset()
			r.Settle(wire.NewResult(wire.IntID(1), []byte(answer(secret))))
			_, content, _ := strings.Cut(log.String(), " answer")
			return content
		}
		one, two := written("hunter2"), written("correct horse")
		if one != two {
			t.Errorf("full %v: the audit tells one secret from another:\n%s%s", full, one, two)
		}
		if full && !strings.Contains(one, `\"user\":\"ada\"`) {
			t.Errorf("the audit has no answer: %s", one)
		}
	}
}
