package relay

import (
	"context"
	"time"

	"github.com/beckon-mcp/beckon/internal/input"
	"github.com/beckon-mcp/beckon/internal/park"
	"github.com/beckon-mcp/beckon/internal/wire"
)

// concerns reports whether a modern backend asks something in resp that cannot just pass
// to a modern client: a form that Beckon owns, or one whose answers it looks at.
func (r *route) concerns(resp wire.Message) bool {
	validate := r.policy().Validate
	for _, request := range wire.Members(wire.Get(resp.Result(), "inputRequests")) {
		if method, _ := wire.Text(request, "method"); method != "elicitation/create" {
			continue
		}
		params := wire.Get(request, "params")
		switch mode, _ := wire.Text(params, "mode"); {
		case mode == "url":
		case isObject(wire.Get(params, "formDefinition")), mode == "inline":
			return true
		case validate != "" && validate != input.ValidateOff:
			return true
		}
	}
	return false
}

// takeOver makes a parked call of one that has passed so far: asked is what its backend
// asks. From here on the client answers Beckon, which looks at the answers, asks again
// where they are wrong, and makes the call again with those that are right. The client
// sees what it would see of a backend that asks once more.
func (r *route) takeOver(ctx context.Context, x *exchange, req, asked wire.Message, began time.Time) wire.Message {
	x.parks = true
	return r.session.relay.lot.Begin(ctx, x.leg, r.party(), func(ctx context.Context, c *park.Call) wire.Message {
		x, err := r.enter(c)
		if err != nil {
			return failed(req, err)
		}
		defer r.session.relay.profiles.leave(r.session)
		x.asked = &asked
		resp, err := r.work(ctx, x, tokened(c, req), r.back)
		return r.performed(x, began, resp, err)
	})
}
