package wire

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// IsBatch reports whether data is a JSON array, the batch that only revision
// 2025-03-26 knows.
func IsBatch(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && data[0] == '['
}

// ParseBatch reads a batch of at most limit messages. One bad message refuses
// them all, so that no half of a batch runs; the error, a *[ParseError], is for
// the batch as a whole and bears no id.
func ParseBatch(data []byte, limit int) ([]Message, error) {
	v := jsontext.Value(data)
	switch {
	case !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)): // Parse refuses these
		return nil, &ParseError{Code: CodeParse, Detail: "the batch is not valid JSON"}
	case v.Kind() != '[':
		return nil, &ParseError{Code: CodeInvalidRequest, Detail: "a batch is a JSON array"}
	}
	var batch []Message
	for raw := range Elements(data) {
		if len(batch) == limit {
			return nil, &ParseError{Code: CodeInvalidRequest, Detail: "the batch has too many messages"}
		}
		m, err := Parse(raw)
		if e, ok := errors.AsType[*ParseError](err); ok {
			return nil, &ParseError{Code: e.Code, Detail: fmt.Sprintf("message %d of the batch: %s", len(batch)+1, e.Detail)}
		}
		batch = append(batch, m)
	}
	if len(batch) == 0 {
		return nil, &ParseError{Code: CodeInvalidRequest, Detail: "an empty batch asks nothing"}
	}
	return batch, nil
}
