package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseClientCaps(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		want      ClientCaps
	}{
		{"nothing", ``, ClientCaps{}},
		{"no object", `null`, ClientCaps{}},
		{"empty", `{}`, ClientCaps{}},
		{"elicitation as of 2025-06-18 means form", `{"elicitation":{}}`, ClientCaps{Form: true}}, // R34, D5
		{"form", `{"elicitation":{"form":{}}}`, ClientCaps{Form: true}},
		{"form and URL", `{"elicitation":{"form":{},"url":{}}}`, ClientCaps{Form: true, URL: true}},  // R35
		{"URL alone is never a form", `{"elicitation":{"url":{}}}`, ClientCaps{URL: true}},           // D2
		{"URL alone beside unknown", `{"elicitation":{"url":{},"voice":{}}}`, ClientCaps{URL: true}}, // D2
		{"members of a mode", `{"elicitation":{"form":{"applyDefaults":true}}}`, ClientCaps{Form: true}},
		{"an unknown mode alone", `{"elicitation":{"voice":{}}}`, ClientCaps{Form: true}},
		{"null stands for absent", `{"elicitation":{"form":null,"url":null}}`, ClientCaps{Form: true}},
		{"URL null", `{"elicitation":{"form":{},"url":null}}`, ClientCaps{Form: true}},
		{"form null", `{"elicitation":{"form":null,"url":{}}}`, ClientCaps{URL: true}},
		{"a mode that is no object is not declared", `{"elicitation":{"url":false}}`, ClientCaps{}},
		{"form that is no object", `{"elicitation":{"form":false}}`, ClientCaps{}},
		{"elicitation null", `{"elicitation":null}`, ClientCaps{}},
		{"elicitation that is no object", `{"elicitation":true}`, ClientCaps{}},
		{"sampling", `{"sampling":{}}`, ClientCaps{Sampling: true}},
		{"sampling with tools", `{"sampling":{"tools":{},"context":{}}}`, ClientCaps{Sampling: true, SamplingTools: true}},
		{"sampling with tools null", `{"sampling":{"tools":null}}`, ClientCaps{Sampling: true}},
		{"sampling null", `{"sampling":null}`, ClientCaps{}},
		{"roots", `{"roots":{"listChanged":true}}`, ClientCaps{Roots: true}},
		{"escaped names", `{"\u0065licitation":{"\u0075rl":{}}}`, ClientCaps{URL: true}},
		{"all beside unknown ones", `{"tasks":{},"roots":{},"experimental":{"elicitation":{}},"sampling":{},"elicitation":{"form":{}}}`,
			ClientCaps{Form: true, Sampling: true, Roots: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ParseClientCaps([]byte(tt.raw))
			if string(got.Raw) != tt.raw {
				t.Errorf("Raw = %q, want what the client wrote, %q", got.Raw, tt.raw)
			}
			got.Raw = nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("capabilities (-want +got):\n%s", diff)
			}
		})
	}
	if got := ParseClientCaps(nil); got.Raw != nil || got.Form {
		t.Errorf("ParseClientCaps(nil) = %+v, want the zero value", got)
	}
}
