//go:build e2e

package main

import (
	"context"
	"fmt"
	"sync"
)

// A ledger remembers how something ended, by key, and lets others wait for it.
// The zero value is ready to use.
type ledger struct {
	mu      sync.Mutex
	entries map[string]*entry // guarded by mu
}

type entry struct {
	ended chan struct{} // closed once how is set
	how   string
}

// mark records how key ended. Only the first mark of a key counts.
func (l *ledger) mark(key, how string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(key)
	select {
	case <-e.ended:
	default:
		e.how = how
		close(e.ended)
	}
}

// marked reports whether key has ended.
func (l *ledger) marked(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.entry(key).ended:
		return true
	default:
		return false
	}
}

// wait returns how key ended, once it has, or the cause for which ctx ended.
func (l *ledger) wait(ctx context.Context, key string) (how string, err error) {
	l.mu.Lock()
	e := l.entry(key)
	l.mu.Unlock()
	select {
	case <-e.ended:
		return e.how, nil
	case <-ctx.Done():
		return "", fmt.Errorf("waiting for %q: %w", key, context.Cause(ctx))
	}
}

// entry returns the entry of key. The caller holds mu.
func (l *ledger) entry(key string) *entry {
	e, ok := l.entries[key]
	if !ok {
		e = &entry{ended: make(chan struct{})}
		if l.entries == nil {
			l.entries = make(map[string]*entry)
		}
		l.entries[key] = e
	}
	return e
}
