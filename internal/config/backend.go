package config

import "time"

// Backend is one MCP server behind Beckon: either a program that is started
// (`command`) or an address that is called (`url`).
type Backend struct {
	// The key under `backends`: unique, and part of the path `/mcp/{backend}`.
	Name string `key:"-"`

	// The program to start, once per client session; it speaks MCP on its
	// standard input and output. Without a slash it is looked for in PATH. No
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

	// How long starting or reaching the backend may take, the handshake included.
	// After that the session goes on without this backend.
	ConnectTimeout time.Duration `key:"connect_timeout" default:"30s" min:"100ms" max:"10m"`

	// How long a call may work. The time in which a person is asked is not
	// counted. After that the call is cancelled at the backend and the client
	// gets an error. Zero means no limit.
	CallTimeout time.Duration `key:"call_timeout" default:"0s" min:"0s"`

	// Keep the entry but do without the backend. It is still checked.
	Disabled bool `key:"disabled" default:"false"`
}

// Transport says how a backend at an address is spoken to.
type Transport string

// The words of [Backend.Transport].
const (
	TransportAuto Transport = "auto"
	TransportHTTP Transport = "http"
	TransportSSE  Transport = "sse"
)
