package input

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"maps"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// vault seals what ended forms were answered, under a key that nobody else has and
// that goes with the process.
type vault struct{ aead cipher.AEAD }

func newVault() vault {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("input: " + err.Error()) // the key has the right length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("input: " + err.Error())
	}
	return vault{aead}
}

// seal closes the record of r, which has ended and been told of, so that nothing
// readable stays of what was answered, and begins to remember the end.
func (b *Broker) seal(r *Request) {
	s := r.sheet
	b.mu.Lock()
	rec := s.record // nobody changes it any more
	completed := s.state == Completed
	b.mu.Unlock()
	var parts [3][]byte
	parts[0] = rec.answer.Response.Raw()
	if !completed && rec.values.Form() != nil {
		parts[1] = rec.values.JSON()
	}
	if rec.errors != nil {
		parts[2], _ = json.Marshal(rec.errors) // what cannot be encoded is not kept
	}
	var plain []byte
	for _, p := range parts {
		plain = append(binary.AppendUvarint(plain, uint64(len(p))), p...)
	}
	kept := b.vault().aead.Seal(nil, nil, plain, []byte(r.ID))
	clear(plain)

	b.mu.Lock()
	defer b.mu.Unlock()
	s.kept = kept
	s.record = record{answer: Answer{Outcome: rec.answer.Outcome, Err: without(rec.answer.Err, "errors")}, by: rec.by}
	s.watch = nil
	if s.lane {
		b.remember(r)
	}
}

// unseal puts into st what was sealed.
func (r *Request) unseal(kept []byte, st *Status) {
	plain, err := r.broker.vault().aead.Open(nil, nil, kept, []byte(r.ID))
	if err != nil {
		return // it was made here: this cannot be
	}
	var parts [3][]byte
	for i := range parts {
		n, size := binary.Uvarint(plain)
		parts[i], plain = plain[size:size+int(n)], plain[size+int(n):]
	}
	content := parts[1]
	if len(parts[0]) > 0 {
		st.Answer.Response, _ = wire.Parse(parts[0])
		if st.State == Completed {
			content = wire.Get(st.Answer.Response.Result(), "content")
		}
	}
	if len(content) > 0 {
		st.Values, _ = r.sheet.form.Read(content, form.Strict)
	}
	if len(parts[2]) > 0 && json.Unmarshal(parts[2], &st.Errors) == nil && st.Answer.Err != nil {
		st.Answer.Err = st.Answer.Err.With("errors", st.Errors)
	}
}

// without returns a copy of err that lacks one member of its data.
func without(err *wire.Error, name string) *wire.Error {
	if err == nil || err.Data[name] == nil {
		return err
	}
	e := *err
	e.Data = maps.Clone(e.Data)
	delete(e.Data, name)
	return &e
}
