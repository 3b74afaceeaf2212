package back

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// A backend that exits instead of answering initialize is told of at once, and not
// when the time for connecting is over.
func TestEndInTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.hello = func(wire.Message) *wire.Message { return nil }
		session := New("b", s, Options{}, slog.New(slog.DiscardHandler)).NewSession(Hello{Params: []byte(`{}`)}, newClient("session"))
		defer session.Close()
		go func() { (<-s.conns).fail(errors.New("it exited with status 1")) }()
		began := time.Now()
		_, err := session.Connect(t.Context())
		if err == nil || !strings.Contains(err.Error(), "it exited with status 1") {
			t.Errorf("Connect says %v, want why the backend left", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("Connect took %v", took)
		}
	})
}

// A response counts even if the backend exits right behind it.
func TestLastResponseCounts(t *testing.T) {
	const often = 100 // the two are seen in any order
	for range often {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(t)
			session := New("b", s, Options{}, slog.New(slog.DiscardHandler)).NewSession(Hello{Params: []byte(`{}`)}, newClient("session"))
			defer session.Close()
			go func() {
				c := <-s.conns
				c.answer(c.want("the call", "tools/call"), `{"said":"goodbye"}`)
				c.fail(errors.New("it exited"))
			}()
			resp, err := session.Call(t.Context(), wire.NewRequest(wire.IntID(7), "tools/call", nil), newClient("call"))
			if err != nil || resp.Kind() != wire.Result {
				t.Fatalf("the call says %s, %v, want its result", resp.Raw(), err)
			}
		})
	}
}

// What a process says when it exits is told, and not that writing to it failed a
// moment before.
func TestEndBehindAFailedWrite(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{
		{10 * time.Millisecond, "it exited with status 3"},
		{time.Minute, "broken pipe"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(t)
			session := New("b", s, Options{}, slog.New(slog.DiscardHandler)).NewSession(Hello{Params: []byte(`{}`)}, newClient("session"))
			defer session.Close()
			if _, err := session.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			c := <-s.conns
			c.refuse = fmt.Errorf("%w: broken pipe", errLeaving)
			time.AfterFunc(tt.after, func() { c.fail(errors.New("it exited with status 3")) })
			_, err := session.live().call(t.Context(), wire.NewRequest(wire.IntID(7), "tools/call", nil), newClient("call"))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the call says %v, want %q", err, tt.want)
			}
		})
	}
}
