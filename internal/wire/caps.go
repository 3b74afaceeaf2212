package wire

// ClientCaps is what a client says it can be asked, and the bytes in which it
// said so. The zero ClientCaps can be asked nothing.
type ClientCaps struct {
	Raw []byte // the capabilities object as the client wrote it, or nil

	Form          bool // elicitation by form
	URL           bool // elicitation by URL
	Sampling      bool // sampling/createMessage
	SamplingTools bool // sampling with tools
	Roots         bool // roots/list
}

// ParseClientCaps reads the capabilities object of an initialize request.
//
// "For backwards compatibility, an empty capabilities object is equivalent to
// declaring support for form mode only."
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities
func ParseClientCaps(raw []byte) ClientCaps {
	c := ClientCaps{Raw: raw}
	for name, value := range Members(raw) {
		if !declared(value) {
			continue
		}
		switch name {
		case "elicitation":
			form, url := Get(value, "form"), Get(value, "url")
			c.URL = declared(url)
			c.Form = declared(form) || absent(form) && absent(url)
		case "sampling":
			c.Sampling = true
			c.SamplingTools = declared(Get(value, "tools"))
		case "roots":
			c.Roots = true
		}
	}
	return c
}

// declared reports whether the capability v is there: capabilities are objects.
func declared(v []byte) bool { return len(v) > 0 && v[0] == '{' }

// absent reports whether v was left out; some encoders write null for that.
func absent(v []byte) bool { return v == nil || string(v) == "null" }
