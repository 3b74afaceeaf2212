package formtest

import (
	"encoding/json"
	"time"

	"github.com/beckon-mcp/beckon/form"
)

// Minimal is a form of one required text field. It is a copy: whoever gets it may
// change it before it is compiled.
func Minimal() form.Definition {
	return form.Definition{
		ID:     "test_form_minimal",
		Title:  "Minimal Test Form",
		Fields: []form.Field{{ID: "field1", Type: form.Text, Label: "Field 1", Required: true}},
		Terms:  form.Terms{Timeout: 30 * time.Second},
	}
}

// Comprehensive is a form with a field of each type, and rules of most kinds. It is a
// copy as well.
func Comprehensive() form.Definition {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	count := func(n int) *int { return &n }
	size := int64(1 << 20)
	return form.Definition{
		ID:    "test_form_all_types",
		Title: "Comprehensive Test Form",
		Terms: form.Terms{Timeout: time.Minute},
		Fields: []form.Field{
			{ID: "username", Type: form.Text, Label: "Username", Required: true,
				Rules: form.FieldRules{MinLength: count(3), MaxLength: count(32), Pattern: "^[a-zA-Z0-9_-]+$"}},
			{ID: "port", Type: form.Number, Label: "Port Number", Required: true,
				Rules: form.FieldRules{Minimum: raw("1024"), Maximum: raw("65535"), MultipleOf: raw("1")}},
			{ID: "enable_ssl", Type: form.Boolean, Label: "Enable SSL/TLS", Default: raw("true")},
			{ID: "start_date", Type: form.Date, Label: "Start Date",
				Rules: form.FieldRules{Format: "date", Minimum: raw(`"2026-01-01"`), Maximum: raw(`"2026-12-31"`)}},
			{ID: "log_level", Type: form.Select, Label: "Log Level", Required: true, Default: raw(`"info"`),
				Options: []form.Option{{Value: "debug"}, {Value: "info"}, {Value: "warning"}, {Value: "error"}}},
			{ID: "features", Type: form.MultiSelect, Label: "Enabled Features",
				Options: []form.Option{{Value: "logging", Title: "Application Logging"}, {Value: "metrics", Title: "Performance Metrics"}, {Value: "tracing", Title: "Distributed Tracing"}},
				Rules:   form.FieldRules{MinItems: count(1), MaxItems: count(2)}},
			{ID: "webhook_url", Type: form.URL, Label: "Webhook URL", Required: true},
			{ID: "config_file", Type: form.File, Label: "Configuration File",
				Rules: form.FieldRules{MaxSize: &size, AllowedMimeTypes: []string{"application/json", "text/yaml"}, AllowedExtensions: []string{".json", ".yaml", ".yml"}}},
		},
	}
}
