package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// maxAdded is how much Beckon may add to a round trip, at the median.
const maxAdded = 500 * time.Microsecond

// An asker makes a call whose question it answers itself.
type asker interface{ ask(id int) error }

// ask makes a call of the legacy era.
func (c *client) ask(id int) error {
	return c.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":{}}}`, id))
}

// newAsker makes a client of one era.
func newAsker(era, url string) (asker, error) {
	if era == "modern" {
		return newModern(url), nil
	}
	return connect(url)
}

// A pairing is a client of one era at a backend of one.
type pairing struct{ name, client, backend string }

// measureEras prints what an elicitation costs in the four pairings of eras. What
// it is compared with, measured just before, is the direct connection of the client
// to a backend of its own era, as there is none to the other.
func measureEras(beckon string, each time.Duration) error {
	backends := make(map[string]*process)
	for _, era := range []string{"legacy", "modern"} {
		backend, err := start(era)
		if err != nil {
			return err
		}
		defer backend.stop()
		backends[era] = backend
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "question\tclient\tbackend\tdirect p50\tp99\tbeckon p50\tp99\tadded p50\tratio\tCPU/call\t")
	var slow []error
	for _, p := range []pairing{{"LL", "legacy", "legacy"}, {"ML", "modern", "legacy"}, {"LM", "legacy", "modern"}, {"MM", "modern", "modern"}} {
		direct, err := askAll(p.client, way{name: "direct", url: backends[p.client].url + "/mcp"}, each)
		if err != nil {
			return err
		}
		through, err := p.measure(beckon, backends[p.backend].url+"/mcp", each)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		both := []figures{direct, through}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t\n", p.name, p.client, p.backend,
			direct.spread(), through.spread(), added(both), float64(through.p50)/float64(direct.p50), perCall(through))
		if more := through.p50 - direct.p50; more > maxAdded {
			slow = append(slow, fmt.Errorf("%s adds %v, more than %v", p.name, more.Round(time.Microsecond), maxAdded))
		}
	}
	fmt.Fprintln(t)
	if err := t.Flush(); err != nil {
		return err
	}
	for _, err := range slow { // not an error: the machine may be busy
		fmt.Println("over the target:", err)
	}
	return nil
}

// spread is the p50 and the p99 as two cells.
func (f figures) spread() string {
	return fmt.Sprintf("%v\t%v", f.p50.Round(time.Microsecond), f.p99.Round(time.Microsecond))
}

// measure asks through Beckon with this one backend.
func (p pairing) measure(beckon, backend string, each time.Duration) (figures, error) {
	gateway, err := startBeckon(beckon, map[string]any{"url": backend, "transport": "http", "era": p.backend}, nil)
	if err != nil {
		return figures{}, err
	}
	f, err := askAll(p.client, way{name: p.name, url: gateway.url + "/mcp", process: gateway}, each)
	return f, errors.Join(err, gateway.stop())
}

// askAll makes calls with a question, one after the other, for a while.
func askAll(era string, w way, each time.Duration) (figures, error) {
	c, err := newAsker(era, w.url)
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w", w.name, err)
	}
	return askWith(c, w, each)
}

func askWith(c asker, w way, each time.Duration) (figures, error) {
	id := 0
	for range 50 { // connections and caches are warm
		id++
		if err := c.ask(id); err != nil {
			return figures{}, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	var took []time.Duration
	before := w.cpu()
	for end := time.Now().Add(each); time.Now().Before(end); {
		id++
		began := time.Now()
		if err := c.ask(id); err != nil {
			return figures{}, fmt.Errorf("%s: %w", w.name, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return figures{
		calls: len(took), p50: took[len(took)/2], p99: took[len(took)*99/100],
		cpu: (w.cpu() - before) / time.Duration(len(took)),
	}, nil
}
