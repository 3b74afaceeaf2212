package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/beckon-mcp/beckon/form"
	"github.com/beckon-mcp/beckon/internal/input"
)

// screen is a form in pages. It is the model of a program, which calls it from one
// goroutine. Which page is open decides what its end means.
type screen struct {
	*sheet
	Options
	page   *huh.Form
	ended  func() tea.Cmd // what the end of the page leads to
	behind *huh.Form      // the page to which the person can go back from the choices; nil for none
	above  []string       // lines that are shown above the page
	choice *move          // what is chosen on the page, when it is one of choices
	going  bool           // back to an earlier field, from one that need not be valid
	files  map[string]file
	stop   func() // reads no more keys

	leaving huh.Field // the field that the page is about to leave; nil when it is not
	moved   func()    // ends the wait for the page to leave it
	held    []tea.Msg // the keys that came meanwhile: they are for the next field
	moves   int       // how often a field was about to be left

	width, height int
	result        Result
	err           error // why there is no result
	done          bool
}

// over ends the program because its context has ended.
type over struct{ cause error }

// askOnScreen asks the form in pages.
func askOnScreen(ctx context.Context, o Options, s *sheet, in, out term.File) (Result, error) {
	head := &printer{w: out}
	head.say("%s", strings.TrimRight(intro(ctx, o, s.form), "\n"))
	if head.err != nil {
		return Result{}, fmt.Errorf("writing the question: %w", head.err)
	}
	typed, stopTyping, err := newKeys(in)
	if err != nil {
		return Result{}, err
	}
	defer stopTyping()
	m := &screen{sheet: s, Options: o, files: make(map[string]file), stop: stopTyping}
	p := tea.NewProgram(m,
		tea.WithInput(typed), tea.WithOutput(out), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler(),
		tea.WithFilter(withoutSizes))
	// The end of ctx is a message, so that the program leaves the terminal in order; one
	// that has ended takes no more messages, and does not block who sends one.
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		p.Send(over{context.Cause(ctx)})
	})
	defer func() {
		if !stop() {
			<-told
		}
	}()
	if _, err := p.Run(); err != nil {
		return Result{}, fmt.Errorf("showing the form: %w", err)
	}
	if m.err != nil && ctx.Err() != nil {
		head.say("(no longer needed: %s)", line(context.Cause(ctx).Error()))
	}
	return m.result, m.err
}

// withoutSizes drops the question of each new page how large the window is: open has
// told it, and two such questions at once race in the program.
func withoutSizes(_ tea.Model, msg tea.Msg) tea.Msg {
	if msg == tea.RequestWindowSize() {
		return nil
	}
	return msg
}

// Init opens the first page.
func (s *screen) Init() tea.Cmd { return s.openFields() }

// Update takes a key, or what the page has to say to itself.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case over:
		return s, s.leave(Result{}, nobody(msg.cause))
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		return s, s.pass(s.room())
	case stayed:
		if int(msg) != s.moves || s.leaving == nil {
			return s, nil // it has moved since
		}
		return s, s.settle()
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+c" {
			return s, s.leave(Result{}, nobody(errInterrupted))
		}
		return s, s.press(msg)
	case tea.PasteMsg:
		return s, s.press(msg)
	}
	return s, s.pass(msg)
}

// press takes a key, or what was pasted. While the page moves it waits: pages move by
// messages to themselves, and would take what is typed fast for the field before.
func (s *screen) press(msg tea.Msg) tea.Cmd {
	if s.done {
		return nil
	}
	if s.leaving != nil {
		s.held = append(s.held, msg)
		return nil
	}
	k, isKey := msg.(tea.KeyPressMsg)
	if isKey && k.String() == "esc" && !takes(k, s.page.KeyBinds()) {
		return s.escape()
	}
	s.going = isKey && k.String() == "shift+tab"
	before, page := s.page.GetFocusedField(), s.page
	moves := isKey && leads(k, before)
	cmd := s.pass(msg)
	if moves && s.page == page && before.Error() == nil {
		return tea.Batch(cmd, s.hold(before))
	}
	return cmd
}

// leads reports whether f, as it is now, is left by that key, unless its answer is
// wrong.
func leads(k tea.KeyPressMsg, f huh.Field) bool {
	if list, ok := f.(interface{ GetFiltering() bool }); ok && list.GetFiltering() {
		return false
	}
	_, confirms := f.(*huh.Confirm)
	switch k.String() {
	case "y", "Y", "n", "N":
		return confirms
	case "enter", "tab", "shift+tab":
		return takes(k, f.KeyBinds())
	}
	return false
}

func takes(k tea.KeyPressMsg, bindings []key.Binding) bool {
	return slices.ContainsFunc(bindings, func(b key.Binding) bool { return key.Matches(k, b) })
}

// stayed says that a page did not move, after all: of the move with this number.
type stayed int

// hold keeps keys back until the page has left f, or did not for a while.
func (s *screen) hold(f huh.Field) tea.Cmd {
	const patience = time.Second
	s.moves++
	n := stayed(s.moves)
	wait, moved := context.WithTimeout(context.Background(), patience)
	s.leaving, s.moved = f, moved
	return func() tea.Msg {
		<-wait.Done()
		return n
	}
}

// stay says that no field is about to be left.
func (s *screen) stay() {
	if s.leaving != nil {
		s.moved()
		s.leaving = nil
	}
}

// settle gives the keys that were held to the field that has the focus now.
func (s *screen) settle() tea.Cmd {
	s.stay()
	var cmds []tea.Cmd
	for len(s.held) > 0 && s.leaving == nil && !s.done {
		msg := s.held[0]
		s.held = s.held[1:]
		cmds = append(cmds, s.press(msg))
	}
	return tea.Batch(cmds...)
}

// pass gives a message to the page, and goes on when that was its end.
func (s *screen) pass(msg tea.Msg) tea.Cmd {
	if s.done {
		return nil
	}
	wrong := len(s.page.Errors())
	m, cmd := s.page.Update(msg)
	s.page = m.(*huh.Form)
	if len(s.page.Errors()) != wrong && s.width > 0 {
		s.page.Update(s.room()) // what an error takes, the fields do not have
	}
	if s.page.State == huh.StateCompleted {
		s.stay()
		s.held = nil // nobody has seen yet what comes now, so no key was meant for it
		return s.ended()
	}
	if s.leaving != nil && s.page.GetFocusedField() != s.leaving {
		return tea.Batch(cmd, s.settle())
	}
	return cmd
}

// room is what the page has of the window: all but the lines around it, and the one
// that it does not count itself.
func (s *screen) room() tea.WindowSizeMsg {
	const around = 3
	return tea.WindowSizeMsg{Width: s.width, Height: max(s.height-around-len(s.above), 1)}
}

// escape leads from the fields to the choices, and from there back.
func (s *screen) escape() tea.Cmd {
	if s.behind != nil {
		return s.resume()
	}
	if s.choice != nil {
		return nil
	}
	s.behind = s.page
	return s.openChoices("Leave the form?", []huh.Option[move]{
		huh.NewOption("Go on filling it in", onward),
		declineOption(),
		cancelOption(),
	}, func() tea.Cmd {
		if *s.choice == onward {
			return s.resume()
		}
		return s.close(*s.choice)
	})
}

// resume shows the fields again, as they were left.
func (s *screen) resume() tea.Cmd {
	s.page, s.behind, s.choice = s.behind, nil, nil
	s.ended = s.openReview
	return s.pass(s.room())
}

// View is what is seen: the page, and the keys that work everywhere.
func (s *screen) View() tea.View {
	if s.done {
		return tea.NewView("")
	}
	above := ""
	if len(s.above) > 0 {
		above = strings.Join(s.above, "\n") + "\n"
	}
	return tea.NewView(above + s.page.View() + "\n\n  esc: decline or cancel   ctrl+c: leave without an answer")
}

// open shows a page.
func (s *screen) open(page *huh.Form, ended func() tea.Cmd) tea.Cmd {
	s.page, s.ended, s.above = page.WithTheme(huh.ThemeFunc(huh.ThemeBase16)), ended, nil
	begin := s.page.Init()
	if s.width == 0 {
		return begin // the size is still to come
	}
	return tea.Batch(begin, s.pass(s.room()))
}

// openFields shows the fields, with the answers so far.
func (s *screen) openFields() tea.Cmd {
	s.choice = nil
	groups := s.groups()
	if len(groups) == 0 {
		return s.openReview()
	}
	page := huh.NewForm(groups...)
	if !s.visible(s.fields[0].ID) {
		page.NextGroup() // at once: by itself it would show the first one for half a second
	}
	return s.open(page, s.openReview)
}

// openReview shows the answers and what is wrong with them, and asks what to do.
func (s *screen) openReview() tea.Cmd {
	values, ok := s.finish()
	what, options := "Send these answers?", []huh.Option[move]{
		huh.NewOption("Change something", change), declineOption(), cancelOption(),
	}
	if ok {
		options = append([]huh.Option[move]{huh.NewOption("Send", onward)}, options...)
	} else {
		what = "The answers are not valid yet"
	}
	choices := s.openChoices(what, options, func() tea.Cmd {
		switch *s.choice {
		case onward:
			return s.leave(Result{Outcome: input.Accept, Values: values}, nil)
		case change:
			return s.openFields()
		}
		return s.close(*s.choice)
	})
	return tea.Batch(choices, s.showAbove(s.summary(values)))
}

// showAbove shows lines above the page: with it, where there is room for both, and
// otherwise before it, where they can be scrolled back to.
func (s *screen) showAbove(lines []string) tea.Cmd {
	const choices, together = 10, 4
	if s.height == 0 || len(lines)+choices <= s.height {
		s.above = lines
		return s.pass(s.room())
	}
	var parts []tea.Cmd
	for part := range slices.Chunk(lines, together) {
		parts = append(parts, tea.Println(strings.Join(part, "\n")))
	}
	return tea.Sequence(parts...)
}

// summary is what is printed before a person decides about their answers.
func (s *screen) summary(values form.Values) []string {
	var b strings.Builder
	all, err := members(values)
	if err != nil {
		all = s.given
	}
	b.WriteString("Your answers:\n")
	for i := range s.fields {
		if f := &s.fields[i]; values.Visible(f.ID) {
			fmt.Fprintf(&b, "  %s: %s\n", label(f), s.show(f, all[f.ID]))
		}
	}
	if len(s.errors) > 0 {
		b.WriteString("Not valid yet:\n")
		writeErrors(&b, s.errors, s.form)
	}
	text := ansi.Wrap(strings.TrimRight(b.String(), "\n"), max(s.width, 20), "")
	return append(strings.Split(text, "\n"), "")
}

func declineOption() huh.Option[move] { return huh.NewOption("Decline: I will not answer", declined) }

func cancelOption() huh.Option[move] { return huh.NewOption("Cancel: not now", left) }

// openChoices shows a list from which s.choice is taken.
func (s *screen) openChoices(what string, options []huh.Option[move], ended func() tea.Cmd) tea.Cmd {
	s.choice = new(move)
	*s.choice = options[0].Value
	list := huh.NewSelect[move]().Title(what).Options(options...).Value(s.choice)
	return s.open(huh.NewForm(huh.NewGroup(list)), ended)
}

// close ends with a choice that is no answer.
func (s *screen) close(m move) tea.Cmd {
	if m == declined {
		return s.leave(Result{Outcome: input.Decline}, nil)
	}
	return s.leave(Result{Outcome: input.Cancel}, nil)
}

// leave ends the program. Whatever came first counts. Keys that were read already are
// taken before the end, and dropped: whoever read them waits until they are.
func (s *screen) leave(r Result, err error) tea.Cmd {
	if s.done {
		return nil
	}
	s.done, s.result, s.err = true, r, err
	s.stay()
	const soon = 20 * time.Millisecond
	return func() tea.Msg {
		s.stop()
		return tea.Tick(soon, func(time.Time) tea.Msg { return tea.Quit() })()
	}
}

// passed is called when the person leaves a field with that answer, and returns what
// is wrong with it. On the way back anything may be left as it is.
func (s *screen) passed(f *form.Field, raw []byte) error {
	err := s.check(f, raw)
	switch {
	case err == nil:
		s.set(f.ID, raw)
	case s.going:
		return nil
	default:
		err = fmt.Errorf("%s", line(message(err)))
	}
	return err
}
