package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// way is one way from the load to the backend.
type way struct {
	name    string
	url     string
	process *process // between load and backend; nil for the direct connection
}

// ways starts a backend, a reverse proxy and Beckon before it.
func ways(beckon string) ([]way, func() error, error) {
	backend, err := start("backend")
	if err != nil {
		return nil, nil, err
	}
	proxy, err := start("proxy", backend.url)
	if err != nil {
		return nil, nil, err
	}
	gateway, err := startBeckon(beckon, map[string]any{"url": backend.url + "/mcp", "transport": "http"}, nil)
	if err != nil {
		return nil, nil, err
	}
	all := []way{{"direct", backend.url + "/mcp", nil}, {"reverse proxy", proxy.url + "/mcp", proxy}, {"beckon", gateway.url + "/mcp", gateway}}
	return all, func() error { return errors.Join(gateway.stop(), proxy.stop(), backend.stop()) }, nil
}

// figures are what one measurement gives.
type figures struct {
	calls    int
	p50, p99 time.Duration
	cpu      time.Duration // of the process in between, per call
}

// load makes calls on a session of its own, at the same time, for a while.
func (w way) load(body string, at int, each time.Duration) (figures, error) {
	c, err := connect(w.url)
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w", w.name, err)
	}
	for range 50 { // connections and caches are warm
		if err := c.call(fmt.Sprintf(body, 1)); err != nil {
			return figures{}, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	took := make([][]time.Duration, at)
	errs := make([]error, at)
	var ids atomic.Int64
	before, end := w.cpu(), time.Now().Add(each)
	var wg sync.WaitGroup
	for i := range at {
		wg.Go(func() {
			for time.Now().Before(end) && errs[i] == nil {
				began := time.Now()
				errs[i] = c.call(fmt.Sprintf(body, ids.Add(1)+1000))
				took[i] = append(took[i], time.Since(began))
			}
		})
	}
	wg.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	return figures{
		calls: len(all), p50: all[len(all)/2], p99: all[len(all)*99/100],
		cpu: (w.cpu() - before) / time.Duration(len(all)),
	}, errors.Join(errs...)
}

func (w way) cpu() time.Duration {
	if w.process == nil {
		return 0
	}
	return w.process.cpu()
}

// measureCalls prints what a relayed call costs.
func measureCalls(beckon string, each time.Duration) error {
	all, stop, err := ways(beckon)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "relayed call\tat a time\tway\tcalls\tp50\tp99\tadded p50\tCPU/call\tCPU ratio\t")
	for _, size := range []int{100, 16 << 10} {
		body := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + text(size) + `"}}}`
		for _, at := range []int{1, 8} {
			var got []figures
			for _, w := range all {
				f, err := w.load(body, at, each)
				if err != nil {
					return err
				}
				got = append(got, f)
				fmt.Fprintf(t, "%d B\t%d\t%s\t%d\t%v\t%v\t%s\t%s\t%s\t\n", size, at, w.name, f.calls,
					f.p50.Round(time.Microsecond), f.p99.Round(time.Microsecond), added(got), perCall(f), ratio(got))
			}
		}
	}
	fmt.Fprintln(t)
	return errors.Join(t.Flush(), stop())
}

func added(got []figures) string {
	if len(got) < 2 {
		return "-"
	}
	return (got[len(got)-1].p50 - got[0].p50).Round(time.Microsecond).String()
}

func perCall(f figures) string {
	if f.cpu == 0 {
		return "-"
	}
	return f.cpu.Round(time.Microsecond).String()
}

// ratio is the CPU of Beckon to that of the reverse proxy.
func ratio(got []figures) string {
	if len(got) < 3 || got[1].cpu == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(got[2].cpu)/float64(got[1].cpu))
}

// measureQuestions prints what an elicitation in the middle of a call costs. The
// reverse proxy shows what passing bytes alone costs.
func measureQuestions(beckon string, each time.Duration) error {
	all, stop, err := ways(beckon)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "call with a question\tway\tcalls\tp50\tp99\tadded p50\t")
	var got []figures
	for _, w := range all {
		f, err := w.load(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":{}}}`, 1, each)
		if err != nil {
			return err
		}
		got = append(got, f)
		fmt.Fprintf(t, "form\t%s\t%d\t%v\t%v\t%s\t\n", w.name, f.calls, f.p50.Round(time.Microsecond), f.p99.Round(time.Microsecond), added(got))
	}
	fmt.Fprintln(t)
	return errors.Join(t.Flush(), stop())
}

// measureOpen opens n questions at once, in as many calls over HTTP, prints the
// memory that they cost Beckon, answers them all and waits for all results.
func measureOpen(beckon string, n int) error {
	gateway, err := startBeckon(beckon, map[string]any{"command": os.Args[0], "args": []string{"-role", "asker"}}, map[string]any{
		"limits": map[string]any{"max_concurrent_calls_per_session": n},
		"input":  map[string]any{"timeout": "10m", "max_concurrent": n, "max_per_session": n},
		"http":   map[string]any{"resume_events": 1000},
	})
	if err != nil {
		return err
	}
	c, err := connect(gateway.url + "/mcp")
	if err != nil {
		return err
	}
	asked := make(chan string, n)
	stream, err := c.listen(func(m []byte) { asked <- idOf(m) })
	if err != nil {
		return err
	}
	before, began := gateway.resident(), time.Now()
	results := make(chan error, n)
	for i := range n {
		go func() {
			results <- c.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hold","arguments":{}}}`, i+1))
		}()
	}
	var ids []string
	for len(ids) < n {
		select {
		case id := <-asked:
			ids = append(ids, id)
		case err := <-results:
			return fmt.Errorf("a call ended before its question was answered, with %d open: %w", len(ids), err)
		case <-time.After(time.Minute):
			return fmt.Errorf("only %d of %d questions arrived", len(ids), n)
		}
	}
	after := gateway.resident()
	fmt.Printf("%d questions open at once, each in a call over HTTP: asked within %v, %.1f KiB resident per question with its call and connection (%d MiB in all)\n",
		n, time.Since(began).Round(time.Millisecond), float64(after-before)/1024/float64(n), after>>20)
	began = time.Now()
	if err := answerAll(c, ids, results); err != nil {
		return err
	}
	fmt.Printf("all answered and all %d calls returned within %v\n", n, time.Since(began).Round(time.Millisecond))
	return errors.Join(stream.Close(), gateway.stop())
}

// answerAll answers, eight at a time, and waits for every result.
func answerAll(c *client, ids []string, results <-chan error) error {
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for j := i; j < len(ids) && errs[i] == nil; j += len(errs) {
				errs[i] = c.tell(`{"jsonrpc":"2.0","id":` + ids[j] + `,"result":{"action":"accept","content":{"name":"Ada"}}}`)
			}
		})
	}
	wg.Wait()
	for range ids {
		errs = append(errs, <-results)
	}
	return errors.Join(errs...)
}
