package form

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// formWith is a definition with the field, and a text, number, boolean, date, select,
// multi_select, url and file field beside it.
func formWith(field string) string {
	return `{"id":"f","title":"F","fields":[` + field + `,
		{"id":"text","type":"text","label":"L"}, {"id":"number","type":"number","label":"L"},
		{"id":"boolean","type":"boolean","label":"L"}, {"id":"date","type":"date","label":"L"},
		{"id":"select","type":"select","label":"L","options":["a","b"]},
		{"id":"multi","type":"multi_select","label":"L","options":["a","b"]},
		{"id":"url","type":"url","label":"L"}, {"id":"file","type":"file","label":"L"}]}`
}

// fieldWith is a definition whose first field is of a type and has members besides.
func fieldWith(typ, members string) string {
	if members != "" {
		members = "," + members
	}
	if strings.HasSuffix(typ, "select") && !strings.Contains(members, `"options"`) && !strings.Contains(members, `"enum"`) {
		members += `,"options":["a","b"]`
	}
	return formWith(`{"id":"x","type":"` + typ + `","label":"X"` + members + `}`)
}

// rulesWith is a definition whose first field is of a type and has rules.
func rulesWith(typ, rules string) string { return fieldWith(typ, `"validation":{`+rules+`}`) }

// when is a definition whose first field is shown under a condition.
func when(condition string) string {
	return fieldWith("text", `"dependencies":[{"action":"show","condition":`+condition+`}]`)
}

// around is a definition with one field and members of the form besides.
func around(members string) string {
	return `{"id":"f","title":"F","fields":[{"id":"x","type":"text","label":"X"}],` + members + `}`
}

// wantFault is a fault that a definition has: where, and parts of what is said.
type wantFault struct{ path, message, fix string }

func check(t *testing.T, definition string, want []wantFault) {
	t.Helper()
	f, err := Parse([]byte(definition))
	if len(want) == 0 {
		if err != nil {
			t.Errorf("%.300s\nis refused: %v", definition, err)
		}
		return
	}
	var faults Faults
	if f != nil || !errors.As(err, &faults) {
		t.Errorf("%.300s\nis accepted (%v), want %v", definition, err, want)
		return
	}
	ok := len(faults) == len(want)
	for i := range min(len(faults), len(want)) {
		got, w := faults[i], want[i]
		ok = ok && got.Path == w.path && strings.Contains(got.Message, w.message) && strings.Contains(got.Fix, w.fix) && got.Fix != ""
	}
	if !ok {
		t.Errorf("%.300s\nhas faults\n%v\nwant %v", definition, err, want)
	}
}

// R85 R86: what is wrong with a definition is told with the place and a way out.
func TestFaults(t *testing.T) {
	for definition, want := range map[string]wantFault{
		// the text
		``:                                       {"$", "too early", "close"},
		`{"id":"f"`:                              {"$", "too early", "close"},
		`{"id":"f",}`:                            {"$", "line 1, column 10", "JSON"},
		"{\n  \"id\": x}":                        {"$.id", "line 2, column 9", "JSON"},
		`[]`:                                     {"$", "is an array, and must be an object", "id, title"},
		`null`:                                   {"$", "is null", "id, title"},
		around(`"metadata":{}`) + `{}`:           {"$", "follows", "leave out"},
		around("\"description\":\"\xff\""):       {"$.description", "UTF-8", "UTF-8"},
		around("\"metadata\":{\"a\xff\":1}"):     {"$.metadata", "UTF-8", "UTF-8"},
		around(`"description":"\ud800"`):         {"$.description", "", "JSON"},
		around(`"title":"G"`):                    {"$.title", `"title" is there twice`, "one of them"},
		around(`"metadata":{"a":{"b":1,"b":2}}`): {"$.metadata.a.b", `"b" is there twice`, "one of them"},

		"\ufeff" + around(`"metadata":{}`): {"$", "byte order mark", "without"},
		"\xff\xfe{\x00}\x00":               {"$", "UTF-16", "UTF-8"},
		"{\n\"id\":\"äöü\" \"title\":1}":   {"$", "line 2, column 12", "JSON"},

		// members of the form
		around(`"descriptoin":"x"`):                                            {"$.descriptoin", "the form has no member", "write description"},
		around(`"maxAttempts":3`):                                              {"$.maxAttempts", "no member", "write max_attempts"},
		around(`"warn_before":3000`):                                           {"$.warn_before", "no member", "into timeout_config"},
		around(`"version":"1.0.0"`):                                            {"$.version", "no member", "metadata"},
		around(`"my own":"1.0.0"`):                                             {"$['my own']", "no member", "metadata"},
		around(`"it's\\":1`):                                                   {`$['it\'s\\']`, "no member", "metadata"},
		around(`"description":5`):                                              {"$.description", "is a number, and must be a string", `"5"`},
		around(`"metadata":[]`):                                                {"$.metadata", "is an array, and must be an object", "leave it out"},
		around(`"allow_partial":"true"`):                                       {"$.allow_partial", "true or false", "without quotes"},
		around(`"allow_partial":null`):                                         {"$.allow_partial", "is null", "true or false"},
		around(`"timeout":"300000"`):                                           {"$.timeout", "is a string, and must be a whole number", "300000"},
		around(`"timeout":3e5`):                                                {"$.timeout", "3e5 is not written as a whole number", "300000"},
		around(`"timeout":0`):                                                  {"$.timeout", "0 is less than 1000", "at least 1000"},
		around(`"timeout":-1`):                                                 {"$.timeout", "-1 is less than 1000", "at least 1000"},
		around(`"timeout":1000000000`):                                         {"$.timeout", "is more than 3600000", "at most 3600000"},
		around(`"timeout":99999999999999999999`):                               {"$.timeout", "is more than 3600000", "at most 3600000"},
		around(`"timeout_config":5`):                                           {"$.timeout_config", "must be an object", "initial_timeout"},
		around(`"timeout_config":{"initialTimeout":1000}`):                     {"$.timeout_config.initialTimeout", "no member", "write initial_timeout"},
		around(`"timeout":5000,"timeout_config":{"initial_timeout":6000}`):     {"$.timeout_config.initial_timeout", "is 6000, and timeout is 5000", "one of them"},
		around(`"timeout_config":{"initial_timeout":5000,"warn_before":5000}`): {"$.timeout_config.warn_before", "warning", "less"},
		around(`"timeout_config":{"max_extensions":-1}`):                       {"$.timeout_config.max_extensions", "-1 is less than 0", "10"},
		around(`"timeout_config":{"extension_allowed":1}`):                     {"$.timeout_config.extension_allowed", "true or false", "true or false"},
		around(`"max_attempts":0`):                                             {"$.max_attempts", "0 is less than 1", "3"},
		around(`"validation":{"custom_validators":["f"]}`):                     {"$.validation.custom_validators", "functions cannot travel in JSON", "Definition.Rules"},
		around(`"validation":{"dependency":{}}`):                               {"$.validation.dependency", "no member", "write dependencies"},
		around(`"validation":[]`):                                              {"$.validation", "must be an object", "dependencies"},
		around(`"validation":{"dependencies":[]}`):                             {"$.validation.dependencies", "must be an object", "by field"},
		around(`"validation":{"dependencies":{"x":[]}}`):                       {"$.validation.dependencies.x", "is empty", "show"},

		// ids, titles and the like
		`{"title":"F","fields":[{"id":"x","type":"text","label":"X"}]}`:                {"$.id", "the form needs an id", "api_key"},
		`{"id":"my form","title":"F","fields":[{"id":"x","type":"text","label":"X"}]}`: {"$.id", "other characters", "my_form"},
		`{"id":"a.b","title":"F","fields":[{"id":"x","type":"text","label":"X"}]}`:     {"$.id", "other characters", "a_b"},
		`{"id":"f","fields":[{"id":"x","type":"text","label":"X"}]}`:                   {"$.title", "needs a title", "256"},
		`{"id":"f","title":" ","fields":[{"id":"x","type":"text","label":"X"}]}`:       {"$.title", "needs a title", "256"},
		`{"id":"f","title":"F"}`:                                {"$.fields", "no fields", "at least one"},
		`{"id":"f","title":"F","fields":[]}`:                    {"$.fields", "is empty", "at least one"},
		`{"id":"f","title":"F","fields":{}}`:                    {"$.fields", "must be an array", "["},
		`{"id":"f","title":"F","fields":["x"]}`:                 {"$.fields[0]", "is a string, and must be an object", "id, type"},
		formWith(`{"type":"text","label":"X"}`):                 {"$.fields[0].id", "the field needs an id", "api_key"},
		formWith(`{"id":"a b","type":"text","label":"X"}`):      {"$.fields[0].id", "_, . and -", "a_b"},
		formWith(`{"id":"text","type":"text","label":"X"}`):     {"$.fields[1].id", "that of field 0 too", "of its own"},
		formWith(`{"id":"x","type":"text"}`):                    {"$.fields[0].label", "needs a label", "256"},
		formWith(`{"id":"x","label":"X"}`):                      {"$.fields[0].type", "needs a type", "multi_select"},
		formWith(`{"id":"x","type":5,"label":"X"}`):             {"$.fields[0].type", "must be a string", "quotes"},
		formWith(`{"id":"x","type":"string","label":"X"}`):      {"$.fields[0].type", `no type "string"`, `write "text"`},
		formWith(`{"id":"x","type":"multiselect","label":"X"}`): {"$.fields[0].type", `no type "multiselect"`, `write "multi_select"`},
		formWith(`{"id":"x","type":"nubmer","label":"X"}`):      {"$.fields[0].type", `no type "nubmer"`, `write "number"`},
		formWith(`{"id":"x","type":"colour","label":"X"}`):      {"$.fields[0].type", `no type "colour"`, `"text", "number", "boolean"`},

		// members of a field
		fieldWith("text", `"requried":true`):              {"$.fields[0].requried", "a field has no member", "write required"},
		fieldWith("text", `"minLength":3`):                {"$.fields[0].minLength", "no member", "into validation"},
		fieldWith("text", `"placeholder":"x"`):            {"$.fields[0].placeholder", "no member", "into rendering"},
		fieldWith("text", `"colour":"x"`):                 {"$.fields[0].colour", "no member", "label"},
		fieldWith("text", `"required":"yes"`):             {"$.fields[0].required", "is a string, and must be true or false", "without quotes"},
		fieldWith("text", `"default":null`):               {"$.fields[0].default", "null", "leave default out"},
		fieldWith("file", `"default":{}`):                 {"$.fields[0].default", "no default", "leave it out"},
		fieldWith("text", `"options":["a"]`):              {"$.fields[0].options", "a text field has no options", "select or multi_select"},
		fieldWith("text", `"validation":5`):               {"$.fields[0].validation", "must be an object", "minLength"},
		fieldWith("text", `"rendering":"wide"`):           {"$.fields[0].rendering", "must be an object", "object"},
		fieldWith("text", `"accessibility":[]`):           {"$.fields[0].accessibility", "must be an object", "object"},
		fieldWith("text", `"dependencies":{}`):            {"$.fields[0].dependencies", "must be an array", "field ids"},
		fieldWith("text", `"dependencies":[5]`):           {"$.fields[0].dependencies[0]", "the id of a field", "condition"},
		fieldWith("text", `"dependencies":["txet"]`):      {"$.fields[0].dependencies[0]", `no field "txet"`, `write "text"`},
		fieldWith("text", `"dependencies":["zzzzz"]`):     {"$.fields[0].dependencies[0]", `no field "zzzzz"`, `: "x", "text"`},
		fieldWith("text", `"dependencies":["x"]`):         {"$.fields[0].dependencies[0]", "needs itself", "required"},
		fieldWith("text", `"dependencies":["url","url"]`): {"$.fields[0].dependencies[1]", "twice", "one of them"},

		// options
		fieldWith("select", `"options":[]`):                                    {"$.fields[0].options", "is empty", "Large"},
		fieldWith("select", `"options":{}`):                                    {"$.fields[0].options", "must be an array", "Large"},
		fieldWith("select", `"options":["a",5]`):                               {"$.fields[0].options[1]", "is a number", `"5"`},
		fieldWith("select", `"options":["a","a"]`):                             {"$.fields[0].options[1]", "that of option 0", "one of them"},
		fieldWith("select", `"options":[""]`):                                  {"$.fields[0].options[0]", "needs a value", "None"},
		fieldWith("select", `"options":[{"title":"A"}]`):                       {"$.fields[0].options[0]", "needs a value", "None"},
		fieldWith("select", `"options":[{"value":"a","titel":"A"}]`):           {"$.fields[0].options[0].titel", "no member", "write title"},
		fieldWith("select", `"options":[{"value":"a","title":""}]`):            {"$.fields[0].options[0].title", "empty", "leave title out"},
		fieldWith("select", `"options":[{"value":1,"title":"A"}]`):             {"$.fields[0].options[0].value", "is a number", `"1"`},
		rulesWith("select", `"enum":[]`):                                       {"$.fields[0].validation.enum", "is empty", "small"},
		rulesWith("select", `"enum":["a",1]`):                                  {"$.fields[0].validation.enum[1]", "is a number", `"1"`},
		rulesWith("select", `"enum":["a","a"]`):                                {"$.fields[0].validation.enum[1]", "that of option 0", "one of them"},
		fieldWith("select", `"options":["a","b"],"validation":{"enum":["a"]}`): {"$.fields[0].validation.enum", "same values", "leave enum out"},
		formWith(`{"id":"x","type":"select","label":"X"}`):                     {"$.fields[0].options", "needs options", "Large"},

		// rules
		rulesWith("text", `"minLength":-1`):                                  {"$.fields[0].validation.minLength", "-1 is less than 0", "write a whole number of at least 0, such as 3"},
		rulesWith("text", `"minLength":"3"`):                                 {"$.fields[0].validation.minLength", "is a string, and must be a whole number", "write a whole number of at least 0, such as 3"},
		rulesWith("text", `"maxLength":3.0`):                                 {"$.fields[0].validation.maxLength", "3.0 is not written as a whole number", "such as 3"},
		rulesWith("text", `"min_length":3`):                                  {"$.fields[0].validation.min_length", "no member", "write minLength"},
		rulesWith("text", `"required":true`):                                 {"$.fields[0].validation.required", "no member", "into the field itself"},
		rulesWith("text", `"placeholder":"p"`):                               {"$.fields[0].validation.placeholder", "no member", "into rendering"},
		rulesWith("text", `"minimum":1`):                                     {"$.fields[0].validation.minimum", "a text field has no minimum", "number or date"},
		rulesWith("text", `"uniqueItems":true`):                              {"$.fields[0].validation.uniqueItems", "a text field has no uniqueItems", "multi_select"},
		rulesWith("number", `"pattern":""`):                                  {"$.fields[0].validation.pattern", "a number field has no pattern", "text"},
		rulesWith("boolean", `"format":"date"`):                              {"$.fields[0].validation.format", "a boolean field has no format", "text, date or url"},
		rulesWith("date", `"multipleOf":1`):                                  {"$.fields[0].validation.multipleOf", "a date field has no multipleOf", "number"},
		rulesWith("url", `"minLength":1`):                                    {"$.fields[0].validation.minLength", "a url field has no minLength", "text"},
		rulesWith("file", `"maxLength":1`):                                   {"$.fields[0].validation.maxLength", "a file field has no maxLength", "text or url"},
		rulesWith("select", `"minItems":1`):                                  {"$.fields[0].validation.minItems", "a select field has no minItems", "multi_select"},
		rulesWith("text", `"pattern":"(?=a)"`):                               {"$.fields[0].validation.pattern", "a lookahead", "without it"},
		rulesWith("text", `"pattern":5`):                                     {"$.fields[0].validation.pattern", "must be a string", "quotes"},
		rulesWith("text", `"format":"emial"`):                                {"$.fields[0].validation.format", `"emial" is not known`, `write "email"`},
		rulesWith("text", `"format":""`):                                     {"$.fields[0].validation.format", "is empty", "email"},
		rulesWith("text", `"format":"password"`):                             {"$.fields[0].validation.format", "not known", "inputType"},
		rulesWith("date", `"format":"time"`):                                 {"$.fields[0].validation.format", "not known", "date"},
		rulesWith("url", `"format":"email"`):                                 {"$.fields[0].validation.format", "not known", `write "uri"`},
		rulesWith("number", `"minimum":"1"`):                                 {"$.fields[0].validation.minimum", "is a string, and must be a number", "without quotes"},
		rulesWith("number", `"maximum":null`):                                {"$.fields[0].validation.maximum", "is null", "number"},
		rulesWith("number", `"exclusiveMinimum":true`):                       {"$.fields[0].validation.exclusiveMinimum", "is a boolean", "number"},
		rulesWith("number", `"maximum":1e401`):                               {"$.fields[0].validation.maximum", "beyond all use", "400"},
		rulesWith("number", `"multipleOf":0`):                                {"$.fields[0].validation.multipleOf", "not greater than zero", "0.01"},
		rulesWith("number", `"multipleOf":-0.5`):                             {"$.fields[0].validation.multipleOf", "-0.5 is not greater than zero", "0.01"},
		rulesWith("date", `"minimum":2026`):                                  {"$.fields[0].validation.minimum", "is a number, and must be a string", `"2026"`},
		rulesWith("date", `"minimum":"2026-02-30"`):                          {"$.fields[0].validation.minimum", `"2026-02-30" is no date`, "2026-01-31"},
		rulesWith("multi_select", `"uniqueItems":false`):                     {"$.fields[0].validation.uniqueItems", "only once", "leave uniqueItems out"},
		rulesWith("multi_select", `"uniqueItems":1`):                         {"$.fields[0].validation.uniqueItems", "true or false", "true"},
		rulesWith("url", `"allowedSchemes":[]`):                              {"$.fields[0].validation.allowedSchemes", "is empty", "https"},
		rulesWith("url", `"allowedSchemes":["HTTPS"]`):                       {"$.fields[0].validation.allowedSchemes[0]", "small letters", "https"},
		rulesWith("url", `"allowedSchemes":["https://"]`):                    {"$.fields[0].validation.allowedSchemes[0]", "not a URL scheme", "https"},
		rulesWith("url", `"allowedSchemes":"https"`):                         {"$.fields[0].validation.allowedSchemes", "must be an array", `["https"]`},
		rulesWith("url", `"allowedSchemes":["ftp","ftp"]`):                   {"$.fields[0].validation.allowedSchemes[1]", "twice", "one of them"},
		rulesWith("url", `"blockPrivateIPs":0`):                              {"$.fields[0].validation.blockPrivateIPs", "true or false", "true"},
		rulesWith("file", `"maxSize":0`):                                     {"$.fields[0].validation.maxSize", "0 is less than 1", "10485760"},
		rulesWith("file", `"maxSize":"10MB"`):                                {"$.fields[0].validation.maxSize", "must be a whole number", "10485760"},
		rulesWith("file", `"allowedMimeTypes":["json"]`):                     {"$.fields[0].validation.allowedMimeTypes[0]", "not a MIME type", "application/json"},
		rulesWith("file", `"allowedMimeTypes":["*/*"]`):                      {"$.fields[0].validation.allowedMimeTypes[0]", "not a MIME type", "application/json"},
		rulesWith("file", `"allowedMimeTypes":["text/html; charset=utf-8"]`): {"$.fields[0].validation.allowedMimeTypes[0]", "without parameters", "application/json"},
		rulesWith("file", `"allowedExtensions":["json"]`):                    {"$.fields[0].validation.allowedExtensions[0]", "one dot", ".json"},
		rulesWith("file", `"allowedExtensions":[".tar.gz"]`):                 {"$.fields[0].validation.allowedExtensions[0]", "one dot", ".json"},

		// hints
		fieldWith("text", `"rendering":{"placeholder":5}`):                                              {"$.fields[0].rendering.placeholder", "must be a string", `"5"`},
		fieldWith("text", `"rendering":{"inputType":"pasword"}`):                                        {"$.fields[0].rendering.inputType", "not known", `write "password"`},
		fieldWith("text", `"rendering":{"input_type":"password"}`):                                      {"$.fields[0].rendering.input_type", "spelled otherwise", "write inputType"},
		fieldWith("text", `"rendering":{"displayStyle":"dropdwon"}`):                                    {"$.fields[0].rendering.displayStyle", "not known", `write "dropdown"`},
		fieldWith("text", `"rendering":{"readonly":"yes"}`):                                             {"$.fields[0].rendering.readonly", "true or false", "true"},
		fieldWith("text", `"required":true,"rendering":{"readonly":true}`):                              {"$.fields[0].rendering.readonly", "no default", "default"},
		fieldWith("text", `"rendering":{"rows":0}`):                                                     {"$.fields[0].rendering.rows", "0 is less than 1", "3"},
		fieldWith("text", `"rendering":{"gridColumn":1.5}`):                                             {"$.fields[0].rendering.gridColumn", "whole number", "3"},
		fieldWith("number", `"rendering":{"step":"any"}`):                                               {"$.fields[0].rendering.step", "must be a number", "0.5"},
		fieldWith("text", `"rendering":{"validationTrigger":"always"}`):                                 {"$.fields[0].rendering.validationTrigger", "not known", "on_blur"},
		fieldWith("text", `"rendering":{"accessibility":{"ariaLabel":1}}`):                              {"$.fields[0].rendering.accessibility.ariaLabel", "must be a string", `"1"`},
		fieldWith("text", `"accessibility":{"tabIndex":"0"}`):                                           {"$.fields[0].accessibility.tabIndex", "whole number", "0"},
		fieldWith("text", `"accessibility":{"invalid":2}`):                                              {"$.fields[0].accessibility.invalid", "true or false", "true"},
		fieldWith("text", `"accessibility":{"a":1},"rendering":{"accessibility":{"a":2}}`):              {"$.fields[0].rendering", "not the same", "beside"},
		fieldWith("text", `"rendering":{"conditionalDisplay":{"operator":"equals","field":"boolean"}}`): {"$.fields[0].rendering.conditionalDisplay.value", "needs a value", "compared"},
	} {
		check(t, definition, []wantFault{want})
	}
}

// R97: what is wrong with conditions.
func TestConditionFaults(t *testing.T) {
	const at = "$.fields[0].dependencies[0].condition"
	for condition, want := range map[string]wantFault{
		`[]`: {at, "is an array, and must be an object", "operator, field"},
		`{"operator":"is","field":"number","value":1}`:                                                                   {at + ".operator", `"is" is not known`, `"equals", "not_equals"`},
		`{"operator":"==","field":"number","value":1}`:                                                                   {at + ".operator", "not known", `write "equals"`},
		`{"operator":"equal","field":"number","value":1}`:                                                                {at + ".operator", "not known", `write "equals"`},
		`{"operator":"not","conditions":[]}`:                                                                             {at + ".conditions", "is empty", "equals"},
		`{"operator":"equals","field":"number","value":1,"values":[]}`:                                                   {at + ".values", "no member", "write value"},
		`{"operator":"equals","value":1}`:                                                                                {at + ".field", "needs a field", "id"},
		`{"operator":"equals","field":"nubmer","value":1}`:                                                               {at + ".field", `no field "nubmer"`, `write "number"`},
		`{"operator":"equals","field":"file","value":"a"}`:                                                               {at + ".field", "no condition can look at", "another field"},
		`{"operator":"equals","field":"number"}`:                                                                         {at + ".value", "needs a value", "compared"},
		`{"operator":"equals","field":"number","value":null}`:                                                            {at + ".value", "null", "not_equals"},
		`{"operator":"equals","field":"number","value":"1"}`:                                                             {at + ".value", `the value is a string, and "number" is a number field`, "10"},
		`{"operator":"equals","field":"number","value":1e999}`:                                                           {at + ".value", "beyond all use", "400"},
		`{"operator":"equals","field":"boolean","value":"true"}`:                                                         {at + ".value", "is a string", "true"},
		`{"operator":"equals","field":"text","value":5}`:                                                                 {at + ".value", "is a number", "other"},
		`{"operator":"equals","field":"select","value":"c"}`:                                                             {at + ".value", `no option "c"`, `"a" or "b"`},
		`{"operator":"equals","field":"select","value":"A"}`:                                                             {at + ".value", `no option "A"`, `write "a"`},
		`{"operator":"equals","field":"multi","value":"a"}`:                                                              {at + ".value", "is a string", `["a", "b"]`},
		`{"operator":"equals","field":"multi","value":["a","c"]}`:                                                        {at + ".value[1]", `no option "c"`, `"a" or "b"`},
		`{"operator":"contains","field":"multi","value":"c"}`:                                                            {at + ".value", `no option "c"`, `"a" or "b"`},
		`{"operator":"contains","field":"multi","value":["a"]}`:                                                          {at + ".value", "is an array", "other"},
		`{"operator":"equals","field":"date","value":"2026-02-30"}`:                                                      {at + ".value", "is no date", "2026-01-31"},
		`{"operator":"gt","field":"date","value":5}`:                                                                     {at + ".value", "is a number", "2026-01-31"},
		`{"operator":"gt","field":"text","value":"a"}`:                                                                   {at + ".operator", `gt does not go with "text", which is a text field`, `"equals", "not_equals", "contains" or "regex"`},
		`{"operator":"lte","field":"boolean","value":true}`:                                                              {at + ".operator", "lte does not go with", `"equals" or "not_equals"`},
		`{"operator":"contains","field":"select","value":"a"}`:                                                           {at + ".operator", "contains does not go with", "regex"},
		`{"operator":"regex","field":"number","value":"1"}`:                                                              {at + ".operator", "regex does not go with", "gte"},
		`{"operator":"regex","field":"multi","value":"1"}`:                                                               {at + ".operator", "regex does not go with", "contains"},
		`{"operator":"regex","field":"text","value":"(?!a)"}`:                                                            {at + ".value", "negative lookahead", "without it"},
		`{"operator":"regex","field":"text","value":5}`:                                                                  {at + ".value", "is a number", "^a"},
		`{"operator":"and"}`:                                                                                             {at + ".conditions", "and needs conditions", "equals"},
		`{"operator":"or","conditions":[]}`:                                                                              {at + ".conditions", "is empty", "equals"},
		`{"operator":"and","conditions":{}}`:                                                                             {at + ".conditions", "must be an array", "equals"},
		`{"operator":"or","field":"text","conditions":[{"operator":"equals","field":"text","value":""}]}`:                {at + ".field", "or has no field", "in its conditions"},
		`{"operator":"or","value":1,"conditions":[{"operator":"equals","field":"text","value":""}]}`:                     {at + ".value", "or has no value", "in its conditions"},
		`{"operator":"or","conditions":[{"operator":"equals","field":"txet","value":""}]}`:                               {at + ".conditions[0].field", `no field "txet"`, `write "text"`},
		`{"operator":"equals","field":"text","value":"","conditions":[{"operator":"equals","field":"text","value":""}]}`: {at + ".conditions", "has no conditions", `"and"`},
		`{"operator":"equals","field":"x","value":"a"}`:                                                                  {"$.fields[0].dependencies[0]", "depends on itself", "another field"},
	} {
		if strings.Contains(condition, `"not"`) {
			check(t, when(condition), []wantFault{{at + ".operator", `"not" is not known`, "opposite action"}, want})
			continue
		}
		check(t, when(condition), []wantFault{want})
	}
	for dependency, want := range map[string]wantFault{
		`{"condition":{"operator":"equals","field":"boolean","value":true}}`:                        {"$.fields[0].dependencies[0].action", "needs an action", "show"},
		`{"condition":{"operator":"equals","field":"boolean","value":true},"action":"shwo"}`:        {"$.fields[0].dependencies[0].action", "not known", `write "show"`},
		`{"condition":{"operator":"equals","field":"boolean","value":true},"action":"show","or":1}`: {"$.fields[0].dependencies[0].or", "no member", "condition and action"},
		`{"action":"show"}`: {"$.fields[0].dependencies[0].condition", "needs a condition", "equals"},
		`{"condition":{"field":"boolean","value":true},"action":"show"}`: {"$.fields[0].dependencies[0].condition.operator", "needs an operator", "equals"},
		`{"condition":7,"action":"show"}`:                                {"$.fields[0].dependencies[0].condition", "is a number", "operator"},
	} {
		check(t, fieldWith("text", `"dependencies":[`+dependency+`]`), []wantFault{want})
	}
}

// shownBy is a text field that is shown while another has an answer.
func shownBy(id, other string) string {
	return `{"id":"` + id + `","type":"text","label":"L","dependencies":[{"action":"show","condition":{"operator":"regex","field":"` + other + `","value":"."}}]}`
}

// R97: fields that depend on each other in a circle could not be decided.
func TestCircles(t *testing.T) {
	fields := func(all ...string) string {
		return `{"id":"f","title":"F","fields":[` + strings.Join(all, ",") + `]`
	}
	circle := func(definition string, want ...wantFault) { check(t, definition, want) }
	circle(fields(shownBy("a", "b"), shownBy("b", "a"))+`}`,
		wantFault{"$.fields[1].dependencies[0]", "a depends on b depends on a", "take one"})
	circle(fields(shownBy("a", "b"), shownBy("b", "c"), shownBy("c", "b"), shownBy("d", "d"))+`}`,
		wantFault{"$.fields[2].dependencies[0]", "b depends on c depends on b", "take one"},
		wantFault{"$.fields[3].dependencies[0]", `whether "d" is shown depends on itself`, "another field"})
	circle(fields(shownBy("a", "b"), `{"id":"b","type":"text","label":"L"}`)+`,"validation":{"dependencies":
		{"b":[{"action":"hide","condition":{"operator":"or","conditions":[{"operator":"equals","field":"a","value":"x"}]}}]}}}`,
		wantFault{"$.validation.dependencies.b[0]", "a depends on b depends on a", "take one"})
	circle(fields(shownBy("a", "b"), shownBy("b", "c"), `{"id":"c","type":"text","label":"L"}`) + `}`)

	// Whether a field is required and constrained shows and hides nothing.
	circle(fields(`{"id":"a","type":"text","label":"L"}`, `{"id":"b","type":"text","label":"L","dependencies":["a"]}`) + `,"validation":{"dependencies":{
		"a":{"action":"validate","condition":{"operator":"equals","field":"b","value":""}},
		"b":{"action":"validate","condition":{"operator":"equals","field":"a","value":""}}}}}`)
}

// R85: all faults are told at once, in the order of the text, with their places in it.
func TestAllFaultsAtOnce(t *testing.T) {
	check(t, `{
		"timeout_config": {"initial_timeout": 5000, "warn_before": 6000},
		"id": "a form",
		"titel": "F",
		"fields": [
			{"id": "a", "type": "text", "validation": {"minimum": 1, "minLength": "x"}, "label": ""},
			{"id": "b", "type": "select", "label": "B", "validation": {"enum": ["x", "x"]}},
			{"id": "c", "type": "date", "label": "C", "dependencies": [
				{"action": "show", "condition": {"operator": "equals", "field": "aa", "value": ""}}, "bb",
				{"action": "hide", "condition": {"operator": "gt", "field": "b", "value": ""}}, "a", "a"]}],
		"validation": {"dependencies": {
			"c": [{"action": "show", "condition": {}}],
			"d": {"if": {}}}}
	}`, []wantFault{
		{"$.title", "needs a title", ""}, // it is missing: where it would be is not known
		{"$.timeout_config.warn_before", "warning", "less"},
		{"$.id", "other characters", "a_form"},
		{"$.titel", "no member", "write title"},
		{"$.fields[0].validation.minimum", "a text field has no minimum", "number or date"},
		{"$.fields[0].validation.minLength", "is a string", "such as 3"},
		{"$.fields[0].label", "needs a label", ""},
		{"$.fields[1].validation.enum[1]", "that of option 0", "leave"},
		{"$.fields[2].dependencies[0].condition.field", `no field "aa"`, `"a"`},
		{"$.fields[2].dependencies[1]", `no field "bb"`, `"b"`},
		{"$.fields[2].dependencies[2].condition.operator", "gt does not go with", "regex"},
		{"$.fields[2].dependencies[4]", "twice", "one of them"},
		{"$.validation.dependencies.c[0].condition", "needs a condition", "equals"},
		{"$.validation.dependencies.d", `no field "d"`, `"a", "b" or "c"`},
		{"$.validation.dependencies.d.condition", "needs a condition", "equals"},
		{"$.validation.dependencies.d.action", "needs an action", "show"},
		{"$.validation.dependencies.d.if", "no member", "condition and action"},
	})
}

// Whoever has a thousand faults is told a hundred.
func TestManyFaults(t *testing.T) {
	for _, definition := range []string{
		around(`"metadata":{}` + strings.Repeat(`,"x":1`, 1000)),
		around(`"metadata":{}` + ", " + numbered(1000, func(i string) string { return `"unknown` + i + `":1` })),
		`{"id":"f","title":"F","fields":[` + numbered(100, func(i string) string { return `{"id":"x` + i + ` "}` }) + `]}`,
		fieldWith("select", `"options":[`+numbered(1000, func(string) string { return `""` })+`]`),
	} {
		_, err := Parse([]byte(definition))
		var faults Faults
		if !errors.As(err, &faults) || len(faults) != maxFaults+1 || !strings.Contains(faults[maxFaults].Message, "more faults") {
			t.Errorf("%.60s: %d faults, want %d and how many more there are", definition, len(faults), maxFaults)
		}
	}
}

// numbered writes n pieces with commas between them.
func numbered(n int, piece func(i string) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = piece(strconv.Itoa(i))
	}
	return strings.Join(all, ",")
}

// C27: both spellings are read, the first is written.
func TestAllowPartial(t *testing.T) {
	for members, want := range map[string]bool{
		`"allow_partial":true`: true, `"allowPartial":true`: true, `"allow_partial":false`: false, `"allowPartial":false`: false,
		`"allowPartial":true,"allow_partial":true`: true, `"allow_partial":false,"allowPartial":false`: false,
	} {
		f, err := Parse([]byte(around(members)))
		if err != nil {
			t.Errorf("%s: %v", members, err)
			continue
		}
		text, _ := f.MarshalJSON()
		if got := f.Definition().AllowPartial; got != want || strings.Contains(string(text), `"allow_partial":true`) != want || strings.Contains(string(text), "allowPartial") {
			t.Errorf("%s: %v, written %s", members, got, text)
		}
	}
	for _, members := range []string{`"allowPartial":true,"allow_partial":false`, `"allow_partial":true,"allowPartial":false`} {
		check(t, around(members), []wantFault{{"$.allowPartial", "opposite", "allow_partial alone"}})
	}
}

// R85 R86 R101: the examples of the form API, and others, are read, and what is
// written of them reads as the same.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		written, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(written)
		if err != nil {
			t.Errorf("%s: %s: %v", name, written, err)
			continue
		}
		if diff := cmp.Diff(f.Definition(), again.Definition(), cmp.AllowUnexported(Definition{}, Field{})); diff != "" {
			t.Errorf("%s reads otherwise when it was written (-want +got):\n%s", name, diff)
		}
	}
}

// A default of "" is none where "" is no valid answer, as in an example of the form
// API. R95
func TestEmptyDefault(t *testing.T) {
	for field, want := range map[string]string{
		`"type":"text"`: `""`,
		`"type":"text","validation":{"maxLength":3,"minLength":0}`: `""`,
		`"type":"text","validation":{"pattern":"^a*$"}`:            `""`,
		`"type":"text","validation":{"minLength":1}`:               ``,
		`"type":"text","validation":{"pattern":"a"}`:               ``,
		`"type":"text","validation":{"format":"email"}`:            ``,
		`"type":"date"`:                   ``,
		`"type":"url"`:                    ``,
		`"type":"select","options":["a"]`: ``,
	} {
		f, err := Parse([]byte(formWith(`{"id":"x","label":"X","default":"",` + field + `}`)))
		if err != nil {
			t.Errorf("%s: %v", field, err)
		} else if got := string(f.Definition().Fields[0].Default); got != want {
			t.Errorf("%s: the default is %s, want %s", field, got, want)
		}
	}
}

// R95: a default of the wrong type is a fault.
func TestWrongDefault(t *testing.T) {
	for _, typ := range []string{"number", "boolean", "multi_select"} {
		check(t, fieldWith(typ, `"default":""`), []wantFault{{"$.fields[0].default", "", ""}})
	}
}

// What other form languages call a type leads to ours.
func TestLikelyTypes(t *testing.T) {
	for word, want := range map[string]Type{
		"string": Text, "textarea": Text, "Text": Text, "integer": Number, "float": Number, "bool": Boolean, "checkbox": Boolean,
		"enum": Select, "dropdown": Select, "multi-select": MultiSelect, "array": MultiSelect, "uri": URL, "datetime": Date, "upload": File,
	} {
		check(t, formWith(`{"id":"x","type":"`+word+`","label":"X"}`), []wantFault{{"$.fields[0].type", quoted(word), `write "` + string(want) + `"`}})
	}
}

// Who writes the names of another language for forms is told the one here.
func TestLikelyMembers(t *testing.T) {
	for definition, want := range map[string]string{
		fieldWith("select", `"options":[{"value":"a","label":"A"}]`):       "$.fields[0].options[0].label: an option has no member \"label\"; write title",
		fieldWith("select", `"options":[{"key":"a"}]`):                     "$.fields[0].options[0].key: an option has no member \"key\"; write value",
		formWith(`{"name":"x","type":"text","label":"X"}`):                 "$.fields[0].name: a field has no member \"name\"; write id",
		formWith(`{"id":"x","name":"x","type":"text","label":"X"}`):        "$.fields[0].name: a field has no member \"name\"; leave it out",
		formWith(`{"id":"x","type":"text","title":"X"}`):                   "$.fields[0].title: a field has no member \"title\"; write label",
		formWith(`{"id":"x","type":"select","label":"X","choices":["a"]}`): "$.fields[0].choices: a field has no member \"choices\"; write options",
		`{"id":"f","title":"F","questions":[]}`:                            "$.questions: the form has no member \"questions\"; write fields",
	} {
		if _, err := Parse([]byte(definition)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nhas %v\nwant %s", definition, err, want)
		}
	}
}

// R101: hints are kept as they are written, and those known are the same in Hints.
func TestHintsAreKept(t *testing.T) {
	const rendering = `{"z":1.50,"placeholder":"\u00e9","a":{"b":[1e2,null]},"rows":4,"step":0.10,"readonly":false}`
	f, err := Parse([]byte(fieldWith("text", "\"rendering\": "+strings.ReplaceAll(rendering, ",", " ,\n\t"))))
	if err != nil {
		t.Fatal(err)
	}
	field := f.Definition().Fields[0]
	if string(field.Rendering) != rendering {
		t.Errorf("%s, want %s", field.Rendering, rendering)
	}
	if h := field.Hints; h.Placeholder != "é" || h.Rows != 4 || string(h.Step) != "0.10" {
		t.Errorf("%+v", h)
	}
	var known []string
	for _, h := range renderingHints {
		known = append(known, h.name)
	}
	if diff := cmp.Diff(known, append(hintNames(), "accessibility")); diff != "" {
		t.Errorf("hintNames are not the known ones: %s", diff)
	}
}

// What is parsed does not change when the bytes it came from do.
func TestParseCopies(t *testing.T) {
	text := []byte(fieldWith("select", `"default":"a","rendering":{"z":1}`))
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := f.MarshalJSON()
	for i := range text {
		text[i] = 'x'
	}
	if after, err := f.MarshalJSON(); err != nil || string(after) != string(before) {
		t.Errorf("%v: %s, want %s", err, after, before)
	}
}
