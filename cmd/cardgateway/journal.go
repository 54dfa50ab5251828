package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shopjournal"
	"github.com/cardgateway/cardgateway-go/journal"
)

// journalCommand inspects the journal of a shop (package journal). It can run at the same time as the shop's program.
type journalCommand struct {
	List journalList `cmd:"" help:"List the entries that the shop has not acknowledged."`
	Show journalShow `cmd:"" help:"Show everything that is known about a payment or refund, and what the journal does next."`
	Run  journalRun  `cmd:"" help:"Query the gateway for entries without an outcome, and record the results."`
	Ack  journalAck  `cmd:"" help:"Acknowledge an outcome that is in the shop's database."`

	Schema journalSchema `cmd:"" help:"Print the SQL statements that create the tables."`
}

type journalSchema struct {
	Database string `arg:"" enum:"sqlite,postgres,mysql,mariadb" help:"Kind of the database: sqlite, postgres, mysql or mariadb."`
}

// Help is shown below the flags.
func (*journalSchema) Help() string {
	return `Prints the statements for whoever creates the tables of the journal and of the notifications, if the account of the shop's program may
not. Execute them once, in a database without these tables. The command connects to nothing.

Example:
  cardgateway journal schema postgres | psql shop`
}

// Run prints the statements.
func (s *journalSchema) Run(c *call) error {
	_, err := fmt.Fprint(c.out, shopjournal.Schema(strings.Replace(s.Database, "mariadb", "mysql", 1)))
	return err
}

// journalFlags are the flags of every journal command.
type journalFlags struct {
	Gateway string `placeholder:"NAME" help:"journal.Options.Gateway of the shop's program; default base-url."`
}

// patienceFlag is how long the journal waits. Its value must be that of the shop's program.
type patienceFlag struct {
	AbsentAfter time.Duration `default:"24h" help:"journal.Options.AbsentAfter of the shop's program: the time after which an entry that the gateway does not know is presumed absent."`
}

// Validate rejects a value that the journal does not accept. The parser calls it.
func (f *patienceFlag) Validate() error {
	if f.AbsentAfter < 15*time.Minute {
		return exit.Fail(exit.Failed, "--absent-after must be at least 15m, because a request can arrive late")
	}
	return nil
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
func (f *journalFlags) open(c *call, o journal.Options) (*shopjournal.Journal, error) {
	set, client, err := c.configure()
	if err != nil {
		return nil, err
	}
	place := set.Get(settings.Journal)
	if place.Value == "" {
		return nil, exit.Fail(exit.Failed, "%s", set.Missing(settings.Journal))
	}
	o.Gateway = f.Gateway
	return shopjournal.Open(c.ctx, client, place, o, c.getenv("MYSQL_PWD"))
}
