package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/form"
)

func (p *program) formCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "form",
		Short: "check, convert and try forms",
		Long: strings.TrimSpace(`
A form is what a person is asked: a JSON file with an id, a title and fields. These
commands need no gateway.`),
		Args: aCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(p.formCheckCommand(), p.formSchemaCommand(), p.formFlattenCommand(), p.formTryCommand())
	return c
}

func (p *program) formCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "say what is wrong with a form, all at once",
		Long: strings.TrimSpace(`
Check reads FILE, or standard input when it is -, and prints nothing when it is a
valid form. Otherwise it prints a line for each fault: where it is, what is wrong
and what to write instead.`),
		Example: `  beckon form check deploy.json
  jq .form request.json | beckon form check --json -`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := p.readForm(args[0])
			faults, faulty := errors.AsType[form.Faults](err)
			if err != nil && !faulty || !asJSON {
				return err
			}
			verdict := struct {
				Valid  bool        `json:"valid"`
				Faults form.Faults `json:"faults"`
			}{!faulty, faults}
			if !faulty {
				verdict.Faults = form.Faults{}
			}
			if err := p.printJSON(verdict, false); err != nil || !faulty {
				return err
			}
			return ending{nil, exitFailed}
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, `print {"valid": …, "faults": […]}`)
	return c
}

func (p *program) formSchemaCommand() *cobra.Command {
	var compact bool
	c := &cobra.Command{
		Use:   "schema FILE",
		Short: "print a form as JSON Schema",
		Long: strings.TrimSpace(`
Schema prints the JSON Schema 2020-12 whose verdict on answers is that of the form,
but for conditions, the rules of addresses and the content of files.`),
		Example: "  beckon form schema deploy.json > deploy.schema.json",
		Args:    oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := p.readForm(args[0])
			if err != nil {
				return err
			}
			return p.printJSON(json.RawMessage(f.Schema()), compact)
		},
	}
	c.Flags().BoolVar(&compact, "compact", false, "print one line")
	return c
}

func (p *program) formFlattenCommand() *cobra.Command {
	var compact, asJSON bool
	c := &cobra.Command{
		Use:   "flatten FILE",
		Short: "print what an MCP client is asked",
		Long: strings.TrimSpace(`
Flatten prints the requestedSchema of elicitation/create: the form as far as a flat
object of strings, numbers, booleans and choices can say it. What it cannot say is
told on standard error; it is still checked when the answer comes. Flatten fails
when a field cannot be asked in that way at all: a file, a secret.`),
		Example: `  beckon form flatten deploy.json
  beckon form flatten --json deploy.json | jq .lost`,
		Args: oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := p.readForm(args[0])
			if err != nil {
				return err
			}
			return p.printFlat(f.Flatten(), asJSON, compact)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, `print {"requestedSchema": …, "_meta": …, "lost": […]}`)
	c.Flags().BoolVar(&compact, "compact", false, "print one line")
	return c
}

func (p *program) printFlat(flat form.Flat, asJSON, compact bool) error {
	var fatal []string
	for _, l := range flat.Lost {
		if l.Fatal {
			fatal = append(fatal, l.Field)
		}
		if !asJSON {
			p.say("beckon: %s: %s: %s\n", l.Field, l.What, l.Why)
		}
	}
	var what any = json.RawMessage(flat.Schema)
	if asJSON {
		lost := flat.Lost
		if lost == nil {
			lost = []form.Loss{}
		}
		what = struct {
			Schema json.RawMessage            `json:"requestedSchema"`
			Meta   map[string]json.RawMessage `json:"_meta"`
			Lost   []form.Loss                `json:"lost"`
		}{flat.Schema, map[string]json.RawMessage{form.HintsKey: flat.Hints}, lost}
	}
	if err := p.printJSON(what, compact); err != nil || len(fatal) == 0 {
		return err
	}
	return errWithHint("such a field needs a page, a terminal (beckon ask) or a client that knows forms",
		"an MCP client cannot be asked for %s", strings.Join(fatal, ", "))
}

// faultsIn are the faults of a form with the name of its file.
type faultsIn struct {
	form.Faults
	file string
}

func (f faultsIn) Error() string {
	var lines []string
	for _, one := range f.Faults {
		lines = append(lines, f.file+": "+one.Error())
	}
	return strings.Join(lines, "\n")
}

func (f faultsIn) Unwrap() error { return f.Faults }

// readForm reads the form at path; - is standard input.
func (p *program) readForm(path string) (*form.Form, error) {
	data, err := p.readFile(path)
	if err != nil {
		return nil, errWithHint("give a JSON file with a form, or - for standard input", "reading the form: %w", err)
	}
	f, err := form.Parse(data)
	faults, faulty := errors.AsType[form.Faults](err)
	if !faulty {
		return f, err
	}
	if looksLikeYAML(path, data) {
		faults = form.Faults{{Path: "$", Message: "this looks like YAML, and a form is JSON", Fix: "convert it, for example with yq -o json"}}
	}
	return nil, faultsIn{faults, path}
}

// maxFile is the longest file that is read, in bytes. No form is as long as that, and
// answers are only if they bring files.
const maxFile = 64 << 20

func (p *program) readFile(path string) ([]byte, error) {
	from := p.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if len(data) > maxFile {
		return nil, fmt.Errorf("there is more than %d MiB", maxFile>>20)
	}
	return data, err
}

// looksLikeYAML reports whether somebody wrote YAML where JSON is wanted.
func looksLikeYAML(path string, data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] == '{' {
		return false
	}
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml" || regexp.MustCompile(`(?m)^(---|#.*|(- )?[A-Za-z_]\w*:( .*)?)\s*$`).Match(data)
}

// printJSON prints v, in one line or indented.
func (p *program) printJSON(v any, compact bool) error {
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	if !compact {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}
