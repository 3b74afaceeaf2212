package form

import "strings"

// value brings an answer to the type of its field; to a missing one, when it was left
// out. The error says that it is of another type, or cannot be read.
func (r *submission) value(p *plan, s span) (Value, *Error) {
	raw := r.raw[s.from:s.to]
	if raw[0] == 'n' && r.lenient() {
		return Value{}, nil
	}
	// What an empty input of a form sends for "nothing".
	if len(raw) == 2 && raw[0] == '"' && r.lenient() && p.emptyIsNone() {
		return Value{}, nil
	}
	switch p.Type {
	case Number:
		return r.number(p, s)
	case Boolean:
		return r.boolean(p, s)
	case MultiSelect:
		return r.list(p, s)
	case File:
		return r.upload(p, s)
	}
	if raw[0] != '"' {
		return Value{}, p.mistyped(raw, "string", "a text")
	}
	v := Value{kind: TextKind, text: r.text(s)}
	if p.Type == Date && !p.format.valid(v.text) {
		return Value{}, p.fail(CodeInvalidDate, "format", p.format.name, p.shown(v.text), "must be %s", p.format.what)
	}
	if e := r.match(p, v.text); e != nil {
		return Value{}, e
	}
	return v, nil
}

// emptyIsNone reports whether an empty text means that a field is not answered. It
// is an answer where a text, or that option, can be one.
func (p *plan) emptyIsNone() bool {
	switch p.Type {
	case Text, File:
		return false
	}
	_, option := p.options[""]
	return !option
}

// number reads a number, or a text that is one but for white space around it. It is
// kept as it is written.
func (r *submission) number(p *plan, s span) (Value, *Error) {
	raw := r.raw[s.from:s.to]
	var text string
	switch {
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		if text = r.whole; text != "" {
			text = text[s.from:s.to]
		} else {
			text = string(raw)
		}
	case raw[0] == '"' && r.lenient():
		if text = strings.TrimSpace(r.text(s)); text == "" {
			return Value{}, nil
		}
	default:
		return Value{}, p.mistyped(raw, p.wantedNumber(), "a number")
	}
	switch _, sizing := parseDecimal(text); sizing {
	case noNumber:
		return Value{}, p.fail(CodeInvalidNumber, "type", p.wantedNumber(), p.shown(text), "must be a number, such as 8080 or -1.5")
	case hugeNumber:
		return Value{}, p.fail(CodeTooLarge, "type", p.wantedNumber(), p.shown(text),
			"must be a number of at most %d digits, with an exponent of at most %d", maxNumberDigits, maxNumberExponent)
	}
	return Value{kind: NumberKind, text: text}, nil
}

// wantedNumber is the type in JSON Schema.
func (p *plan) wantedNumber() string {
	if p.multiple != nil && p.multiple.isInteger() {
		return "integer"
	}
	return "number"
}

// boolean reads true or false; as a text, spelled just so. Yes, on and 1 may mean the
// same, and may not: nothing is guessed.
func (r *submission) boolean(p *plan, s span) (Value, *Error) {
	raw := r.raw[s.from:s.to]
	switch raw[0] {
	case 't', 'f':
		return Value{kind: BoolKind, yes: raw[0] == 't'}, nil
	case '"':
		if !r.lenient() {
			break
		}
		switch text := r.text(s); text {
		case "true", "false":
			return Value{kind: BoolKind, yes: text == "true"}, nil
		default:
			return Value{}, p.fail(CodeInvalidBoolean, "type", "boolean", p.shown(text), "must be true or false")
		}
	}
	return Value{}, p.mistyped(raw, "boolean", "true or false")
}

// list reads an array of texts, or one text for an array of one.
func (r *submission) list(p *plan, s span) (Value, *Error) {
	raw := r.raw[s.from:s.to]
	if raw[0] == '"' && r.lenient() {
		return Value{kind: ListKind, list: []string{r.text(s)}}, nil
	}
	if raw[0] != '[' {
		return Value{}, p.mistyped(raw, "array", "a list of choices")
	}
	list := make([]string, 0, min(len(p.Options), 4))
	c := cursor{b: r.raw[:s.to], at: s.from}
	for c.enter(); c.more(); {
		item := c.value()
		if r.raw[item.from] != '"' {
			return Value{}, p.fail(CodeType, "type", "array of strings", jsonType(r.raw[item.from:item.to]), "must be a list of texts, and has something else in it")
		}
		list = append(list, r.text(item))
	}
	return Value{kind: ListKind, list: list}, nil
}
