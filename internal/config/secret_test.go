package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const hidden = "sk-Top5ecret+value"

// secretive is a configuration with the same secret wherever one may stand.
func secretive(t *testing.T) Config {
	t.Helper()
	return parse(t, `
backends:
  a: {command: x, env: {KEY: "${S}"}}
  b: {url: "https://x.example/mcp?key=${S}&${S}", headers: {Authorization: "Bearer ${S}"}}
auth:
  tokens: [{principal: p, token: "${S}"}]
`, "S="+hidden)
}

func TestSecretsStayHidden(t *testing.T) {
	c := secretive(t)
	shown := map[string]string{"YAML": string(c.YAML()), "JSON": string(c.JSON())}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown[verb] = fmt.Sprintf(verb+verb+verb, c, &c, c.Auth.Tokens[0].Token)
		shown["URL "+verb] = fmt.Sprintf(verb, c.Backends[1].URL)
	}
	marshalled, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	shown["json.Marshal"] = string(marshalled)
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("x", "config", c, "token", c.Auth.Tokens[0].Token, "url", c.Backends[1].URL, "env", c.Backends[0].Env)
	}
	shown["slog"] = log.String()
	for how, text := range shown {
		if strings.Contains(text, hidden) || strings.Contains(text, fmt.Sprintf("%x", hidden)) {
			t.Errorf("%s shows the secret:\n%s", how, text)
		}
	}
}

func TestSecretsCanBeRevealed(t *testing.T) {
	c := secretive(t)
	for _, got := range []string{
		c.Auth.Tokens[0].Token.Reveal(), c.Backends[0].Env["KEY"].Reveal(),
		strings.TrimPrefix(c.Backends[1].Headers["Authorization"].Reveal(), "Bearer "),
	} {
		if got != hidden {
			t.Errorf("revealed %q, want %q", got, hidden)
		}
	}
	if got, want := c.Backends[1].URL.Reveal(), "https://x.example/mcp?key="+hidden+"&"+hidden; got != want {
		t.Errorf("revealed %q, want %q", got, want)
	}
}

// No fault repeats a secret, whatever is wrong with it or around it.
func TestFaultsHideSecrets(t *testing.T) {
	for _, source := range []string{
		"auth: {tokens: [" + hidden + "]}",
		"auth: {tokens: " + hidden + "}",
		"auth: " + hidden,
		"auth: {tokens: [{principal: a, token: [" + hidden + "]}]}",
		"auth: {tokens: [{principal: a, token: " + quote(hidden+" ") + "}]}",
		"auth:\n  tokens:\n    - principal: a\n     token: " + hidden + "\n",
		"auth:\n  tokens:\n    - principal: a\n      token: \"" + hidden + "\n",
		"auth:\n  tokens:\n    - principal: a\n      token: \"" + hidden + "\" x\n",
		"auth: {tokens: [{principal: a, token: " + hidden + "}, {principal: b, token: " + hidden + "}]}",
		"backends: {a: {command: x, env: [KEY=" + hidden + "]}}",
		"backends: {a: {command: x, env: KEY=" + hidden + "}}",
		"backends: {a: {url: http://x, headers: {A: " + quote(hidden+"\n") + "}}}",
		"backends: {a: {url: \"http://u:" + hidden + "@x/\"}}",
		"backends: {a: {url: \"http://x/%zz?k=" + hidden + "\"}}",
		"backends: {a: {url: " + hidden + "}}",
		`{"auth": {"tokens": [{"principal": "a", "token": "` + hidden + `" "x": 1}]}}`,
		`{"auth": {"tokens": [{"principal": "a", "token": "` + hidden + `}]}}`,
	} {
		_, err := Parse("test", []byte(source), nil)
		switch {
		case err == nil:
			t.Errorf("%s is accepted", source)
		case strings.Contains(err.Error(), hidden):
			t.Errorf("%s: the fault shows the secret: %v", source, err)
		}
	}
}

// What YAML and JSON print cannot be used by mistake: the place of a secret is
// refused, and nothing else is.
func TestRedactedIsRefused(t *testing.T) {
	for _, printed := range [][]byte{secretive(t).YAML(), secretive(t).JSON()} {
		_, err := Parse("printed", printed, nil)
		faults, _ := err.(Faults)
		if len(faults) != 4 {
			t.Errorf("%d faults, want 4: %v", len(faults), err)
		}
		for _, f := range faults {
			if !strings.Contains(f.Problem, redacted) {
				t.Errorf("unexpected fault: %v", f)
			}
		}
	}
	c := parse(t, "listen: localhost:5\nbackends: {a: {command: x, args: [a]}}")
	if _, err := Parse("printed", c.YAML(), nil); err != nil {
		t.Errorf("a printed configuration without secrets is refused: %v", err)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beckon.yaml")
	if _, err := Load(path, nil); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("a missing file gives %v, want a not-exist error", err)
	}
	if _, err := Load(filepath.Dir(path), nil); err == nil {
		t.Error("a directory is accepted")
	}
	if err := os.WriteFile(path, []byte("listen: localhost:5\nprefx: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, nil)
	if want := path + ":2:1: prefx: unknown key\n  hint: did you mean prefix?"; err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	c, err := Load("", []string{"BECKON_LISTEN=localhost:6"})
	if err != nil || c.Listen != "localhost:6" {
		t.Errorf("without a file: listen %q, error %v", c.Listen, err)
	}
}

// A sealing key that could be guessed is refused; none at all is allowed.
func TestSealingKey(t *testing.T) {
	for key, faults := range map[string]int{"": 0, "0123456789abcdef0123456789abcdef": 0, "0123456789abcdef0123456789abcde": 1} {
		_, err := Parse("f", []byte("park: {key: "+`"`+key+`"`+"}"), nil)
		if all, _ := errors.AsType[Faults](err); len(all) != faults {
			t.Errorf("a key of %d characters: %v, want %d faults", len(key), err, faults)
		}
	}
}
