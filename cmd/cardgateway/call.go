package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/progress"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
)

// system is the environment of the program.
type system struct {
	in        io.Reader
	out, err  io.Writer
	getenv    func(string) string
	configDir func() (string, error)
	now       func() time.Time
}

// call is one run of the program. Commands receive it as their argument.
type call struct {
	system
	ctx      context.Context
	settings *settings.Flags

	read, written []files.Use // the files of the flags
}

// load returns the settings.
func (c *call) load() (*settings.Settings, error) {
	return c.settings.Load(c.source())
}

func (c *call) source() settings.Source {
	return settings.Source{Getenv: c.getenv, ConfigDir: c.configDir, Stderr: c.err}
}

// client creates a client from the settings.
func (c *call) client() (*cardgateway.Client, error) {
	_, client, err := c.configure()
	return client, err
}

// configure returns the settings, and a client created from them.
func (c *call) configure() (*settings.Settings, *cardgateway.Client, error) {
	set, err := c.load()
	if err != nil {
		return nil, nil, err
	}
	client, err := set.Client()
	return set, client, err
}

// commandLine returns a command for the same gateway, to be printed.
func (c *call) commandLine(words ...string) string {
	return shell.CommandLine(append(words, c.settings.AsFlags()...)...)
}

// rowFormat returns the format of rows on stdout: that of the flags, or the default.
func (c *call) rowFormat(asked string, sum bool) string {
	switch {
	case sum:
		return tabular.SumsOnly
	case asked == "" && progress.IsTerminal(c.out):
		return tabular.Table
	}
	return cmp.Or(asked, tabular.CSV)
}

// printSums prints the totals of rows: on stdout if nothing else is printed, otherwise on stderr.
func (c *call) printSums(sums tabular.Sums, format string) error {
	out := c.err
	if format == tabular.SumsOnly {
		out = c.out
	} else if c.settings.Quiet {
		return nil
	}
	return exit.CannotWrite("totals", sums.Print(out))
}

// say prints a message on stderr, unless --quiet is set.
func (c *call) say(format string, args ...any) {
	if !c.settings.Quiet {
		c.tell(format, args...)
	}
}

// tell prints a message on stderr.
func (c *call) tell(format string, args ...any) {
	fmt.Fprintf(c.err, "cardgateway: %s\n", exit.Message(format, args...))
}
