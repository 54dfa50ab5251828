package main

import (
	"cmp"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
)

// journalFlags are those of all four.
type journalFlags struct {
	Gateway string `placeholder:"URL" help:"What the entries are filed under, if the shop's program sets journal.Options.Gateway; base-url if not given."`
}

// open opens the journal that the settings name. It makes no file and no table.
func (f *journalFlags) open(c *call) (*shopjournal.Journal, error) {
	set, client, err := c.configure(nil)
	if err != nil {
		return nil, err
	}
	place := set.Get(settings.Journal)
	if place.Value == "" {
		return nil, exit.Fail(exit.NoAnswer, "journal is missing: set --journal, %s, or journal in %s", settings.Variable(settings.Journal),
			cmp.Or(set.File, "a file that --config names"))
	}
	return shopjournal.Open(c.ctx, client, place, f.Gateway, c.getenv("MYSQL_PWD"))
}
