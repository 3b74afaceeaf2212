// Package config reads what an operator wrote and gives the rest of Beckon one
// checked value.
//
// [Load] and [Parse] take beckon.yaml, the same thing as JSON, or the
// mcpServers file of an MCP client; expand ${NAME} from the environment; lay
// the BECKON_ variables over it; fill in the defaults; and check everything.
// The result is a [Config], which nobody changes afterwards: who needs another
// configuration loads another one. Whatever is wrong with the sources is
// reported together, as [Faults], each with its position and what to do.
//
// # The struct is the manual
//
// A key exists because a field of [Config] exists. The field's tags say how it
// is spelled and bounded, its comment says what it does; the decoder, the
// names of the variables, [Config.YAML] and docs/configuration.md are made
// from them. The tags are:
//
//	key      the name in the file; "-" for a field that is not in the file
//	default  the value when the key is absent, spelled as in the file
//	one      the words allowed, separated by |
//	min, max the least and the greatest value allowed, spelled as in the file
//	example  what a text may look like, for faults and the manual
//	only     the sibling key without which this one means nothing
//	keyed    for a list of structs written as a mapping: the field that takes the key
//
// # From text to value
//
// Both notations become one small tree of nodes that know their line and
// column (yaml.go, json.go). The tree is decoded into the struct by reflection
// (decode.go), single values by their text (scalar.go), which is also how
// defaults and variables are read. What concerns more than one key is checked
// at the end (validate.go). Encoding goes the same way back (encode.go).
//
// # Secrets
//
// Tokens, header values and the environment of backends are [Secret], which
// shows itself nowhere; [Secret.Reveal] is the one way out. A [URL] hides the
// values of its query. No fault quotes either.
//
// # Limits
//
// A source is at most [MaxFileBytes] long and nested at most [maxDepth] deep.
// Nothing here starts goroutines, keeps state or opens anything but the one
// file that [Load] is told to read.
package config
