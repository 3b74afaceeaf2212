package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/gateway"
	"github.com/beckon-mcp/beckon/internal/wire"
)

func (p *program) doctorCommand() *cobra.Command {
	var path string
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor [--config FILE] [-- COMMAND ARGS...]",
		Short: "show what each backend is, what it offers and what it can ask",
		Long: strings.TrimSpace(`
Doctor starts each backend of the configuration, or COMMAND, speaks to it in both
eras of the protocol as a client that can be asked everything, tells what came of
it, and stops it again.
It fails when one of them cannot be used.`),
		Example: `  beckon doctor --config beckon.yaml
  beckon doctor -- npx -y @modelcontextprotocol/server-everything`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := p.load(path, p.environ)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				cfg.Backends = []config.Backend{commandBackend(args)}
			}
			if len(cfg.Backends) == 0 {
				return misused(cmd, "doctor needs the command of a server, or --config with backends")
			}
			findings, err := gateway.Examine(cmd.Context(), cfg, p.logger(cfg.Log))
			if err != nil {
				return err
			}
			if err := p.printFindings(findings, asJSON); err != nil {
				return err
			}
			return verdict(findings)
		},
	}
	c.Flags().StringVar(&path, "config", "", "configuration `FILE`; BECKON_CONFIG names it, too")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().SetInterspersed(false)
	return c
}

func (p *program) printFindings(findings []gateway.Finding, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(p.out)
		e.SetIndent("", "  ")
		return e.Encode(findings)
	}
	var b strings.Builder
	for _, f := range findings {
		if !f.OK {
			fmt.Fprintf(&b, "%s: failed after %d ms\n  %s\n", f.Backend, f.TookMillis, f.Error)
			continue
		}
		fmt.Fprintf(&b, "%s: ok, ready in %d ms\n", f.Backend, f.TookMillis)
		fmt.Fprintf(&b, "  server        %s, revision %s\n", f.Server, spoken(f.Revisions))
		fmt.Fprintf(&b, "  offers        %s\n", offer(f))
		fmt.Fprintf(&b, "  may ask for   %s\n", strings.Join(f.CanAsk, ", "))
	}
	_, err := fmt.Fprint(p.out, b.String())
	return err
}

func spoken(revisions []wire.Revision) string {
	var words []string
	for _, r := range revisions {
		words = append(words, string(r))
	}
	return strings.Join(words, " and ")
}

// offer tells what a backend has for clients.
func offer(f gateway.Finding) string {
	if len(f.Capabilities) == 0 {
		return "nothing"
	}
	offers := strings.Join(f.Capabilities, ", ")
	switch f.Tools {
	case 0:
		return offers
	case 1:
		return offers + " (1 tool)"
	}
	return fmt.Sprintf("%s (%d tools)", offers, f.Tools)
}

func verdict(findings []gateway.Finding) error {
	failed := 0
	for _, f := range findings {
		if !f.OK {
			failed++
		}
	}
	if failed > 0 {
		return errWithHint("its own output is in the log above; try its command by itself",
			"%d of %d backends cannot be used", failed, len(findings))
	}
	return nil
}
