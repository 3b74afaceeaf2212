package form

import (
	"encoding/json"
	"time"
)

// Type is the type of a field.
type Type string

// The types of fields.
const (
	Text        Type = "text"         // a string
	Number      Type = "number"       // an integer or a decimal number
	Boolean     Type = "boolean"      // true or false
	Date        Type = "date"         // an ISO 8601 date, or date and time
	Select      Type = "select"       // one of the options
	MultiSelect Type = "multi_select" // some of the options, each at most once
	URL         Type = "url"          // an absolute URL
	File        Type = "file"         // a file: its name, type, size and content
)

// Definition is what a form asks, as it was written. [Parse] reads one, strictly;
// a Go program may also fill one in and [Compile] it.
type Definition struct {
	ID           string          // names the form: 1 to 128 of A-Z a-z 0-9 _ and -; needed
	Title        string          // for people, 1 to 256 characters; needed
	Description  string          // for people, at most 2048 characters; may be empty
	Fields       []Field         // 1 to 100, in the order in which they are asked
	Dependencies []Dependency    // form-level rules; in JSON under validation.dependencies, by field
	Metadata     json.RawMessage // an object that means nothing here, and is kept; may be nil
	AllowPartial bool            // required fields may be left out; in JSON allow_partial or allowPartial
	Terms        Terms           // how long, and how often

	// Open lets answers hold members that are no field, as every schema does that
	// does not say additionalProperties: false. They pass as they are. It is set by
	// [Lift] and cannot be written in JSON.
	Open bool

	// Rules are checks that a Go program adds; they run last, on answers that are
	// otherwise valid. JSON cannot carry them.
	Rules []Rule

	// lifted is what a schema says that a definition cannot; nil unless the form was
	// made by [Lift].
	lifted *liftedForm
}

// Rule is a check of a whole form by a Go program. It returns what is wrong.
type Rule func(Values) []Error

// Terms are the numbers under which a form is open. A zero or nil member leaves
// the number to whoever asks. All are durations in milliseconds in JSON.
type Terms struct {
	Timeout          time.Duration // from the question to its end; in JSON timeout, or timeout_config.initial_timeout; 1 s to 1 h
	ExtensionAllowed *bool         // timeout_config.extension_allowed
	Extension        time.Duration // timeout_config.extension_duration: what one extension adds; 1 s to 1 h
	MaxExtensions    *int          // timeout_config.max_extensions; 0 to 100
	WarnBefore       time.Duration // timeout_config.warn_before: how long before the end a warning comes; 1 s to 1 h
	MaxAttempts      int           // max_attempts: invalid submissions until the form is given up; 1 to 100
}

// Field is one question of a form.
type Field struct {
	ID          string // 1 to 64 of A-Z a-z 0-9 _ . and -; unique in the form. A lifted form may have any name.
	Type        Type
	Label       string // 1 to 256 characters
	Description string // at most 1024 characters
	Required    bool
	Default     json.RawMessage // a valid answer, as JSON; nil for none, as is "" where "" is no valid answer. Files have none.
	Options     []Option        // of select and multi_select; 1 to 1000
	Rules       FieldRules      // in JSON validation

	// Needs are fields that must be answered when this one is: the ids in
	// dependencies. Dependencies with a condition are in [Field.When].
	Needs []string

	// When are the conditions of this field: objects in dependencies.
	When []Dependency

	// Rendering and Accessibility are hints for whoever shows the form, each an
	// object as it was written, but for white space, or nil. Hints that are not known
	// here are kept. Accessibility may stand in Rendering too, and is then the same.
	Rendering     json.RawMessage
	Accessibility json.RawMessage

	// Hints are the rendering hints that are known here, read from Rendering. A program
	// may set these alone: Rendering is then written from them.
	Hints Hints

	// Extra are keywords of a lifted schema that this package does not know, with
	// their values, in their order; they are kept, and not checked.
	Extra []Member

	// lifted is what a schema says that a field cannot; nil unless the form was made
	// by [Lift], and mostly then too.
	lifted *liftedField
}

// Member is a member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Option is one choice. An untitled one is written as a string in JSON, a titled
// one as an object with value and title.
type Option struct {
	Value string // unique among the options of a field
	Title string // for people; "" means that of Value
}

// FieldRules are what a value must obey beyond its type. Nil, "" and zero mean no
// such rule. Which of them a field may have depends on its type.
type FieldRules struct {
	// Of text, and MaxLength of url: in characters (Unicode code points).
	MinLength, MaxLength *int
	Pattern              string // of text: an RE2 expression, found anywhere in the value
	Format               string // of text: email, uri, uuid, ipv4, ipv6, hostname, date, date-time; of date: date, date-time; of url: uri

	// Of number: any JSON number, exact. Of date, Minimum and Maximum: a date or date
	// and time, quoted as in JSON.
	Minimum, Maximum                   json.RawMessage
	ExclusiveMinimum, ExclusiveMaximum json.RawMessage
	MultipleOf                         json.RawMessage // greater than zero

	MinItems, MaxItems *int // of multi_select

	// Of url. Nil schemes mean https alone. Blocking is on unless it is switched off.
	AllowedSchemes  []string
	BlockPrivateIPs *bool
	BlockLocalhost  *bool

	// Of file.
	MaxSize           *int64   // bytes of content; nil means 10 MiB
	AllowedMimeTypes  []string // such as application/json, or image/*; nil allows every type
	AllowedExtensions []string // with the dot; nil allows every extension
}

// Hints are the rendering hints known here. All may be absent.
type Hints struct {
	Placeholder        string
	HelpText           string
	DisplayStyle       string
	InputType          string // "password" marks a secret
	Autocomplete       string
	Readonly           bool // the default is the answer, and no other is taken
	Hidden             bool // never shown, and so neither asked, checked nor sent
	ConditionalDisplay *Condition
	Rows               int
	Step               json.RawMessage // of number; only how it is shown
	EnableTime         bool
}

// Action is what a dependency does to its field while its condition holds, and
// undoes while it does not.
type Action string

// The actions.
const (
	Show     Action = "show"     // shown while the condition holds, else hidden
	Hide     Action = "hide"     // hidden while the condition holds
	Enable   Action = "enable"   // can be answered while the condition holds
	Disable  Action = "disable"  // cannot be answered while the condition holds
	Validate Action = "validate" // required and constrained only while the condition holds
)

// Dependency makes a field depend on the answers to others. A field that is hidden
// or disabled is neither required nor validated nor sent. Where several concern one
// field, all of them must let it be shown, and all must bind it. Whether a field is
// shown must not depend on itself, by whatever way.
type Dependency struct {
	Field     string // whose state depends
	Condition Condition
	Action    Action
}

// Operator is how a condition compares.
type Operator string

// The operators. And, Or take conditions; the others a field and a value.
const (
	Equals    Operator = "equals"     // of all but files; of multi_select, the same options in any order
	NotEquals Operator = "not_equals" // likewise
	Contains  Operator = "contains"   // text and url contain a text; multi_select an option
	Gt        Operator = "gt"         // of numbers, and of dates
	Lt        Operator = "lt"
	Gte       Operator = "gte"
	Lte       Operator = "lte"
	Regex     Operator = "regex" // of text, url, select: an RE2 expression, found anywhere
	And       Operator = "and"
	Or        Operator = "or"
)

// Condition is a condition on the answers to other fields. A field that is not
// answered and has no default, or is hidden, equals nothing: of the operators that
// compare, not_equals alone holds for it.
type Condition struct {
	Operator   Operator
	Field      string
	Value      json.RawMessage
	Conditions []Condition // of and, or; 1 to 20; nested at most 8 deep
}
