package config

import "time"

// Input governs input requests: what a backend asks in the middle of a call.
type Input struct {
	// Whether backends may ask a person, by form or by URL. If not, the capability
	// is not advertised to them and what they ask nevertheless is refused with
	// -32601, reason `disabled`.
	Elicitation bool `key:"elicitation" default:"true"`

	// Whether backends may ask the client's model; if not, as above.
	Sampling bool `key:"sampling" default:"true"`

	// Whether backends may ask for the client's folders; if not, as above.
	Roots bool `key:"roots" default:"true"`

	// How long a question waits for its answer. Then it is withdrawn at the
	// client and the backend gets a timeout error, never a `decline`.
	Timeout time.Duration `key:"timeout" default:"60s" min:"1s" max:"1h"`

	// How many questions may be open in the whole process. One more is refused
	// with reason `limit`.
	MaxConcurrent int `key:"max_concurrent" default:"10000" min:"1"`

	// How many questions may be open in one client session, and in one call of a
	// client of the revision 2026-07-28, which has no session (see `park` for how many
	// calls it may have). One more is refused with reason `limit`.
	MaxPerSession int `key:"max_per_session" default:"100" min:"1"`

	// Whether questions that break the rules of the specification are refused with
	// -32602: a form that is no flat object of primitives and choices, a question
	// without its text. If not, they pass as they are. Nothing is ever corrected on
	// the way.
	Check bool `key:"check" default:"true"`

	// What happens to a form that asks for a password, a key or another secret.
	// `block` refuses it, because the answer would pass the client and perhaps
	// its model; `allow` lets it through.
	Sensitive Sensitive `key:"sensitive" default:"block" one:"block|allow"`

	// Which forms a schema may describe. `compat` takes what the revisions since
	// 2025-11-25 allow, lists of choices included, and fields that may be null, as
	// some SDKs write optional ones; `strict-2025-06-18` takes flat objects of
	// primitives alone and refuses the rest with -32602.
	Profile Profile `key:"profile" default:"compat" one:"compat|strict-2025-06-18"`

	// Which error code a timeout has toward peers of the older revisions. Empty
	// sends -32000; `mcp-sdk` sends -32001, as the official SDKs do.
	ErrorProfile ErrorProfile `key:"error_profile" default:"" one:"|mcp-sdk"`
}

// Sensitive says what happens to a form that asks for a secret.
type Sensitive string

// The words of [Input.Sensitive].
const (
	SensitiveBlock Sensitive = "block"
	SensitiveAllow Sensitive = "allow"
)

// Profile is the set of forms that a schema may describe.
type Profile string

// The words of [Input.Profile].
const (
	ProfileCompat         Profile = "compat"
	ProfileStrict20250618 Profile = "strict-2025-06-18"
)

// ErrorProfile chooses error codes where peers expect different ones.
type ErrorProfile string

// The words of [Input.ErrorProfile].
const (
	ErrorsDefault ErrorProfile = ""
	ErrorsMCPSDK  ErrorProfile = "mcp-sdk"
)
