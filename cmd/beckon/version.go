package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// version is the release, or "devel" for a build that is none.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

func (p *program) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version [--json]",
		Short: "print the version and the protocol revisions",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(p.out).Encode(struct {
					Version   string          `json:"version"`
					Revisions []wire.Revision `json:"revisions"`
				}{version(), wire.Legacy()})
			}
			var revisions []string
			for _, r := range wire.Legacy() {
				revisions = append(revisions, string(r))
			}
			_, err := fmt.Fprintf(p.out, "beckon %s, MCP revisions %s\n", version(), strings.Join(revisions, ", "))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
