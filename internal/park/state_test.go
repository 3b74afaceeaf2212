package park

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// invalidText is what everybody is told who cannot prove that the state is theirs.
const invalidText = "the requestState is not valid for this request"

// wantInvalid wants that a leg is refused with nothing but the constant text.
func (v *visit) wantInvalid(what string) {
	v.stand.Helper()
	m := v.response()
	want := `{"code":-32602,"message":"` + invalidText + `","data":{"reason":"state"}}`
	if got := string(m.Error()); got != want {
		v.stand.Fatalf("%s: answered %s, want %s", what, m.Raw(), want)
	}
}

// A state that was changed in any byte is not ours; the call stays parked, and
// nothing runs.
//
// "servers MUST protect its integrity (e.g. HMAC or AEAD) and MUST reject state
// that fails verification."
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
func TestTamperedState(t *testing.T) {
	inBubble(t, Options{Owner: "gateway-1"}, func(s *stand) {
		state := s.begin(s.asking(1)).wantInput("r1")
		for i := range len(state) {
			for _, with := range []byte{state[i] ^ 1, 'A', '.', '\n', ' '} {
				if with == state[i] {
					continue
				}
				changed := state[:i] + string(rune(with)) + state[i+1:]
				if backend, ok := s.Peek(changed); ok || backend != "" {
					t.Fatalf("byte %d as %q: Peek gives %q, %v", i, with, backend, ok)
				}
				s.resume(changed, named("r1", "Eve")).wantInvalid(fmt.Sprintf("byte %d as %q", i, with))
			}
		}
		for _, other := range []string{"", "x", state[1:], state[:len(state)-1], state + "A", state + "\n", " " + state, state + "=", "bk1.", "bk1..", strings.Repeat(state, 20)} {
			s.resume(other, named("r1", "Eve")).wantInvalid(other)
		}
		s.resume(state, named("r1", "Ada")).wantResult("got Ada")
	})
}

// There is one way to write each state.
func TestStateHasOneSpelling(t *testing.T) {
	keys, err := newKeyring([][]byte{testKey})
	if err != nil {
		t.Fatal(err)
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for n := range 3 { // the last letter has 8, 4 or 2 bits to spare
		state := keys.seal(calls, make([]byte, n))
		for _, last := range letters {
			other := state[:len(state)-1] + string(last)
			if _, ok := keys.open(calls, other); ok != (other == state) {
				t.Errorf("%s is taken for %s", other, state)
			}
		}
	}
}

// What carries no state, or none that is a text, is refused as well, and never
// begins a call.
func TestNoState(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		for _, params := range []string{deploy, deploy + `,"requestState":5`, deploy + `,"requestState":null`, deploy + `,"requestState":{}`} {
			s.resumeAs(someone, params).wantInvalid(params)
		}
	})
}

// R75: a state is good for whom it was given to, and for the request that it was given
// for. Which of that is wrong, nobody is told.
func TestForeignState(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		state := s.begin(s.asking(1)).wantInput("r1")
		s.resumeAs("eve", retry(deploy, state, named("r1", "Eve"))).wantInvalid("another principal")
		for _, params := range []string{
			`"name":"destroy","arguments":{"env":"prod","n":1}`,
			`"name":"deploy","arguments":{"env":"test","n":1}`,
			`"name":"deploy","arguments":{"env":"prod","n":2}`,
			`"name":"deploy","arguments":{"env":"prod","n":1,"x":null}`,
			`"name":"deploy","arguments":{"env":"prod"}`,
			`"name":"deploy"`,
			deploy + `,"x":1`,
		} {
			s.resumeAs(someone, retry(params, state, named("r1", "Eve"))).wantInvalid(params)
		}
		l := &leg{request: request(t, 2, retry(deploy, state, named("r1", "Eve"))).WithMethod("prompts/get")}
		s.visit(l, partyOf(someone)).wantInvalid("another method")
		l = &leg{request: request(t, 2, retry(deploy, state, named("r1", "Eve")))}
		s.visit(l, Party{Principal: someone, Backend: "backend-b"}).wantInvalid("another backend")
		want := []Refusal{Principal, Request, Request, Request, Request, Request, Request, Request, Request, Request}
		if fmt.Sprint(s.seen.refused) != fmt.Sprint(want) {
			t.Errorf("refused were %v, want %v", s.seen.refused, want)
		}
		s.resume(state, named("r1", "Ada")).wantResult("got Ada")
	})
}

// visit is a further leg of anybody.
func (s *stand) visit(l *leg, p Party) *visit {
	return s.visitor(l, func(ctx context.Context) wire.Message { return s.Resume(ctx, l, p) })
}

// Clients write the same request in other words when they send it again.
func TestRetrySpelledDifferently(t *testing.T) {
	for _, params := range []string{
		` "arguments" : { "n" : 1 , "env" : "prod" } , "name" : "deploy" `,
		`"arguments":{"n":1.0,"env":"\u0070rod"},"name":"deploy"`,
		deploy + `,"_meta":{"progressToken":"other","x":[]}`,
	} {
		inBubble(t, Options{}, func(s *stand) {
			state := s.begin(s.asking(1)).wantInput("r1")
			s.resumeAs(someone, retry(params, state, named("r1", "Ada"))).wantResult("got Ada")
		})
	}
}

// What differs for a backend differs in the digest.
func TestRequestDigest(t *testing.T) {
	seen := make(map[digest]string)
	for _, text := range []string{
		`"method":"tools/call","params":{"name":"a"}`,
		`"method":"tools/call","params":{"name":"a","arguments":{}}`,
		`"method":"tools/call","params":{"name":"a","arguments":{"n":9007199254740993}}`,
		`"method":"tools/call","params":{"name":"a","arguments":{"n":9007199254740992}}`,
		`"method":"tools/call","params":{"name":"a","arguments":{"requestState":1}}`,
		`"method":"tools/call","params":{"name":"a","arguments":{"_meta":1}}`,
		`"method":"tools/call","params":{}`,
		`"method":"tools/call"`,
		`"method":"tools/call","params":null`,
		`"method":"tools/call\u0000","params":{}`,
		`"method":"prompts/get","params":{"name":"a"}`,
	} {
		d := requestDigest(parse(t, `{"jsonrpc":"2.0","id":1,`+text+`}`))
		if seen[d] != "" {
			t.Errorf("%s and %s have the same digest", text, seen[d])
		}
		seen[d] = text
	}
}

// A lot that was started anew with the same keys knows its states, and says so
// honestly. It never runs the call again.
func TestRestart(t *testing.T) {
	inBubble(t, Options{Owner: "gateway-1"}, func(s *stand) {
		state := s.begin(s.asking(1)).wantInput("r1")
		s.Close()
		for _, tt := range []struct{ owner, want string }{
			{"gateway-1", "the gateway was restarted, and the call did not survive it"},
			{"gateway-2", "the call is not in this gateway process"},
		} {
			anew := newStand(s.TB, Options{Owner: tt.owner})
			if backend, ok := anew.Peek(state); !ok || backend != theirs {
				t.Errorf("Peek gives %q, %v", backend, ok)
			}
			if got := anew.resume(state, named("r1", "Ada")).wantError(wire.ReasonState); got != tt.want {
				t.Errorf("%s says %q, want %q", tt.owner, got, tt.want)
			}
			anew.resumeAs("eve", retry(deploy, state, "")).wantInvalid("another principal")
		}
		other := newStand(s.TB, Options{Owner: "gateway-1", Keys: [][]byte{bytes.Repeat([]byte{1}, 32)}})
		other.resume(state, named("r1", "Ada")).wantInvalid("other keys")
	})
}

// Keys change without breaking what is in progress: states of previous keys are
// accepted, new ones are sealed with the current key.
func TestKeyRotation(t *testing.T) {
	older, newer := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	ring := func(keys ...[]byte) *keyring {
		r, err := newKeyring(keys)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before, during, after := ring(older), ring(newer, older), ring(newer)
	for _, tt := range []struct {
		what      string
		seal, try *keyring
		ok        bool
	}{
		{"the current key", before, before, true},
		{"a previous key", before, during, true},
		{"a key that was taken out", before, after, false},
		{"the current of two", during, after, true},
		{"a key that is not known yet", during, before, false},
	} {
		sealed := tt.seal.seal(calls, []byte("text"))
		if got, ok := tt.try.open(calls, sealed); ok != tt.ok || ok && string(got) != "text" {
			t.Errorf("%s: opened as %q, %v", tt.what, got, ok)
		}
	}
	if one, two := before.seal(calls, []byte("text")), before.seal(calls, []byte("text")); one == two {
		t.Error("the same text is sealed the same way twice: the nonce is not random")
	}
}

// What was sealed for one purpose does not open for another.
func TestPurposes(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		req := request(t, 1, deploy)
		sealed := s.Seal("inner", partyOf(someone), req)
		if _, ok := s.Peek(sealed); ok {
			t.Error("a foreign state is taken for a handle")
		}
		if _, ok := s.keys.open(calls, "bk1"+strings.TrimPrefix(sealed, "bs1")); ok {
			t.Error("a foreign state opens under another name")
		}
		head := "bk1." + s.keys.current.id + "."
		body := s.keys.current.aeads[calls].Seal(nil, nil, []byte("text"), additional(head))
		if _, err := s.keys.current.aeads[foreign].Open(nil, nil, body, additional(head)); err == nil {
			t.Error("both purposes have the same key")
		}
		state := s.begin(s.asking(1)).wantInput("r1")
		if _, err := s.Open(state, partyOf(someone), req); err == nil {
			t.Error("a handle is taken for a foreign state")
		}
	})
}

// Keys that are too short, or there twice, are refused, and not shown.
func TestBadOptions(t *testing.T) {
	short, good := []byte("a short secret"), bytes.Repeat([]byte{1}, 32)
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Keys: [][]byte{short}}, "park: key 1 has 14 bytes, fewer than 32"},
		{Options{Keys: [][]byte{good, nil}}, "park: key 2 has 0 bytes, fewer than 32"},
		{Options{Keys: [][]byte{good, good}}, "park: key 2 is there twice"},
		{Options{Keys: [][]byte{}}, "park: no key"},
		{Options{Owner: strings.Repeat("x", 256)}, "park: the owner has 256 bytes, more than 255"},
	} {
		if _, err := New(tt.o, slog.New(slog.DiscardHandler)); err == nil || err.Error() != tt.want {
			t.Errorf("New: %v, want %s", err, tt.want)
		}
	}
	l := &leg{request: request(t, 1, deploy)}
	m := newStand(t, Options{}).Begin(t.Context(), l, Party{Backend: strings.Repeat("x", 256)}, nil)
	if m.Kind() != wire.Failure {
		t.Error("a backend with a name that fits into no state is accepted")
	}
}

// Without keys, each lot has one of its own.
func TestRandomKey(t *testing.T) {
	a, err := New(Options{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Options{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := b.keys.open(calls, a.keys.seal(calls, nil)); ok {
		t.Error("two lots have the same key")
	}
	a.Close()
	b.Close()
}

// The secrets are nowhere in what goes out, nor is what the state says.
func TestStateShowsNothing(t *testing.T) {
	inBubble(t, Options{Owner: "gateway-1"}, func(s *stand) {
		state := s.begin(s.asking(1)).wantInput("r1")
		if len(state) > 300 {
			t.Errorf("the state has %d bytes: %s", len(state), state)
		}
		for _, part := range []string{theirs, someone, "gateway-1", string(testKey)} {
			if strings.Contains(state, part) {
				t.Errorf("the state shows %q", part)
			}
		}
		h, ok := s.keys.openHandle(state)
		if !ok || h.owner != "gateway-1" || h.backend != theirs || h.round != 1 || h.boot != s.boot || !h.expires.Equal(time.Now().Add(10*time.Minute)) {
			t.Errorf("the state says %+v", h)
		}
	})
}

// The state of another server comes back as it was, to the same principal and the
// same request, for an hour.
func TestForeignSeal(t *testing.T) {
	inBubble(t, Options{}, func(s *stand) {
		req := request(t, 1, deploy)
		again := request(t, 2, `"arguments":{"n":1,"env":"prod"},"name":"deploy","requestState":"x","inputResponses":{},`+meta)
		for _, inner := range []string{"", "theirs", strings.Repeat("x", 100_000), "\x00\xff"} {
			sealed := s.Seal(inner, partyOf(someone), req)
			if got, err := s.Open(sealed, partyOf(someone), again); err != nil || got != inner {
				t.Errorf("opened as %.20q, %v", got, err)
			}
			for what, open := range map[string]func() (string, *wire.Error){
				"another principal": func() (string, *wire.Error) { return s.Open(sealed, partyOf("eve"), again) },
				"another backend":   func() (string, *wire.Error) { return s.Open(sealed, Party{Principal: someone}, again) },
				"another request":   func() (string, *wire.Error) { return s.Open(sealed, partyOf(someone), request(t, 2, `"name":"x"`)) },
				"a changed state":   func() (string, *wire.Error) { return s.Open(sealed+"A", partyOf(someone), again) },
				"no state":          func() (string, *wire.Error) { return s.Open(inner, partyOf(someone), again) },
			} {
				if got, err := open(); got != "" || err == nil || err.Message != invalidText || err.Reason != wire.ReasonState {
					t.Errorf("%s: %.20q, %v", what, got, err)
				}
			}
		}
		sealed := s.Seal("theirs", partyOf(someone), req)
		time.Sleep(time.Hour - 1)
		if _, err := s.Open(sealed, partyOf(someone), again); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Nanosecond)
		if got, err := s.Open(sealed, partyOf(someone), again); got != "" || err == nil || err.Message != "the requestState has expired" {
			t.Errorf("after an hour: %q, %v", got, err)
		}
	})
}
