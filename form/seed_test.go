package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The fields of the seed, one by one, with the answers that its rules take and refuse.
// R86 R87 R88 R89 R90 R91 R92 R93 R94 R97 R117
func TestFieldsOfTheSeed(t *testing.T) {
	file := func(name, kind string, size int, content string) string {
		return fmt.Sprintf(`{"filename":%q,"content_type":%q,"size":%d,"content":%s}`, name, kind, size, content)
	}
	const far = `{"type":"s3","location":"bucket/key"}`
	for _, tt := range []struct {
		section, field, answer string
		wrong                  string // the constraint that is not met; "" for a valid answer
	}{
		{"2.2", "username", `"abc"`, ""},
		{"2.2", "username", `"` + strings.Repeat("a", 32) + `"`, ""},
		{"2.2", "username", `"ab"`, "minLength"},
		{"2.2", "username", `"` + strings.Repeat("a", 33) + `"`, "maxLength"},
		{"2.2", "username", `"a b c"`, "pattern"},
		{"2.3", "port", `1024`, ""},
		{"2.3", "port", `65535`, ""},
		{"2.3", "port", `"8080"`, ""},
		{"2.3", "port", `1023`, "minimum"},
		{"2.3", "port", `65536`, "maximum"},
		{"2.3", "port", `8080.5`, "multipleOf"},
		{"2.4", "enable_ssl", `false`, ""},
		{"2.4", "enable_ssl", `"true"`, ""},
		{"2.4", "enable_ssl", `1`, "type"},
		{"2.5", "log_level", `"critical"`, ""},
		{"2.5", "log_level", `"loud"`, "enum"},
		{"2.5", "region", `"ap-southeast-1"`, ""},
		{"2.5", "region", `"Asia Pacific (Singapore)"`, "enum"},
		{"2.6", "features", `["tracing"]`, ""},
		{"2.6", "features", `["logging","metrics","tracing","profiling"]`, ""},
		{"2.6", "features", `[]`, "minItems"},
		{"2.6", "features", `["logging","logging"]`, "uniqueItems"},
		{"2.6", "features", `["logging","sleeping"]`, "enum"},
		{"2.7", "webhook_url", `"https://api.example.com/webhook"`, ""},
		{"2.7", "webhook_url", `"http://api.example.com/webhook"`, "allowedSchemes"},
		{"2.7", "webhook_url", `"https://192.168.1.1/webhook"`, "blockPrivateIPs"},
		{"2.7", "webhook_url", `"https://localhost/webhook"`, "blockLocalhost"},
		{"2.7", "webhook_url", `"/webhook"`, "format"},
		{"2.8", "config_file", file("a.json", "application/json", 2, `"e30="`), ""},
		{"2.8", "config_file", file("a.yml", "text/yaml", 10485760, far), ""},
		{"2.8", "config_file", file("a.yml", "text/yaml", 10485761, far), "maxSize"},
		{"2.8", "config_file", file("a.toml", "text/yaml", 1, far), "allowedExtensions"},
		{"2.8", "config_file", file("a.json", "text/plain", 1, far), "allowedMimeTypes"},
		{"2.9", "start_date", `"2026-01-01"`, ""},
		{"2.9", "start_date", `"2026-12-31"`, ""},
		{"2.9", "start_date", `"2025-12-31"`, "minimum"},
		{"2.9", "start_date", `"2027-01-01"`, "maximum"},
		{"2.9", "start_date", `"02/02/2026"`, "format"},
		{"3.2.3", "other_reason", `7`, ""}, // hidden: the reason is not "other"
		{"4.3", "smtp_port", `"none"`, ""}, // hidden: there is no SMTP
	} {
		f := load(t, "seed-fields.json")
		_, err := f.Read([]byte(`{"`+tt.field+`":`+tt.answer+`}`), Draft)
		errs, _ := errors.AsType[Errors](err)
		switch {
		case tt.wrong == "" && err != nil:
			t.Errorf("%s: %s refuses %.60s: %v", tt.section, tt.field, tt.answer, err)
		case tt.wrong != "" && (len(errs) != 1 || errs[0].Field != tt.field || errs[0].Constraint != tt.wrong):
			t.Errorf("%s: %s takes %.60s with %v; want an error of %s", tt.section, tt.field, tt.answer, err, tt.wrong)
		}
	}
}

// What the seed's fields are when nobody answers; and its conditions, both ways. R95
// R97 R106
func TestDefaultsOfTheSeed(t *testing.T) {
	f := load(t, "seed-fields.json")
	for answers, want := range map[string]string{
		`{}`: `{"port":8080,"enable_ssl":true,"log_level":"info","region":"us-east-1","features":["logging","metrics"],"start_date":"2026-02-02","use_smtp":false}`,
		`{"use_smtp":"true","smtp_port":"25","reason":"other","other_reason":"r"}`: `{"port":8080,"enable_ssl":true,"log_level":"info","region":"us-east-1",` +
			`"features":["logging","metrics"],"start_date":"2026-02-02","use_smtp":true,"smtp_port":25,"reason":"other","other_reason":"r"}`,
	} {
		v, err := f.Read([]byte(answers), Draft)
		if err != nil || string(v.JSON()) != want {
			t.Errorf("%s became %s, %v\nwant %s", answers, v.JSON(), err, want)
		}
	}
	_, err := f.Read([]byte(`{}`), Coerce)
	var missing []string
	for _, e := range err.(Errors) {
		missing = append(missing, e.Field+" "+string(e.Code))
	}
	if want := []string{"username required_missing", "webhook_url required_missing", "config_file required_missing"}; !slices.Equal(missing, want) {
		t.Errorf("without answers: %q, want %q", missing, want)
	}
}

// The response that the seed prints (5.2) is a record; and as answers to the form that
// it names, it is wrong in what is not part of that form, and in what its dots stand
// for. R107 R98
func TestResponseOfTheSeed(t *testing.T) {
	const printed = `{"form_id":"api_key_form","responses":{"api_key":"sk-abc123def456...","region":"us-east-1","enable_ssl":true,"features":["logging","metrics","tracing"]},` +
		`"metadata":{"submitted_at":1706889600000,"user_agent":"MCP-Client/1.0","session_id":"sess_xyz789"}}`
	var r Response
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(r); err != nil || string(again) != printed {
		t.Errorf("the response became %s, %v", again, err)
	}
	_, err := load(t, "seed.json").Read(r.Responses, Coerce)
	var got []string
	for _, e := range err.(Errors) {
		got = append(got, e.Field+" "+e.Constraint)
	}
	if want := []string{"api_key minLength", "enable_ssl additionalProperties", "features additionalProperties"}; !slices.Equal(got, want) {
		t.Errorf("refused for %q, want %q", got, want)
	}
}

// Every error has the seven members of the seed (3.3), in its order, whatever is wrong,
// and tells the numbers that the seed prints (6.3). R98
func TestErrorsHaveSevenMembers(t *testing.T) {
	f := load(t, "seed.json")
	seen := 0
	for _, answers := range []string{
		`{"api_key":"sk-45678901234567890"}`, `{"api_key":"` + strings.Repeat("a", 40) + `"}`, `{"api_key":7,"region":"mars"}`, `{}`, `[]`, `{"other":1}`,
	} {
		_, err := f.Read([]byte(answers), Coerce)
		for _, e := range err.(Errors) {
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			c := cursor{b: text}
			for c.enter(); c.more(); {
				name, _ := c.member()
				names = append(names, string(text[name.from+1:name.to-1]))
			}
			if want := []string{"field", "code", "message", "constraint", "expected", "actual", "path"}; !slices.Equal(names, want) {
				t.Errorf("%s: %s", answers, text)
			}
			seen++
		}
	}
	if seen < 7 {
		t.Errorf("saw %d errors", seen)
	}
	_, err := f.Read([]byte(`{"api_key":"sk-45678901234567890"}`), Coerce)
	e := err.(Errors)[0]
	if e.Code != CodeConstraint || e.Constraint != "minLength" || e.Expected != 32 || e.Actual != 20 || !strings.HasPrefix(e.Message, "API Key must be at least 32 characters") {
		t.Errorf("the example of the seed is told as %+v", e)
	}
}

// The fields that the seed prints are the fields of its JSON Schema (3.4), in their
// order, and those of them that must be answered are required. R99
func TestSchemaOfTheSeed(t *testing.T) {
	schema := string(load(t, "seed.json").Schema())
	for _, part := range []string{
		`"$schema":"https://json-schema.org/draft/2020-12/schema"`, `"type":"object"`, `"properties":{"api_key":{`, `,"region":{`,
		`"required":["api_key","region"]`, `"additionalProperties":false`,
	} {
		if !strings.Contains(schema, part) {
			t.Errorf("the schema lacks %s:\n%s", part, schema)
		}
	}
}
