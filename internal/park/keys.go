package park

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// minKey is the length of the shortest master secret, in bytes.
const minKey = 32

// maxState is the longest requestState of ours that is looked at, in bytes. The
// longest that there are have two names of 255 bytes in them.
const maxState = 2 << 10

// purpose is what something is sealed for. What was sealed for one purpose does
// not open for another: each has keys of its own, and its name stands in front.
type purpose string

const (
	calls   purpose = "bk1" // handles of parked calls
	foreign purpose = "bs1" // states of other servers
)

// keyring seals and opens, for each purpose, what passes through the client. It
// is immutable.
type keyring struct {
	current *key
	byID    map[string]*key
}

// key is what is derived from one master secret.
type key struct {
	id    string // derived as well, so that replicas need not agree on names
	aeads map[purpose]cipher.AEAD
}

// newKeyring derives the keys from the master secrets, the current one first.
func newKeyring(secrets [][]byte) (*keyring, error) {
	r := &keyring{byID: make(map[string]*key)}
	for i, secret := range secrets {
		if len(secret) < minKey {
			return nil, fmt.Errorf("park: key %d has %d bytes, fewer than %d", i+1, len(secret), minKey)
		}
		k, err := newKey(secret)
		if err != nil {
			return nil, fmt.Errorf("park: key %d: %w", i+1, err)
		}
		if r.byID[k.id] != nil {
			return nil, fmt.Errorf("park: key %d is there twice", i+1)
		}
		if r.byID[k.id] = k; i == 0 {
			r.current = k
		}
	}
	if r.current == nil {
		return nil, fmt.Errorf("park: no key")
	}
	return r, nil
}

func newKey(secret []byte) (*key, error) {
	id, err := hkdf.Key(sha256.New, secret, nil, "beckon/rs/v1 key id", 6)
	if err != nil {
		return nil, err
	}
	k := &key{id: base64.RawURLEncoding.EncodeToString(id), aeads: make(map[purpose]cipher.AEAD)}
	for _, p := range [...]purpose{calls, foreign} {
		derived, err := hkdf.Key(sha256.New, secret, nil, "beckon/rs/v1 "+string(p), 32)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(derived)
		if err != nil {
			return nil, err
		}
		if k.aeads[p], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// seal returns plain as the text <purpose>.<key id>.<base64url>, which only a
// holder of the key can read or make.
func (r *keyring) seal(p purpose, plain []byte) string {
	head := string(p) + "." + r.current.id + "."
	sealed := r.current.aeads[p].Seal(nil, nil, plain, additional(head))
	return head + base64.RawURLEncoding.EncodeToString(sealed)
}

// open returns what was sealed for p, or false for any other text.
func (r *keyring) open(p purpose, text string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(text, string(p)+".")
	if !ok {
		return nil, false
	}
	id, body, _ := strings.Cut(rest, ".")
	k := r.byID[id]
	if k == nil || strings.ContainsAny(body, "\r\n") { // which the decoder would skip
		return nil, false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		return nil, false
	}
	plain, err := k.aeads[p].Open(nil, nil, sealed, additional(text[:len(text)-len(body)]))
	return plain, err == nil
}

// additional is the data that is authenticated along: what stands in front.
func additional(head string) []byte { return []byte("beckon/rs/v1 " + head) }
