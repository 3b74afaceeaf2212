package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxLate is how long after its state has expired a parked call may be held.
const maxLate = 2 * time.Second

// parking is how calls are parked in a measurement.
type parking struct {
	calls int
	ttl   time.Duration // of each state; all calls must be parked within it
}

// measureParked parks calls of a modern client at a legacy backend over HTTP,
// prints the memory that they cost Beckon, then lets their states expire and
// prints how late the last was let go, at both ends. Later than maxLate is an error.
func measureParked(beckon string, p parking) error {
	backend, err := start("legacy")
	if err != nil {
		return err
	}
	defer backend.stop()
	gateway, err := startBeckon(beckon, map[string]any{"url": backend.url + "/mcp", "transport": "http", "era": "legacy"}, map[string]any{
		"park":   map[string]any{"ttl": p.ttl.String(), "max_age": "1h", "grace": "3s", "max_calls": p.calls, "max_per_principal": p.calls},
		"limits": map[string]any{"max_concurrent_calls_per_session": p.calls},
		"input":  map[string]any{"timeout": "10m", "max_concurrent": p.calls, "max_per_session": p.calls},
	})
	if err != nil {
		return err
	}
	if err := p.measure(gateway, backend); err != nil {
		return errors.Join(err, gateway.stop())
	}
	return gateway.stop()
}

func (p parking) measure(gateway, backend *process) error {
	c := newModern(gateway.url + "/mcp")
	if err := c.ask(0); err != nil { // the session with the backend is there
		return err
	}
	before, began := gateway.resident(), time.Now()
	at, err := p.park(c)
	if err != nil {
		return err
	}
	c.http.CloseIdleConnections()
	open, err := held(gateway, backend)
	if err != nil {
		return err
	}
	if open.backend != p.calls {
		return fmt.Errorf("%d of %d calls are open at the backend when the last was parked, after %v", open.backend, p.calls, time.Since(began))
	}
	after := gateway.resident()
	fmt.Printf("%d calls parked within %v, %.1f KiB resident per parked call with its connection to the backend (%d MiB before, %d MiB in all); %v\n",
		p.calls, time.Since(began).Round(time.Millisecond), float64(after-before)/1024/float64(p.calls), before>>20, after>>20, open)
	late, err := p.expire(gateway, backend, at)
	if err != nil {
		return err
	}
	fmt.Printf("all let go %v after the last state expired; none later than %v after its own\n",
		time.Since(at[len(at)-1].Add(p.ttl)).Round(time.Millisecond), late.Round(time.Millisecond))
	if late > maxLate {
		return fmt.Errorf("a parked call was held %v longer than its state, more than %v", late, maxLate)
	}
	return nil
}

// park starts the calls, 64 at a time, and returns when each was parked, in order.
func (p parking) park(c *modern) ([]time.Time, error) {
	var (
		mu     sync.Mutex
		at     []time.Time // guarded by mu
		errs   []error     // guarded by mu
		next   = make(chan int)
		parked sync.WaitGroup
	)
	for range 64 {
		parked.Go(func() {
			for id := range next {
				first, err := c.leg(id, "hold", "")
				if err == nil && first.Type != "input_required" {
					err = fmt.Errorf("call %d is not parked: %+v", id, first)
				}
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				}
				at = append(at, time.Now())
				mu.Unlock()
			}
		})
	}
	for id := range p.calls {
		next <- id + 1
	}
	close(next)
	parked.Wait()
	slices.SortFunc(at, time.Time.Compare)
	if len(errs) > 3 {
		errs = append(errs[:3], fmt.Errorf("and %d more", len(errs)-3))
	}
	return at, errors.Join(errs...)
}

// expire waits until nothing is held any more, and returns how late the latest was
// seen: when n are left, the best that they can be is the n that were parked last.
func (p parking) expire(gateway, backend *process, at []time.Time) (late time.Duration, err error) {
	giveUp := at[len(at)-1].Add(p.ttl + time.Minute)
	for {
		open, err := held(gateway, backend)
		if err != nil {
			return late, err
		}
		now, left := time.Now(), max(open.backend, open.gateway)
		if left == 0 {
			return late, nil
		}
		left = min(left, len(at))
		late = max(late, now.Sub(at[len(at)-left].Add(p.ttl)))
		if now.After(giveUp) {
			return late, fmt.Errorf("a minute after the last state expired, %v", open)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// holding counts what is held at both ends.
type holding struct {
	backend int // calls that are open there
	gateway int // input requests that are open in Beckon, by its own count
}

func (h holding) String() string {
	return fmt.Sprintf("%d calls open at the backend, %d questions open in Beckon", h.backend, h.gateway)
}

func held(gateway, backend *process) (holding, error) {
	text, err := get(backend.url + "/open")
	if err != nil {
		return holding{}, err
	}
	calls, err := strconv.Atoi(text)
	if err != nil {
		return holding{}, err
	}
	metrics, err := get(gateway.url + "/metrics")
	if err != nil {
		return holding{}, err
	}
	return holding{calls, gauge(metrics, "beckon_input_open")}, nil
}

func get(url string) (string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != 200 {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return string(text), err
}

// gauge adds up the lines of a metric, whatever their labels. One that is not
// there has not counted anything yet.
func gauge(metrics, name string) int {
	sum := 0.0
	lines := bufio.NewScanner(strings.NewReader(metrics))
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		if value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64); err == nil {
			sum += value
		}
	}
	return int(sum)
}
