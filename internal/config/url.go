package config

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
)

// URL is the address of a backend. Printing and logging it show everything but
// the values of the query, which often are keys; the path is shown. The zero
// value is no address.
type URL struct {
	// The address as configured. Only Reveal hands it out.
	text string
}

// NewURL takes an address as it is. Addresses in a [Config] have been checked:
// http or https, with a host, without user, password and fragment.
func NewURL(text string) URL { return URL{text: text} }

// Reveal hands the whole address out, for the one place that dials it.
func (u URL) Reveal() string { return u.text }

// Equal compares the whole addresses.
func (u URL) Equal(other URL) bool { return u.text == other.text }

// String is the address with the values of its query hidden.
func (u URL) String() string {
	if u.text == "" {
		return ""
	}
	parsed, err := url.Parse(u.text)
	if err != nil {
		return redacted
	}
	shown := url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path, RawPath: parsed.RawPath}
	if parsed.RawQuery == "" {
		return shown.String()
	}
	var names []string
	for part := range strings.SplitSeq(parsed.RawQuery, "&") {
		name, _, found := strings.Cut(part, "=")
		if found {
			names = append(names, name+"="+redacted)
		} else {
			names = append(names, redacted)
		}
	}
	return shown.String() + "?" + strings.Join(names, "&")
}

// Format hides the query from every verb, %#v too.
func (u URL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, u.String()) }

// LogValue hides the query from slog.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText hides the query from encoding/json and its relatives.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }
