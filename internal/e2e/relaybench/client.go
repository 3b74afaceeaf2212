package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// client is a raw client of streamable HTTP: it costs as little as possible, so
// that what is measured is what is between it and the backend.
type client struct {
	url, session string
	http         *http.Client
}

const capable = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"bench","version":"1"}}}`

// connect shakes hands at url.
func connect(url string) (*client, error) {
	c := &client{url: url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20_000, MaxIdleConns: 20_000}}}
	resp, err := c.post(capable)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	c.session = resp.Header.Get("Mcp-Session-Id")
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	return c, c.tell(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *client) post(body string) (*http.Response, error) {
	req, err := http.NewRequest("POST", c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
		req.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		resp.Body.Close()
		return nil, fmt.Errorf("%s: %s", resp.Status, text)
	}
	return resp, nil
}

// tell sends what has no response.
func (c *client) tell(body string) error {
	resp, err := c.post(body)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// listen opens the stream of the session and hands each message to f.
func (c *client) listen(f func(message []byte)) (io.Closer, error) {
	req, err := http.NewRequest("GET", c.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", c.session)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != 200 {
		return nil, errors.New(resp.Status)
	}
	go messages(resp.Body, f)
	return resp.Body, nil
}

// messages hands each message of an event stream to f.
func messages(body io.Reader, f func(message []byte)) {
	r := bufio.NewReaderSize(body, 32<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		if data, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:")); ok && len(data) > 2 {
			f(bytes.TrimLeft(data, " "))
		}
	}
}

// call sends a request and reads until its response, answering questions.
func (c *client) call(body string) error {
	resp, err := c.post(body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		answer, err := io.ReadAll(resp.Body)
		if err == nil && !bytes.Contains(answer, []byte(`"result"`)) {
			err = fmt.Errorf("no result: %s", answer)
		}
		return err
	}
	done := errors.New("the stream ended without a result")
	messages(resp.Body, func(m []byte) {
		switch {
		case bytes.Contains(m, []byte(`"elicitation/create"`)):
			if err := c.tell(`{"jsonrpc":"2.0","id":` + idOf(m) + `,"result":{"action":"accept","content":{"name":"Ada","age":36}}}`); err != nil {
				done = err
			}
		case bytes.Contains(m, []byte(`"result"`)):
			done = nil
		default:
			done = fmt.Errorf("no result: %s", m)
		}
	})
	return done
}

// idOf cuts the id out of a message, as the peers here write it.
func idOf(m []byte) string {
	_, rest, _ := bytes.Cut(m, []byte(`"id":`))
	return string(rest[:bytes.IndexAny(rest, ",}")])
}
