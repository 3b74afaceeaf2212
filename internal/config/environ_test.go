package config

import (
	"testing"
	"time"
)

func TestVariables(t *testing.T) {
	keys := map[string]string{}
	for _, v := range Variables() {
		if other, repeated := keys[v.Name]; repeated {
			t.Errorf("%s stands for %s and %s", v.Name, other, v.Key)
		}
		keys[v.Name] = v.Key
	}
	for name, want := range map[string]string{
		"BECKON_LISTEN": "listen", "BECKON_INPUT_TIMEOUT": "input.timeout", "BECKON_INPUT_CHECK": "input.check",
		"BECKON_HTTP_SSE": "http.sse", "MCPGATEWAY_ELICITATION_TIMEOUT": "input.timeout",
	} {
		if got := keys[name]; got != want {
			t.Errorf("%s stands for %q, want %q", name, got, want)
		}
	}
	if _, found := keys["BECKON_BACKENDS"]; found {
		t.Error("BECKON_BACKENDS stands for something that is not a single value")
	}
}

// Every variable is applied, at the key that Variables names.
func TestVariablesSetTheirKeys(t *testing.T) {
	for _, l := range leaves() {
		value := map[string]string{"bool": "true", "int": "2", "Duration": "2s", "Bytes": "5KiB"}[l.field.typ.Name()]
		if value == "" {
			value = "127.0.0.1:1"
		}
		if len(l.field.one) > 0 {
			value = l.field.one[len(l.field.one)-1]
		}
		if l.field.typ.Name() == "bool" && l.field.def == "true" {
			value = "false"
		}
		r := newReader("", nil)
		c := Default()
		r.overlay(&c, map[string]string{l.variable: value})
		if len(r.faults) > 0 {
			t.Errorf("%s=%s: %v", l.variable, value, r.faults)
		}
		if got := reflectAt(c, l); got != value {
			t.Errorf("%s=%s sets %s to %s", l.variable, value, l.path, got)
		}
	}
}

// R67, R68, R69: the names of the other gateway work, and ours win.
func TestAliases(t *testing.T) {
	environ := []string{
		"MCPGATEWAY_ELICITATION_ENABLED=false", "MCPGATEWAY_ELICITATION_TIMEOUT=90", "MCPGATEWAY_ELICITATION_MAX_CONCURRENT=7",
		"MCPGATEWAY_SOMETHING_ELSE=x",
	}
	in := parse(t, "input: {timeout: 5s}", environ...).Input
	if in.Elicitation || in.Timeout != 90*time.Second || in.MaxConcurrent != 7 {
		t.Errorf("input = %+v, want elicitation false, timeout 90s, max_concurrent 7", in)
	}
	in = parse(t, "", append(environ, "BECKON_INPUT_TIMEOUT=2m", "BECKON_INPUT_ELICITATION=true")...).Input
	if !in.Elicitation || in.Timeout != 2*time.Minute || in.MaxConcurrent != 7 {
		t.Errorf("input = %+v, want elicitation true, timeout 2m, max_concurrent 7", in)
	}
}

// R80
func TestEnvironmentFaults(t *testing.T) {
	wantFaults(t, "", []string{"BECKON_LISTEN=\xff"}, "BECKON_LISTEN: holds control characters or is not UTF-8")
	wantFaults(t, "", []string{"BECKON_LISTEN="}, `BECKON_LISTEN: expected an address to listen on, found ""`)
	wantFaults(t, "", []string{"MCPGATEWAY_ELICITATION_TIMEOUT=3601"}, "MCPGATEWAY_ELICITATION_TIMEOUT: 1h0m1s is more than the maximum 1h")
	wantFaults(t, "", []string{"BECKON_INPUT_TIMEOUT=999ms"}, "BECKON_INPUT_TIMEOUT: 999ms is less than the minimum 1s")
	wantFaults(t, "", []string{"BECKON_X=1"}, "BECKON_X: no key has this variable")
	wantFaults(t, "", []string{"BECKON_CONFIG=x", "BECKON_TOKEN=x", "BECKONING=1", "beckon_x=1"})
	wantFaults(t, "audit: {path: \"${BECKON_X}\"}", []string{"BECKON_X=1"})
}
