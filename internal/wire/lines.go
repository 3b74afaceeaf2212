package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong says that a message was longer than allowed. Its bytes are gone,
// and the next message can be read.
var ErrTooLong = errors.New("the message is too long")

// LineReader reads the newline-delimited messages of stdio. A line over the
// limit is read past without being kept.
type LineReader struct {
	r   *bufio.Reader
	max int
}

// NewLineReader returns a reader of lines of at most max bytes each, their line
// break (LF or CRLF) not counted.
func NewLineReader(r io.Reader, max int) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 16<<10), max: max}
}

// Next returns the next line that is not blank, without the white space around
// it, in a slice of its own. After [ErrTooLong] reading goes on with the line behind;
// io.EOF and every other error is final. A last line without line break counts.
func (l *LineReader) Next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
			return line, nil
		}
	}
}

func (l *LineReader) line() ([]byte, error) {
	const lineBreak = len("\r\n")
	var line []byte
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part)-lineBreak > l.max; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (tooLong || len(line) > 0):
		case err != nil:
			return nil, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if tooLong || len(line) > l.max {
			return nil, ErrTooLong
		}
		return line, nil
	}
}
