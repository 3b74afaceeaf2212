//go:build unix

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// inbox is what a client has received, in order.
type inbox struct {
	mu       sync.Mutex // guards the fields below
	messages []*received
	news     chan struct{} // closed when there is another message
}

// received is one message, with a mark for each of those that wait for one.
type received struct {
	text     string
	wanted   bool // by client want
	answered bool // by person
}

func newInbox() *inbox { return &inbox{news: make(chan struct{})} }

// put adds a message.
func (b *inbox) put(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, &received{text: text})
	close(b.news)
	b.news = make(chan struct{})
}

// await waits for a message that is found, and returns its text. found is called
// for each message in order, under the lock.
func (b *inbox) await(limit time.Duration, found func(*received) bool) (string, error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	for {
		b.mu.Lock()
		i := slices.IndexFunc(b.messages, found)
		news := b.news
		if i >= 0 {
			defer b.mu.Unlock()
			return b.messages[i].text, nil
		}
		b.mu.Unlock()
		select {
		case <-news:
		case <-late.C:
			return "", fmt.Errorf("after %v there are\n%s", limit, b)
		}
	}
}

// all returns a copy of everything that has come.
func (b *inbox) all() []received {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []received
	for _, m := range b.messages {
		list = append(list, *m)
	}
	return list
}

// String shows the messages, those that were wanted with a mark.
func (b *inbox) String() string {
	var s strings.Builder
	for _, m := range b.all() {
		mark := "  "
		if m.wanted || m.answered {
			mark = "* "
		}
		const enough = 2000
		fmt.Fprintf(&s, "%s%s\n", mark, m.text[:min(len(m.text), enough)])
	}
	return s.String()
}

func (m *received) matches(ts *testscript.TestScript, pattern string) bool {
	re, err := regexp.Compile(pattern)
	ts.Check(err)
	return re.MatchString(m.text)
}
