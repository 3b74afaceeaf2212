package form

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// R122: a secret is what is marked as one, or called like one and can be one.
func TestSensitive(t *testing.T) {
	for _, c := range []struct {
		field Field
		want  bool
	}{
		{Field{ID: "x", Type: Text}, false},
		{Field{ID: "x", Type: Text, Hints: Hints{InputType: "password"}}, true},
		{Field{ID: "x", Type: Text, Hints: Hints{DisplayStyle: "password"}}, true},
		{Field{ID: "x", Type: Boolean, Hints: Hints{InputType: "password"}}, true},
		{Field{ID: "x", Type: Text, Hints: Hints{InputType: "text"}}, false},
		{Field{ID: "x", Type: Text, Hints: Hints{Autocomplete: "current-password"}}, true},
		{Field{ID: "x", Type: Text, Hints: Hints{Autocomplete: "section-a New-Password webauthn"}}, true},
		{Field{ID: "x", Type: Text, Hints: Hints{Autocomplete: "one-time-code"}}, true},
		{Field{ID: "x", Type: Text, Hints: Hints{Autocomplete: "username"}}, false},
		{Field{ID: "x", Type: Text, Rules: FieldRules{Format: "password"}}, true},
		{Field{ID: "x", Type: Text, Extra: []Member{{"format", json.RawMessage(`"password"`)}}}, true},
		{Field{ID: "x", Type: Text, Extra: []Member{{"inputType", json.RawMessage(`"password"`)}}}, true},
		{Field{ID: "x", Type: Text, Extra: []Member{{"inputType", json.RawMessage(`5`)}, {"title", json.RawMessage(`"password"`)}}}, false},
		{Field{ID: "api_key", Type: Text}, true},
		{Field{ID: "x", Label: "API key", Type: Text}, true},
		{Field{ID: "otp", Type: Number}, true},
		{Field{ID: "secrets", Type: File}, true},
		{Field{ID: "secret_url", Type: URL}, true},
		{Field{ID: "use_password", Type: Boolean}, false},
		{Field{ID: "token", Type: Select}, false},
		{Field{ID: "secrets", Type: MultiSelect}, false},
		{Field{ID: "password", Type: Date}, false},
	} {
		f := &Form{def: Definition{Fields: []Field{{ID: "first"}, c.field}}}
		if got := f.Sensitive(); slices.Contains(got, c.field.ID) != c.want || slices.Contains(got, "first") {
			t.Errorf("%+v: %v, want %v", c.field, got, c.want)
		}
	}
}

// R122
func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "userPassword": true, "DB_PASSWD": true, "Pass phrase": false, "passphrase": true, "API key": true,
		"apiKey": true, "api-key": true, "ApiKey": true, "apikey": true, "key": false, "keyboard": false, "primary_key": false,
		"private key": true, "ssh_key": true, "access_token": true, "token": true, "token_count": false, "max_tokens": false,
		"credit card": true, "card": false, "postcard": false, "credentials": true, "cvv": true, "secretary": false, "client.secret": true,
		"": false, "Schlüssel": false,
	} {
		if got := SecretName(name); got != want {
			t.Errorf("SecretName(%q) = %v, want %v", name, got, want)
		}
	}
}

// A read-only secret has a default that nobody is told who answers otherwise. R122
func TestReadonlySecretIsNotTold(t *testing.T) {
	f := parseFields(t, `"id":"password","type":"text","label":"Password","default":"hunter2","rendering":{"readonly":true}`)
	_, err := f.Read([]byte(`{"password":"guess"}`), Coerce)
	text, _ := json.Marshal(err)
	if errs, _ := err.(Errors); len(errs) != 1 || errs[0].Code != CodeReadonly || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "guess") {
		t.Errorf("told %s", text)
	}
}
