package config

import "time"

// Backend is one MCP server behind Beckon: either a program that is started
// (`command`) or an address that is called (`url`).
type Backend struct {
	// The key under `backends`: unique, and part of the path `/mcp/{backend}`.
	Name string `key:"-"`

	// The program to start, once per client session, and for clients of the revision
	// 2026-07-28 as `instances` says; it speaks MCP on its standard input and
	// output. Without a slash it is looked for in PATH. No
	// shell is involved.
	Command string `key:"command" example:"npx"`

	// The arguments of the program. They are visible to everybody who can list
	// processes, and in `beckon config print`; secrets belong into `env`.
	Args []string `key:"args" example:"-y" only:"command"`

	// Environment variables for the program, in addition to those that Beckon
	// itself has. The values are treated as secrets. Empty adds none.
	Env map[string]Secret `key:"env" example:"LOG_LEVEL" only:"command"`

	// The directory in which the program starts. Empty means the one in which
	// Beckon was started; a relative one starts from there.
	Cwd string `key:"cwd" example:"/srv/files" only:"command"`

	// How long the program may take to leave by itself after its standard input
	// is closed, before it is terminated and then killed. Zero does not wait.
	StopGrace time.Duration `key:"stop_grace" default:"2s" min:"0s" max:"5m" only:"command"`

	// The address of a running server, http or https. Credentials belong into
	// `headers`, not into the address.
	URL URL `key:"url" example:"https://mcp.example.com/mcp"`

	// How to speak to the address: `http` is streamable HTTP, `sse` the
	// deprecated HTTP+SSE of 2024-11-05, `auto` tries the first and falls back to
	// the second.
	Transport Transport `key:"transport" default:"auto" one:"auto|http|sse" only:"url"`

	// HTTP headers for every request to the address, such as Authorization. The
	// values are treated as secrets. Empty adds none.
	Headers map[string]Secret `key:"headers" example:"Authorization" only:"url"`

	// How many processes of the program the clients of the revision 2026-07-28 that
	// have principal, path and capabilities in common may have together, if the
	// program speaks an older revision and may ask: such a client is asked through
	// the call alone, and over standard output only a process with one call tells
	// which call asks. A further call waits for one to get free. Clients of older
	// revisions have one process each.
	Instances int `key:"instances" default:"8" min:"1" max:"1000" only:"command"`

	// How long a call waits for a free process before it is refused with reason
	// `limit`. Zero does not wait.
	InstanceWait time.Duration `key:"instance_wait" default:"30s" min:"0s" max:"10m" only:"command"`

	// Which protocol the backend is spoken to in: `modern` is the revision
	// 2026-07-28, `legacy` are those before. `auto` finds out, and prefers that of
	// the client where the backend speaks both.
	Era Era `key:"era" default:"auto" one:"auto|legacy|modern"`

	// How long a program may take to answer the question which revision it speaks,
	// before it is spoken to as `legacy`. At an address silence proves nothing, and
	// `connect_timeout` counts.
	ProbeTimeout time.Duration `key:"probe_timeout" default:"5s" min:"100ms" max:"1m"`

	// Seal the `requestState` of a backend of the revision 2026-07-28 for the client
	// and the request that it was given to. A backend that sees Beckon's credentials
	// instead of the client's cannot tell clients apart, and would accept the state
	// of one from another.
	SealRequestState bool `key:"seal_request_state" default:"false"`

	// What happens when a person's answer does not fit the schema that the backend
	// asked with. `off` does not look. `warn` lets it through and notes it in audit and
	// metrics. `enforce` gives the backend an error in its place. `reprompt` asks the
	// person again, as often as `forms.attempts` says, and then gives the error.
	// An answer that fits passes byte for byte in any case.
	Validate Validate `key:"validate" default:"off" one:"off|warn|enforce|reprompt"`

	// Terms of the forms that this backend asks by a definition, where they are not
	// those of all; `attempts` holds for `reprompt` too. A form may say otherwise itself.
	Forms BackendForms `key:"forms"`

	// How long starting or reaching the backend may take, the handshake included.
	// After that the session goes on without this backend.
	ConnectTimeout time.Duration `key:"connect_timeout" default:"30s" min:"100ms" max:"10m"`

	// How long a call may work. The time in which a person is asked is not
	// counted. After that the call is cancelled at the backend and the client
	// gets an error. Zero means no limit.
	CallTimeout time.Duration `key:"call_timeout" default:"1h" min:"0s"`

	// Keep the entry but do without the backend. It is still checked.
	Disabled bool `key:"disabled" default:"false"`
}

// Era says which protocol a backend is spoken to in.
type Era string

// The words of [Backend.Era].
const (
	EraAuto   Era = "auto"
	EraLegacy Era = "legacy"
	EraModern Era = "modern"
)

// Transport says how a backend at an address is spoken to.
type Transport string

// The words of [Backend.Transport].
const (
	TransportAuto Transport = "auto"
	TransportHTTP Transport = "http"
	TransportSSE  Transport = "sse"
)
