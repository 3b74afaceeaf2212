package gateway

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/relay"
)

// R110, C12: what the operator wrote is what the broker and the relay get; what is not
// written says nothing, and the defaults are those of the broker.
func TestFormsAreConfigured(t *testing.T) {
	c, err := config.Parse("beckon.yaml", []byte(`
forms: {per_minute: 0, keep_ended: 0, max_extensions: 0, loopback_urls: true}
backends:
  plain: {command: x}
  own: {command: x, validate: enforce, forms: {timeout: 2m, extension: 30s, max_extensions: 0, warn_before: 20s, attempts: 5}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	none := 0
	want := map[string]relay.Policy{
		"plain": {Validate: input.ValidateOff},
		"own": {Validate: input.ValidateEnforce, Terms: form.Terms{
			Timeout: 2 * time.Minute, Extension: 30 * time.Second, MaxExtensions: &none, WarnBefore: 20 * time.Second, MaxAttempts: 5,
		}},
	}
	if diff := cmp.Diff(want, policies(c.Backends)); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	terms := input.DefaultTerms()
	terms.MaxExtensions = 0
	if diff := cmp.Diff(input.Forms{Terms: terms, PerPrincipal: 20, PerMinute: -1, KeepEnded: -1, Loopback: true}, forms(c.Forms)); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
}
