//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// curlMain is as much of curl as the scripts and the documents use, so that they do
// not depend on what is installed:
//
//	curl [-s] [-N] [-i] [-X METHOD] [-H LINE]... [--json BODY] [--fail-with-body] URL
func curlMain() {
	os.Exit(curl(os.Args[1:], os.Stdout, os.Stderr))
}

func curl(args []string, out, errs io.Writer) int {
	const misused, refused = 2, 22 // as curl has them
	var method, body, to string
	var head, fail bool
	header := http.Header{"User-Agent": {"curl/8"}, "Accept": {"*/*"}}
	for len(args) > 0 {
		flag := args[0]
		args = args[1:]
		value := func() (v string) {
			if len(args) > 0 {
				v, args = args[0], args[1:]
			}
			return v
		}
		switch flag {
		case "-s", "-N", "-sN":
		case "-i":
			head = true
		case "--fail-with-body":
			fail = true
		case "-X":
			method = value()
		case "-H":
			name, v, _ := strings.Cut(value(), ":")
			header.Set(name, strings.TrimSpace(v))
		case "--json":
			body = value()
			header.Set("Content-Type", "application/json")
		default:
			if strings.HasPrefix(flag, "-") || to != "" {
				fmt.Fprintf(errs, "curl: what is %s?\n", flag)
				return misused
			}
			to = flag
		}
	}
	if method == "" {
		method = http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
	}
	return fetch(method, to, body, header, head, fail, out, errs, refused)
}

// fetch sends one request and prints the response.
func fetch(method, to, body string, header http.Header, head, fail bool, out, errs io.Writer, refused int) int {
	r, err := http.NewRequest(method, to, strings.NewReader(body))
	if err != nil {
		fmt.Fprintln(errs, "curl:", err)
		return 1
	}
	r.Header = header
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(r)
	if err != nil {
		fmt.Fprintln(errs, "curl:", err)
		return 1
	}
	defer resp.Body.Close()
	if head {
		fmt.Fprintf(out, "HTTP/1.1 %s\n", resp.Status)
		resp.Header.Write(out)
		fmt.Fprintln(out)
	}
	if _, err := io.Copy(out, resp.Body); err != nil {
		fmt.Fprintln(errs, "curl:", err)
		return 1
	}
	if fail && resp.StatusCode >= 400 {
		return refused
	}
	return 0
}

// jqMain is as much of jq as the documents use: jq -r .MEMBER.
func jqMain() {
	if len(os.Args) != 3 || os.Args[1] != "-r" {
		fmt.Fprintln(os.Stderr, "usage: jq -r .MEMBER")
		os.Exit(2)
	}
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		text, err = memberOf(text, strings.TrimPrefix(os.Args[2], "."))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "jq:", err)
		os.Exit(5)
	}
	fmt.Printf("%s\n", text)
}

// memberOf is a member of a JSON object, a string without its quotes.
func memberOf(text []byte, name string) ([]byte, error) {
	var o map[string]json.RawMessage
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	var s string
	if json.Unmarshal(o[name], &s) == nil {
		return []byte(s), nil
	}
	return o[name], nil
}

// member NAME VAR puts a member of the JSON object that was printed last into a
// variable.
func memberCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: member NAME VAR")
	}
	text := ts.ReadFile("stdout")
	if i := strings.IndexByte(text, '{'); i > 0 {
		text = text[i:] // behind the head of a response
	}
	value, err := memberOf([]byte(text), args[0])
	ts.Check(err)
	if value == nil {
		ts.Fatalf("there is no member %s", args[0])
	}
	ts.Setenv(args[1], string(value))
}

// blocks LANGUAGE FILE OUT writes the code of a language in a document of the project
// to OUT.
func blocksCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: blocks LANGUAGE FILE OUT")
	}
	text, err := os.ReadFile(ts.Getenv("PROJECT") + "/" + args[1])
	ts.Check(err)
	var out bytes.Buffer
	inside := false
	for line := range strings.Lines(string(text)) {
		switch {
		case inside && strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			out.WriteString(line)
		default:
			inside = line == "```"+args[0]+"\n"
		}
	}
	if out.Len() == 0 {
		ts.Fatalf("%s has no code of %s", args[1], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out.Bytes(), 0o600))
}
