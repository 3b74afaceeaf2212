package config

import "time"

// Forms are the terms of the forms that Beckon owns, and bounds on how many there are.
type Forms struct {
	// How long a form is open, where neither the form itself nor its backend says
	// otherwise.
	Timeout time.Duration `key:"timeout" default:"5m" min:"1s" max:"1h"`

	// Whether the time may be extended while a form is open.
	ExtensionAllowed bool `key:"extension_allowed" default:"true"`

	// How much one extension adds, unless it asks for less.
	Extension time.Duration `key:"extension" default:"5m" min:"1s" max:"1h"`

	// How often a form may be extended. Ten times is what people need at least who
	// are slow for reasons of their own (WCAG 2.2.1).
	MaxExtensions int `key:"max_extensions" default:"10" min:"0" max:"100"`

	// How long a form may be open altogether, extensions included, whatever the form
	// says.
	MaxTotal time.Duration `key:"max_total" default:"1h" min:"1s" max:"24h"`

	// How long before its end a form warns that it ends. Zero does not warn.
	WarnBefore time.Duration `key:"warn_before" default:"1m" min:"0s" max:"1h"`

	// How often a form may be answered wrongly. After the last time it is given up.
	Attempts int `key:"attempts" default:"3" min:"1" max:"100"`

	// How many forms of one principal may be open. One more is refused with reason
	// `limit`. The limits under `input` hold besides.
	MaxPerPrincipal int `key:"max_per_principal" default:"20" min:"1"`

	// How many forms one principal may open in a minute, in one session; each backend
	// may open as many there, so that none takes from the others. One more is refused
	// with reason `rate`. Zero does not count them.
	PerMinute int `key:"per_minute" default:"10" min:"0"`

	// How long the end of a form is remembered, so that who comes too late is told
	// so. Zero forgets it at once.
	KeepEnded time.Duration `key:"keep_ended" default:"10m" min:"0s" max:"24h"`

	// Whether fields for URLs take addresses of this machine where their form does
	// not say. For development.
	LoopbackURLs bool `key:"loopback_urls" default:"false"`
}

// BackendForms are the terms of the forms of one backend, where they are not those of
// all.
type BackendForms struct {
	// As `forms.timeout`. Zero leaves it at that.
	Timeout time.Duration `key:"timeout" default:"0s" min:"0s" max:"1h"`

	// As `forms.extension`. Zero leaves it at that.
	Extension time.Duration `key:"extension" default:"0s" min:"0s" max:"1h"`

	// As `forms.max_extensions`; zero allows none. -1 leaves it at that.
	MaxExtensions int `key:"max_extensions" default:"-1" min:"-1" max:"100"`

	// As `forms.warn_before`. Zero leaves it at that.
	WarnBefore time.Duration `key:"warn_before" default:"0s" min:"0s" max:"1h"`

	// As `forms.attempts`. Zero leaves it at that.
	Attempts int `key:"attempts" default:"0" min:"0" max:"100"`
}

// Validate says what becomes of answers that do not fit the schema of a backend.
type Validate string

// The words of [Backend.Validate].
const (
	ValidateOff      Validate = "off"
	ValidateWarn     Validate = "warn"
	ValidateEnforce  Validate = "enforce"
	ValidateReprompt Validate = "reprompt"
)
