//go:build unix

package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// attacker [FLAGS] URL FILE sends the HTTP request that
// stands in FILE to the host of URL, byte by byte as it is there but for
// variables, CRLF in the head and a Content-Length where the head has none, and
// prints the response.
//
//	-cut           hang up instead of waiting for a response
//	-hold          wait for none, and keep the connection open to the end of the script
//	-within D      have the response by then
//	-header BYTES  add a header line of so many bytes
func attackerCommand(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("attacker", flag.ContinueOnError)
	flags.SetOutput(ts.Stderr())
	cut := flags.Bool("cut", false, "")
	hold := flags.Bool("hold", false, "")
	within := flags.Duration("within", patience, "")
	header := flags.Int("header", 0, "")
	if neg || flags.Parse(args) != nil || flags.NArg() != 2 {
		ts.Fatalf("usage: attacker [-cut|-hold] [-within D] [-header BYTES] URL FILE")
	}
	u, err := url.Parse(flags.Arg(0))
	ts.Check(err)
	conn, err := net.DialTimeout("tcp", u.Host, patience)
	ts.Check(err)
	if *hold {
		ts.Defer(func() { conn.Close() })
	} else {
		defer conn.Close()
	}
	ts.Check(conn.SetDeadline(time.Now().Add(*within)))
	text := os.Expand(ts.ReadFile(flags.Arg(1)), ts.Getenv)
	_, err = conn.Write(request(text, *header))
	switch {
	case *cut || *hold:
		ts.Check(err)
		return
	case err != nil:
		ts.Logf("the server stopped reading: %v", err) // its response may be there all the same
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	ts.Check(err)
	defer resp.Body.Close()
	fmt.Fprintf(ts.Stdout(), "HTTP %s\n", resp.Status)
	ts.Check(resp.Header.Write(ts.Stdout()))
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "\n%s\n", body)
}

// request makes the bytes of a request out of the text of a file.
func request(text string, header int) []byte {
	head, body, _ := strings.Cut(text, "\n\n")
	head, body = strings.TrimSuffix(head, "\n"), strings.TrimSuffix(body, "\n")
	if body != "" && !strings.Contains(head, "\nContent-Length:") {
		head += fmt.Sprintf("\nContent-Length: %d", len(body))
	}
	if header > 0 {
		head += "\nX-Padding: " + string(bytes.Repeat([]byte("x"), header))
	}
	return []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body)
}

// fetch [-until STATUS] URL gets a page, as an operator does, and prints its
// status and body; again and again until the status is right.
func fetchCommand(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("fetch", flag.ContinueOnError)
	flags.SetOutput(ts.Stderr())
	until := flags.Int("until", 0, "")
	if neg || flags.Parse(args) != nil || flags.NArg() != 1 {
		ts.Fatalf("usage: fetch [-until STATUS] URL")
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	var status int
	var body []byte
	eventually(ts, fmt.Sprint("the status is not ", *until), func() bool {
		resp, err := c.Get(flags.Arg(0))
		ts.Check(err)
		defer resp.Body.Close()
		status = resp.StatusCode
		body, err = io.ReadAll(resp.Body)
		ts.Check(err)
		return *until == 0 || status == *until
	})
	fmt.Fprintf(ts.Stdout(), "HTTP %d\n%s", status, body)
}
