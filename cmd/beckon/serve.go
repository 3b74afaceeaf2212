package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/internal/config"
)

// serveFlags are the flags of serve that stand for keys of the configuration.
type serveFlags struct {
	listen   string
	insecure bool
}

func (p *program) serveCommand() *cobra.Command {
	var path, readyFile string
	var flags serveFlags
	c := &cobra.Command{
		Use:   "serve [--config FILE] [--listen ADDRESS]",
		Short: "serve clients over HTTP, with many servers behind one address",
		Long: strings.TrimSpace(`
Serve listens for MCP clients over streamable HTTP: at /mcp with all backends,
and at /mcp/NAME with the backend NAME alone, exactly as it is. It stops on
SIGTERM or Ctrl-C, after a moment for the calls in progress.

FILE is beckon.yaml, or the JSON file in which a client keeps its servers.`),
		Example: `  beckon serve --config beckon.yaml
  beckon serve --config ~/.cursor/mcp.json --listen 127.0.0.1:9000`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := p.load(path, flags.over(p.environ))
			if err != nil {
				return flags.blame(err)
			}
			log := p.logger(cfg.Log)
			g, err := p.gateway(cfg, log)
			if err != nil {
				return err
			}
			ln, err := listen(cfg.Listen, readyFile)
			if err != nil {
				return errors.Join(err, g.Close())
			}
			log.Info("ready", "url", baseURL(ln)+"/mcp", "backends", len(cfg.Backends))
			if len(cfg.Backends) == 0 {
				log.Warn("there are no backends, so that nothing can be called", "hint", "name some in a file, and give it with --config")
			}
			return errors.Join(g.ServeHTTP(cmd.Context(), ln), g.Close())
		},
	}
	c.Flags().StringVar(&path, "config", "", "configuration `FILE`; BECKON_CONFIG names it, too")
	c.Flags().StringVar(&flags.listen, "listen", "", "`ADDRESS` to listen on; overrides the configuration")
	c.Flags().BoolVar(&flags.insecure, "insecure", false, "listen beyond this machine without authentication")
	c.Flags().StringVar(&readyFile, "ready-file", "", "write the base URL to `FILE` once clients can connect")
	return c
}

// listen opens the address for clients, and tells so in the ready file.
func listen(address, readyFile string) (net.Listener, error) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errWithHint("another program may use the port; --listen 127.0.0.1:0 takes any free one",
			"listening on %s: %w", address, err)
	}
	if readyFile == "" {
		return ln, nil
	}
	if err := os.WriteFile(readyFile, []byte(baseURL(ln)+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the ready file: %w", err), ln.Close())
	}
	return ln, nil
}

// baseURL is an address at which clients on this machine can connect.
func baseURL(ln net.Listener) string {
	address := ln.Addr().(*net.TCPAddr)
	if address.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", address.Port)
	}
	return "http://" + address.String()
}

// over lays the flags over the environment, as the variables that they stand for,
// so that they are checked like everything else.
func (f serveFlags) over(environ []string) []string {
	environ = slices.Clone(environ)
	if f.listen != "" {
		environ = append(environ, "BECKON_LISTEN="+f.listen)
	}
	if f.insecure {
		environ = append(environ, "BECKON_INSECURE=true")
	}
	return environ
}

// blame makes faults of what over added faults of the flags.
func (f serveFlags) blame(err error) error {
	faults, _ := errors.AsType[config.Faults](err)
	for i := range faults {
		if faults[i].Key == "BECKON_LISTEN" && f.listen != "" {
			faults[i].File, faults[i].Key = "command line", "--listen"
		}
	}
	return err
}
