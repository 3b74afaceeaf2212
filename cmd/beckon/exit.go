package main

import "errors"

// The exit codes. Those from exitDeclined on are of the commands that ask a person,
// so that a script can tell what came of it.
const (
	exitDone      = 0 // all went well; a person who was asked has answered
	exitFailed    = 1 // the command failed; or it was left without an answer
	exitMisused   = 2 // it was called wrongly
	exitDeclined  = 3 // the person will not answer
	exitCancelled = 4 // the person does not answer now
	exitNobody    = 5 // nobody answered in time, or nobody can be asked
	exitInvalid   = 6 // the answers do not fit the form
)

// exitCodes is how the commands that ask a person explain their exit codes.
const exitCodes = `The exit code is 0 when the form was answered, 1 when something failed or the
terminal was left without an answer, 2 when the command was called wrongly, 3 when
the person declined, 4 when the person cancelled, 5 when nobody answered in time,
and 6 when the answers do not fit the form.`

// ending is an error with an exit code of its own. With a nil error inside, all has
// been said already and nothing more is printed.
type ending struct {
	error
	code int
}

func (e ending) Error() string {
	if e.error == nil {
		return ""
	}
	return e.error.Error()
}

func (e ending) Unwrap() error { return e.error }

// exitCode is the code for what a command returned.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[ending](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitMisused
	}
	return exitFailed
}
