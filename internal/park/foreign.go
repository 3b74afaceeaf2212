package park

import (
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// Seal returns the requestState inner of a backend in a state of ours, which only
// the principal of p can bring back, only with a retry of req, to the same
// backend, within Options.MaxAge. It is for backends that all clients reach with
// one credential: to such a backend all are one principal, so that it cannot tell
// whose state it is given. The state may be used more than once.
func (l *Lot) Seal(inner string, p Party, req wire.Message) string {
	b := bind(p, req, time.Now().Add(l.o.MaxAge))
	return l.keys.seal(foreign, append(b.append(nil), inner...))
}

// Open returns what [Lot.Seal] sealed, to the principal and the request that it
// was sealed for. The error has reason state.
func (l *Lot) Open(state string, p Party, req wire.Message) (inner string, err *wire.Error) {
	inner, why := l.unseal(state, p, req)
	if why != "" {
		l.o.Observer.Refused(why)
		return "", refusal(why)
	}
	return inner, nil
}

func (l *Lot) unseal(state string, p Party, req wire.Message) (string, Refusal) {
	b, ok := l.keys.open(foreign, state)
	sealed := plain{b, ok}
	bound := sealed.bond()
	if !sealed.ok {
		return "", Invalid
	}
	return string(sealed.b), bound.refuse(bind(p, req, time.Time{}), time.Now())
}
