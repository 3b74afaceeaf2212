package wire

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// ID is the id of a request as the raw JSON of a string or an integer: 7 and
// "7" are different ids, and so are 7 and 7.0 (the latter is refused on
// reading). The zero ID is no id at all. IDs compare and hash by their bytes.
type ID string

// IntID returns the id written as the integer n. Beckon gives its own requests
// such ids, because every peer echoes an integer in the same spelling.
func IntID(n uint64) ID { return ID(strconv.FormatUint(n, 10)) }

// ParseID reads raw as an id. It gives the zero ID and false for anything but
// one JSON string, or one integer without fraction and exponent, with nothing
// around it.
func ParseID(raw []byte) (ID, bool) {
	if len(raw) == 0 {
		return "", false
	}
	quoted := raw[0] == '"' && raw[len(raw)-1] == '"'
	integer := len(bytes.Trim(raw, "-0123456789")) == 0
	if !quoted && !integer || !jsontext.Value(raw).IsValid() {
		return "", false
	}
	return ID(raw), true
}
