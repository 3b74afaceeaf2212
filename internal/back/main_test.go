package back

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/beckon-mcp/beckon/internal/wire"
)

func TestMain(m *testing.M) {
	RunGuard()
	play()
	goleak.VerifyTestMain(m)
}

// arrival is one message that a [recorder] got.
type arrival struct {
	of  wire.ID
	msg wire.Message
}

// recorder is a Receiver that keeps what it gets for the test to ask for.
type recorder struct {
	t        *testing.T
	arrivals chan arrival
	noises   chan error
}

func record(t *testing.T) *recorder {
	return &recorder{t, make(chan arrival, 1000), make(chan error, 1000)}
}

func (r *recorder) Receive(m wire.Message, of wire.ID) { r.arrivals <- arrival{of, m} }

func (r *recorder) Noise(what error) { r.noises <- what }

// want takes the next message, which must be raw and have come on the stream of.
func (r *recorder) want(why string, of wire.ID, raw string) {
	r.t.Helper()
	got := receive(r.t, why, r.arrivals)
	if string(got.msg.Raw()) != raw || got.of != of {
		r.t.Fatalf("%s: received %s on stream %q, want %s on %q", why, got.msg.Raw(), got.of, raw, of)
	}
}

// wantNoise takes the next noise, which must be is.
func (r *recorder) wantNoise(why string, is error) {
	r.t.Helper()
	if got := receive(r.t, why, r.noises); !errors.Is(got, is) {
		r.t.Fatalf("%s: noise %v, want %v", why, got, is)
	}
}

// wantParseError takes the next noise, which must be a message that is invalid.
func (r *recorder) wantParseError(why string) {
	r.t.Helper()
	got := receive(r.t, why, r.noises)
	if _, ok := errors.AsType[*wire.ParseError](got); !ok {
		r.t.Fatalf("%s: noise %v, want a parse error", why, got)
	}
}

// wantQuiet checks that nothing was received that the test did not ask for.
func (r *recorder) wantQuiet(why string) {
	r.t.Helper()
	select {
	case got := <-r.arrivals:
		r.t.Fatalf("%s: received %s", why, got.msg.Raw())
	case got := <-r.noises:
		r.t.Fatalf("%s: noise %v", why, got)
	default:
	}
}

func parse(raw string) wire.Message {
	m, err := wire.Parse([]byte(raw))
	if err != nil {
		panic(err)
	}
	return m
}

// wantTold checks what err tells the client, and that it is nothing else.
func wantTold(t *testing.T, err error, reason wire.Reason, sentence string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", sentence)
	}
	told := wire.ErrorFrom(err)
	if told.Reason != reason || told.Message != sentence {
		t.Fatalf("%v tells %s %q, want %s %q", err, told.Reason, told.Message, reason, sentence)
	}
}

// wantDone waits for the end of c and returns why it ended.
func wantDone(t *testing.T, c Conn) error {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(patient):
		t.Fatal("the connection does not end")
	}
	return c.Err()
}

// patient is how long tests wait for what must come; see [receive].
const patient = 20 * time.Second
