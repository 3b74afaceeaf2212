package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/internal/config"
	"github.com/beckon-mcp/beckon/internal/demo"
)

func (p *program) demoCommand() *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "demo [--once]",
		Short: "see a server ask and a person answer, with nothing to set up",
		Long: strings.TrimSpace(`
Demo starts the gateway with one backend, a server that books tables. A client at
this terminal calls its tool; in the middle of the call the server asks you, then
a model (you play it), then you again.

With --once a script plays the person, the whole exchange is printed, and the
exit code tells whether it went as it should.`),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var person demo.Person = demo.Script{}
			if !once {
				person = demo.NewTerminal(p.in, p.out)
			}
			err := p.demo(cmd.Context(), person)
			if err != nil && !once {
				return hinted{err, "beckon demo --once answers by itself"}
			}
			return err
		},
	}
	c.Flags().BoolVar(&once, "once", false, "let a script answer, print everything and exit")
	return c
}

// demo runs gateway and client side by side.
func (p *program) demo(ctx context.Context, person demo.Person) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cfg := config.Default()
	cfg.Log.Level = config.LevelError
	cfg.Backends = []config.Backend{commandBackend([]string{self, "demo-backend"})}
	cfg.Backends[0].Name = "bookings"
	g, err := p.gateway(cfg, p.logger(cfg.Log))
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(fmt.Errorf("listening: %w", err), g.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var served error
	var serving sync.WaitGroup
	serving.Go(func() { served = g.ServeHTTP(ctx, ln) })
	err = demo.Play(ctx, "http://"+ln.Addr().String()+"/mcp", version(), person, demo.NewTeller(p.out))
	stop()
	serving.Wait()
	return errors.Join(err, served, g.Close())
}

func (p *program) demoBackendCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "demo-backend",
		Short:  "the server of the demo, over stdio",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo.ServeBackend(cmd.Context(), version())
		},
	}
}
