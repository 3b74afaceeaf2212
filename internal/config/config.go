package config

import "log/slog"

// Config is a complete, checked configuration. Nobody changes it after [Load]
// or [Parse] made it, so it may be read by any number of goroutines.
type Config struct {
	// The address at which clients connect, as host:port; port 0 takes any free
	// port. An address that other machines can reach needs `auth.tokens`, or
	// `insecure: true`; without either the start is refused.
	Listen string `key:"listen" default:"127.0.0.1:7878"`

	// Listen beyond loopback without authentication. Everybody who reaches the
	// address can then use every backend with the credentials that Beckon holds,
	// and answer questions. Meant for a private network with a proxy in front.
	Insecure bool `key:"insecure" default:"false"`

	// Whether the names of tools and prompts carry the backend's name in front,
	// as in `github__create_issue`. With `auto` they do when there are several
	// backends and don't when there is one; with `never`, of two equal names the
	// backend that stands first in the file wins and the other is hidden.
	Prefix Prefix `key:"prefix" default:"auto" one:"auto|always|never"`

	// The MCP servers behind Beckon, by name; each has either `command`, for a
	// program that is started, or `url`, for a server that is called. A name has 1 to 32 characters, a to
	// z, 0 to 9 and -, and begins with a letter or digit. The order in the file
	// counts: lists are merged in it, and it decides which of two equal names
	// wins. None is allowed; then there is nothing to call.
	Backends []Backend `key:"backends" keyed:"Name"`

	// Who may connect over HTTP.
	Auth Auth `key:"auth"`

	// The HTTP side that faces the clients.
	HTTP HTTP `key:"http"`

	// Questions over REST, for programs that speak no MCP.
	API API `key:"api"`

	// What backends may ask in the middle of a call: elicitation, sampling, roots.
	Input Input `key:"input"`

	// Forms that Beckon owns: what a backend or a client asks by a form definition
	// instead of a schema. Such a form is checked here, asked again while the answer is
	// wrong, and may be extended. They are there as long as `input.elicitation` is on.
	Forms Forms `key:"forms"`

	// Calls that wait for their client to come back with an answer.
	Park Park `key:"park"`

	// Bounds that hold on every transport.
	Limits Limits `key:"limits"`

	// The log, which goes to standard error.
	Log Log `key:"log"`

	// The record of every input request and its outcome: who asked, through which
	// call, who answered, how long it took.
	Audit Audit `key:"audit"`

	// Numbers for a monitoring system.
	Metrics Metrics `key:"metrics"`

	// What the operator should hear although nothing is wrong, such as a name
	// that had to change when a client's file was read. One sentence each; never
	// a secret. For the log at the start.
	Notes []string `key:"-"`
}

// Prefix says when names carry their backend's name.
type Prefix string

// The words of [Config.Prefix].
const (
	PrefixAuto   Prefix = "auto"
	PrefixAlways Prefix = "always"
	PrefixNever  Prefix = "never"
)

// Separator stands between a backend's name and the name of its tool or
// prompt. It is fixed: no backend's name can contain it, so a prefixed name
// splits in one way only.
const Separator = "__"

// Auth says who may connect over HTTP. The zero value lets everybody in, which
// is allowed on loopback only, or with `insecure`.
type Auth struct {
	// Bearer tokens that are accepted as they are written here. As soon as there
	// is one, a request without a valid token gets 401. An empty list means no
	// authentication.
	Tokens []Token `key:"tokens"`
}

// Token lets one principal in.
type Token struct {
	// Who connects with this token. Sessions and answers are bound to this name,
	// and the audit shows it. Several tokens may name the same principal, for
	// instance while one replaces another.
	Principal string `key:"principal" example:"alice"`

	// The token itself, as the client sends it after `Authorization: Bearer`. At
	// least 16 characters out of A-Z a-z 0-9 - . _ ~ + / and = at the end; no two
	// principals share one. `openssl rand -hex 32` makes a good one. Write it as
	// `${NAME}` to keep it out of the file.
	Token Secret `key:"token"`
}

// Limits bound what one peer can take from the others, on every transport.
type Limits struct {
	// The longest single message that is read from a client or a backend. A
	// longer one is refused as a whole; over standard input and output it is
	// skipped and the connection goes on.
	MaxMessage Bytes `key:"max_message" default:"16MiB" min:"1KiB" max:"1GiB"`

	// How many calls one client session may have open at once. One more is
	// answered with an error at once; it does not wait. Over standard input and
	// output, requests of the revision 2026-07-28 are counted apart, up to as many.
	MaxConcurrentCallsPerSession int `key:"max_concurrent_calls_per_session" default:"100" min:"1"`
}

// Log says how much is logged and in which form.
type Log struct {
	// One readable line per event, or one JSON object per line.
	Format LogFormat `key:"format" default:"text" one:"text|json"`

	// The least important level that is still written. `debug` names every
	// message that passes, without its content.
	Level LogLevel `key:"level" default:"info" one:"debug|info|warn|error"`
}

// LogFormat is the form of a log line.
type LogFormat string

// The words of [Log.Format].
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// LogLevel is the least important level that is still written.
type LogLevel string

// The words of [Log.Level].
const (
	LevelDebug LogLevel = "debug"
	LevelInfo  LogLevel = "info"
	LevelWarn  LogLevel = "warn"
	LevelError LogLevel = "error"
)

// Level gives the same level to slog. The zero value is info.
func (l LogLevel) Level() slog.Level {
	switch l {
	case LevelDebug:
		return slog.LevelDebug
	case LevelWarn:
		return slog.LevelWarn
	case LevelError:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Audit says where the record of input requests goes and what it holds.
type Audit struct {
	// A file to which one JSON object per input request is appended; it is
	// created readable by its owner alone. Empty writes the record to the log.
	Path string `key:"path" default:"" example:"/var/log/beckon/audit.jsonl"`

	// `digest` keeps questions and answers as a hash: enough to show that a text
	// is the one that was said, and not readable, though a short answer can be
	// guessed. `full` keeps the text itself, except what a form marks as secret.
	Content AuditContent `key:"content" default:"digest" one:"digest|full"`
}

// AuditContent says whether the audit keeps what was asked and answered.
type AuditContent string

// The words of [Audit.Content].
const (
	AuditDigest AuditContent = "digest"
	AuditFull   AuditContent = "full"
)

// Metrics are numbers for a monitoring system.
type Metrics struct {
	// Serve `/metrics` in the Prometheus text format at the address of `listen`.
	// Counting costs little; switch it off where the address is public.
	Enabled bool `key:"enabled" default:"true"`
}
