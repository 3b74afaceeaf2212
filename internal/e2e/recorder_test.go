//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// A frame is one line of a wire log: a message, or a call that failed inside
// the client. Clients in other languages print frames as JSON lines.
type frame struct {
	Step    string          `json:"step"`
	Dir     string          `json:"dir"` // "in", "out" or "failure"
	Message json.RawMessage `json:"message,omitempty"`
	Failure string          `json:"failure,omitempty"`
}

// An envelope is the part of a JSON-RPC message that tells what it is.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (e envelope) isRequest() bool  { return e.Method != "" && e.ID != nil }
func (e envelope) isResponse() bool { return e.Method == "" }

func (f frame) envelope() envelope {
	if f.Message == nil {
		return envelope{}
	}
	var e envelope
	if err := json.Unmarshal(f.Message, &e); err != nil {
		return envelope{Method: fmt.Sprintf("(not JSON-RPC: %v)", err)}
	}
	return e
}

// A tally counts the messages of the current step.
type tally struct {
	asked    int            // requests that came in
	taken    int            // of these, by a handler of the client
	answered int            // responses that went out
	in       map[string]int // what came in, by method
}

// A recorder keeps the wire log of one client and lets others wait for it to
// grow.
type recorder struct {
	mu      sync.Mutex
	step    string        // guarded by mu
	frames  []frame       // guarded by mu
	tally   tally         // guarded by mu
	changed chan struct{} // guarded by mu; closed and replaced when the tally changes
}

func newRecorder() *recorder {
	r := &recorder{changed: make(chan struct{})}
	r.begin("connect")
	return r
}

func (r *recorder) begin(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step, r.tally = step, tally{in: make(map[string]int)}
}

// message records one message if data is one: event streams also carry other
// things, such as the endpoint event of the deprecated transport.
func (r *recorder) message(dir string, data []byte) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return
	}
	r.add(frame{Dir: dir, Message: bytes.Clone(data)})
}

func (r *recorder) failure(err error) {
	r.add(frame{Dir: "failure", Failure: err.Error()})
}

func (r *recorder) add(f frame) {
	e := f.envelope()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case f.Dir == "in" && e.isRequest():
		r.tally.asked++
		r.tally.in[e.Method]++
	case f.Dir == "in" && e.Method != "":
		r.tally.in[e.Method]++
	case f.Dir == "out" && e.isResponse():
		r.tally.answered++
	}
	f.Step = r.step
	r.frames = append(r.frames, f)
	r.wake()
}

// take notes that a handler has taken up a question, and returns how many were
// taken up before it in this step.
func (r *recorder) take() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally.taken++
	r.wake()
	return r.tally.taken - 1
}

// wake wakes who waits for the tally to change. The caller holds mu.
func (r *recorder) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *recorder) all() []frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.frames)
}

// until returns when condition holds, or with the cause for which ctx ended.
// The condition is tried with mu held, each time the tally has changed.
func (r *recorder) until(ctx context.Context, condition func(tally) bool) error {
	for {
		r.mu.Lock()
		done, changed := condition(r.tally), r.changed
		r.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for messages: %w", context.Cause(ctx))
		}
	}
}

// untilUnderway waits for a message with this method, and if it is a question,
// until a handler has it.
func (r *recorder) untilUnderway(ctx context.Context, method string) error {
	return r.until(ctx, func(t tally) bool { return t.in[method] > 0 && t.taken == t.asked })
}

// untilSeen waits for n incoming messages with this method in the current step.
func (r *recorder) untilSeen(ctx context.Context, method string, n int) error {
	if err := r.until(ctx, func(t tally) bool { return t.in[method] >= n }); err != nil {
		return fmt.Errorf("%s, %d times: %w", method, n, err)
	}
	return nil
}
