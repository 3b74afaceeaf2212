package wire

import "bytes"

// ParseObject reads data, which must be one JSON object and nothing else, as
// strictly as [Parse] reads a message. It returns the object without the white
// space around it; [Get] and [Members] may look into it. The error is always a
// *[ParseError].
func ParseObject(data []byte) ([]byte, error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	data = bytes.Trim(data, " \t\r\n")
	d.reset(data)
	at, err := d.value()
	if err != nil {
		return nil, new(Message).syntaxError(err)
	}
	switch {
	case at.End != len(data):
		return nil, &ParseError{Code: CodeParse, Detail: "something follows the object"}
	case data[at.Start] != '{':
		return nil, &ParseError{Code: CodeInvalidRequest, Detail: "an object is wanted"}
	}
	return data, nil
}
