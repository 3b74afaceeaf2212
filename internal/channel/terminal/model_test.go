package terminal

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
)

// stage runs the model of the pages without a terminal, in a bubble, so that it is
// known what has been taken when.
type stage struct {
	*screen
	ctx  context.Context
	msgs chan tea.Msg
}

// perform lets play use the pages of f, which are ready for the first key.
func perform(t *testing.T, f *form.Form, play func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := newSheet(f, form.Values{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p := &stage{
			screen: &screen{sheet: s, Options: Options{Environ: []string{}}, files: make(map[string]file), stop: func() {}},
			ctx:    ctx,
			msgs:   make(chan tea.Msg),
		}
		p.begin(p.Init())
		p.take(tea.WindowSizeMsg{Width: 80, Height: 24})
		p.rest()
		play(p)
		cancel()
		p.stay()
		time.Sleep(2 * time.Second) // all timers of the pages have run off
	})
}

// take gives the model a message, and begins what it wants to be done.
func (p *stage) take(msg tea.Msg) {
	_, cmd := p.Update(msg)
	p.begin(cmd)
}

// begin does what the model wants, each thing on its own, as a program does.
func (p *stage) begin(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		if v := reflect.ValueOf(msg); v.IsValid() && v.Type().Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
			for i := range v.Len() {
				p.begin(v.Index(i).Interface().(tea.Cmd))
			}
			return
		}
		select {
		case p.msgs <- msg:
		case <-p.ctx.Done():
		}
	}()
}

// rest takes messages until there are no more, but for the timers that run.
func (p *stage) rest() {
	for {
		synctest.Wait()
		select {
		case msg := <-p.msgs:
			if msg != nil {
				p.take(msg)
			}
		default:
			return
		}
	}
}

func enterKey() tea.Msg { return tea.KeyPressMsg{Code: tea.KeyEnter} }

func letter(r rune) tea.Msg { return tea.KeyPressMsg{Code: r, Text: string(r)} }

const twoTexts = `{"id": "f", "title": "F", "fields": [
	{"id": "a", "type": "text", "label": "First"},
	{"id": "b", "type": "text", "label": "Second"}]}`

// What is typed before the page has moved is for the next field.
func TestKeysAreHeld(t *testing.T) {
	perform(t, parse(t, twoTexts), func(p *stage) {
		for _, k := range []tea.Msg{letter('x'), enterKey(), letter('y'), tea.PasteMsg{Content: "z"}} {
			p.take(k) // without a rest between them
		}
		p.rest()
		p.take(enterKey())
		p.rest()
		values, ok := p.finish()
		if got, want := string(values.JSON()), `{"a":"x","b":"yz"}`; !ok || got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// Who presses Enter once too often has not sent what they have not seen.
func TestKeysBeforeTheReview(t *testing.T) {
	perform(t, parse(t, twoTexts), func(p *stage) {
		p.take(enterKey())
		p.rest()
		p.take(enterKey())
		p.take(enterKey())
		p.take(enterKey())
		p.rest()
		if p.choice == nil || p.done {
			t.Fatalf("at the review: %t; done: %t", p.choice != nil, p.done)
		}
		p.take(enterKey())
		p.rest()
		if !p.done || p.result.Outcome != input.Accept {
			t.Errorf("done: %t, %+v", p.done, p.result)
		}
	})
}

// A page that does not move gives the keys back after a second, and not before.
func TestHeldKeysAreGivenBack(t *testing.T) {
	perform(t, parse(t, twoTexts), func(p *stage) {
		p.begin(p.hold(p.page.GetFocusedField()))
		p.take(letter('x'))
		p.rest()
		if len(p.held) != 1 {
			t.Fatalf("%d keys are held", len(p.held))
		}
		for msg := range p.msgs { // the next timer
			p.take(msg)
			if n, ok := msg.(stayed); ok && int(n) == p.moves {
				break
			}
			if len(p.held) != 1 {
				t.Fatal("the key was given back too early")
			}
		}
		p.take(enterKey())
		p.rest()
		if got := string(p.given["a"]); got != `"x"` || len(p.held) > 0 {
			t.Errorf("got %s, and %d keys are held", got, len(p.held))
		}
	})
}

// After the end nothing is taken any more.
func TestKeysAfterTheEnd(t *testing.T) {
	perform(t, parse(t, twoTexts), func(p *stage) {
		p.take(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
		err := p.err
		p.take(over{errLate})
		p.take(enterKey())
		p.take(enterKey())
		p.rest()
		if !p.done || p.err != err || p.result.Outcome != "" {
			t.Errorf("got %+v, %v", p.result, p.err)
		}
		if got := p.View().Content; got != "" {
			t.Errorf("there is still %q", got)
		}
	})
}
