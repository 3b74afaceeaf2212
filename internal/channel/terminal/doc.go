// Package terminal lets a person fill in a form at a terminal.
//
// [Ask] shows a form in one of two ways. On a real terminal the fields stand in
// pages that are moved through with the keys; everywhere else, or when it is asked
// for, it is a conversation line by line, which works through a pipe, on a dumb
// terminal and with a screen reader. Both say the same: who asks, what for, which
// answers are possible, what is wrong with one at once, and all answers again
// before they are sent. Declining and cancelling can be chosen at every point.
//
// Ask ends with what the person chose, or with an error. Ctrl-C, the end of input and
// the end of the context are errors: nobody answered, and no answer is made up.
//
// Nothing that a form says reaches the terminal with its control characters: who
// asks could otherwise write over what is on the screen, or draw a question of
// somebody else.
package terminal
