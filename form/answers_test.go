package form

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parseFields parses a form of fields, which are members of JSON objects without their
// braces; each has its type as its label.
func parseFields(t testing.TB, fields ...string) *Form {
	t.Helper()
	return parseWith(t, `"id":"f","title":"F"`, fields...)
}

func parseWith(t testing.TB, members string, fields ...string) *Form {
	t.Helper()
	f, err := Parse([]byte(`{` + members + `,"fields":[{` + strings.Join(fields, `},{`) + `}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wrong is what a test expects of an error.
type wrong struct {
	code       Code
	constraint string
	message    string // a part of it
}

// readTest is an answer to the field f, in one mode.
type readTest struct {
	mode   Mode
	answer string // JSON; "" for none
	want   string // JSON; "" for a missing value
	wrong
}

func good(mode Mode, answer, want string) readTest { return readTest{mode, answer, want, wrong{}} }

func bad(mode Mode, answer string, code Code, constraint, message string) readTest {
	return readTest{mode, answer, "", wrong{code, constraint, message}}
}

func readAll(t *testing.T, field string, tests []readTest) {
	t.Helper()
	f := parseFields(t, `"id":"f","label":"Field",`+field)
	for _, tt := range tests {
		answers := `{}`
		if tt.answer != "" {
			answers = `{"f":` + tt.answer + `}`
		}
		v, err := f.Read([]byte(answers), tt.mode)
		got := strings.TrimSuffix(strings.TrimPrefix(string(v.JSON()), `{"f":`), "}")
		if got == "{" {
			got = ""
		}
		if err == nil {
			if tt.code != "" || got != tt.want {
				t.Errorf("%s: %.200s (mode %d) became %q; want %q, error %q", field, tt.answer, tt.mode, got, tt.want, tt.code)
			}
			continue
		}
		e := err.(Errors)[0]
		if len(err.(Errors)) != 1 || e.Code != tt.code || e.Constraint != tt.constraint || !strings.Contains(e.Message, tt.message) {
			t.Errorf("%s: %.200s (mode %d): error %+v; want %+v", field, tt.answer, tt.mode, e, tt)
		}
		if !strings.HasPrefix(e.Message, "Field ") || e.Field != "f" || !slices.Equal(e.Path, []string{"f"}) {
			t.Errorf("%s: %.200s: error %+v does not say where", field, tt.answer, e)
		}
		if got != "" {
			t.Errorf("%s: %.200s is wrong, and left %q", field, tt.answer, got)
		}
	}
}

// R87, R106
func TestReadText(t *testing.T) {
	readAll(t, `"type":"text"`, []readTest{
		good(Coerce, `"a"`, `"a"`), good(Coerce, `""`, `""`), good(Coerce, `" a "`, `" a "`), good(Strict, `"\u00e4\/\n"`, `"ä/\n"`),
		good(Coerce, ``, ``), good(Coerce, `null`, ``), good(Draft, `null`, ``), bad(Strict, `null`, CodeType, "type", "must be a text, and is null"),
		bad(Coerce, `1`, CodeType, "type", "must be a text, and is a number"), bad(Coerce, `true`, CodeType, "type", "is true or false"),
		bad(Strict, `["a"]`, CodeType, "type", "is a list"), bad(Coerce, `{}`, CodeType, "type", "is an object"),
	})
	readAll(t, `"type":"text","validation":{"minLength":2,"maxLength":4}`, []readTest{
		good(Strict, `"ab"`, `"ab"`), good(Strict, `"äöü😀"`, `"äöü😀"`),
		bad(Strict, `"😀"`, CodeConstraint, "minLength", "must be at least 2 characters long, and has 1"),
		bad(Strict, `"abcde"`, CodeConstraint, "maxLength", "must be at most 4 characters long, and has 5"),
		bad(Coerce, `""`, CodeConstraint, "minLength", "and has 0"),
	})
	readAll(t, `"type":"text","validation":{"pattern":"b+"}`, []readTest{
		good(Strict, `"abc"`, `"abc"`), bad(Strict, `"ac"`, CodeConstraint, "pattern", "must match the pattern b+"),
	})
	readAll(t, `"type":"text","validation":{"format":"email"}`, []readTest{
		good(Strict, `"a@b.org"`, `"a@b.org"`), bad(Coerce, `"a"`, CodeConstraint, "format", "must be an email address, such as"),
	})
}

// R88, R106
func TestReadNumber(t *testing.T) {
	readAll(t, `"type":"number"`, []readTest{
		good(Coerce, `8080`, `8080`), good(Coerce, `"8080"`, `8080`), good(Coerce, `"1.5e3"`, `1.5e3`), good(Coerce, `" -7\n"`, `-7`), good(Strict, `1.50`, `1.50`),
		good(Coerce, `"12345678901234567890.10"`, `12345678901234567890.10`), good(Strict, `-0`, `-0`), good(Strict, `1E+2`, `1E+2`),
		good(Coerce, `""`, ``), good(Coerce, `"  "`, ``), good(Draft, `""`, ``), good(Coerce, `null`, ``),
		bad(Strict, `"8080"`, CodeType, "type", "must be a number, and is a text"), bad(Strict, `""`, CodeType, "type", ""),
		bad(Coerce, `"8080 apples"`, CodeInvalidNumber, "type", "must be a number, such as"), bad(Coerce, `"0x10"`, CodeInvalidNumber, "type", ""),
		bad(Coerce, `"1,5"`, CodeInvalidNumber, "type", ""), bad(Coerce, `"+1"`, CodeInvalidNumber, "type", ""), bad(Coerce, `"01"`, CodeInvalidNumber, "type", ""),
		bad(Coerce, `"Infinity"`, CodeInvalidNumber, "type", ""), bad(Coerce, `".5"`, CodeInvalidNumber, "type", ""), bad(Coerce, `"٣"`, CodeInvalidNumber, "type", ""),
		bad(Coerce, `true`, CodeType, "type", "is true or false"), bad(Coerce, `[1]`, CodeType, "type", "is a list"),
		bad(Strict, `1e999`, CodeTooLarge, "type", "an exponent of at most 400"), bad(Coerce, `"1e-999"`, CodeTooLarge, "type", ""),
		bad(Strict, strings.Repeat("9", 401), CodeTooLarge, "type", "at most 400 digits"), good(Strict, strings.Repeat("9", 400), strings.Repeat("9", 400)),
	})
	readAll(t, `"type":"number","validation":{"minimum":1024,"maximum":65535,"multipleOf":1}`, []readTest{
		good(Strict, `1024`, `1024`), good(Strict, `65535.0`, `65535.0`), good(Strict, `1.1e4`, `1.1e4`),
		bad(Coerce, `"80"`, CodeConstraint, "minimum", "must be at least 1024, and is 80"),
		bad(Strict, `65536`, CodeConstraint, "maximum", "must be at most 65535, and is 65536"),
		bad(Strict, `8080.5`, CodeConstraint, "multipleOf", "must be a whole number, and is 8080.5"),
	})
	readAll(t, `"type":"number","validation":{"exclusiveMinimum":0,"exclusiveMaximum":1e0,"multipleOf":0.01}`, []readTest{
		good(Strict, `0.1`, `0.1`), good(Strict, `0.29`, `0.29`), good(Strict, `99e-2`, `99e-2`),
		bad(Strict, `0`, CodeConstraint, "exclusiveMinimum", "must be greater than 0, and is 0"), bad(Strict, `1.0`, CodeConstraint, "exclusiveMaximum", "must be less than 1e0"),
		bad(Strict, `0.005`, CodeConstraint, "multipleOf", "must be a multiple of 0.01, and is 0.005"),
	})
}

// R89, R106: true and false in small letters are the only texts that mean a boolean.
func TestReadBoolean(t *testing.T) {
	readAll(t, `"type":"boolean"`, []readTest{
		good(Strict, `true`, `true`), good(Strict, `false`, `false`), good(Coerce, `"true"`, `true`), good(Coerce, `"false"`, `false`), good(Coerce, `""`, ``),
		bad(Coerce, `"True"`, CodeInvalidBoolean, "type", "must be true or false"), bad(Coerce, `"yes"`, CodeInvalidBoolean, "type", ""), bad(Coerce, `"1"`, CodeInvalidBoolean, "type", ""),
		bad(Coerce, `" true"`, CodeInvalidBoolean, "type", ""), bad(Coerce, `1`, CodeType, "type", "must be true or false, and is a number"), bad(Strict, `"true"`, CodeType, "type", "is a text"),
	})
}

// R90
func TestReadSelect(t *testing.T) {
	readAll(t, `"type":"select","options":["a",{"value":"b","title":"Bee"}]`, []readTest{
		good(Strict, `"a"`, `"a"`), good(Strict, `"\u0062"`, `"b"`), good(Coerce, `""`, ``),
		bad(Strict, `"Bee"`, CodeConstraint, "enum", "must be one of a, b"), bad(Strict, `""`, CodeConstraint, "enum", ""), bad(Coerce, `"A"`, CodeConstraint, "enum", ""),
		bad(Coerce, `["a"]`, CodeType, "type", "must be a text, and is a list"), bad(Coerce, `1`, CodeType, "type", ""),
	})
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf(`"o%d"`, i)
	}
	readAll(t, `"type":"select","options":[`+strings.Join(many, ",")+`]`, []readTest{
		bad(Strict, `"x"`, CodeConstraint, "enum", "o8, o9 and 2 more"),
	})
}

// R91
func TestReadMultiSelect(t *testing.T) {
	readAll(t, `"type":"multi_select","options":["a","b","c"],"validation":{"minItems":1,"maxItems":2}`, []readTest{
		good(Strict, `["b","a"]`, `["b","a"]`), good(Coerce, `"a"`, `["a"]`), good(Coerce, `""`, ``), good(Strict, `[ "a" , "c" ]`, `["a","c"]`), good(Coerce, ``, ``),
		bad(Strict, `"a"`, CodeType, "type", "must be a list of choices, and is a text"), bad(Coerce, `["a",1]`, CodeType, "type", "has something else in it"),
		bad(Coerce, `["a",null]`, CodeType, "type", ""), bad(Coerce, `[["a"]]`, CodeType, "type", ""), bad(Coerce, `{"a":true}`, CodeType, "type", "is an object"),
		bad(Strict, `["a","d"]`, CodeConstraint, "enum", "can only have choices from a, b, c"), bad(Strict, `["a","a"]`, CodeConstraint, "uniqueItems", `has "a" twice`),
		bad(Strict, `[]`, CodeConstraint, "minItems", "needs at least 1 choice, and has 0"), bad(Strict, `["a","b","c"]`, CodeConstraint, "maxItems", "can have at most 2 choices, and has 3"),
		bad(Coerce, `"x"`, CodeConstraint, "enum", ""),
	})
}

// R94, R106
func TestReadDate(t *testing.T) {
	readAll(t, `"type":"date","validation":{"minimum":"2026-01-01","maximum":"2026-12-31"}`, []readTest{
		good(Coerce, `"2026-02-02"`, `"2026-02-02"`), good(Strict, `"2026-01-01"`, `"2026-01-01"`), good(Strict, `"2026-12-31"`, `"2026-12-31"`), good(Coerce, `""`, ``),
		bad(Strict, `"2026-02-30"`, CodeInvalidDate, "format", "must be a date that exists, such as"), bad(Coerce, `"02/02/2026"`, CodeInvalidDate, "format", ""),
		bad(Coerce, `"2026-02-02T00:00:00Z"`, CodeInvalidDate, "format", ""), bad(Strict, `""`, CodeInvalidDate, "format", ""), bad(Coerce, `20260202`, CodeType, "type", ""),
		bad(Strict, `"2025-12-31"`, CodeConstraint, "minimum", "must not be before 2026-01-01"), bad(Strict, `"2027-01-01"`, CodeConstraint, "maximum", "must not be after 2026-12-31"),
	})
	readAll(t, `"type":"date","validation":{"format":"date-time","minimum":"2026-01-01T12:00:00Z","maximum":"2026-12-31"}`, []readTest{
		good(Strict, `"2026-12-31T23:59:59.9-11:00"`, `"2026-12-31T23:59:59.9-11:00"`), good(Strict, `"2026-01-01T13:00:00+01:00"`, `"2026-01-01T13:00:00+01:00"`),
		bad(Strict, `"2026-01-01T12:59:59+01:00"`, CodeConstraint, "minimum", "must not be before 2026-01-01T12:00:00Z"), bad(Strict, `"2027-01-01T00:00:00Z"`, CodeConstraint, "maximum", ""),
		bad(Coerce, `"2026-02-02"`, CodeInvalidDate, "format", "a date and time with its zone"), bad(Coerce, `"2026-02-02T10:00"`, CodeInvalidDate, "format", ""),
	})
}

// R95, R106: what is left out gets its default, where one is filled in; a required
// field, too.
func TestReadDefaults(t *testing.T) {
	readAll(t, `"type":"number","default":8080`, []readTest{
		good(Coerce, ``, `8080`), good(Coerce, `null`, `8080`), good(Coerce, `""`, `8080`), good(Draft, ``, `8080`), good(Strict, ``, ``), good(Coerce, `1`, `1`),
	})
	readAll(t, `"type":"number","required":true,"default":8080`, []readTest{
		good(Coerce, ``, `8080`), good(Draft, ``, `8080`), bad(Strict, ``, CodeRequired, "required", "needs an answer"), bad(Coerce, `"x"`, CodeInvalidNumber, "type", ""),
	})
	readAll(t, `"type":"text","required":true`, []readTest{
		bad(Coerce, ``, CodeRequired, "required", "needs an answer"), bad(Coerce, `null`, CodeRequired, "required", ""), bad(Strict, ``, CodeRequired, "required", ""), good(Draft, ``, ``), good(Coerce, `""`, `""`),
	})
	for kind, value := range map[string]string{
		`"text"`: `"x"`, `"number"`: `1.50`, `"boolean"`: `false`, `"date"`: `"2026-02-28"`, `"url"`: `"https://example.org"`,
		`"select","options":["a"]`: `"a"`, `"multi_select","options":["a","b"]`: `["b","a"]`,
	} {
		readAll(t, `"type":`+kind+`,"default":`+value, []readTest{good(Coerce, ``, value)})
	}
}

// A read-only field has its default, and nothing else.
func TestReadReadonly(t *testing.T) {
	readAll(t, `"type":"number","default":1.0,"rendering":{"readonly":true}`, []readTest{
		good(Coerce, ``, `1.0`), good(Strict, `1`, `1`), bad(Strict, `2`, CodeReadonly, "readonly", "cannot be changed"), bad(Coerce, `"3"`, CodeReadonly, "readonly", ""), bad(Draft, `"3"`, CodeReadonly, "readonly", ""),
	})
	readAll(t, `"type":"text","rendering":{"readonly":true}`, []readTest{good(Coerce, ``, ``), bad(Coerce, `"x"`, CodeReadonly, "readonly", "")})
}

// R125
func TestReadAllowPartial(t *testing.T) {
	for _, member := range []string{`"allow_partial":true`, `"allowPartial":true`} {
		f := parseWith(t, `"id":"f","title":"F",`+member, `"id":"a","type":"text","label":"A","required":true`, `"id":"b","type":"number","label":"B","required":true`)
		for _, mode := range []Mode{Coerce, Strict, Draft} {
			if v, err := f.Read([]byte(`{"b":1}`), mode); err != nil || string(v.JSON()) != `{"b":1}` {
				t.Errorf("%s, mode %d: %s, %v", member, mode, v.JSON(), err)
			}
			if _, err := f.Read([]byte(`{"b":[]}`), mode); err == nil {
				t.Errorf("%s, mode %d: partial answers are not checked", member, mode)
			}
		}
	}
}

// C20: only what says the same in another type is converted.
func TestAnswersThatCannotBeRead(t *testing.T) {
	f := parseFields(t, `"id":"a","type":"text","label":"A"`)
	for in, part := range map[string]string{
		``: "not valid JSON", `{`: "not valid JSON", `[]`: "something else", `null`: "something else", `"a"`: "something else", `{"a":"x"}{}`: "not valid JSON", `{"a":"x"} x`: "not valid JSON",
		`{"a":"x","a":"y"}`: "twice", `{"a":"x","\u0061":"y"}`: "twice", `{"b":{"c":1,"c":2}}`: "twice", "{\"a\":\"\xff\"}": "UTF-8", `{"a":"\ud800"}`: "UTF-8",
		`{'a':1}`: "not valid JSON", `{"a":01}`: "not valid JSON", `{"a":NaN}`: "not valid JSON", "\ufeff{}": "not valid JSON", `{"a":1,}`: "not valid JSON",
		strings.Repeat("[", 20000): "not valid JSON",
	} {
		for _, mode := range []Mode{Coerce, Strict, Draft} {
			v, err := f.Read([]byte(in), mode)
			errs, _ := errors.AsType[Errors](err)
			if len(errs) != 1 || errs[0].Code != CodeMalformed || !strings.Contains(errs[0].Message, part) || errs[0].Path == nil {
				t.Errorf("%.30q: %v, want malformed, %s", in, err, part)
			}
			if string(v.JSON()) != `{}` || v.Form() != f || v.Get("a").Kind() != Missing {
				t.Errorf("%.30q left %s", in, v.JSON())
			}
		}
	}
	if v, err := f.Read([]byte(" {\t\"\\u0061\" :\r\n\"x\" } "), Strict); err != nil || v.Get("a").Text() != "x" {
		t.Errorf("white space and escapes: %s, %v", v.JSON(), err)
	}
}

// R118: answers are bounded, as a whole, without the contents of files.
func TestAnswersThatAreTooLarge(t *testing.T) {
	f := parseFields(t, `"id":"a","type":"text","label":"A"`)
	answers := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}`) }
	if _, err := f.Read(answers(maxAnswers), Strict); err != nil {
		t.Errorf("just small enough: %v", err)
	}
	if _, err := f.Read(answers(maxAnswers+1), Strict); err == nil || err.(Errors)[0].Code != CodeTooLarge {
		t.Errorf("just too large: %v", err)
	}
	f = parseFields(t, `"id":"a","type":"text","label":"A"`, `"id":"f","type":"file","label":"F","validation":{"maxSize":3000000}`)
	file := func(text, size int) []byte {
		return fmt.Appendf(nil, `{"a":"%s","f":{"filename":"a.txt","content_type":"text/plain","size":%d,"content":"%s"}}`, strings.Repeat("x", text), size,
			base64.StdEncoding.EncodeToString([]byte(strings.Repeat("y", size))))
	}
	if _, err := f.Read(file(1000, 3_000_000), Strict); err != nil {
		t.Errorf("a large file: %v", err)
	}
	if _, err := f.Read(file(maxAnswers, 1_000_000), Strict); err == nil || err.(Errors)[0].Code != CodeTooLarge {
		t.Errorf("too much beside a file: %v", err)
	}
	if _, err := f.Read(file(1000, 3_000_001), Strict); err == nil || err.(Errors)[0].Constraint != "maxSize" || err.(Errors)[0].Field != "f" {
		t.Errorf("a file that is too large: %v", err)
	}
	if _, err := f.Read(file(1000, 6_000_000), Strict); err == nil || err.(Errors)[0].Code != CodeTooLarge || err.(Errors)[0].Field != "" {
		t.Errorf("a file that is far too large: %v", err)
	}
}

func TestUnknownFields(t *testing.T) {
	f := parseFields(t, `"id":"api_url","type":"text","label":"A"`)
	_, err := f.Read([]byte(`{"apiUrl":"x","zzz":1}`), Coerce)
	errs := err.(Errors)
	if len(errs) != 2 || errs[0].Field != "apiUrl" || errs[0].Code != CodeUnknownField || !strings.Contains(errs[0].Message, "perhaps api_url is meant") || strings.Contains(errs[1].Message, "perhaps") {
		t.Errorf("got %+v", errs)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`"%0200d":1`, i))
	}
	_, err = f.Read([]byte(`{`+strings.Join(many, ",")+`}`), Coerce)
	errs = err.(Errors)
	if len(errs) != maxStrangers+1 || !strings.Contains(errs[maxStrangers].Message, "80 more") || len(errs[0].Field) > 150 {
		t.Errorf("got %d errors, the last %v", len(errs), errs[len(errs)-1])
	}
	open, err := Compile(Definition{Open: true, Fields: []Field{{ID: "a b", Type: Text}}})
	if err != nil {
		t.Fatal(err)
	}
	const answers = `{"x":[1, 2],"a b":"y","password":"z","n":null}`
	v, err := open.Read([]byte(answers), Strict)
	if err != nil || string(v.JSON()) != `{"a b":"y","x":[1, 2],"password":"z","n":null}` {
		t.Errorf("an open form: %s, %v", v.JSON(), err)
	}
	if text, names := v.Redacted(); string(text) != `{"a b":"y","x":[1, 2],"n":null}` || !slices.Equal(names, []string{"password"}) {
		t.Errorf("redacted: %s, %v", text, names)
	}
}

// R96: type, then constraints, then dependencies, then rules; every field is looked
// at. R98: in the words of the seed.
func TestReadFindsEverything(t *testing.T) {
	d := load(t, "seed.json").def
	d.Fields = slices.Concat(d.Fields, []Field{
		{ID: "port", Type: Number, Label: "Port", Needs: []string{"host"}}, {ID: "host", Type: Text, Label: "Host"},
		{ID: "webhook_url", Type: URL, Label: "Webhook", Rules: FieldRules{AllowedSchemes: []string{"http"}}},
	})
	ruled := 0
	d.Rules = []Rule{func(v Values) []Error {
		ruled++
		return []Error{{Field: "host", Message: "no"}, {Field: "port", Message: "Port is closed", Code: "closed"}, {Field: "host", Message: "second"}, {Message: "all wrong"}}
	}}
	f := compile(t, d)
	_, err := f.Read([]byte(`{"webhook_url":"http://192.168.1.1/webhook","port":"80","api_key":"sk-45678901234567890","other":1}`), Coerce)
	want := Errors{
		{Field: "api_key", Code: CodeConstraint, Message: "API Key must be at least 32 characters long, and has 20", Constraint: "minLength", Expected: 32, Actual: 20, Path: []string{"api_key"}},
		{Field: "port", Code: CodeDependency, Message: "Port is answered, and so Host must be, too", Constraint: "dependencies", Expected: []string{"host"}, Path: []string{"port"}},
		{Field: "webhook_url", Code: CodeConstraint, Message: "Webhook must not lead to a private address, and leads to 192.168.1.1", Constraint: "blockPrivateIPs", Expected: "public IP", Actual: "192.168.1.1", Path: []string{"webhook_url"}},
		{Field: "other", Code: CodeUnknownField, Message: "There is no field other", Constraint: "additionalProperties", Expected: false, Path: []string{"other"}},
	}
	if diff := cmp.Diff(want, err); diff != "" {
		t.Error(diff)
	}
	if ruled != 0 {
		t.Error("the rules of the program saw answers that are not valid")
	}
	text, _ := json.Marshal(err.(Errors)[0])
	if s := string(text); s != `{"field":"api_key","code":-32007,"message":"API Key must be at least 32 characters long, and has 20","constraint":"minLength","expected":32,"actual":20,"path":["api_key"]}` {
		t.Errorf("as JSON: %s", s)
	}
	v, err := f.Read([]byte(`{"port":80,"host":"x","api_key":"sk-`+strings.Repeat("a", 40)+`"}`), Coerce)
	want = Errors{
		{Field: "port", Code: "closed", Message: "Port is closed", Path: []string{"port"}},
		{Field: "host", Code: CodeRule, Message: "no", Path: []string{"host"}},
		{Field: "", Code: CodeRule, Message: "all wrong", Path: []string{}},
	}
	if diff := cmp.Diff(want, err); diff != "" {
		t.Error(diff)
	}
	if v.Get("port").Kind() != Missing || v.Get("region").Text() != "us-east-1" {
		t.Errorf("the values are %s", v.JSON())
	}
}

// A need is met by an answer that is wrong, and by one that cannot be given.
func TestNeeds(t *testing.T) {
	f := parseFields(t, `"id":"a","type":"text","label":"A","dependencies":["b","c"]`, `"id":"b","type":"number","label":"B"`,
		`"id":"c","type":"text","label":"C","dependencies":[{"condition":{"operator":"equals","field":"b","value":1},"action":"hide"}]`)
	for answers, want := range map[string]string{
		`{}`: "", `{"b":2}`: "", `{"a":"x","b":2,"c":"y"}`: "", `{"a":"x","b":1}`: "",
		`{"a":"x"}`: "a: A is answered, and so B and C must be, too", `{"a":"x","c":"y"}`: "a: A is answered, and so B must be, too",
		`{"a":"x","b":[],"c":"y"}`: "b: B must be a number, and is a list", `{"a":1}`: "a: A must be a text, and is a number",
	} {
		got := ""
		_, err := f.Read([]byte(answers), Coerce)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", answers, got, want)
		}
		if _, err := f.Read([]byte(answers), Draft); err != nil && strings.Contains(err.Error(), "must be, too") {
			t.Errorf("%s: a draft needs nothing: %v", answers, err)
		}
	}
}

// R97: what is hidden or disabled is neither required nor checked nor sent; what is
// unbound is neither required nor constrained.
func TestReadConditions(t *testing.T) {
	f := parseFields(t, `"id":"kind","type":"select","label":"Kind","options":["a","b","c"],"default":"a"`,
		`"id":"b","type":"number","label":"B","required":true,"default":7,"rendering":{"conditionalDisplay":{"operator":"equals","field":"kind","value":"b"}}`,
		`"id":"c","type":"text","label":"C","required":true,"validation":{"minLength":3},"dependencies":[{"condition":{"operator":"equals","field":"kind","value":"c"},"action":"validate"}]`,
		`"id":"u","type":"url","label":"U","dependencies":[{"condition":{"operator":"equals","field":"kind","value":"c"},"action":"validate"}]`,
		`"id":"secret","type":"text","label":"S","required":true,"rendering":{"hidden":true}`)
	for _, tt := range []struct {
		mode                Mode
		answers, want, errs string
	}{
		{Coerce, `{}`, `{"kind":"a"}`, ""},
		{Strict, `{}`, `{}`, ""},
		{Coerce, `{"b":"many","secret":1}`, `{"kind":"a"}`, ""},
		{Strict, `{"b":"many","c":"x","secret":1}`, `{"c":"x"}`, ""},
		{Coerce, `{"kind":"b"}`, `{"kind":"b","b":7}`, ""},
		{Coerce, `{"kind":"b","b":"many"}`, `{"kind":"b"}`, "b: B must be a number, such as 8080 or -1.5"},
		{Strict, `{"kind":"b"}`, `{"kind":"b"}`, "b: B needs an answer"},
		{Coerce, `{"kind":"c"}`, `{"kind":"c"}`, "c: C needs an answer"},
		{Coerce, `{"kind":"c","c":"x","u":"https://10.0.0.1/"}`, `{"kind":"c"}`, "c: C must be at least 3 characters long, and has 1\nu: U must not lead to a private address, and leads to 10.0.0.1"},
		{Coerce, `{"kind":"a","c":"x","u":"https://10.0.0.1/"}`, `{"kind":"a","c":"x","u":"https://10.0.0.1/"}`, ""},
		{Coerce, `{"c":1,"u":"x"}`, `{"kind":"a"}`, "c: C must be a text, and is a number\nu: U must be an absolute URL, such as https://example.org/page"},
		{Draft, `{"kind":"c","c":"x"}`, `{"kind":"c"}`, "c: C must be at least 3 characters long, and has 1"},
		{Coerce, `{"kind":"x","b":1}`, `{}`, "kind: Kind must be one of a, b, c"},
	} {
		v, err := f.Read([]byte(tt.answers), tt.mode)
		errs := ""
		if err != nil {
			errs = err.Error()
		}
		if string(v.JSON()) != tt.want || errs != tt.errs {
			t.Errorf("%s (mode %d): %s, %q; want %s, %q", tt.answers, tt.mode, v.JSON(), errs, tt.want, tt.errs)
		}
	}
}

// R97: a condition sees the default of what is not answered, in every mode, also in that
// which adds none.
func TestConditionsSeeDefaults(t *testing.T) {
	f := parseFields(t, `"id":"tell","type":"boolean","label":"Tell","default":true`,
		`"id":"whom","type":"text","label":"Whom","required":true,"rendering":{"conditionalDisplay":{"operator":"equals","field":"tell","value":true}}`)
	for _, mode := range []Mode{Coerce, Strict} {
		_, err := f.Read([]byte(`{}`), mode)
		if errs, _ := err.(Errors); len(errs) != 1 || errs[0].Field != "whom" || errs[0].Code != CodeRequired {
			t.Errorf("mode %d: %v", mode, err)
		}
		if v, err := f.Read([]byte(`{"tell":false,"whom":7}`), mode); err != nil || v.Visible("whom") {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
}

// A pattern that takes other engines for ever takes time in proportion to the text.
func TestPatternsAreLinear(t *testing.T) {
	f := parseFields(t, `"id":"a","type":"text","label":"A","validation":{"pattern":"^(a+)+$"}`)
	answers := []byte(`{"a":"` + strings.Repeat("a", 100_000) + `b"}`)
	began := time.Now()
	if _, err := f.Read(answers, Strict); err == nil {
		t.Error("it matches")
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("100 kB took %v", took)
	}
}

// What is wrong with rules and defaults is found before anybody is asked.
func TestPrepareFaults(t *testing.T) {
	for field, want := range map[string]string{
		`"type":"text","validation":{"pattern":"("}`:                                                      "$.fields[0].validation.pattern",
		`"type":"text","validation":{"pattern":"(?=a)"}`:                                                  "$.fields[0].validation.pattern",
		`"type":"text","validation":{"minLength":3,"maxLength":2}`:                                        "$.fields[0].validation.minLength",
		`"type":"text","validation":{"minLength":3},"default":"ab"`:                                       "$.fields[0].default",
		`"type":"text","default":1`:                                                                       "$.fields[0].default",
		`"type":"text","default":null`:                                                                    "$.fields[0].default",
		`"type":"text","validation":{"format":"email"},"default":"x"`:                                     "$.fields[0].default",
		`"type":"number","validation":{"minimum":2,"maximum":1.5}`:                                        "$.fields[0].validation.minimum",
		`"type":"number","validation":{"exclusiveMinimum":2,"maximum":2}`:                                 "$.fields[0].validation.exclusiveMinimum",
		`"type":"number","validation":{"minimum":2,"exclusiveMaximum":2.0}`:                               "$.fields[0].validation.minimum",
		`"type":"number","validation":{"multipleOf":0}`:                                                   "$.fields[0].validation.multipleOf",
		`"type":"number","validation":{"multipleOf":1e999}`:                                               "$.fields[0].validation.multipleOf",
		`"type":"number","default":"8080"`:                                                                "$.fields[0].default",
		`"type":"boolean","default":"true"`:                                                               "$.fields[0].default",
		`"type":"date","validation":{"minimum":"2026-02-30"}`:                                             "$.fields[0].validation.minimum",
		`"type":"date","validation":{"minimum":"2026-02-03","maximum":"2026-02-02"}`:                      "$.fields[0].validation.minimum",
		`"type":"date","default":"2026-02-30"`:                                                            "$.fields[0].default",
		`"type":"select","options":["a"],"default":"b"`:                                                   "$.fields[0].default",
		`"type":"multi_select","options":["a","b"],"default":["a","a"]`:                                   "$.fields[0].default",
		`"type":"multi_select","options":["a","b"],"default":"a"`:                                         "$.fields[0].default",
		`"type":"multi_select","options":["a","b"],"validation":{"minItems":3}`:                           "$.fields[0].validation.minItems",
		`"type":"multi_select","options":["a","b"],"validation":{"minItems":2,"maxItems":1}`:              "$.fields[0].validation.minItems",
		`"type":"url","default":"http://example.org"`:                                                     "$.fields[0].default",
		`"type":"url","default":"https://10.0.0.1"`:                                                       "$.fields[0].default",
		`"type":"number","validation":{"minimum":2,"maximum":2}`:                                          "",
		`"type":"date","validation":{"format":"date-time","minimum":"2026-02-02","maximum":"2026-02-02"}`: "",
		`"type":"text","validation":{"pattern":"^(a+)+$"}`:                                                "",
	} {
		_, err := Parse([]byte(`{"id":"f","title":"F","fields":[{"id":"x","label":"X",` + field + `}]}`))
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", field, err)
			}
			continue
		}
		faults, _ := errors.AsType[Faults](err)
		if len(faults) != 1 || faults[0].Path != want || faults[0].Message == "" || faults[0].Fix == "" {
			t.Errorf("%s: %v, want one at %s", field, err, want)
		}
	}
}

// R107: a record of answers is the same after it was written and read.
func TestResponse(t *testing.T) {
	f := load(t, "seed.json")
	v, err := f.Read([]byte(submissions[0].answers), Coerce)
	if err != nil {
		t.Fatal(err)
	}
	r := Response{FormID: "api_key_form", Responses: v.JSON(), Metadata: ResponseMetadata{SubmittedAt: 1706889600000, UserAgent: "MCP-Client/1.0", SessionID: "sess_xyz789"}}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"form_id":"api_key_form","responses":` + submissions[0].answers + `,"metadata":{"submitted_at":1706889600000,"user_agent":"MCP-Client/1.0","session_id":"sess_xyz789"}}`; string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var back Response
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(r, back) {
		t.Errorf("came back as %+v, %v", back, err)
	}
	if text, names := v.Redacted(); string(text) != `{"region":"eu-west-1"}` || !slices.Equal(names, []string{"api_key"}) {
		t.Errorf("redacted: %s, %v", text, names)
	}
}

func TestValues(t *testing.T) {
	f := load(t, "eight.json")
	v, err := f.Read([]byte(submissions[2].answers), Coerce)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for id, value := range v.All() {
		if !value.equal(v.Get(id)) {
			t.Errorf("%s is %v, and %v", id, value, v.Get(id))
		}
		ids = append(ids, id)
		if id == "webhook" {
			break
		}
	}
	if !slices.Equal(ids, []string{"service", "replicas", "public", "start", "region", "features", "webhook"}) {
		t.Errorf("the fields are %v", ids)
	}
	if v.Get("replicas").Text() != "3" || !v.Get("public").Bool() || len(v.Get("features").List()) != 2 || v.Get("manifest").File().Filename != "billing.json" || v.Get("none").Kind() != Missing {
		t.Errorf("the values are %s", v.JSON())
	}
	var none Values
	for range none.All() {
		t.Error("no form has an answer")
	}
	if string(none.JSON()) != "{}" || none.Get("a").Kind() != Missing || none.Form() != nil {
		t.Errorf("no form has answers: %s", none.JSON())
	}
}
