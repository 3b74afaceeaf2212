package form

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// secretKinds are the values of autocomplete that HTML has for secrets.
var secretKinds = []string{"current-password", "new-password", "one-time-code", "cc-number", "cc-csc"}

// sensitive reports whether the field asks for a secret: it is marked as one, or it
// is called like one and can hold one, which a choice of given answers cannot.
func (f *Field) sensitive() bool {
	if f.Hints.InputType == "password" || f.Hints.DisplayStyle == "password" || f.Rules.Format == "password" {
		return true
	}
	for word := range strings.FieldsSeq(f.Hints.Autocomplete) {
		if slices.Contains(secretKinds, strings.ToLower(word)) {
			return true
		}
	}
	for _, m := range f.Extra {
		var value string
		if (m.Name == "format" || m.Name == "inputType") && json.Unmarshal(m.Value, &value) == nil && value == "password" {
			return true
		}
	}
	switch f.Type {
	case Boolean, Select, MultiSelect, Date:
		return false
	}
	return SecretName(f.ID) || SecretName(f.Label)
}

// SecretName reports whether a name or title reads as that of a secret: password,
// apiKey, "Access token" and the like.
func SecretName(name string) bool {
	words := wordsOf(name)
	for i, w := range words {
		switch w {
		case "password", "passwd", "passphrase", "passcode", "secret", "secrets", "credential", "credentials", "cvv", "cvc", "apikey", "otp":
			return true
		case "key":
			if i > 0 && slices.Contains([]string{"api", "access", "private", "secret", "signing", "encryption", "ssh"}, words[i-1]) {
				return true
			}
		case "token":
			if i == len(words)-1 {
				return true
			}
		case "card":
			if i > 0 && (words[i-1] == "credit" || words[i-1] == "debit") {
				return true
			}
		}
	}
	return false
}

// wordsOf splits apiKey, api_key, "API key" and api-key alike.
func wordsOf(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
