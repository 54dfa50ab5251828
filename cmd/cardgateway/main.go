// Command cardgateway looks up, lists and refunds payments of a card gateway, resolves unknown outcomes, reconciles the
// gateway's data with your own, receives and sends notifications, and inspects a shop's journal.
//
//	cardgateway check
//	cardgateway get 1234567890
//	cardgateway orders --day yesterday
//	cardgateway orders --month 2026-10 --format csv --checkpoint october.json >october.csv
//	cardgateway resolve payment t-1002 --amount 12.50 --currency USD --sent-at "2026-11-22 03:10:00"
//	cardgateway refund 1234567890 --amount 12.50
//	cardgateway listen --forward-to http://localhost:8080/notify
//	cardgateway notify http://localhost:8080/notify --wrong-signature
//	cardgateway journal list --older 1h
//	cardgateway reconcile sync --db books.db --from 2026-01-01
//	cardgateway reconcile report --month last --list paid.csv
//	cardgateway sandbox --seed 1000
//
// The exit code is 0 (success), 1 (negative result), 2 (no result), 3 (sent, but the outcome is unknown or not final), 4 and 5 (a
// conflict, or an outcome that is overdue, in the journal), 6 (rows of the gateway cannot be read) or 130 (interrupted). docs/tool.md and docs/reconcile.md have an example of every command.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], system{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, configDir: os.UserConfigDir, now: time.Now,
	}))
}

// commands is the command line.
type commands struct {
	settings.Flags `group:"Global flags:"`
	Get            getCommand       `cmd:"" help:"Show a payment."`
	Orders         ordersCommand    `cmd:"" help:"List payments of a time range."`
	Refunds        refundsCommand   `cmd:"" help:"List refunds of a time range."`
	Resolve        resolveCommand   `cmd:"" help:"Find the outcome of a payment or refund whose outcome is unknown."`
	Refund         refundCommand    `cmd:"" help:"Refund a payment."`
	Check          checkCommand     `cmd:"" help:"Check configuration, connection, credentials, clock and time zone."`
	Reconcile      reconcileCommand `cmd:"" help:"Keep a copy of the gateway's data in a database, and compare your own data with it."`
	Journal        journalCommand   `cmd:"" help:"Inspect a shop's journal, resolve unknown outcomes, and acknowledge entries."`
	Listen         listenCommand    `cmd:"" help:"Receive notifications and forward them to your program."`
	Notify         notifyCommand    `cmd:"" help:"Send a signed notification of a test payment to a handler."`
	Sandbox        sandboxCommand   `cmd:"" passthrough:"" help:"Run a sandbox gateway on this machine, to try everything without an account."`
	Version        kong.VersionFlag `help:"Print the version."`
}

// run executes the command and returns the exit code. Errors have been printed to sys.err by then.
func run(ctx context.Context, args []string, sys system) int {
	var cli commands
	exited := false
	parser, err := kong.New(&cli,
		kong.Name("cardgateway"), kong.Description(description), kong.Help(printHelp), kong.Writers(sys.out, sys.err),
		kong.Vars{"version": version()}, kong.Exit(func(int) { exited = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return exit.Report(sys.err, fmt.Errorf("command line: %w", err))
	}
	parsed, err := parser.Parse(args)
	if exited { // --help or --version was printed
		return exit.OK
	}
	if err != nil {
		return exit.Report(sys.err, usageError(args, err))
	}
	c := &call{system: sys, ctx: ctx, settings: &cli.Flags}
	if err := cmp.Or(checkEmptyFlags(parsed), c.readSection(parsed), c.findFiles(parsed)); err != nil {
		return exit.Report(sys.err, err)
	}
	return exit.Report(sys.err, parsed.Run(c))
}
