package relay

import (
	"sync/atomic"
	"time"

	"github.com/beckon-mcp/beckon/internal/front"
	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// exchange is one request of a client in progress, whatever its era, and the way
// to that client: the call of a legacy client, or of a modern one a parked call or
// a leg that cannot be asked.
type exchange struct {
	front.Asker
	request wire.Message
	leg     *front.Leg    // of a modern client; nil for a legacy one, and for the work of a parked call
	parks   bool          // it may ask a modern client by parking; then its work is reported, and no leg
	asked   *wire.Message // what a modern backend answered already, and asks in; nil for work that begins with the request
	human   atomic.Int64  // time in which somebody was asked
}

// Request returns the request as the client sent it.
func (x *exchange) Request() wire.Message { return x.request }

// Passing is a question of a modern backend to a modern client on its way there, or
// the answer on its way back. It has no end that Beckon could tell: the client answers
// with another request, or not at all.
type Passing struct {
	Question input.Question // without Message on the way back
	Key      string         // which the backend chose, and the answer repeats
	Answer   []byte         // raw; nil on the way there
}

// Report is how a call went.
type Report struct {
	Method    string
	Backend   string // that it went to; "" when the relay answered it itself
	Principal string
	Session   string        // of the client
	Took      time.Duration // from the request to the response, all legs and the time between them included
	Human     time.Duration // the part of it in which somebody was asked
	Response  wire.Message
}
