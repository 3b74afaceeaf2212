package form

import (
	"encoding/base64"
	"encoding/json"
	"iter"
	"strconv"
)

// Kind is what a [Value] holds.
type Kind uint8

// The kinds.
const (
	Missing  Kind = iota // not answered, and no default
	TextKind             // text, date, select, url
	NumberKind
	BoolKind
	ListKind
	FileKind
)

// Value is the answer to one field.
type Value struct {
	kind Kind
	yes  bool     // of BoolKind
	text string   // of TextKind: the text; of NumberKind: the number as in JSON
	list []string // of ListKind
	file *Upload  // of FileKind
}

// Kind returns what v holds.
func (v Value) Kind() Kind { return v.kind }

// Text returns a text, or a number as it is written in JSON; "" for other kinds.
func (v Value) Text() string { return v.text }

// Bool returns a boolean; false for other kinds.
func (v Value) Bool() bool { return v.yes }

// List returns the chosen options; nil for other kinds. It must not be changed.
func (v Value) List() []string { return v.list }

// File returns an uploaded file; nil for other kinds. It must not be changed.
func (v Value) File() *Upload { return v.file }

// Upload is the answer to a file field: what is said of the file, and either its
// content or where it is.
type Upload struct {
	Filename    string     `json:"filename"`
	ContentType string     `json:"content_type"`
	Size        int64      `json:"size"`    // of the content, in bytes
	Content     []byte     `json:"content"` // base64 in JSON; nil when there is a Reference
	Reference   *Reference `json:"-"`       // the content member of JSON when it is an object
}

// Reference is where the content of a file is. Nothing here fetches it.
type Reference struct {
	Type     string `json:"type"` // url, s3 or local
	Location string `json:"location"`
}

// Values are the answers to a form: one value for each field, in the order of the
// fields. The zero Values are those of no form.
type Values struct {
	form   *Form
	values []Value  // by field
	extra  []Member // of an open form: members that are no field, as they came
}

// Form returns the form that was answered.
func (v Values) Form() *Form { return v.form }

// Get returns the value of a field; Missing for one that is not there.
func (v Values) Get(id string) Value {
	if v.form == nil || len(v.values) == 0 {
		return Value{}
	}
	if i, ok := v.form.index[id]; ok {
		return v.values[i]
	}
	return Value{}
}

// All returns ids and values in the order of the fields, without the missing ones.
func (v Values) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i, value := range v.values {
			if value.kind != Missing && !yield(v.form.def.Fields[i].ID, value) {
				return
			}
		}
	}
}

// JSON returns the answers as one JSON object, in the order of the fields, without
// the missing ones; then the members of an open form that are no field. Numbers are
// written as they were.
func (v Values) JSON() []byte {
	json, _ := v.write(false)
	return json
}

// Redacted is JSON without the answers to fields that ask for a secret, and without
// other members that are called like one; names are theirs.
func (v Values) Redacted() (json []byte, names []string) { return v.write(true) }

func (v Values) write(redact bool) (json []byte, names []string) {
	j := &jot{b: make([]byte, 0, 64*(1+len(v.values)))}
	j.open('{')
	for i, value := range v.values {
		switch p := &v.form.program.fields[i]; {
		case value.kind == Missing:
		case redact && p.secret:
			names = append(names, p.ID)
		default:
			j.name(p.ID)
			value.write(j)
		}
	}
	for _, m := range v.extra {
		if redact && SecretName(m.Name) {
			names = append(names, m.Name)
			continue
		}
		j.raw(m.Name, m.Value)
	}
	j.close('}')
	return j.b, names
}

// write writes a value as JSON.
func (v Value) write(j *jot) {
	switch v.kind {
	case TextKind:
		j.b = appendQuoted(j.b, v.text)
	case NumberKind:
		j.b = append(j.b, v.text...)
	case BoolKind:
		j.b = strconv.AppendBool(j.b, v.yes)
	case ListKind:
		j.open('[')
		for _, s := range v.list {
			j.quote(s)
		}
		j.close(']')
	case FileKind:
		v.file.write(j)
	default:
		j.b = append(j.b, "null"...)
	}
}

func (u *Upload) write(j *jot) {
	j.open('{')
	j.name("filename")
	j.b = appendQuoted(j.b, u.Filename)
	j.name("content_type")
	j.b = appendQuoted(j.b, u.ContentType)
	j.name("size")
	j.b = strconv.AppendInt(j.b, u.Size, 10)
	if ref := u.Reference; ref != nil {
		j.member("content", '{')
		j.name("type")
		j.b = appendQuoted(j.b, ref.Type)
		j.name("location")
		j.b = appendQuoted(j.b, ref.Location)
		j.close('}')
	} else {
		j.name("content")
		j.b = append(base64.StdEncoding.AppendEncode(append(j.b, '"'), u.Content), '"')
	}
	j.close('}')
}

// MarshalJSON writes the file as a form takes it.
func (u *Upload) MarshalJSON() ([]byte, error) {
	j := &jot{}
	u.write(j)
	return j.b, nil
}

// Visible reports whether a field is shown, and can be answered, given the answers.
func (v Values) Visible(id string) bool {
	if v.form == nil {
		return false
	}
	i, ok := v.form.index[id]
	return ok && v.form.visible(v.values, i)
}

// Response is a record of answers: to which form, what, when, by whom.
type Response struct {
	FormID    string           `json:"form_id"`
	Responses json.RawMessage  `json:"responses"` // by field id
	Metadata  ResponseMetadata `json:"metadata"`
}

// ResponseMetadata is what is known of a submission.
type ResponseMetadata struct {
	SubmittedAt int64  `json:"submitted_at"`         // Unix time in milliseconds
	UserAgent   string `json:"user_agent,omitempty"` // what the submitting program calls itself
	SessionID   string `json:"session_id,omitempty"` // names a session to people; it lets nobody in
}
