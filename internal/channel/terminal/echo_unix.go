//go:build unix

package terminal

import "github.com/charmbracelet/x/termios"

// echoOff makes a terminal not show what is typed, until show is called.
func echoOff(fd uintptr) (show func(), err error) {
	if err := setEcho(fd, false); err != nil {
		return nil, err
	}
	return func() { _ = setEcho(fd, true) }, nil // a terminal that is gone shows nothing
}

func setEcho(fd uintptr, on bool) error {
	before, err := termios.GetTermios(int(fd))
	if err != nil {
		return err
	}
	return termios.SetTermios(int(fd), uint32(before.Ispeed), uint32(before.Ospeed), nil, nil, nil, nil,
		map[termios.L]bool{termios.ECHO: on})
}
