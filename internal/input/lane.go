package input

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// draft is a question on its way to be a request.
type draft struct {
	ask  wire.Message // in the words of the specification; in the form lane, still with its definition
	kind Kind
	form *form.Form // of the form lane
}

// What the cache of forms holds at most.
const (
	cachedForms = 1000
	cachedBytes = 16 << 20 // of definitions
)

func (f Forms) cache() *form.Cache {
	if f.Loopback {
		return form.NewCache(cachedForms, cachedBytes, allowLoopback)
	}
	return form.NewCache(cachedForms, cachedBytes, nil)
}

// allowLoopback lets url fields that do not say otherwise name this machine.
func allowLoopback(d *form.Definition) {
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Type == form.URL && f.Rules.BlockLocalhost == nil {
			f.Rules.BlockLocalhost = new(false)
		}
	}
}

// definitionIn returns the form definition that m brings, or nil.
func definitionIn(m wire.Message) []byte {
	v := wire.Get(m.Params(), "formDefinition")
	if string(v) == "null" {
		return nil
	}
	return v
}

// defined reads the form that a backend brings, and refuses one that its client
// cannot show.
func (b *Broker) defined(d draft, definition []byte, extended bool) (draft, *wire.Error) {
	f, err := b.cache().Parse(definition)
	if err != nil {
		return d, faulty(err)
	}
	d.form = f
	p := d.ask.Params()
	if v := wire.Get(p, "message"); v != nil && v[0] != '"' {
		return d, badParams("the message of a form must be a string")
	}
	if names := f.Sensitive(); b.limits.Rules.Secrets && len(names) > 0 {
		return d, asksSecret(names[0])
	}
	if extended {
		return d, nil
	}
	flat := f.Flatten()
	if err := unrepresentable(flat.Lost); err != nil {
		return d, err
	}
	if b.limits.Rules.Check {
		return d, b.limits.Rules.form(flat.Schema)
	}
	return d, nil
}

// unrepresentable refuses a form with fields that a client cannot show at all. Whether
// it may ask for secrets has been decided before.
func unrepresentable(lost []form.Loss) *wire.Error {
	var fields []string
	var why string
	for _, l := range lost {
		if l.Fatal && l.What != "secret" && !slices.Contains(fields, l.Field) {
			fields = append(fields, l.Field)
			why = cmp.Or(why, l.Why)
		}
	}
	if fields == nil {
		return nil
	}
	return wire.Errorf(wire.ReasonUnrepresentable, "the client of this call cannot show field %q: %s", fields[0], why).
		With("fields", fields).
		Hint("leave the field out, ask by URL, or use a client that declares capabilities.experimental[\"" + form.HintsKey + "\"]")
}

// managed reads the form that Beckon itself is asked to keep. It goes to no client,
// so that it may hold what no client could show.
func (b *Broker) managed(d draft) (draft, *wire.Error) {
	if d.kind != Form {
		return d, wire.Errorf(wire.ReasonMode, "Beckon itself asks by form only").
			Hint(`send elicitation/create with mode "form" and formDefinition`)
	}
	p := d.ask.Params()
	if v := wire.Get(p, "message"); v != nil && v[0] != '"' {
		return d, badParams("the message of a form must be a string")
	}
	var err error
	if definition := definitionIn(d.ask); definition != nil {
		d.form, err = b.cache().Parse(definition)
	} else if prompt, ok := wire.Text(p, "prompt"); ok {
		d.form, err = prompted(prompt)
	} else {
		return d, badParams("a form needs formDefinition, an object, or prompt, a string").
			Hint(`send {"mode":"form","formDefinition":{"id":…,"title":…,"fields":[…]}}, or {"mode":"inline","prompt":…}`)
	}
	if err != nil {
		return d, faulty(err)
	}
	return d, nil
}

// faulty tells what is wrong with a definition.
func faulty(err error) *wire.Error {
	faults, ok := errors.AsType[form.Faults](err)
	if !ok || len(faults) == 0 {
		return wire.ErrorFrom(err)
	}
	e := wire.Errorf(wire.ReasonSchema, "the form definition is not valid: %s: %s", faults[0].Path, faults[0].Message).
		With("faults", faults)
	if fix := faults[0].Fix; fix != "" {
		return e.Hint(fix)
	}
	return e
}

// promptField is the one field of a form that is made of a prompt.
const promptField = "answer"

// prompted makes a form of a prompt: the older way to ask, with one text for an
// answer.
func prompted(prompt string) (*form.Form, error) {
	title := shortened(prompt)
	return form.Compile(form.Definition{
		ID:     "inline",
		Title:  title,
		Fields: []form.Field{{ID: promptField, Type: form.Text, Label: title, Required: true}},
	})
}

// inline translates the older mode inline, a prompt and perhaps a schema, into the
// mode form. It keeps the members that were there.
func inline(m wire.Message) wire.Message {
	p := m.Params()
	if mode, _ := wire.Text(p, "mode"); mode != "inline" {
		return m
	}
	p = wire.Set(p, []byte(`"form"`), "mode")
	prompt, ok := wire.Text(p, "prompt")
	if ok && wire.Get(p, "message") == nil {
		p = wire.Set(p, wire.Get(p, "prompt"), "message")
	}
	if ok && wire.Get(p, "requestedSchema") == nil {
		schema := slices.Concat([]byte(`{"type":"object","properties":{"`+promptField+`":{"type":"string","title":`),
			wire.Quote(shortened(prompt)), []byte(`}},"required":["`+promptField+`"]}`))
		p = wire.Set(p, schema, "requestedSchema")
	}
	return m.WithParams(p)
}

// longestTitle is how many characters a title of a form, or the label of a field, may
// have.
const longestTitle = 256

// shortened returns text as a title: white space as single spaces, and not too long.
func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if all := []rune(text); len(all) > longestTitle {
		return string(all[:longestTitle-1]) + "…"
	}
	return text
}

// prefix begins the id of r.
func (r *Request) prefix() string {
	if r.Lane() {
		return "elic_"
	}
	return "in_"
}
