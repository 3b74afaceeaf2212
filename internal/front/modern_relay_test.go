package front

import (
	"context"
	"fmt"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// capabilities and name of the fake server, as a modern client is told.
const fakeDiscovery = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},` +
	`"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1"}}}`

const fakeTools = `{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`

// Answer does what the method of the leg says; unknown ones are echoed.
func (f *fakeRelay) Answer(ctx context.Context, leg *Leg) wire.Message {
	f.legs <- leg
	m := leg.Request()
	result := func(r string) wire.Message { return wire.NewResult(m.ID(), []byte(r)) }
	switch m.Method() {
	case "server/discover":
		return result(fakeDiscovery)
	case "tools/list":
		return result(fakeTools)
	case "tools/call":
		return f.modernTool(ctx, leg, result)
	case methodListen:
		return f.listen(ctx, leg, result)
	case "block": // until the context ends
		<-ctx.Done()
		f.causes <- context.Cause(ctx)
		leg.Notify(note("late"))
		return result(`"after the end"`)
	case "ignore": // nor then does it say anything
		<-ctx.Done()
		f.causes <- context.Cause(ctx)
		return wire.Message{}
	case "wait": // until the test releases it
		<-f.release
		return result(`"waited"`)
	case "progress": // one notification, then the test releases it
		leg.Notify(note("progress"))
		<-f.release
		return result(`"progressed"`)
	case "flood": // until the context ends
		for ctx.Err() == nil {
			leg.Notify(note("flood"))
		}
		f.causes <- context.Cause(ctx)
		return result(`"flooded"`)
	case "fail":
		code := wire.Get(m.Params(), "code")
		parsed, err := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"m"}}`, m.ID(), code))
		if err != nil {
			return wire.Message{}
		}
		return parsed
	case "nothing":
		return wire.Message{}
	case "mistaken":
		return wire.NewResult("999", []byte("{}"))
	}
	if p := m.Params(); p != nil {
		return result(string(p))
	}
	return result(`{}`)
}

// listen acknowledges, tells of one change when the test wants it, and closes when
// the gateway stops.
func (f *fakeRelay) listen(ctx context.Context, leg *Leg, result func(string) wire.Message) wire.Message {
	id := leg.Request().ID()
	mark := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, id)
	leg.Notify(wire.NewNotification("notifications/subscriptions/acknowledged",
		fmt.Appendf(nil, `{%s,"notifications":{"toolsListChanged":true}}`, mark)))
	for {
		select {
		case <-f.changed:
			leg.Notify(wire.NewNotification("notifications/tools/list_changed", fmt.Appendf(nil, `{%s}`, mark)))
		case <-ctx.Done():
			f.causes <- context.Cause(ctx)
			return result(fmt.Sprintf(`{"resultType":"complete",%s}`, mark))
		}
	}
}

// modernTool is tools/call: it echoes, tells of progress, or blocks until the context
// ends.
func (f *fakeRelay) modernTool(ctx context.Context, leg *Leg, result func(string) wire.Message) wire.Message {
	params := leg.Request().Params()
	switch name, _ := wire.Text(params, "name"); name {
	case "block":
		<-ctx.Done()
		f.causes <- context.Cause(ctx)
		return wire.Message{}
	case "progress":
		for i := range 3 {
			leg.Notify(wire.NewNotification("notifications/progress",
				fmt.Appendf(nil, `{"progressToken":%s,"progress":%d,"total":3}`, leg.Meta.Progress, i+1)))
		}
	}
	text := wire.Get(params, "arguments", "text")
	if text == nil {
		text = []byte(`""`)
	}
	return result(fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":%s}]}`, text))
}
