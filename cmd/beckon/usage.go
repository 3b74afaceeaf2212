package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is a command line that makes no sense. The exit code is 2.
type usageError struct {
	error
	hint string
}

// misused is a usageError that refers to the help of the command.
func misused(c *cobra.Command, format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...), c.CommandPath() + " --help shows how to use it"}
}

// noArgs refuses arguments.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misused(c, "%s takes no arguments, and there is %q", c.Name(), args[0])
	}
	return nil
}

// oneFile wants exactly one argument.
func oneFile(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return misused(c, "%s needs a FILE", c.Name())
	}
	return oneFileAtMost(c, args)
}

// oneFileAtMost refuses more than one argument.
func oneFileAtMost(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return misused(c, "%s takes one FILE, and there is %q too", c.Name(), args[1])
	}
	return nil
}

// aCommand is for commands that only have others below them.
func aCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := c.CommandPath() + " --help shows the commands"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s %s? %s", c.CommandPath(), near[0], hint)
	}
	wrong := strings.TrimPrefix(c.CommandPath()+" "+args[0], c.Root().Name()+" ")
	return usageError{fmt.Errorf("there is no command %q", wrong), hint}
}

// helpCommand is another way to say --help.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "show how to use a command",
		Hidden: true,

		DisableFlagsInUseLine: true,

		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return aCommand(found, rest)
			}
			return found.Help()
		},
	}
}

// helpTemplate is all that --help prints.
const helpTemplate = `{{with or .Long .Short}}{{.}}

{{end}}Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}{{end}}
{{- if .HasAvailableSubCommands}}

Commands:
{{- range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}

Flags:
{{.Flags.FlagUsages | trimTrailingWhitespaces}}
{{- if not .HasParent}}

The exit code is 0 when all went well, 1 when the command failed and 2 when it
was called wrongly. Commands that ask a person have more: their help tells.{{end}}
`

// dress gives root and all below it their help and their way to refuse flags.
func dress(root *cobra.Command) {
	root.SetHelpTemplate(helpTemplate)
	root.SetVersionTemplate("beckon {{.Version}}\n")
	root.PersistentFlags().BoolP("help", "h", false, "show this help")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return misused(c, "%w", err) })
	root.Flags().Bool("version", false, "print the version")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	var each func(*cobra.Command)
	each = func(c *cobra.Command) {
		c.DisableFlagsInUseLine = true
		c.SuggestionsMinimumDistance = 2
		for _, below := range c.Commands() {
			each(below)
		}
	}
	each(root)
}

// hinted is an error with a line that says what to do.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

func errWithHint(hint, format string, args ...any) error {
	return hinted{fmt.Errorf(format, args...), hint}
}

// hintOf returns the hint of an error, "" when it has none.
func hintOf(err error) string {
	if u, ok := errors.AsType[usageError](err); ok {
		return u.hint
	}
	if h, ok := errors.AsType[hinted](err); ok {
		return h.hint
	}
	return ""
}
