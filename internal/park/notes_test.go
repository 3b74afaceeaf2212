package park

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// said makes what a backend says during a call: "5" is progress, "log:error" a log
// message, anything else a notification of that name.
func said(c *Call, what string) wire.Message {
	switch level, isLog := strings.CutPrefix(what, "log:"); {
	case isLog:
		return wire.NewNotification("notifications/message", fmt.Appendf(nil, `{"level":%q,"data":1}`, level))
	case strings.Trim(what, "0123456789.e-+") == "":
		return wire.NewNotification("notifications/progress", fmt.Appendf(nil, `{"progressToken":%s,"progress":%s,"x":1}`, c.Token(), what))
	}
	return wire.NewNotification("notifications/"+what, []byte(`{"a": 1}`))
}

// heard is the same for what a leg was told, with the token of progress.
func heard(notes []string) []string {
	all := []string{}
	for _, n := range notes {
		m, err := wire.Parse([]byte(n))
		if err != nil {
			panic(err)
		}
		switch p := m.Params(); m.Method() {
		case "notifications/message":
			level, _ := wire.Text(p, "level")
			all = append(all, "log:"+level)
		case "notifications/progress":
			all = append(all, fmt.Sprintf("%s@%s", wire.Get(p, "progress"), wire.Get(p, "progressToken")))
		default:
			all = append(all, strings.TrimPrefix(m.Method(), "notifications/"))
		}
	}
	return all
}

func (v *visit) wantHeard(want ...string) {
	v.stand.Helper()
	synctest.Wait()
	if got := heard(v.told()); !slices.Equal(got, want) {
		v.stand.Errorf("the leg was told %v, want %v", got, want)
	}
}

// A leg is told what it asked for, in its own terms, before its response.
//
// "The progress value MUST increase with each notification"
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#progress-flow
func TestNotifications(t *testing.T) {
	const level = `"io.modelcontextprotocol/logLevel":`
	for _, tt := range []struct {
		meta       string
		says, want string
	}{
		{`{"progressToken":"p"}`, "1 2 x 2.5", `1@"p" 2@"p" x 2.5@"p"`},
		{`{"progressToken":7}`, "1", `1@7`},
		{`{}`, "1 x 2", "x"},
		{`{"progressToken":7}`, "1 1 0.5 1.0 -3 2 1e0 20e-1 2.01", "1@7 2@7 2.01@7"},
		{`{"progressToken":7}`, "-2 -1 0", "-2@7 -1@7 0@7"},
		{`{"progressToken":7}`, "1e999 1", "1@7"},
		{`{}`, "log:emergency log:debug", ""},
		{`{` + level + `"warning"}`, "log:debug log:warning log:notice log:error log:loud log:emergency", "log:warning log:error log:emergency"},
		{`{` + level + `"debug"}`, "log:debug log:info", "log:debug log:info"},
		{`{` + level + `"loud"}`, "log:emergency", ""},
		{`{}`, "elicitation/complete x", "x"},
	} {
		t.Run(tt.meta+" "+tt.says, func(t *testing.T) {
			inBubble(t, Options{}, func(s *stand) {
				v := s.beginAs(someone, deploy+`,"_meta":`+tt.meta, func(_ context.Context, c *Call) wire.Message {
					for what := range strings.FieldsSeq(tt.says) {
						c.Notify(said(c, what))
					}
					return result("done")
				})
				v.wantResult("done")
				v.wantHeard(strings.Fields(tt.want)...)
			})
		})
	}
}

// Nothing but the token is changed in progress, and nothing at all in the rest.
func TestNotificationBytes(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		v := s.beginAs(someone, deploy+`,"_meta":{"progressToken":"p"}`, func(_ context.Context, c *Call) wire.Message {
			c.Notify(parse(t, `{"jsonrpc":"2.0", "method":"notifications/progress","params":{ "progressToken":`+string(c.Token())+` ,"progress":1.50,"y":{}}}`))
			c.Notify(parse(t, `{"jsonrpc":"2.0", "method":"notifications/x" ,"z":[ ]}`))
			return result("done")
		})
		v.wantResult("done")
		want := []string{
			`{"jsonrpc":"2.0", "method":"notifications/progress","params":{ "progressToken":"p" ,"progress":1.50,"y":{}}}`,
			`{"jsonrpc":"2.0", "method":"notifications/x" ,"z":[ ]}`,
		}
		if got := v.told(); !slices.Equal(got, want) {
			t.Errorf("told\n%s\nwant\n%s", got, want)
		}
	})
}

// Each call has a token of its own, a JSON string.
func TestToken(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		seen := make(map[string]bool)
		for range 3 {
			s.begin(func(_ context.Context, c *Call) wire.Message {
				seen[string(c.Token())] = true
				if m := wire.NewRequest("1", "x", slices.Concat([]byte(`{"t":`), c.Token(), []byte(`}`))); wire.Get(m.Params(), "t")[0] != '"' {
					t.Errorf("the token is %s", c.Token())
				}
				return result("done")
			}).wantResult("done")
		}
		if len(seen) != 3 {
			t.Errorf("the tokens are %v", seen)
		}
	})
}

// While no leg is there, the latest progress and a few others are kept, for the
// next leg in its own terms, before anything else.
func TestNotificationsWhileParked(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		talk, hush := make(chan struct{}), make(chan struct{})
		first := s.beginAs(someone, deploy+`,"_meta":{"progressToken":1,"io.modelcontextprotocol/logLevel":"debug"}`, func(_ context.Context, c *Call) wire.Message {
			c.Notify(said(c, "1"))
			q := s.openForm(c)
			<-talk
			for n := range 30 {
				c.Notify(said(c, fmt.Sprint(n+2)))
				c.Notify(said(c, fmt.Sprintf("x%d", n)))
			}
			c.Notify(said(c, "log:debug"))
			c.Notify(said(c, "log:error"))
			close(hush)
			text := q.answer()
			c.Notify(said(c, "40"))
			return result(text)
		})
		state := first.wantInput("r1")
		close(talk)
		<-hush
		v := s.resumeAs(someone, retry(deploy+`,"_meta":{"progressToken":"two","io.modelcontextprotocol/logLevel":"error"}`, state, named("r1", "Ada")))
		v.wantResult("Ada")
		want := []string{}
		for n := 16; n < 30; n++ { // and two log messages make 16
			want = append(want, fmt.Sprintf("x%d", n))
		}
		v.wantHeard(append(want, "log:error", `31@"two"`, `40@"two"`)...)
		first.wantHeard("1@1") // its token died with it
	})
}

// What is kept is bounded in bytes, too.
func TestMissedBytes(t *testing.T) {
	var w missed
	big := func(method string, n int) wire.Message {
		return wire.NewNotification(method, fmt.Appendf(nil, `{"progress":1,"data":"%0*d"}`, n, 0))
	}
	w.add(big("notifications/x", maxMissedBytes))
	w.add(big("notifications/progress", maxMissedBytes))
	if got := w.take(); len(got) != 0 {
		t.Errorf("%d that are too long were kept", len(got))
	}
	for range 10 {
		w.add(big("notifications/x", maxMissedBytes/4))
	}
	w.add(big("notifications/progress", 10))
	if got := w.take(); len(got) != 4 {
		t.Errorf("%d were kept, want three and progress", len(got))
	}
	if got := w.take(); len(got) != 0 || w.others.bytes != 0 {
		t.Errorf("%d are still there", len(got))
	}
}

// Several legs of a call are told the same, each in its own terms; one that is
// slow misses the oldest, and holds up nobody.
func TestSlowLeg(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		goOn := make(chan struct{})
		state := s.begin(func(ctx context.Context, c *Call) wire.Message {
			text := s.ask(ctx, c)
			<-goOn
			for n := range 1000 {
				c.Notify(said(c, fmt.Sprint(n+1)))
				if n%10 == 0 {
					time.Sleep(time.Millisecond) // in which the legs come to their turn
				}
			}
			return result(text)
		}).wantInput("r1")
		with := func(token string) string {
			return retry(deploy+`,"_meta":{"progressToken":`+token+`}`, state, named("r1", "Ada"))
		}
		slow := &leg{request: request(t, 2, with(`"slow"`)), slow: make(chan struct{})}
		a := s.visit(slow, partyOf(someone))
		a.wantWaits("the tool works")
		b := s.resumeAs(someone, with("2"))
		b.wantWaits("the tool works")
		close(goOn)
		time.Sleep(time.Second)
		b.wantResult("Ada")
		if got := heard(b.told()); len(got) != 1000 || got[999] != "1000@2" {
			t.Errorf("the quick one was told %d", len(got))
		}
		a.wantWaits("it is slow")
		close(slow.slow)
		a.wantResult("Ada")
		got := heard(a.told())
		if len(got) != 1+maxQueued || got[0] != `1@"slow"` || got[maxQueued] != `1000@"slow"` {
			t.Errorf("the slow one was told %d: %v", len(got), got)
		}
	})
}
