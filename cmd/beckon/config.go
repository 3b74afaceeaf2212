package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/internal/config"
)

func (p *program) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "check, print and import configurations",
		Args:  aCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(p.configCheckCommand(), p.configPrintCommand(), p.configImportCommand())
	return c
}

func (p *program) configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "say what is wrong with a configuration, all at once",
		Long: strings.TrimSpace(`
Check reads FILE as serve would, with the same environment, and starts nothing.
It prints nothing when all is well.`),
		Example: "  beckon config check beckon.yaml",
		Args:    oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := p.load(args[0], p.environ)
			return err
		},
	}
}

func (p *program) configPrintCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "print [FILE]",
		Short: "print the configuration in force, defaults included, secrets left out",
		Example: `  beckon config print               the defaults
  beckon config print beckon.yaml   what serve would use`,
		Args: oneFileAtMost,
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := p.load(strings.Join(args, ""), p.environ)
			if err != nil {
				return err
			}
			text := cfg.YAML()
			if asJSON {
				text = cfg.JSON()
			}
			_, err = p.out.Write(text)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (p *program) configImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "print a client's servers as the backends of a beckon.yaml",
		Long: strings.TrimSpace(`
Import reads the JSON file in which a client keeps its MCP servers (mcpServers,
or servers as in VS Code) and prints a beckon.yaml with the same servers. What did
not come over as it was, and what had better be a variable, is told on standard
error.`),
		Example: "  beckon config import ~/.cursor/mcp.json > beckon.yaml",
		Args:    oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := os.ReadFile(args[0])
			if err != nil {
				return errWithHint("give the file in which a client keeps its servers, such as ~/.cursor/mcp.json",
					"reading the file: %w", err)
			}
			imported, err := config.Import(args[0], data)
			if err != nil {
				return err
			}
			for _, note := range append(imported.Notes, plainSecrets(imported.Backends)...) {
				fmt.Fprintln(p.err, "beckon: "+note)
			}
			_, err = p.out.Write(imported.YAML())
			return err
		},
	}
}

// plainSecrets says which values stand in a file as they are and may be secret.
func plainSecrets(backends []config.Backend) []string {
	var notes []string
	for _, b := range backends {
		for section, values := range map[string]map[string]config.Secret{"env": b.Env, "headers": b.Headers} {
			for name, value := range values {
				if !strings.Contains(value.Reveal(), "${") {
					notes = append(notes, fmt.Sprintf("backends.%s.%s.%s stands there as it is; ${NAME} would keep it out of the file",
						b.Name, section, name))
				}
			}
		}
	}
	slices.Sort(notes)
	return notes
}
