package main

import (
	"errors"
	"flag"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/internal/sandboxcommand"
)

// sandboxCommand runs cmd/cardgateway-sandbox with its own flags. The settings of this program do not apply.
type sandboxCommand struct {
	Args []string `arg:"" optional:"" help:"Flags of the sandbox; -h lists them."`
}

// Run serves until it is interrupted.
func (s *sandboxCommand) Run(c *call) error {
	err := sandboxcommand.Run(c.ctx, "cardgateway sandbox", s.Args, c.out)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return nil
	}
	return exit.Fail(exit.Failed, "sandbox: %s", err)
}
