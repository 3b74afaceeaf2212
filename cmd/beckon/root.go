package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/gateway"
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// program is what all commands share.
type program struct {
	streams
	environ []string
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, s streams, environ []string) int {
	p := &program{s, environ}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if e, ok := errors.AsType[ending](err); err != nil && !(ok && e.error == nil) {
		p.complain(err)
	}
	return exitCode(err)
}

// complain prints an error for a person: what happened, then what to do.
func (p *program) complain(err error) {
	if faults, ok := errors.AsType[faultsIn](err); ok {
		p.say("%v\n", faults)
		return
	}
	if faults, ok := errors.AsType[config.Faults](err); ok {
		what := "1 fault"
		if len(faults) > 1 {
			what = fmt.Sprintf("%d faults", len(faults))
		}
		p.say("%v\nbeckon: %s in the configuration\n", faults, what)
		return
	}
	p.say("beckon: %v\n", err)
	if hint := hintOf(err); hint != "" {
		p.say("hint: %s\n", hint)
	}
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "beckon",
		Short: "an MCP gateway that brings every question to whoever can answer it",
		Long: strings.TrimSpace(`
Beckon stands between MCP clients and MCP servers. What a server asks in the
middle of a call - a person, a model, the client's folders - reaches the client
that made the call, and the answer goes back unchanged.`),
		Example: `  beckon demo                          see it work, nothing to set up
  beckon run -- npx -y some-server     put it before one server, over stdio
  beckon serve --config beckon.yaml    many servers behind one address`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          aCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(p.runCommand(), p.serveCommand(), p.demoCommand(), p.demoBackendCommand(),
		p.askCommand(), p.formCommand(), p.configCommand(), p.doctorCommand(), p.versionCommand())
	dress(root)
	return root
}

// load reads the configuration at path, or else at BECKON_CONFIG; with neither it
// is made of the other variables.
func (p *program) load(path string, environ []string) (config.Config, error) {
	if path == "" {
		path = pathIn(environ)
	}
	cfg, err := config.Load(path, environ)
	if _, faulty := errors.AsType[config.Faults](err); err != nil && !faulty {
		return cfg, hinted{err, "beckon config import makes one out of a client's file, and beckon config print > beckon.yaml out of nothing"}
	}
	return cfg, err
}

// gateway makes the gateway that the configuration describes.
func (p *program) gateway(cfg config.Config, log *slog.Logger) (*gateway.Gateway, error) {
	g, err := gateway.New(cfg, version(), log)
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, hinted{err, "the folder of audit.path must be there, and the file must be writable"}
	}
	return g, err
}

// pathIn returns the path of the configuration that the environment names, or "".
func pathIn(environ []string) string {
	for _, variable := range environ {
		if value, ok := strings.CutPrefix(variable, config.PathVariable+"="); ok {
			return value
		}
	}
	return ""
}

// logger makes the log that the configuration asks for, on standard error.
func (p *program) logger(l config.Log) *slog.Logger {
	o := &slog.HandlerOptions{Level: l.Level.Level()}
	if l.Format == config.LogJSON {
		return slog.New(slog.NewJSONHandler(p.err, o))
	}
	return slog.New(slog.NewTextHandler(p.err, o))
}
