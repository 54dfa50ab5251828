package main

import (
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
)

// journalFlags are the flags of every journal command.
type journalFlags struct {
	Gateway string `placeholder:"URL" help:"Base URL under which the entries are stored, if the shop's program sets journal.Options.Gateway; default base-url."`
}

// forCommand returns the flags with which another journal command, which is printed, works on the same journal.
func (f *journalFlags) forCommand(c *call) []string {
	flags := c.settings.AsFlags()
	if f.Gateway != "" {
		flags = append(flags, "--gateway", f.Gateway)
	}
	return flags
}

// open opens the journal of the settings. It creates no file and no table.
func (f *journalFlags) open(c *call) (*shopjournal.Journal, error) {
	set, client, err := c.configure(nil)
	if err != nil {
		return nil, err
	}
	place := set.Get(settings.Journal)
	if place.Value == "" {
		return nil, exit.Fail(exit.Failed, "journal is missing: set --journal, %s, or journal in %s", settings.Variable(settings.Journal),
			set.FileName())
	}
	return shopjournal.Open(c.ctx, client, place, f.Gateway, c.getenv("MYSQL_PWD"))
}
