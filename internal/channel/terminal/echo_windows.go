package terminal

import "golang.org/x/sys/windows"

// echoOff makes a console not show what is typed, until show is called.
func echoOff(fd uintptr) (show func(), err error) {
	console := windows.Handle(fd)
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(console, before&^windows.ENABLE_ECHO_INPUT); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(console, before) }, nil // one that is gone shows nothing
}
