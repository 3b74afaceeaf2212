//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// person NAME [-of PATTERN] ANSWER waits for the next question that the client
// NAME is asked, of those that match PATTERN, prints it and answers:
//
//	person ada accept CONTENT     a form, or a URL
//	person ada decline
//	person ada cancel
//	person ada result JSON        anything, such as what a model wrote
//	person ada error CODE TEXT    by an error
//	person ada ignore             not at all
//	person ada again ANSWER...    the last question once more
//
// A modern client is asked by an input_required result, and answers by sending its
// request again, under an id with one more "+"; it cannot answer by an error.
func personCommand(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("person", flag.ContinueOnError)
	flags.SetOutput(ts.Stderr())
	of := flags.String("of", "", "")
	if neg || len(args) < 2 || flags.Parse(args[1:]) != nil || flags.NArg() == 0 {
		ts.Fatalf("usage: person NAME [-of PATTERN] ANSWER")
	}
	c := ts.Value(castKey{}).(*cast).client(ts, args[0])
	answer := flags.Args()
	again := answer[0] == "again"
	if again {
		answer = answer[1:]
	}
	question := c.question(ts, *of, again)
	fmt.Fprintln(ts.Stdout(), question)
	if r, ok := inputRequired(question); ok {
		if text, ok := strings.CutPrefix(answerText(ts, answer), `"result":`); ok {
			c.retry(ts, r, text)
		}
		return
	}
	var m message
	ts.Check(json.Unmarshal([]byte(question), &m))
	if text := answerText(ts, answer); text != "" {
		c.line.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, text))
	}
}

// question waits for the next question, or finds the last that was answered.
func (c *client) question(ts *testscript.TestScript, pattern string, again bool) string {
	if again {
		last := ""
		for _, m := range c.inbox.all() {
			if m.answered {
				last = m.text
			}
		}
		return last
	}
	text, err := c.inbox.await(patience, func(m *received) bool {
		found := !m.answered && isQuestion(m.text) && m.matches(ts, pattern)
		m.answered = m.answered || found
		return found
	})
	if err != nil {
		ts.Fatalf("nobody is asked: %v", err)
	}
	return text
}

func isQuestion(text string) bool {
	if _, ok := inputRequired(text); ok {
		return true
	}
	var m message
	if json.Unmarshal([]byte(text), &m) != nil || m.ID == nil {
		return false
	}
	family, _, _ := strings.Cut(m.Method, "/")
	return family == "elicitation" || family == "sampling" || family == "roots"
}

// answerText is the member result or error of an answer, "" for none.
func answerText(ts *testscript.TestScript, answer []string) string {
	switch word := strings.Join(answer[:1], ""); {
	case word == "accept" && len(answer) == 2:
		return `"result":{"action":"accept","content":` + answer[1] + `}`
	case (word == "decline" || word == "cancel") && len(answer) == 1:
		return `"result":{"action":"` + word + `"}`
	case word == "result" && len(answer) == 2:
		return `"result":` + answer[1]
	case word == "error" && len(answer) == 3:
		return fmt.Sprintf(`"error":{"code":%s,"message":%q}`, answer[1], answer[2])
	case word == "ignore" && len(answer) == 1:
		return ""
	}
	ts.Fatalf("no such answer: %s", strings.Join(answer, " "))
	return ""
}
