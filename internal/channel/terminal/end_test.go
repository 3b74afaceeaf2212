package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
)

var errLate = errors.New("the form expired after a minute")

// D13, D7: the end of the context ends the form, visibly and with its cause, and not a
// moment before.
func TestDeadline(t *testing.T) {
	for name, wait := range map[string]time.Duration{"before": time.Minute - time.Nanosecond, "after": time.Minute} {
		t.Run(name, func(t *testing.T) {
			f := formIn(t, "seed.json")
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errLate)
				defer cancel()
				in, typed := io.Pipe()
				var out strings.Builder
				var r Result
				var err error
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					r, err = Ask(ctx, Options{In: in, Out: &out}, f)
				}()
				time.Sleep(wait)
				synctest.Wait()
				if name == "before" {
					if _, err := io.WriteString(typed, goodKey+"\n\ny\n"); err != nil {
						t.Error(err)
					}
					<-ended
					if err != nil || r.Outcome != input.Accept {
						t.Errorf("got %+v, %v", r, err)
					}
					return
				}
				<-ended // by the deadline alone
				if !errors.Is(err, ErrNobody) || !errors.Is(err, errLate) || r.Outcome != "" {
					t.Errorf("got %+v, %v", r, err)
				}
				wantSaid(t, out.String(), "It can be answered until 00:01:00.\n", "API Key", "\n(no longer needed: the form expired after a minute)\n")
				typed.Close() // for the reader, which cannot be interrupted
			})
		})
	}
}

// A context that has ended asks nobody anything.
func TestEndedBefore(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errLate)
	var out strings.Builder
	if _, err := Ask(ctx, Options{In: strings.NewReader(""), Out: &out}, formIn(t, "seed.json")); !errors.Is(err, errLate) || out.Len() > 0 {
		t.Errorf("got %v, said %q", err, out.String())
	}
}

// What waits for a file ends with Ask, and what comes after the form is left to whoever
// reads next.
func TestReadingEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	before := goleak.IgnoreCurrent()
	f := formIn(t, "seed.json")

	if _, err := w.WriteString(goodKey + "\n\ny\n" + goodKey + "\n3\n"); err != nil {
		t.Fatal(err)
	}
	got, err := Ask(t.Context(), Options{In: r, Out: io.Discard}, f)
	if err != nil || got.Values.Get("region").Text() != "us-east-1" {
		t.Fatalf("first: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	out := &watched{want: "Send?", seen: func() { cancel(errLate) }}
	if got, err := Ask(ctx, Options{In: r, Out: out}, f); !errors.Is(err, errLate) || got.Outcome != "" {
		t.Fatalf("second: %+v, %v", got, err)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}

	// the pipe is as it was
	if _, err := w.WriteString("the rest"); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 20)
	if n, err := r.Read(rest); err != nil || string(rest[:n]) != "the rest" {
		t.Errorf("read %q, %v", rest[:n], err)
	}
}

// watched calls seen when want has been written.
type watched struct {
	want string
	seen func()
	text string
}

func (w *watched) Write(b []byte) (int, error) {
	if w.text += string(b); strings.Contains(w.text, w.want) {
		w.seen()
	}
	return len(b), nil
}

// Whatever is typed, Ask ends, and an answer is one that the form takes.
func FuzzAskByLine(f *testing.F) {
	f.Add("ada\n\n\n2\n1,2\nhttps://example.com\n\n2026-05-05\ny\n")
	f.Add("?\n!back\n!skip\n\\?\n\x00\xff\n!decline\n")
	f.Add("ada\n9000\nno\n1\n0\n\n/dev/zero\n\n\ne\n3\nyes\nc\n")
	eight := formIn(f, "eight.json")
	f.Fuzz(func(t *testing.T, typed string) {
		var out strings.Builder
		r, err := Ask(t.Context(), Options{In: strings.NewReader(typed), Out: &out, Environ: []string{}}, eight)
		switch {
		case err != nil:
			if !errors.Is(err, ErrNobody) || r.Outcome != "" {
				t.Errorf("got %+v, %v", r, err)
			}
		case r.Outcome == input.Accept:
			if _, err := eight.Read(r.Values.JSON(), form.Strict); err != nil {
				t.Errorf("accepted %s: %v", r.Values.JSON(), err)
			}
		}
		if at := strings.IndexFunc(out.String(), steers); at >= 0 {
			t.Errorf("wrote %q", out.String()[at:min(at+20, out.Len())])
		}
	})
}
