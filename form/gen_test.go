package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"
)

// The generators make definitions that are valid: bounds leave room, defaults keep
// the rules, conditions look at earlier fields.

var (
	genID     = rapid.StringMatching(`[A-Za-z0-9_-]{1,16}`)
	genText   = rapid.StringOfN(rapid.SampledFrom([]rune("aZ09 _-.,:;!?<>&\"'\\/{}[]()äß語😀\u2028\n\t")), 0, 24, -1)
	genTitle  = rapid.Map(genText, func(s string) string { return "T" + s })
	genScheme = rapid.SampledFrom([][]string{nil, {"https"}, {"https", "http"}})
	genObject = rapid.SampledFrom([]string{`{}`, `{"a":1}`, `{"owner":"team <a> & \"b\"","n":[1,2.50,null,{"x":true}]}`})
)

// textKinds are rules of text with answers that keep them.
var textKinds = []struct {
	rules   FieldRules
	answers []string
}{
	{FieldRules{}, []string{"", "a", "some text", "語 & <b>"}},
	{FieldRules{MinLength: new(3), MaxLength: new(8)}, []string{"abc", "abcdefgh", "語語語😀"}},
	{FieldRules{MinLength: new(0)}, []string{"", "x"}},
	{FieldRules{MaxLength: new(1)}, []string{"", "x"}},
	{FieldRules{Pattern: `^[a-z]+-\d{2,4}$`}, []string{"a-12", "region-1234"}},
	{FieldRules{Pattern: `\p{L}`, MaxLength: new(20)}, []string{"1a", "äöü"}},
	{FieldRules{Pattern: `^(yes|no)$`, MinLength: new(2)}, []string{"yes", "no"}},
	{FieldRules{Format: "email"}, []string{"a@example.com", "first.last@sub.example.org"}},
	{FieldRules{Format: "uri", MaxLength: new(60)}, []string{"https://example.com/a?b=c#d", "urn:isbn:0451450523"}},
	{FieldRules{Format: "uuid"}, []string{"123e4567-e89b-12d3-a456-426614174000"}},
	{FieldRules{Format: "ipv4"}, []string{"192.0.2.1", "255.255.255.255"}},
	{FieldRules{Format: "ipv6"}, []string{"::1", "2001:db8::1"}},
	{FieldRules{Format: "hostname"}, []string{"example.com", "a"}},
	{FieldRules{Format: "date"}, []string{"2026-02-28", "2024-02-29"}},
	{FieldRules{Format: "date-time"}, []string{"2026-02-02T12:00:00Z", "2026-02-02T12:00:00.5+01:00"}},
}

// genDefinition draws a definition that is valid, with all that a form can have.
func genDefinition(t *rapid.T) Definition {
	d := Definition{
		ID:           genID.Draw(t, "form id"),
		Title:        genTitle.Draw(t, "form title"),
		Description:  genText.Draw(t, "form description"),
		AllowPartial: rapid.Bool().Draw(t, "allow partial"),
		Terms:        genTerms(t),
	}
	if rapid.Bool().Draw(t, "has metadata") {
		d.Metadata = json.RawMessage(genObject.Draw(t, "metadata"))
	}
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][A-Za-z0-9_.-]{0,11}`), 1, 8, rapid.ID[string]).Draw(t, "ids")
	for i, id := range ids {
		d.Fields = append(d.Fields, genField(t, id, d.Fields))
		if others := slices.Delete(slices.Clone(ids), i, i+1); len(others) > 0 && rapid.IntRange(0, 4).Draw(t, "has needs") == 0 {
			d.Fields[i].Needs = rapid.SliceOfNDistinct(rapid.SampledFrom(others), 1, len(others), rapid.ID[string]).Draw(t, "needs")
		}
		if rapid.IntRange(0, 4).Draw(t, "has form-level dependencies") == 0 {
			d.Dependencies = append(d.Dependencies, genDependencies(t, id, d.Fields[:i])...)
		}
	}
	return d
}

func genTerms(t *rapid.T) Terms {
	var terms Terms
	if rapid.Bool().Draw(t, "has timeout") {
		terms.Timeout = time.Duration(rapid.IntRange(60_000, 3_600_000).Draw(t, "timeout")) * time.Millisecond
		terms.WarnBefore = time.Duration(rapid.SampledFrom([]int{0, 1000, 59_999}).Draw(t, "warn before")) * time.Millisecond
	}
	if rapid.Bool().Draw(t, "has extension") {
		terms.ExtensionAllowed = new(rapid.Bool().Draw(t, "extension allowed"))
		terms.Extension = time.Duration(rapid.IntRange(1000, 3_600_000).Draw(t, "extension")) * time.Millisecond
		terms.MaxExtensions = new(rapid.IntRange(0, 100).Draw(t, "max extensions"))
	}
	if rapid.Bool().Draw(t, "has attempts") {
		terms.MaxAttempts = rapid.IntRange(1, 100).Draw(t, "attempts")
	}
	return terms
}

// genField draws a field; its conditions look at earlier ones.
func genField(t *rapid.T, id string, earlier []Field) Field {
	f := Field{
		ID:          id,
		Type:        rapid.SampledFrom(types).Draw(t, "type"),
		Label:       genTitle.Draw(t, "label"),
		Description: genText.Draw(t, "description"),
		Required:    rapid.Bool().Draw(t, "required"),
	}
	standard := genRules(t, &f)
	if f.Type != File && rapid.Bool().Draw(t, "has default") {
		f.Default = json.RawMessage(standard)
	}
	genHints(t, &f, earlier)
	if rapid.IntRange(0, 3).Draw(t, "has conditions") == 0 {
		f.When = genDependencies(t, id, earlier)
	}
	return f
}

// genRules draws rules for f, and returns an answer that keeps them, as JSON.
func genRules(t *rapid.T, f *Field) string {
	has := func(what string) bool { return rapid.Bool().Draw(t, "has "+what) }
	switch f.Type {
	case Text:
		kind := rapid.SampledFrom(textKinds).Draw(t, "text rules")
		f.Rules = kind.rules
		return quoteJSON(rapid.SampledFrom(kind.answers).Draw(t, "text"))
	case Number:
		return genNumber(t, f)
	case Boolean:
		return strconv.FormatBool(rapid.Bool().Draw(t, "yes"))
	case Date:
		return quoteJSON(genDates(t, f))
	case Select:
		f.Options = genOptions(t)
		return quoteJSON(rapid.SampledFrom(f.Options).Draw(t, "option").Value)
	case MultiSelect:
		f.Options = genOptions(t)
		n := rapid.IntRange(1, len(f.Options)).Draw(t, "chosen")
		if has("minItems") {
			f.Rules.MinItems = new(rapid.IntRange(0, n).Draw(t, "minItems"))
		}
		if has("maxItems") {
			f.Rules.MaxItems = new(rapid.IntRange(n, len(f.Options)).Draw(t, "maxItems"))
		}
		var chosen []string
		for _, o := range f.Options[:n] {
			chosen = append(chosen, o.Value)
		}
		b, _ := json.Marshal(chosen)
		return string(b)
	case URL:
		f.Rules.AllowedSchemes = genScheme.Draw(t, "schemes")
		f.Rules.Format = rapid.SampledFrom([]string{"", "uri"}).Draw(t, "format")
		if has("blocks") {
			f.Rules.BlockPrivateIPs = new(has("blockPrivateIPs"))
			f.Rules.BlockLocalhost = new(has("blockLocalhost"))
		}
		if has("maxLength") {
			f.Rules.MaxLength = new(rapid.IntRange(40, 4000).Draw(t, "maxLength"))
		}
		return quoteJSON("https://example.com/" + rapid.StringMatching(`[a-z]{0,8}`).Draw(t, "path"))
	}
	if has("maxSize") {
		f.Rules.MaxSize = new(rapid.Int64Range(1, 1<<30).Draw(t, "maxSize"))
	}
	f.Rules.AllowedMimeTypes = rapid.SampledFrom([][]string{nil, {"text/plain"}, {"application/json", "image/*"}}).Draw(t, "types")
	f.Rules.AllowedExtensions = rapid.SampledFrom([][]string{nil, {".txt"}, {".json", ".png"}}).Draw(t, "extensions")
	return "null"
}

// hundredths writes n/100 as JSON.
func hundredths(n int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	if n%100 == 0 {
		return fmt.Sprintf("%s%d", sign, n/100)
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

func genNumber(t *rapid.T, f *Field) string {
	step := rapid.SampledFrom([]int{0, 100, 500, 1, 25}).Draw(t, "step") // hundredths
	n := rapid.IntRange(-200, 200).Draw(t, "number") * max(step, 1)
	if step != 0 {
		f.Rules.MultipleOf = json.RawMessage(hundredths(step))
	}
	below := n - rapid.IntRange(0, 50).Draw(t, "below")*max(step, 1)
	above := n + rapid.IntRange(0, 50).Draw(t, "above")*max(step, 1)
	switch rapid.IntRange(0, 3).Draw(t, "lower bound") {
	case 0:
		f.Rules.Minimum = json.RawMessage(hundredths(below))
	case 1:
		f.Rules.ExclusiveMinimum = json.RawMessage(hundredths(below - 1))
	}
	switch rapid.IntRange(0, 3).Draw(t, "upper bound") {
	case 0:
		f.Rules.Maximum = json.RawMessage(hundredths(above))
	case 1:
		f.Rules.ExclusiveMaximum = json.RawMessage(hundredths(above + 1))
	}
	return hundredths(n)
}

func genDates(t *rapid.T, f *Field) string {
	f.Rules.Format = rapid.SampledFrom([]string{"", "date", "date-time"}).Draw(t, "format")
	layout := "2006-01-02"
	if f.Rules.Format == "date-time" {
		layout = time.RFC3339
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(-2000, 2000).Draw(t, "day"))
	if rapid.Bool().Draw(t, "has minimum") {
		f.Rules.Minimum = json.RawMessage(quoteJSON(day.AddDate(0, 0, -rapid.IntRange(0, 100).Draw(t, "before")).Format(layout)))
	}
	if rapid.Bool().Draw(t, "has maximum") {
		f.Rules.Maximum = json.RawMessage(quoteJSON(day.AddDate(0, 0, rapid.IntRange(0, 100).Draw(t, "after")).Format(layout)))
	}
	return day.Format(layout)
}

func genOptions(t *rapid.T) []Option {
	titled := rapid.Bool().Draw(t, "titled")
	var options []Option
	for _, v := range rapid.SliceOfNDistinct(genTitle, 1, 6, rapid.ID[string]).Draw(t, "options") {
		o := Option{Value: v}
		if titled && rapid.IntRange(0, 5).Draw(t, "this one") > 0 {
			o.Title = genTitle.Draw(t, "option title")
		}
		options = append(options, o)
	}
	return options
}

// genHints draws hints: known ones alone, or an object with others too.
func genHints(t *rapid.T, f *Field, earlier []Field) {
	h := &f.Hints
	switch rapid.IntRange(0, 4).Draw(t, "hints") {
	case 0, 1:
		return
	case 2:
		f.Rendering = json.RawMessage(`{"theme":{"dark":true},"gridColumn":2,"accessibility":{"ariaLabel":"L"}}`)
		f.Accessibility = json.RawMessage(`{"ariaLabel":"L"}`)
		return
	}
	h.Placeholder = genText.Draw(t, "placeholder")
	h.HelpText = genText.Draw(t, "help")
	h.DisplayStyle = rapid.SampledFrom(append([]string{""}, displayStyles...)).Draw(t, "style")
	h.InputType = rapid.SampledFrom([]string{"", "", "text", "password", "email"}).Draw(t, "input type")
	h.Rows = rapid.IntRange(0, 5).Draw(t, "rows")
	h.EnableTime = rapid.Bool().Draw(t, "time")
	h.Hidden = rapid.IntRange(0, 9).Draw(t, "hidden") == 0
	h.Readonly = f.Default != nil && rapid.IntRange(0, 4).Draw(t, "readonly") == 0
	if f.Type == Number {
		h.Step = rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage("1"), json.RawMessage("0.50")}).Draw(t, "step hint")
	}
	if rapid.IntRange(0, 3).Draw(t, "has conditional display") == 0 {
		if c, ok := genCondition(t, earlier, 2); ok {
			h.ConditionalDisplay = &c
		}
	}
	if rapid.Bool().Draw(t, "has accessibility") {
		f.Accessibility = json.RawMessage(`{"ariaLabel":"A <b>","tabIndex":-1,"required":true,"other":[]}`)
	}
}

// genDependencies draws one or two dependencies of the field id.
func genDependencies(t *rapid.T, id string, earlier []Field) []Dependency {
	var all []Dependency
	for range rapid.IntRange(1, 2).Draw(t, "dependencies") {
		if c, ok := genCondition(t, earlier, 2); ok {
			action := rapid.SampledFrom([]Action{Show, Hide, Enable, Disable, Validate}).Draw(t, "action")
			all = append(all, Dependency{Field: id, Condition: c, Action: action})
		}
	}
	return all
}

// genCondition draws a condition on one of fields, or reports that there is none
// that it could look at.
func genCondition(t *rapid.T, fields []Field, depth int) (Condition, bool) {
	var seen []int
	for i := range fields {
		if fields[i].Type != File {
			seen = append(seen, i)
		}
	}
	if len(seen) == 0 {
		return Condition{}, false
	}
	if depth > 0 && rapid.IntRange(0, 3).Draw(t, "compound") == 0 {
		c := Condition{Operator: rapid.SampledFrom([]Operator{And, Or}).Draw(t, "junction")}
		for range rapid.IntRange(1, 3).Draw(t, "members") {
			each, _ := genCondition(t, fields, depth-1)
			c.Conditions = append(c.Conditions, each)
		}
		return c, true
	}
	f := &fields[rapid.SampledFrom(seen).Draw(t, "looks at")]
	c := Condition{Field: f.ID, Operator: Operator(rapid.SampledFrom(operatorsOf(f.Type)).Draw(t, "operator"))}
	c.Value = json.RawMessage(genOperand(t, f, c.Operator))
	return c, true
}

// genOperand draws what f can be compared with.
func genOperand(t *rapid.T, f *Field, operator Operator) string {
	if operator == Regex {
		return quoteJSON(rapid.SampledFrom([]string{"^a", `\d+$`, "."}).Draw(t, "pattern"))
	}
	switch f.Type {
	case Number:
		return rapid.SampledFrom([]string{"0", "-1.50", "12", "1e2", "0.1"}).Draw(t, "number operand")
	case Boolean:
		return strconv.FormatBool(rapid.Bool().Draw(t, "boolean operand"))
	case Date:
		return quoteJSON(rapid.SampledFrom([]string{"2026-01-01", "2024-02-29", "2026-06-01T12:00:00+02:00"}).Draw(t, "date operand"))
	case Select, MultiSelect:
		value := quoteJSON(rapid.SampledFrom(f.Options).Draw(t, "option operand").Value)
		if f.Type == MultiSelect && operator != Contains {
			return "[" + value + "]"
		}
		return value
	}
	return quoteJSON(rapid.SampledFrom([]string{"", "a", "other", "https://example.com/"}).Draw(t, "text operand"))
}

// quoteJSON is s as a JSON string.
func quoteJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
