package config

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// redacted is what a secret shows of itself.
const redacted = "[redacted]"

// Secret is a text that shows itself nowhere: printing it with any verb,
// logging it and marshalling it all give "[redacted]". The zero value is the
// empty text.
type Secret struct {
	// The text. Only Reveal hands it out.
	text string
}

// NewSecret hides text.
func NewSecret(text string) Secret { return Secret{text: text} }

// Reveal hands the text out, for the one place that sends or compares it.
func (s Secret) Reveal() string { return s.text }

// Equal compares in a time that does not depend on where the texts differ.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.text), []byte(other.text)) == 1
}

// String hides the text.
func (s Secret) String() string { return redacted }

// Format hides the text from every verb, %#v and %x too.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue hides the text from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the text from encoding/json and its relatives.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
