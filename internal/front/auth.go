package front

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// StaticTokens authenticates by bearer tokens. It maps each token to the name of
// its principal; an empty token is nobody's, as are two headers. The tokens are compared in constant
// time, and only their digests are kept.
func StaticTokens(principals map[string]string) func(*http.Request) (principal string, ok bool) {
	type entry struct {
		digest    [sha256.Size]byte
		principal string
	}
	entries := make([]entry, 0, len(principals))
	for token, principal := range principals {
		entries = append(entries, entry{sha256.Sum256([]byte(token)), principal})
	}
	return func(r *http.Request) (principal string, ok bool) {
		said := r.Header["Authorization"]
		if len(said) != 1 { // with two of them, a proxy may have looked at the other one
			return "", false
		}
		scheme, token, _ := strings.Cut(said[0], " ")
		token = strings.TrimSpace(token)
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			return "", false
		}
		digest := sha256.Sum256([]byte(token))
		for i := range entries { // all of them, so that time tells nothing
			if subtle.ConstantTimeCompare(entries[i].digest[:], digest[:]) == 1 {
				principal, ok = entries[i].principal, true
			}
		}
		return principal, ok
	}
}
