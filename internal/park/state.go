package park

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// callID names a call. It is random, and known to nobody outside.
type callID [16]byte

// maxName is the longest name of an owner or a backend in a state, in bytes.
const maxName = 255

// digest stands for something in a state, where it takes less room and tells
// less.
type digest [sha256.Size]byte

func (d digest) is(other digest) bool { return subtle.ConstantTimeCompare(d[:], other[:]) == 1 }

// bond is what a state is bound to, whatever it is a state of.
//
// "To prevent replay, servers SHOULD include the following inside the
// integrity-protected requestState payload and verify each on receipt: the
// authenticated principal, [...] a short expiry (TTL), [...] an identifier for
// the originating request"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
type bond struct {
	expires   time.Time // with nanoseconds, without a time zone
	principal digest
	request   digest
	backend   string
}

// bind returns the bond of a request of p. It costs as much as reading the
// request again.
func bind(p Party, req wire.Message, expires time.Time) bond {
	return bond{expires, digestOf(p.Principal), requestDigest(req), p.Backend}
}

// refuse tells whether other presents a state that is bound to b, and when not,
// what is wrong. It looks at the expiry last: only to whom a state belongs is
// told about it.
func (b bond) refuse(other bond, now time.Time) Refusal {
	switch {
	case !b.principal.is(other.principal):
		return Principal
	case !b.request.is(other.request) || b.backend != other.backend:
		return Request
	case !now.Before(b.expires):
		return Expired
	}
	return ""
}

func digestOf(name string) digest { return sha256.Sum256([]byte("beckon/rs/v1 principal\x00" + name)) }

// requestDigest stands for what the retry of a request has in common with it:
// everything but its _meta and what makes it a retry. Clients write the same
// params in another order or spelling, so it is made of their canonical form.
func requestDigest(req wire.Message) digest {
	params := req.Params()
	for _, name := range [...]string{"_meta", "inputResponses", "requestState"} {
		params = wire.Drop(params, name)
	}
	h := sha256.New()
	h.Write([]byte(req.Method()))
	h.Write([]byte{0})
	if len(params) > 0 {
		h.Write(wire.Canonical(params))
	}
	return digest(h.Sum(nil))
}

// handle is what the requestState of a parked call says. It is only a handle: the
// state itself stays here.
type handle struct {
	bond
	call  callID
	round uint32 // for people who look at metrics; nothing depends on it
	boot  uint64 // of the lot that has the call, random
	owner string
}

func (b bond) append(to []byte) []byte {
	to = binary.BigEndian.AppendUint64(to, uint64(b.expires.UnixNano()))
	to = append(to, b.principal[:]...)
	to = append(to, b.request[:]...)
	return appendName(to, b.backend)
}

func (h handle) append(to []byte) []byte {
	to = h.bond.append(to)
	to = append(to, h.call[:]...)
	to = binary.BigEndian.AppendUint32(to, h.round)
	to = binary.BigEndian.AppendUint64(to, h.boot)
	return appendName(to, h.owner)
}

func appendName(to []byte, name string) []byte {
	return append(append(to, byte(len(name))), name...)
}

// plain reads what was sealed. The first field that is not there empties it, so
// that only its end needs to be looked at.
type plain struct {
	b  []byte
	ok bool
}

func (p *plain) take(n int) []byte {
	if !p.ok || len(p.b) < n {
		p.ok = false
		return make([]byte, n)
	}
	taken := p.b[:n]
	p.b = p.b[n:]
	return taken
}

func (p *plain) name() string { return string(p.take(int(p.take(1)[0]))) }

func (p *plain) bond() bond {
	return bond{
		expires:   time.Unix(0, int64(binary.BigEndian.Uint64(p.take(8)))),
		principal: digest(p.take(sha256.Size)),
		request:   digest(p.take(sha256.Size)),
		backend:   p.name(),
	}
}

func (p *plain) handle() handle {
	return handle{
		bond:  p.bond(),
		call:  callID(p.take(len(callID{}))),
		round: binary.BigEndian.Uint32(p.take(4)),
		boot:  binary.BigEndian.Uint64(p.take(8)),
		owner: p.name(),
	}
}

// openHandle reads a state of ours, and reports false for any other text.
func (r *keyring) openHandle(state string) (handle, bool) {
	if len(state) > maxState {
		return handle{}, false
	}
	b, ok := r.open(calls, state)
	p := plain{b, ok}
	h := p.handle()
	return h, p.ok && len(p.b) == 0
}

// stateOf returns the requestState that a request carries.
func stateOf(req wire.Message) string {
	state, _ := wire.Text(req.Params(), "requestState")
	return state
}

// refusal is what a client is told whose requestState is not accepted. What it
// cannot prove to have been given, it learns nothing about.
func refusal(why Refusal) *wire.Error {
	switch why {
	case Expired:
		return wire.Errorf(wire.ReasonState, "the requestState has expired").Hint(again)
	case Elsewhere:
		return wire.Errorf(wire.ReasonState, "the call is not in this gateway process").
			Hint("send the retry to where the first request went, or start the request again")
	case Restarted:
		return wire.Errorf(wire.ReasonState, "the gateway was restarted, and the call did not survive it").Hint(again)
	case Ended:
		return wire.Errorf(wire.ReasonState, "the call has ended").Hint(again)
	}
	return wire.Errorf(wire.ReasonState, "the requestState is not valid for this request")
}

const again = "start the request again, without requestState"
