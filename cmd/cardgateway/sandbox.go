package main

import (
	"errors"
	"flag"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/internal/sandboxcommand"
)

// sandboxCommand is the command of cmd/cardgateway-sandbox, with flags of its own: this program's settings are not used.
type sandboxCommand struct {
	Args []string `arg:"" optional:"" help:"Flags of the sandbox; -h lists them."`
}

// Run answers until it is interrupted.
func (s *sandboxCommand) Run(c *call) error {
	switch err := sandboxcommand.Run(c.ctx, "cardgateway sandbox", s.Args, c.out); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return nil
	case errors.Is(err, sandboxcommand.ErrNotAccepted):
		return exit.Fail(exit.No, "sandbox: %s", terminal.Clean(err.Error()))
	default:
		return exit.Fail(exit.NoAnswer, "sandbox: %s", terminal.Clean(err.Error()))
	}
}
