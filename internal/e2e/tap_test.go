//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
)

// The taps read along, as bytes, what a client sends and receives below its
// SDK. Typed SDK values lose unknown members, key order and number spelling;
// the log must not.

// A tapTransport is an HTTP transport that records messages in both directions.
type tapTransport struct {
	next http.RoundTripper
	log  *recorder
}

func (t *tapTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("reading the request to record it: %w", err)
		}
		t.log.message("out", body)
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if mediaType == "text/event-stream" {
		events := &eventSplitter{emit: func(data []byte) { t.log.message("in", data) }}
		resp.Body = tapBody{io.TeeReader(resp.Body, &lineSplitter{emit: events.line}), resp.Body}
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading the response to record it: %w", err)
	}
	t.log.message("in", body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

type tapBody struct {
	io.Reader
	io.Closer
}

// A lineSplitter is a writer that emits each complete line without its end.
type lineSplitter struct {
	emit func([]byte)

	mu   sync.Mutex
	rest []byte // guarded by mu; the line begun
}

func (s *lineSplitter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		line, rest, found := bytes.Cut(s.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		s.emit(bytes.TrimSuffix(line, []byte("\r")))
		s.rest = rest
	}
}

// An eventSplitter takes the lines of an event stream and emits the data of
// each event. Its writer, a lineSplitter, guards it.
type eventSplitter struct {
	emit func([]byte)
	data [][]byte
}

func (s *eventSplitter) line(line []byte) {
	if len(line) == 0 {
		s.emit(bytes.Join(s.data, []byte("\n")))
		s.data = nil
		return
	}
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		s.data = append(s.data, bytes.Clone(data))
	}
}
