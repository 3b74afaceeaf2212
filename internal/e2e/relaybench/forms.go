package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"text/tabwriter"
	"time"
)

// askDefinition is the question of askForm with a form definition beside it: a form
// that Beckon owns.
const askDefinition = `{"mode":"form","message":"who?","requestedSchema":` + whoSchema + `,"formDefinition":{"id":"who","title":"Who?","fields":[` +
	`{"id":"name","type":"text","label":"Name","required":true},{"id":"age","type":"number","label":"Age","validation":{"multipleOf":1}}]}}`

// A definer makes calls of the legacy era that ask by a form definition.
type definer struct{ *client }

func (d definer) ask(id int) error {
	return d.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"form","arguments":{}}}`, id))
}

// measureForms prints what it adds to a question that Beckon looks at the answer, and
// that it owns the form. Client and backend are those of the pairing LL.
func measureForms(beckon string, each time.Duration) error {
	backend, err := start("legacy")
	if err != nil {
		return err
	}
	defer backend.stop()
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "form\tcalls\tp50\tp99\tadded p50\tCPU/call\t")
	var got []figures
	for _, way := range []struct {
		name       string
		settings   map[string]any
		definition bool
	}{
		{"passed on", nil, false},
		{"validated", map[string]any{"validate": "reprompt"}, false},
		{"owned", nil, true},
	} {
		f, err := measureForm(beckon, backend.url+"/mcp", way.settings, way.definition, each)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		got = append(got, f)
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t\n", way.name, f.calls, f.spread(), added(got), perCall(f))
	}
	fmt.Fprintln(t)
	return t.Flush()
}

func measureForm(beckon, url string, settings map[string]any, definition bool, each time.Duration) (f figures, err error) {
	backend := map[string]any{"url": url, "transport": "http", "era": "legacy"}
	maps.Copy(backend, settings)
	gateway, err := startBeckon(beckon, backend, map[string]any{"forms": map[string]any{"per_minute": 0}})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, gateway.stop()) }()
	c, err := connect(gateway.url + "/mcp")
	if err != nil {
		return f, err
	}
	var a asker = c
	if definition {
		a = definer{c}
	}
	return askWith(a, way{name: "beckon", url: gateway.url, process: gateway}, each)
}
