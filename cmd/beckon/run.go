package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/internal/config"
)

func (p *program) runCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "run [--config FILE] [--] [COMMAND ARGS...]",
		Short: "serve one client over stdio, with one server behind it",
		Long: strings.TrimSpace(`
Run starts COMMAND, an MCP server that speaks over stdio, and serves the one
client at its own standard input and output: put "beckon run --" in front of the
command in the configuration of a client, and everything stays as it was, while
questions are carried, bounded and recorded.

With --config and no command, the backends of the configuration are behind the
client, all of them.`),
		Example: `  beckon run -- npx -y @modelcontextprotocol/server-everything
  beckon run --config beckon.yaml

In a client's configuration:
  {"mcpServers": {"files": {"command": "beckon", "args": ["run", "--", "my-server", "--flag"]}}}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && path == "" && pathIn(p.environ) == "" {
				return misused(cmd, "run needs the command of a server, or --config")
			}
			cfg, err := p.load(path, p.environ)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if _, err := exec.LookPath(args[0]); err != nil {
					return errWithHint("try it by itself; a client may have another PATH than your shell, so give the whole path",
						"starting %q: %w", args[0], errors.Unwrap(err))
				}
				cfg.Backends = []config.Backend{commandBackend(args)}
			}
			g, err := p.gateway(cfg, p.logger(cfg.Log))
			if err != nil {
				return err
			}
			return errors.Join(g.ServeStdio(cmd.Context(), p.in, p.out), g.Close())
		},
	}
	c.Flags().StringVar(&path, "config", "", "configuration `FILE`; BECKON_CONFIG names it, too")
	c.Flags().SetInterspersed(false)
	return c
}

// commandBackend is the backend of a command line, named after its program.
func commandBackend(args []string) config.Backend {
	b := config.DefaultBackend()
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0])))
	name = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(name, "-"), "-")
	b.Name = name[:min(len(name), 32)]
	if b.Name == "" {
		b.Name = "server"
	}
	b.Command, b.Args = args[0], args[1:]
	return b
}
