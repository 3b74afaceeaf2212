package config

// API is the side for programs that speak no MCP: questions over REST, at
// `/api/v1` of the address of `listen`, under the same rules for Host, Origin and
// tokens.
type API struct {
	// Whether there is such a side. The size of bodies, the time for writing and how
	// often a stream carries a comment are those of `http`.
	Enabled bool `key:"enabled" default:"true"`
}
